import { afterEach, describe, expect, it, vi } from 'vitest';
import { inspectServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Up to 20 ms on each way, as on a busy machine. */
const JITTER = (random: { next(): number }) => 20 * random.next() ** 3;

describe.each(['tcp', 'serial'] as const)('a plain simulator on %s', (on) => {
  it.each([1, 2, 3])('has no violation, seed %i with jitter', async (seed) => {
    const { inspection, those } = await inspectServer({ on, lateness: JITTER, order: { seed } });
    expect(
      inspection.findings
        .filter(({ verdict }) => verdict === 'violates')
        .map(({ check, text }) => `${check.id}: ${text}`),
    ).toEqual([]);
    // Connections of the virtual bench end with a frame of another protocol.
    expect(those('inconclusive')).toEqual(on === 'tcp' ? ['mbap-protocol'] : []);
    expect(inspection.isReached).toBe(true);
  });
});
