import { describe, expect, it } from 'vitest';
import type { TrafficEvent } from '../../../src/simulator/traffic/event.js';
import type { Report } from '../../../src/testing/report/report.js';
import { TestRun } from '../../../src/testing/scenario/test-run.js';
import { inVirtualTime, untilOver, type VirtualBench, virtualBench } from '../examine/virtual-bench.js';
import { read, scenarioOf } from './read.js';

/* What steps do to a client that polls in virtual time. */

inVirtualTime();

interface Played {
  readonly bench: VirtualBench;
  readonly report: Report;
  /** Each step as `verdict: message`. */
  readonly steps: readonly string[];
  /** The events that came during each step. */
  readonly events: readonly (readonly TrafficEvent[])[];
}

function newRun({ simulator, clock }: VirtualBench, steps: readonly object[]): TestRun {
  const written = steps.map((step) => ({ ...step, capture: 'step.pcapng' }));
  const scenario = scenarioOf({ name: 'a test', steps: written }, simulator);
  return new TestRun(simulator, scenario, () => {}, clock);
}

/** Plays steps while a client asks unit 1 of the line `bus` five times a second. */
async function play(steps: readonly object[], bench: VirtualBench): Promise<Played> {
  const client = bench.client();
  const run = newRun(bench, steps);
  void client.poll();
  const report = await untilOver(bench.clock, run.run());
  client.stop();
  const { traffic } = bench.simulator;
  return {
    bench,
    report,
    steps: report.findings.map(({ verdict, summary }) => `${verdict}: ${summary}`),
    events: run.captures.map(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => traffic.read(first + i)).filter((event) => !!event),
    ),
  };
}

const requestsIn = (events: readonly TrafficEvent[] | undefined) =>
  events?.filter(({ kind }) => kind === 'request').length;

describe('a step that waits for requests', () => {
  it('ends with the last of them, on which its fault has acted', async () => {
    const bench = await virtualBench('tcp');
    const { report, steps, events } = await play(
      [
        { wait: { requests: 3 } },
        { fault: { do: [{ exception: 6 }] }, wait: { requests: 1 }, within: '20s' },
      ],
      bench,
    );
    expect(steps).toEqual(['pass: ', 'pass: ']);
    expect(report.findings.map(({ title }) => title)).toEqual([
      'wait {requests: 3}',
      'a fault, wait {requests: 1}',
    ]);
    expect(events.map(requestsIn)).toEqual([3, 1]);
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });

  it('passes when fewer came in its time, and says how many', async () => {
    const bench = await virtualBench('tcp');
    const few = { wait: { requests: 9 }, within: '1s' };
    const { steps } = await play([few, { ...few, never: { function: 5 } }], bench);
    expect(steps).toEqual(['pass: 5 of 9 requests came within 1 s', 'pass: 5 of 9 requests came within 1 s']);
  });

  it('waits 10 s unless it says otherwise, and shows nothing of what never came when nobody asks', async () => {
    const { clock, simulator } = await virtualBench('tcp');
    const steps = [{ wait: { requests: 1 } }, { wait: { requests: 1 }, never: { function: 5 } }];
    const run = new TestRun(simulator, scenarioOf({ steps }, simulator), () => {}, clock);
    const { findings } = await untilOver(clock, run.run());
    expect(findings.map(({ verdict, durationMs }) => [verdict, durationMs])).toEqual([
      ['pass', 10_000],
      ['inconclusive', 10_000],
    ]);
    expect(findings[0]?.summary).toBe('0 of 1 requests came within 10 s');
  });

  it('is read as such', () => {
    const steps = [
      { wait: { requests: 3 }, within: '2s' },
      { wait: '2s', within: '2s' },
      { wait: { request: 3 } },
    ];
    expect(read({ steps: steps.slice(0, 1) })).toMatchObject({
      steps: [{ goal: { kind: 'wait', ms: 2000, requests: 3 } }],
    });
    expect(read({ steps: steps.slice(1) })).toEqual([
      'steps[0].within: belongs to `expect`, `never` or `wait: {requests: 3}`',
      expect.stringMatching(/^steps\[1\]\.wait: expected .*, or \{requests: 3\}/),
    ]);
  });
});
