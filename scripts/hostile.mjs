import { rmSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ATTACKS } from './hostile/attacks.mjs';
import { playDocument, TURN_LIMIT_MS } from './hostile/document.mjs';
import { SERVER_ATTACKS } from './hostile/hostile-servers.mjs';
import { heapMb, heldMb, startPlant } from './hostile/plant.mjs';
import { REST_ATTACKS } from './hostile/rest-attacks.mjs';
import { Siege } from './hostile/siege.mjs';
import { counts, row, slower, table } from './hostile/table.mjs';
import { play, TRICKS } from './hostile/tricks.mjs';

/*
 * node scripts/hostile.mjs [--seconds 10] [--rest 10] [--line NAME] [--attack TEXT] [--json]
 * node scripts/hostile.mjs --line document [--requests 300000] [--seed 1] [--from 0] [--json]
 *
 * Plays tricks with files, names and terminals, and reports for each whether the program withstood it;
 * `--line none` plays only these. Then runs the built program with a line of every kind and a well-behaved
 * client on each, and attacks one line after another, and finally REST (`--line rest`). `--attack` picks the
 * attacks with TEXT in their names. Prints a Markdown table of the effects on the well-behaved clients, on
 * memory and on file descriptors; its first row is the program without an attack. Exits with 1 if a trick
 * deceived the program or its user, a request of a well-behaved client was lost, or memory or descriptors
 * were not released; times are only reported, because they depend on the machine.
 *
 * `--line document` sends requests generated from the OpenAPI document, valid and hostile ones, for all
 * operations, alongside a client that polls every 5 ms. It exits with 1 if an answer was 500 or undocumented,
 * a poll was lost, a request repeatedly takes a turn of the lines over 5 ms, or `check` rejects the
 * configuration that is written from time to time.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rest: { type: 'string', default: '10' },
    line: { type: 'string' },
    attack: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    requests: { type: 'string', default: '300000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
  },
});
const seconds = Number(values.seconds);
const rest = Number(values.rest);
if (!(seconds > 0 && rest >= 0)) {
  console.error('--seconds must be above 0 and --rest must not be negative (both in seconds)');
  process.exit(2);
}

/** How much more the heaps of both threads may hold after attacks, without garbage. */
const HEAP_LIMIT_MB = 5;
/**
 * The same for all memory. Node keeps the pages of each thread's young generation, up to 48 MB, once they
 * have been needed: because of them, 37 MB more were held although both heaps were as before.
 */
const MEMORY_LIMIT_MB = 60;
const SLOWER_LIMIT = 5;
const CALM_MS = 5000;
const CONNECTIONS = 10_000;
const WARM_UP = { ms: 300, count: 300 };
/** Longer than the program tolerates a client that does not read. */
const NEVER_READS_MS = 12_000;
const OTHER_MS = 2000;

if (values.line === 'document') {
  const { failures, slow, ...seen } = await playDocument({
    requests: Number(values.requests),
    seed: Number(values.seed),
    from: Number(values.from),
    say,
  });
  const sure = slow.filter((each) => each.sure);
  if (values.json) console.log(JSON.stringify({ ...seen, failures, slow }));
  else {
    console.log(`${seen.sent} requests: ${counts(seen.statuses)}`);
    console.log(`polls ${seen.polls}, lost ${seen.lost}, slowest ${seen.longest.toFixed(1)} ms`);
    console.log(
      `longest turn of the line thread ${seen.worst.toFixed(1)} ms; longer turns that the same requests did not repeat: ${slow.length - sure.length}`,
    );
  }
  end(
    [
      ...failures,
      ...(seen.lost > 0 ? [`polls lost: ${seen.lost}`] : []),
      ...sure.map(({ turn, what }) => `a turn of ${turn.toFixed(1)} ms: ${what}`),
    ],
    `no status 500, no lost poll, no turn over ${TURN_LIMIT_MS} ms`,
  );
}

/** @type {string[]} */
const fooled = [];
for (const trick of [undefined, 'none'].includes(values.line) ? TRICKS : []) {
  if (!trick.name.includes(values.attack)) continue;
  const { held, seen } = await play(trick);
  const told = `${trick.name}: ${held ? 'held' : 'NOT held'}: ${seen}`;
  if (held) say(told);
  else fooled.push(told);
}
if (values.line === 'none') end(fooled, 'all tricks held');

const { program, targets, rest: api, probe, directory } = await startPlant();
const attacked = [...targets, api].filter(({ line }) => values.line === undefined || line === values.line);
const siege = new Siege(program.pid, probe, targets, 'polite');
const plan = attacked.flatMap((target) =>
  [...ATTACKS, ...REST_ATTACKS, ...SERVER_ATTACKS]
    .filter(({ name, on }) => on.includes(target.kind) && name.includes(values.attack))
    .map(({ name }) => ({ name, target })),
);

await delay(2000);
const cold = await heldMb(program.pid);
for (const { name, target } of plan) await siege.attack(name, target, WARM_UP);
await delay(1000 * rest);
const calm = await siege.calm(CALM_MS);
const warm = await heldMb(program.pid);
say(
  `memory after garbage collection: ${cold.toFixed(1)} MB at the start, ${warm.toFixed(1)} MB after one short round of all attacks and ${rest} s of rest`,
);
const load = loadavg()[0] ?? Number.NaN;
say(
  `machine load ${load.toFixed(2)}; p99 without attacks, in ms: ${[...calm.p99].map(([line, ms]) => `${line} ${ms.toFixed(2)}`).join(', ')}; longest stall ${calm.stall.toFixed(1)}, longest turn ${calm.work.toFixed(1)}`,
);

const effects = [];
const heaps = async () => (await heapMb(probe, 'lines')).used + (await heapMb(probe, 'desk')).used;
/** @type {{line: string, before: number, rested: number, heapBefore: number, heapRested: number}[]} */
const rests = [];
for (const target of attacked) {
  const before = await heldMb(program.pid);
  const heapBefore = await heaps();
  for (const { name } of plan.filter((step) => step.target === target)) {
    const effect = await siege.attack(name, target, { ms: lastingMs(name, target.line), count: CONNECTIONS });
    effects.push(effect);
    say(row(effect, calm));
  }
  await delay(1000 * rest);
  const rested = await heldMb(program.pid);
  const heapRested = await heaps();
  rests.push({ line: target.line, before, rested, heapBefore, heapRested });
  say(
    `${target.line}: ${before.toFixed(1)} MB before, ${rested.toFixed(1)} MB after ${rest} s of rest; heaps ${heapBefore.toFixed(1)} MB before, ${heapRested.toFixed(1)} MB after`,
  );
}
const last = await heldMb(program.pid);
await siege.end();
const exitCode = await program.stop();
rmSync(directory, { recursive: true });

const failures = [
  ...fooled,
  ...effects
    .filter(({ lost }) => Object.keys(lost).length > 0)
    .map(
      ({ line, attack, lost }) =>
        `${line}, ${attack}: requests from well-behaved clients lost: ${counts(lost)}`,
    ),
  ...effects
    .filter(({ unanswered }) => unanswered.length > 0)
    .map(({ line, attack, unanswered }) => `${line}, ${attack}: no answers on ${unanswered.join(', ')}`),
  ...effects
    .filter(({ descriptors: [before, after] }) => before !== after)
    .map(
      ({ line, attack, descriptors }) => `${line}, ${attack}: ${descriptors.join(' -> ')} file descriptors`,
    ),
  ...rests
    .filter(({ before, rested }) => rested - before > MEMORY_LIMIT_MB)
    .map(({ line, before, rested }) => `${line}: memory grew by ${(rested - before).toFixed(1)} MB`),
  ...rests
    .filter(({ heapBefore, heapRested }) => heapRested - heapBefore > HEAP_LIMIT_MB)
    .map(
      ({ line, heapBefore, heapRested }) =>
        `${line}: the heaps grew by ${(heapRested - heapBefore).toFixed(1)} MB`,
    ),
  ...(last - warm > MEMORY_LIMIT_MB
    ? [`memory grew by ${(last - warm).toFixed(1)} MB since the warm-up`]
    : []),
  ...(exitCode === 0 ? [] : [`the program exited with code ${exitCode}\n${program.output.stderr}`]),
];
const slowest = Math.max(...effects.map((effect) => slower(effect, calm)));
if (values.json)
  console.log(JSON.stringify({ cold, warm, end: last, calm: Object.fromEntries(calm.p99), effects, rests }));
else {
  console.log(
    `Node ${process.versions.node}, ${availableParallelism()} processors, load ${load.toFixed(1)} before the attacks and ${loadavg()[0]?.toFixed(1)} after them\n`,
  );
  console.log(`${table(effects, calm)}\n`);
  console.log(
    `memory after garbage collection: ${cold.toFixed(1)} MB at the start, ${warm.toFixed(1)} MB after the warm-up, ${last.toFixed(1)} MB at the end`,
  );
  console.log(
    `slowest p99 of a well-behaved client: ${slowest.toFixed(1)} times its p99 without attacks (goal: ${SLOWER_LIMIT} times; not judged)`,
  );
}
end(failures, 'nothing lost; memory and file descriptors back to their earlier levels');

/** @param {readonly string[]} failures @param {string} good @returns {never} */
function end(failures, good) {
  for (const failure of failures) console.error(failure);
  console.log(failures.length === 0 ? good : 'FAILED');
  process.exit(failures.length === 0 ? 0 : 1);
}

/** @param {string} text */
function say(text) {
  console.error(text);
}

/** @param {string} name @param {string} line */
function lastingMs(name, line) {
  if (name.startsWith('random')) return 1000 * seconds;
  return name === 'sends and never reads' && line === 'tcp'
    ? Math.min(NEVER_READS_MS, 1200 * seconds)
    : OTHER_MS;
}
