#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { descriptorLimit } from './common/descriptors.js';
import { keepYoungGenerations, optimizeLate } from './common/platform.js';

/*
 * Node reads many modules at a time, and ends with a stack trace when the system does not let it open enough
 * files. So this module checks that limit before it imports the others. Of the program's modules, only small
 * ones that import nothing of ours are imported statically.
 */

/** Fewest file descriptors. Starting takes about 120; each line and each client takes one more. */
const FEWEST_DESCRIPTORS = 256;

const WRONG_LIMIT = 1;

const limit = descriptorLimit();
if (limit !== undefined && limit < FEWEST_DESCRIPTORS) {
  console.error(
    `this process may have only ${limit} files open; modbus-sim needs at least ${FEWEST_DESCRIPTORS} (ulimit -n)`,
  );
  process.exit(WRONG_LIMIT);
}

// The heap has not grown yet.
setFlagsFromString('--max-semi-space-size=2');
keepYoungGenerations();
optimizeLate(true);

void begin();

async function begin(): Promise<void> {
  const { main } = await import('./cli/verbs/run.js');
  const { writtenOut } = await import('./cli/verbs/standard.js');
  process.exit(await writtenOut(await main(process.argv.slice(2), process.env)));
}
