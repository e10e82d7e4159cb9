import { parseArgs } from 'node:util';
import { startProgram } from '../test/support/program.mjs';
import { OWN, ownDevice } from './soak/own-units.mjs';
import { soakSharedBus } from './soak/shared-bus.mjs';
import { Wire } from './soak/wire.mjs';

/*
 * node scripts/bus-soak.mjs [--transactions 10000] [--seed 1] [--json]
 *
 * Runs the built program as two of the units on a simulated RS-485 bus, with a master, a silent device and a
 * slow one, once for each way in which adapters deliver bytes; the transactions are divided among these.
 * Exits with 1 if the program missed a request to one of its units, answered anything wrong, or executed a
 * frame that was not for it.
 */

const { values } = parseArgs({
  options: {
    transactions: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const quantity = Number(values.transactions);
const seed = Number(values.seed);
if (!(Number.isInteger(quantity) && quantity > 0 && Number.isInteger(seed))) {
  console.error('--transactions must be a whole number, at least 1, and --seed a whole number');
  process.exit(2);
}

const BAUD_RATE = 115_200;
const T35 = 1.75;
const CHUNKS = [1, 8, 16, 'usb'];

const nameOf = (/** @type {number | string} */ chunk) => `${BAUD_RATE}-${chunk}`;
const deviceOf = (/** @type {number | string} */ chunk, /** @type {number} */ unitId) =>
  `${nameOf(chunk)}-${unitId}`;

const program = await startProgram({
  config: {
    devices: Object.fromEntries(
      CHUNKS.flatMap((chunk) => OWN.map((unitId) => [deviceOf(chunk, unitId), ownDevice])),
    ),
    lines: Object.fromEntries(
      CHUNKS.map((chunk) => [
        nameOf(chunk),
        {
          serial: { path: 'virtual', baudRate: BAUD_RATE, parity: 'none', pacing: { chunk } },
          units: Object.fromEntries(OWN.map((unitId) => [unitId, deviceOf(chunk, unitId)])),
        },
      ]),
    ),
  },
});
const startedAt = performance.now();
const results = await Promise.all(
  CHUNKS.map(async (chunk, index) => {
    const wire = await Wire.open(program.serialPath(nameOf(chunk)), BAUD_RATE, T35);
    const result = await soakSharedBus(wire, Math.ceil(quantity / CHUNKS.length), seed + index);
    await wire.close();
    return { line: nameOf(chunk), ...result };
  }),
);
const seconds = (performance.now() - startedAt) / 1000;
const exitCode = await program.stop();

if (values.json) console.log(JSON.stringify(results));
else {
  console.table(results.map(({ complaints, ...rest }) => rest));
  for (const { line, complaints } of results)
    for (const complaint of complaints) console.log(`${line}, ${complaint}`);
  console.log(`${seconds.toFixed(0)} s, all lines at once; seed ${seed}`);
}
const isClean = results.every(
  ({ missed, wrong, stray, wrongImages, miscounted }) =>
    missed + wrong + stray + wrongImages + miscounted === 0,
);
if (exitCode !== 0) console.error(`the program exited with code ${exitCode}\n${program.output.stderr}`);
process.exit(isClean && exitCode === 0 ? 0 : 1);
