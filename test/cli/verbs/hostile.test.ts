import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTACKS } from '../../../scripts/hostile/attacks.mjs';
import { SERVER_ATTACKS } from '../../../scripts/hostile/hostile-servers.mjs';
import { heldMb, LINES, openDescriptors, startPlant } from '../../../scripts/hostile/plant.mjs';
import { REST_ATTACKS } from '../../../scripts/hostile/rest-attacks.mjs';
import { Siege } from '../../../scripts/hostile/siege.mjs';

/** Short: `node scripts/hostile.mjs` takes minutes for the same, and measures. */
const AMOUNT = { ms: 200, count: 300 };
/**
 * Nothing is measured here. What is kept of each bad request, or of each byte of a flood, would be much more.
 * The heaps of both threads and the system's allocator keep 135 to 195 MB for a while (six runs of two builds).
 */
const MEMORY_LIMIT_MB = 250;

let plant: Awaited<ReturnType<typeof startPlant>>;
let siege: Siege;
let before: { memory: number; descriptors: number };

beforeAll(async () => {
  plant = await startPlant();
  siege = new Siege(plant.program.pid, plant.probe, plant.targets);
  await siege.calm(500);
  const { pid } = plant.program;
  before = { memory: await heldMb(pid), descriptors: openDescriptors(pid) };
});
afterAll(async () => {
  await siege.end();
  await plant.program.stop();
  rmSync(plant.directory, { recursive: true });
});

const KINDS = {
  ...Object.fromEntries(Object.entries(LINES).map(([line, { kind }]) => [line, kind])),
  rest: 'rest',
};
// What is dear, many at once, needs a machine with nothing beside it: `scripts/hostile.mjs --line rest` plays it.
const ALL_ATTACKS = [...ATTACKS, ...REST_ATTACKS, ...SERVER_ATTACKS].filter(
  ({ name }) => !name.startsWith('many at once'),
);

describe.each(Object.entries(KINDS))(
  'a bad client on %s takes no answer from the good ones beside it',
  (line, kind) => {
    it.each(ALL_ATTACKS.filter(({ on }) => (on as readonly string[]).includes(kind)))(
      '$name',
      async ({ name }) => {
        const target = [...plant.targets, plant.rest].find((each) => each.line === line);
        if (target === undefined) throw new Error(`no line ${line}`);
        const { lost, answered, unanswered, descriptors } = await siege.attack(name, target, AMOUNT);
        expect({ lost, unanswered }).toEqual({ lost: {}, unanswered: [] });
        expect(answered).toBeGreaterThan(0);
        // One may still have been closing when the first count was made.
        expect(descriptors[1], 'file descriptors').toBeLessThanOrEqual(descriptors[0]);
      },
    );
  },
);

it('after all of it the program has the files open that it had, and about the memory', async () => {
  const { pid } = plant.program;
  await expect.poll(() => openDescriptors(pid)).toBeLessThanOrEqual(before.descriptors);
  await expect.poll(async () => (await heldMb(pid)) - before.memory).toBeLessThan(MEMORY_LIMIT_MB);
  expect(plant.program.output.stderr).not.toMatch(/"level":[56]0/);
});
