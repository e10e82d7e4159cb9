import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import type { Device } from '../../../src/device/device.js';
import { EXCEPTION_FLAG } from '../../../src/modbus/protocol/function-code.js';
import type { Line } from '../../../src/simulator/line.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import type { TrafficEvent } from '../../../src/simulator/traffic/event.js';
import type { Report } from '../../../src/testing/report/report.js';
import { TestRun } from '../../../src/testing/scenario/test-run.js';
import { pduOf } from '../../../src/testing/tested-line.js';
import { nativeSetup } from '../../support/configuration.js';
import { inVirtualTime, untilOver, type VirtualBench, virtualBench } from '../client/virtual-bench.js';
import { BENCH, read, scenarioOf } from './read.js';

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

/** The exception code of each reply; undefined for a good one. */
function exceptions({ simulator: { traffic } }: VirtualBench): (number | undefined)[] {
  const events = Array.from({ length: traffic.last }, (_, i) => traffic.read(i + 1));
  return events.flatMap((event) => {
    const pdu = event?.kind === 'reply' && pduOf(event);
    return pdu ? [(pdu[0] as number) & EXCEPTION_FLAG ? pdu[1] : undefined] : [];
  });
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
    expect(steps).toEqual([
      'pass: only 5 of 9 requests arrived within 1 s',
      'pass: only 5 of 9 requests arrived within 1 s',
    ]);
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
    expect(findings[0]?.summary).toBe('only 0 of 1 requests arrived within 10 s');
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

describe('manners of a step', () => {
  const shy = { manners: { meter: { most: { registers: 1, otherwise: 4 } } }, wait: { requests: 2 } };

  it('are added to those of the device, and end with the step', async () => {
    const bench = await virtualBench('tcp');
    const meter = bench.simulator.devices.get('meter') as Device;
    meter.manners = { wholeValues: true };
    let during: unknown;
    bench.clock.callAfter(300, () => {
      during = meter.manners;
    });
    const { report } = await play([{ wait: { requests: 1 } }, shy, { wait: { requests: 2 } }], bench);
    expect(report.findings[1]?.title).toBe(
      'manners {meter: {most: {registers: 1, otherwise: 4}}}, wait {requests: 2}',
    );
    expect(exceptions(bench)).toEqual([undefined, 4, 4, undefined, undefined]);
    expect(during).toEqual({ wholeValues: true, ...shy.manners.meter });
    expect(meter.manners).toEqual({ wholeValues: true });
  });

  it('are left to somebody who has set others meanwhile', async () => {
    const bench = await virtualBench('tcp');
    const meter = bench.simulator.devices.get('meter') as Device;
    const others = { wholeValues: true };
    bench.clock.callAfter(300, () => {
      meter.manners = others;
    });
    await play([{ ...shy, wait: '1s' }], bench);
    expect(meter.manners).toBe(others);
  });

  it('end when the test is stopped', async () => {
    const bench = await virtualBench('tcp');
    const run = newRun(bench, [{ ...shy, wait: '1h' }]);
    const over = run.run();
    await bench.clock.advanceAsync(1000);
    expect(bench.simulator.devices.get('meter')?.manners).toBeDefined();
    run.end('inconclusive', 'the test was stopped early');
    await untilOver(bench.clock, over);
    expect(bench.simulator.devices.get('meter')?.manners).toBeUndefined();
  });

  it.each<[what: string, step: object, message: string]>([
    [
      'an unknown device',
      { manners: { mter: {} }, wait: 1 },
      'manners.mter: unknown device "mter", did you mean',
    ],
    [
      'an unknown key',
      { manners: { meter: { hole: 1 } }, wait: 1 },
      'manners.meter.hole: unknown key "hole"',
    ],
    ['a step without an end', { manners: { meter: {} } }, '`manners` ends with its step, so the step needs'],
  ])('are refused for %s', (_, step, message) => {
    expect(read({ steps: [step] })).toEqual([expect.stringContaining(message)]);
  });

  it('that need connections are refused on a serial line', async () => {
    const { simulator } = await virtualBench('serial');
    const steps = [{ manners: { meter: { connectPause: '2s' } }, wait: 1 }];
    expect(read({ steps }, simulator)).toEqual([
      'steps[0].manners.meter.connectPause: needs a line with connections, and bus is serial',
    ]);
    expect(read({ steps })).not.toBeInstanceOf(Array);
  });
});

describe('a step with a closed line', () => {
  const gone = { closed: 'bus', wait: '3s' };
  const lineEvents = ({ simulator: { traffic } }: VirtualBench) =>
    Array.from({ length: traffic.last }, (_, i) => traffic.read(i + 1)).flatMap((event) =>
      event?.kind === 'line' ? [event.state] : [],
    );

  it('closes it with all connections, and opens it again before the next step', async () => {
    const bench = await virtualBench('tcp');
    const states: unknown[] = [];
    for (const ms of [500, 2500, 4500]) {
      bench.clock.callAfter(ms, () =>
        states.push([bench.simulator.lines.get('bus')?.state.kind, bench.tcp?.clients]),
      );
    }
    const { report, steps, events } = await play([{ wait: '1s' }, gone, { wait: { requests: 2 } }], bench);
    expect(report.findings.map(({ title }) => title)).toEqual([
      'wait 1 s',
      'closed bus, wait 3 s',
      'wait {requests: 2}',
    ]);
    expect(steps).toEqual(['pass: ', 'pass: ', 'pass: ']);
    expect(states).toEqual([
      ['open', 1],
      ['stopped', 0],
      ['open', 1],
    ]);
    expect(requestsIn(events[1])).toBe(0);
    expect(lineEvents(bench)).toEqual(['open', 'stopped', 'open']);
  });

  it('has it open again when a step after it is judged by what came too late', async () => {
    const bench = await virtualBench('tcp');
    const { steps } = await play([{ closed: ['bus'], expect: { unit: 1 }, within: '1s' }], bench);
    expect(steps).toEqual([expect.stringMatching(/^fail: .*; it arrived .* too late/s)]);
    expect(lineEvents(bench)).toEqual(['open', 'stopped', 'open']);
  });

  it('has it open again when the test is stopped', async () => {
    const bench = await virtualBench('tcp');
    const run = newRun(bench, [{ ...gone, wait: '1h' }, { wait: 1 }]);
    const over = run.run();
    await bench.clock.advanceAsync(1000);
    expect(bench.simulator.lines.get('bus')?.state.kind).toBe('stopped');
    run.end('inconclusive', 'the test was stopped early');
    const { findings } = await untilOver(bench.clock, over);
    expect(bench.simulator.lines.get('bus')?.state.kind).toBe('open');
    expect(findings.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'not run']);
  });

  it('ends the test with an error when it can not be opened again', async () => {
    const bench = await virtualBench('tcp');
    const line = bench.simulator.lines.get('bus') as Line;
    vi.spyOn(line, 'start').mockResolvedValue({ ok: false, error: 'the port is taken' });
    const { steps } = await play([gone, { wait: 1 }], bench);
    expect(steps).toEqual(['error: line bus could not be opened again: the port is taken', 'not run: ']);
  });

  it('does not open a line that was removed meanwhile, which nobody could close', async () => {
    const bench = await virtualBench('tcp');
    const line = bench.simulator.lines.get('bus') as Line;
    bench.clock.callAfter(1000, () => void bench.simulator.changes.removeLine('bus'));
    const { steps } = await play([gone], bench);
    expect(steps).toEqual(['error: line bus could not be opened again: it was removed']);
    expect(line.state.kind).toBe('stopped');
  });

  it('takes a line that somebody else closes later for an error, as ever', async () => {
    const bench = await virtualBench('tcp');
    bench.clock.callAfter(2000, () => void bench.simulator.lines.get('bus')?.stop());
    const { steps } = await play([{ ...gone, wait: '1s' }, { wait: '5s' }], bench);
    expect(steps).toEqual(['pass: ', 'error: line bus was closed: stopped']);
  });

  it('is refused where that line is not there, or not watched', async () => {
    const { simulator } = await virtualBench('tcp');
    expect(read({ steps: [{ ...gone, closed: ['bsu'] }] }, simulator)).toEqual([
      'steps[0].closed[0]: unknown line "bsu", did you mean "bus"? (known: bus)',
    ]);
    expect(read({ line: ['bsu'], steps: [gone] }, simulator)).toContain(
      'steps[0].closed: the scenario does not watch line bus: add it to `line`',
    );
    expect(read({ steps: [{ closed: 'bus' }] }, simulator)).toEqual([
      'steps[0]: `closed` ends with its step, so the step needs `expect`, `never` or `wait`',
    ]);
  });
});

describe('bytes that a step sends unsolicited', () => {
  const sent = (events: readonly TrafficEvent[] | undefined) =>
    events?.flatMap((event) =>
      event.kind === 'unsolicited' ? [Buffer.from(event.bytes).toString('hex')] : [],
    );

  it.each(['tcp', 'serial'] as const)('leave once on a %s line, also just after a request', async (on) => {
    const bench = await virtualBench(on);
    const { report, events } = await play(
      [{ wait: { requests: 2 } }, { unsolicited: { bus: '00 ff12' } }, { wait: '3s' }],
      bench,
    );
    expect(report.findings.map(({ title, verdict }) => `${verdict} ${title}`)).toEqual([
      'pass wait {requests: 2}',
      'pass unsolicited {bus: 00 ff12}',
      'pass wait 3 s',
    ]);
    expect(sent(events.flat())).toEqual(['00ff12']);
    expect(bench.simulator.lines.get('bus')?.counters.unsolicited).toBe(1);
  });

  it.each<[what: string, unsolicited: unknown, message: string]>([
    ['an unknown line', { bsu: '00' }, 'steps[0].unsolicited.bsu: unknown line "bsu"'],
    [
      'no bytes',
      { bus: '' },
      'steps[0].unsolicited.bus: expected bytes as 1 to 512 bytes of hexadecimal text',
    ],
    ['too many', { bus: '00'.repeat(513) }, 'steps[0].unsolicited.bus: expected bytes as 1 to 512 bytes'],
    ['no mapping', '00', 'steps[0].unsolicited: expected bytes by line name'],
    ['UDP', { lan: '00' }, 'steps[0].unsolicited.lan: a UDP line only answers requests'],
    ['a monitor', { tap: '00' }, 'steps[0].unsolicited.tap: a line with mode monitor never sends a byte'],
  ])('are refused for %s', (_, unsolicited, message) => {
    const lines = {
      ...BENCH.lines,
      lan: { udp: { port: 0 }, units: { 1: 'meter' } },
      tap: { serial: { path: 'virtual' }, mode: 'monitor' },
    };
    const simulator = new Simulator(nativeSetup({ ...BENCH, lines }), pino({ level: 'silent' }));
    expect(read({ steps: [{ unsolicited }] }, simulator)).toEqual([expect.stringContaining(message)]);
  });
});
