import { parseArgs } from 'node:util';
import { startProgram } from '../test/support/program.mjs';
import { partsTable } from './soak/drift.mjs';
import { soakEndurance } from './soak/endurance.mjs';
import { Master } from './soak/master.mjs';
import { soakMutated } from './soak/mutated.mjs';
import { randomNumbers, soakDevice, transactions } from './soak/requests.mjs';

/*
 * node scripts/soak.mjs [--transactions 1000] [--seed 1] [--json]
 * node scripts/soak.mjs --mutated 1000000 [--seed 1] [--json]
 * node scripts/soak.mjs --minutes 60 [--seed 1] [--broker mqtt://HOST] [--snapshots DIRECTORY] [--json]
 *
 * Runs the built program with eight paced virtual lines at once, at 9600 and 115200 baud for each way in
 * which adapters deliver bytes, with a master on each that reads and writes. Exits with 1 if a request was
 * lost, or answered wrong or before t3.5. With --mutated, damaged frames are fed to the framers instead:
 * exits with 1 if one of them was executed, or a good frame between them was lost. With --minutes, lines of
 * all kinds are used for that long, by clients that connect and leave, alongside fault rules and REST: exits
 * with 1 if a request was lost, or memory, descriptors or times grew.
 */

const { values } = parseArgs({
  options: {
    transactions: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    mutated: { type: 'string' },
    minutes: { type: 'string' },
    broker: { type: 'string' },
    snapshots: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const quantity = Number(values.transactions);
const seed = Number(values.seed);
if (!(Number.isInteger(quantity) && quantity > 0 && Number.isInteger(seed))) {
  console.error('--transactions must be a whole number, at least 1, and --seed a whole number');
  process.exit(2);
}

if (values.mutated !== undefined) {
  const frames = Number(values.mutated);
  if (!(Number.isInteger(frames) && frames > 0)) {
    console.error('--mutated must be a whole number of frames, at least 1');
    process.exit(2);
  }
  const began = performance.now();
  const results = await soakMutated(frames, seed);
  if (values.json) console.log(JSON.stringify(results));
  else {
    console.table(results);
    console.log(`in ${((performance.now() - began) / 1000).toFixed(0)} s; seed ${seed}`);
  }
  process.exit(results.every(({ executed, lost }) => executed + lost === 0) ? 0 : 1);
}

if (values.minutes !== undefined) {
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 100_000)) {
    console.error('--minutes must be above 0 and at most 100000');
    process.exit(2);
  }
  const { parts, problems } = await soakEndurance(minutes, seed, {
    ...values,
    say: (text) => console.error(text),
  });
  if (values.json) console.log(JSON.stringify({ parts, problems }));
  else {
    console.log(partsTable(parts));
    for (const problem of problems) console.error(problem);
    console.log(
      `${minutes} minutes in ${parts.length} parts; seed ${seed}: ${problems.length === 0 ? 'no drift' : 'FAILED'}`,
    );
  }
  process.exit(problems.length === 0 ? 0 : 1);
}

/** @type {readonly {baudRate: number, chunk: 1 | 8 | 16 | 'usb', t35: number}[]} */
const LINES = [
  { baudRate: 9600, t35: 38_500 / 9600 },
  { baudRate: 115200, t35: 1.75 },
].flatMap((speed) =>
  [1, 8, 16, 'usb'].map((chunk) => ({ ...speed, chunk: /** @type {1 | 8 | 16 | 'usb'} */ (chunk) })),
);

/** How many times a request is repeated before the transaction is given up. */
const RETRIES = 2;
/** How much the machine may add to the time on the wire, in ms: it may be busy, and this is not a timing test. */
const PATIENCE_MS = 15_000;

/**
 * @typedef {object} Result
 * @property {string} line
 * @property {number} transactions
 * @property {number} lost Requests that got no answer in time.
 * @property {number} retries Requests repeated because of that.
 * @property {number} wrong Answers with wrong bytes.
 * @property {number} early Answers whose first byte came before the request, t3.5 and one character could
 * have ended.
 * @property {number} strayBytes Bytes after the answers.
 * @property {number} median Round trip in ms, from writing the request to the answer's last byte.
 * @property {number} p99
 */

/** @param {{baudRate: number, chunk: 1 | 8 | 16 | 'usb'}} line */
const nameOf = ({ baudRate, chunk }) => `${baudRate}-${chunk}`;

const program = await startProgram({
  config: {
    devices: Object.fromEntries(LINES.map((line) => [nameOf(line), soakDevice])),
    lines: Object.fromEntries(
      LINES.map((line) => [
        nameOf(line),
        {
          serial: { path: 'virtual', baudRate: line.baudRate, parity: 'none', pacing: { chunk: line.chunk } },
          units: { 1: nameOf(line) },
        },
      ]),
    ),
  },
});
const startedAt = performance.now();
const results = await Promise.all(LINES.map(soak));
const seconds = (performance.now() - startedAt) / 1000;
const exitCode = await program.stop();

if (values.json) console.log(JSON.stringify(results));
else {
  console.table(
    results.map(({ median, p99, ...rest }) => ({
      ...rest,
      'median ms': median.toFixed(1),
      'p99 ms': p99.toFixed(1),
    })),
  );
  console.log(
    `${LINES.length} x ${quantity} transactions, all lines at once, in ${seconds.toFixed(0)} s; seed ${seed}`,
  );
}
const isClean = results.every(
  ({ lost, wrong, early, strayBytes }) => lost + wrong + early + strayBytes === 0,
);
if (exitCode !== 0) console.error(`the program exited with code ${exitCode}\n${program.output.stderr}`);
process.exit(isClean && exitCode === 0 ? 0 : 1);

/**
 * @param {{baudRate: number, chunk: 1 | 8 | 16 | 'usb', t35: number}} line
 * @param {number} index
 * @returns {Promise<Result>}
 */
async function soak(line, index) {
  const { baudRate, t35 } = line;
  // 8N1 has 10 bits per character.
  const characterTime = 10_000 / baudRate;
  const master = await Master.open(program.serialPath(nameOf(line)), baudRate, t35);
  const random = randomNumbers(seed + index);
  const result = {
    line: nameOf(line),
    transactions: 0,
    lost: 0,
    retries: 0,
    wrong: 0,
    early: 0,
    strayBytes: 0,
  };
  const roundTrips = [];
  const mix = transactions(seed + index);
  for (; result.transactions < quantity; result.transactions++) {
    const { request, answer } = mix.next().value;
    const timeout = PATIENCE_MS + (request.length + answer.length) * characterTime;
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      const got = await master.exchange(request, answer.length, timeout);
      if (!got) {
        result.lost++;
        if (attempt < RETRIES) result.retries++;
        continue;
      }
      if (!got.bytes.equals(answer)) result.wrong++;
      if (got.firstAt - got.sentAt < (request.length + 1) * characterTime + t35) result.early++;
      roundTrips.push(got.lastAt - got.sentAt);
      break;
    }
    // Masters are not synchronised with anything.
    if (random(4) === 0) await new Promise((resolve) => setTimeout(resolve, random(8)));
  }
  result.strayBytes = master.strayBytes;
  await master.close();
  return { ...result, ...spread(roundTrips) };
}

/** @param {number[]} times */
function spread(times) {
  const sorted = times.toSorted((a, b) => a - b);
  /** @param {number} share */
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { median: at(0.5), p99: at(0.99) };
}
