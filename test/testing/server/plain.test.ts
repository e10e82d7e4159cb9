import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { textOf } from '../../../src/testing/server/check.js';
import { tries } from '../../support/tries.js';
import { testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** `MODBUS_SIM_SERVER_TESTS=200` tests as often as docs/error-rates.md says; the file gets what was counted. */
const { MODBUS_SIM_SERVER_TESTS: many = tries(3), MODBUS_SIM_SERVER_TESTS_FILE: file } = process.env;
const SEEDS = Array.from({ length: Number(many) }, (_, i) => i + 1);
const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } };

/** Delays of up to 20 ms on each way, as on a busy machine. */
const JITTER = (random: { next(): number }) => 20 * random.next() ** 3;

/** How often each verdict came, by line; `inconclusive` with the check. */
const counts = new Map<string, number>();

afterAll(() => {
  if (file) writeFileSync(file, [...counts].map(([what, often]) => `${what}: ${often}\n`).join(''));
});

describe.each(['tcp', 'serial'] as const)('a plain simulator on %s', (on) => {
  it.each(SEEDS)('has no violation, seed %i with jitter', async (seed) => {
    const order = { seed, scratch: SCRATCH, broadcast: on === 'serial' };
    const { serverTest, those } = await testModelServer({ on, lateness: JITTER, order });
    for (const { verdict, check } of serverTest.findings) {
      const what = `${on} ${verdict}${verdict === 'inconclusive' ? ` ${check.id}` : ''}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
    expect(
      serverTest.findings
        .filter(({ verdict }) => verdict === 'violates')
        .map((each) => `${each.check.id}: ${textOf(each)}`),
    ).toEqual([]);
    // Connections of the virtual bench end with a frame of another protocol.
    expect(those('inconclusive')).toEqual(on === 'tcp' ? ['mbap-protocol'] : []);
    expect(serverTest.isReached).toBe(true);
  });
});

it('everything without writes at 9600 baud takes less than 5 minutes, and shows most within 30 s', async () => {
  const found: number[] = [];
  const { serverTest } = await testModelServer({
    ...{ on: 'serial', pacedAt: 9600, faults: [{ name: 'late', do: [{ delay: 20 }] }] },
    onFinding: ({ verdict }, at) => {
      if (verdict !== 'not-run') found.push(at);
    },
  });
  expect(serverTest.findings.filter(({ verdict }) => verdict === 'violates')).toEqual([]);
  expect(serverTest.durationMs).toBeLessThan(300_000);
  expect(found.filter((at) => at < 30_000).length).toBeGreaterThan(found.length / 2);
});
