#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { descriptorLimit } from './common/descriptors.js';

/*
 * Node reads the modules of a program many at a time, and ends with a stack trace where the system lets it have too
 * few files open. So they are imported only after a look at that limit, and this module imports only what looks at it.
 */

/** About 120 are needed to start; then one for each line and one for each client. */
const FEWEST_DESCRIPTORS = 256;

const WRONG_LIMIT = 1;

const limit = descriptorLimit();
if (limit !== undefined && limit < FEWEST_DESCRIPTORS) {
  console.error(
    `this process may have only ${limit} files open; modbus-sim needs at least ${FEWEST_DESCRIPTORS} (ulimit -n)`,
  );
  process.exit(WRONG_LIMIT);
}

/*
 * What a request leaves behind is small and dead at once. With a young generation that does not grow, its collections stay
 * short, and the program needs less memory (docs/performance.md). It must be said before the heap has grown.
 */
setFlagsFromString('--max-semi-space-size=2');
setFlagsFromString('--semi-space-growth-factor=1');

const { main } = await import('./cli/verbs/run.js');
const { writtenOut } = await import('./cli/verbs/standard.js');
process.exit(await writtenOut(await main(process.argv.slice(2), process.env)));
