import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/modbus/transport/clock.js';
import { type Doing, doingText } from '../../src/testing/doing.js';
import type { RunKind } from '../../src/testing/run-kinds.js';
import { inVirtualTime, newClientTest, untilOver, virtualBench } from './client/virtual-bench.js';
import { fuzzModel } from './fuzz/fuzz-bench.js';
import { testModelServer } from './server/virtual-server.js';

/* What a run says that it does now, in virtual time. */

inVirtualTime();

interface Look {
  readonly at: number;
  readonly doing: Doing;
  readonly text: string;
}

/** Looks at a run every half second until it is over. */
function looks(kind: RunKind, clock: Clock, run: { readonly doing: Doing | undefined }): readonly Look[] {
  const seen: Look[] = [];
  const look = () => {
    const { doing } = run;
    if (!doing) return;
    seen.push({ at: clock.now(), doing, text: doingText(kind, doing) });
    clock.callAfter(500, look);
  };
  look();
  return seen;
}

/** By which factor the estimates were wrong after this share of the time, at the median. */
function errorAfter(seen: readonly Look[], share: number, endedAt: number): number {
  const from = (seen[0]?.at ?? 0) + share * (endedAt - (seen[0]?.at ?? 0));
  const factors = seen
    .filter(({ at, doing: { moreMs } }) => at >= from && moreMs !== undefined && at < endedAt - 10_000)
    .map(({ at, doing: { moreMs = 0 } }) => (moreMs + 1) / (endedAt - at))
    .map((factor) => Math.max(factor, 1 / factor))
    .sort((a, b) => a - b);
  return factors[factors.length >> 1] ?? 1;
}

describe('what a run does now', () => {
  it('is said in the same words everywhere', () => {
    const outage = { what: 'an outage of 60 s', number: 7, of: 34, leftMs: 48_200, moreMs: 251_000 };
    expect(doingText('client', outage)).toBe('check 7 of 34, an outage of 60 s, 48 s left; about 4 min more');
    expect(doingText('server', { what: 'Identifies itself', number: 1, of: 3, moreMs: 100 })).toBe(
      'check 1 of 3, Identifies itself; about 5 s more',
    );
    const last = { text: 'unit 1 read coils 0', agoMs: 2100 };
    expect(doingText('fuzz', { what: '{delay: 900} for one request', number: 57, last })).toBe(
      'move 57, {delay: 900} for one request; last from the client, 2 s ago: unit 1 read coils 0',
    );
  });

  it('is a check of a client, with what is left of its outage and about how long the rest takes', async () => {
    const bench = await virtualBench('tcp');
    const { clientTest } = newClientTest(bench, {});
    const seen = looks('client', bench.clock, clientTest);
    void bench.client().poll();
    await untilOver(bench.clock, clientTest.run());
    const endedAt = bench.clock.now();
    expect(clientTest.doing).toBeUndefined();
    expect(seen[0]?.text).toBe('watching the client');
    const outage = seen.filter(({ text }) => /^check \d+ of \d+, an outage of 60 s, \d+ s left/.test(text));
    const left = outage.map(({ doing }) => doing.leftMs ?? 0);
    expect(left.length).toBeGreaterThan(100);
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    // The client that was measured: by a factor of 1.2 after a tenth of the time.
    expect(errorAfter(seen, 0.1, endedAt)).toBeLessThan(2);
  });

  it('is a check of a server', async () => {
    let seen: readonly Look[] = [];
    await testModelServer({
      order: { soakMs: 10_000, checks: ['soak', 'refusals'] },
      onRun: (run, _, clock) => {
        seen = looks('server', clock, run);
      },
    });
    const numbers = seen.flatMap(({ doing: { number } }) => number ?? []);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    const soak = seen.filter(({ text }) =>
      /^check \d+ of \d+, Keeps answering, \d+ s left; about \d+ s more$/.test(text),
    );
    expect(soak.length).toBeGreaterThan(10);
  });

  it('is a move, and what the client did last', async () => {
    let seen: readonly Look[] = [];
    await fuzzModel({ on: 'tcp', habits: {} }, { mostMoves: 12, limitMs: 600_000 }, 0, (fuzz, clock) => {
      seen = looks('fuzz', clock, fuzz);
    });
    expect(seen.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(
        /^move \d+, \{.*\} for (one|\d+) requests?; last from the client, just now: unit 1 read .*; at most 9 min 30 s more$/,
      ),
    );
  });
});
