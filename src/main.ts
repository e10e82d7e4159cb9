#!/usr/bin/env node
import module from 'node:module';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { descriptorLimit } from './common/descriptors.js';
import { keepYoungGenerations } from './common/platform.js';

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
    `this process may open only ${limit} files; modbus-sim needs at least ${FEWEST_DESCRIPTORS} (ulimit -n)`,
  );
  process.exit(WRONG_LIMIT);
}

// The heap has not grown yet.
setFlagsFromString('--max-semi-space-size=2');
keepYoungGenerations();
keepCompiledCode();

void begin();

/**
 * Has Node keep what V8 compiles for the next start, where it can (22.1 and later). The directory belongs to the
 * user that runs the program, whatever HOME says: whoever can write there decides what runs.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => unknown };
  try {
    enableCompileCache?.(join(userInfo().homedir, '.cache/modbus-sim'));
  } catch {
    // This user has no entry in the password file.
  }
}

async function begin(): Promise<void> {
  const { main } = await import('./cli/verbs/run.js');
  const { EXTENSIONS } = await import('./extensions/all.js');
  const { writtenOut } = await import('./cli/verbs/standard.js');
  process.exit(await writtenOut(await main(process.argv.slice(2), process.env, EXTENSIONS)));
}
