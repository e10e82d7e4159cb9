import { benchConsole } from './console.mjs';
import { benchDelays } from './delays.mjs';
import { CORE, canPin } from './processes.mjs';
import { machine } from './report.mjs';
import { benchRtu } from './rtu.mjs';
import { benchMemory, benchStart } from './start.mjs';
import { benchTcp } from './tcp.mjs';
import { benchValues } from './values.mjs';

/*
 * npm run bench [-- rtu delays tcp values start memory console]
 *
 * Measures the built program side by side with others and prints each figure with its budget. Being over budget is a
 * result and no failure: figures depend on the machine and on what else it does.
 */
const SECTIONS = {
  rtu: benchRtu,
  delays: benchDelays,
  tcp: benchTcp,
  values: benchValues,
  start: benchStart,
  memory: benchMemory,
  console: benchConsole,
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !Object.hasOwn(SECTIONS, name));
if (unknown !== undefined) {
  console.error(`no section ${unknown}, expected ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}
const startedAt = performance.now();
console.log(machine());
console.log(
  canPin
    ? `servers run on core ${CORE.server}, clients on core ${CORE.client}`
    : 'no core of its own for client and server (one core, or no taskset): figures vary more',
);
for (const [name, bench] of Object.entries(SECTIONS)) {
  if (wanted.length === 0 || wanted.includes(name)) await bench();
}
console.log(`\n${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
