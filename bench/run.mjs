import { parseArgs } from 'node:util';
import { benchBeside } from './beside.mjs';
import { benchBetween } from './between.mjs';
import { benchCalibrate } from './calibrate.mjs';
import { benchConsole } from './console.mjs';
import { benchDelays } from './delays.mjs';
import { benchFleet } from './fleet.mjs';
import { benchGrowth } from './growth.mjs';
import { benchMqtt } from './mqtt.mjs';
import { CORE, canPin } from './processes.mjs';
import { benchProfile } from './profile.mjs';
import { machine, printJson, say } from './report.mjs';
import { benchRest } from './rest.mjs';
import { benchRtu } from './rtu.mjs';
import { benchScale } from './scale.mjs';
import { benchMemory, benchStart } from './start.mjs';
import { benchTcp } from './tcp.mjs';
import { benchValues } from './values.mjs';
import { benchWaits } from './waits.mjs';

/*
 * npm run bench [-- [--json] [--benches 100] rtu beside between mqtt fleet waits delays tcp rest values growth scale profile calibrate start memory console]
 *
 * Measures the built program side by side with others and prints each figure with its budget. Being over budget is a
 * result and no failure: figures depend on the machine and on what else it does. With `--json`, standard output has one
 * JSON document with all tables, and standard error what people read (`npm run --silent bench -- --json > figures.json`).
 * `--benches` is for fleet.
 */
const SECTIONS = {
  rtu: benchRtu,
  beside: benchBeside,
  between: benchBetween,
  mqtt: benchMqtt,
  fleet: () => benchFleet(Number(options.benches)),
  waits: benchWaits,
  delays: benchDelays,
  tcp: benchTcp,
  rest: benchRest,
  values: benchValues,
  growth: benchGrowth,
  scale: benchScale,
  profile: benchProfile,
  calibrate: benchCalibrate,
  start: benchStart,
  memory: benchMemory,
  console: benchConsole,
};

const { values: options, positionals: wanted } = parseArgs({
  options: { json: { type: 'boolean' }, benches: { type: 'string', default: '100' } },
  allowPositionals: true,
});
const unknown = wanted.find((name) => !Object.hasOwn(SECTIONS, name));
if (unknown !== undefined) {
  console.error(`no section ${unknown}, expected ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}
const startedAt = performance.now();
say(machine());
say(
  canPin
    ? `servers run on core ${CORE.server}, clients on core ${CORE.client}`
    : 'no core of its own for client and server (one core, or no taskset): figures vary more',
);
for (const [name, bench] of Object.entries(SECTIONS)) {
  if (wanted.length === 0 || wanted.includes(name)) await bench();
}
say(`\n${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
printJson();
