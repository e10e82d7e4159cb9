import { describe, expect, it } from 'vitest';
import type { Step, StepReport } from '../../../../src/modbus/protocol/reply-plan.js';
import { StepRunner } from '../../../../src/modbus/transport/serial/step-runner.js';
import { VirtualClock } from '../../../support/virtual-clock.js';

const bytes = (waitMs: number, ...content: number[]): Step => ({
  kind: 'bytes',
  waitMs,
  bytes: Uint8Array.from(content),
  continues: false,
});

interface PortOptions {
  /** False means that nobody takes the bytes. */
  readonly taken?: boolean;
  /** Called inside of each write. */
  readonly writing?: () => void;
  /** Called at the beginning of each break. */
  readonly breaking?: () => void;
  /** How long a character is on the wire, in ms. */
  readonly wireTime?: number;
}

/** A runner on a port that notes what happens to it. */
function runnerOn({ taken = true, writing = () => {}, breaking = () => {}, wireTime = 0 }: PortOptions = {}) {
  const happened: string[] = [];
  const clock = new VirtualClock();
  const runner = new StepRunner(
    {
      port: {
        write: (content) => {
          happened.push([...content].join(' '));
          writing();
          return taken ? undefined : 'no client has the line open';
        },
        sendBreak: async (ms) => {
          happened.push('break');
          breaking();
          await new Promise<void>((resolve) => clock.callAfter(ms, resolve));
          happened.push('break ends');
          return undefined;
        },
      },
      timing: { wireTime, outputHold: 0, lead: 0 },
    },
    clock,
  );
  const reports: (readonly StepReport[])[] = [];
  const start = (...steps: Step[]) => runner.start(steps, clock.now(), (done) => reports.push(done));
  const calledOff: (readonly StepReport[])[] = [];
  const cancel = () => runner.cancel('a newer request came', (done) => calledOff.push(done));
  return { clock, runner, happened, reports, start, calledOff, cancel };
}

describe('the steps of a reply', () => {
  it('are reported as not achieved when nobody takes the bytes', () => {
    const { reports, start } = runnerOn({ taken: false });
    start(bytes(0, 1));
    expect(reports).toEqual([
      [expect.objectContaining({ outcome: 'not achieved', reason: 'no client has the line open' })],
    ]);
  });

  it('have a report each when they are called off: the rest was not reached', () => {
    const { start, cancel, calledOff } = runnerOn();
    start(bytes(0, 1), bytes(60_000, 2), bytes(1000, 3));
    expect(cancel()).toBe(true);
    expect(cancel()).toBe(false);
    const unreached = { achievedAt: 0, endedAt: 0, outcome: 'not achieved', reason: 'a newer request came' };
    expect(calledOff).toEqual([
      [
        expect.objectContaining({ outcome: 'achieved' }),
        { plannedAt: 60_000, uncertainty: undefined, ...unreached },
        { plannedAt: 61_000, uncertainty: undefined, ...unreached },
      ],
    ]);
  });

  it('wait with a break until the bytes before it have left the wire', async () => {
    const { clock, happened, start } = runnerOn({ wireTime: 1 });
    start(bytes(0, 1, 2, 3), { kind: 'break', waitMs: 0, ms: 5 }, bytes(0, 4));
    clock.advance(2);
    expect(happened).toEqual(['1 2 3']);
    await clock.advanceAsync(1);
    expect(happened).toEqual(['1 2 3', 'break']);
    await clock.advanceAsync(5);
    expect(happened).toEqual(['1 2 3', 'break', 'break ends', '4']);
  });

  it('that were called off are not done, and their reply does not end', () => {
    const { clock, happened, reports, start, cancel } = runnerOn();
    start(bytes(0, 1), bytes(5, 2));
    cancel();
    clock.advance(30);
    expect(happened).toEqual(['1']);
    expect(reports).toEqual([]);
  });

  it('with a break that was called off are reported when it has ended, and not changed later', async () => {
    const { clock, runner, happened, reports, start, calledOff, cancel } = runnerOn();
    start({ kind: 'break', waitMs: 0, ms: 40 }, bytes(0, 1));
    cancel();
    expect(cancel()).toBe(false);
    expect(calledOff).toEqual([]);
    await clock.advanceAsync(40);
    expect(runner.breaking).toBeUndefined();
    start(bytes(0, 2));
    await clock.advanceAsync(20);
    expect(happened).toEqual(['break', 'break ends', '2']);
    expect(calledOff).toEqual([
      [
        expect.objectContaining({ outcome: 'achieved' }),
        expect.objectContaining({ outcome: 'not achieved', reason: 'a newer request came' }),
      ],
    ]);
    expect(reports).toEqual([[expect.objectContaining({ outcome: 'achieved' })]]);
  });

  it('end with a break in which they were called off, once', async () => {
    const line = runnerOn({ breaking: () => line.cancel() });
    line.start({ kind: 'break', waitMs: 0, ms: 5 }, bytes(0, 1));
    await line.clock.advanceAsync(30);
    expect(line.happened).toEqual(['break', 'break ends']);
    expect(line.reports).toEqual([]);
    expect(line.calledOff).toEqual([
      [
        expect.objectContaining({ outcome: 'achieved' }),
        expect.objectContaining({ outcome: 'not achieved', reason: 'a newer request came' }),
      ],
    ]);
  });

  it('end with the one in which they were called off, which has its own reason', () => {
    const line = runnerOn({ taken: false, writing: () => line.cancel() });
    line.start(bytes(0, 1), bytes(0, 2));
    expect(line.happened).toEqual(['1']);
    expect(line.reports).toEqual([]);
    expect(line.calledOff).toEqual([
      [
        expect.objectContaining({ outcome: 'not achieved', reason: 'no client has the line open' }),
        expect.objectContaining({ outcome: 'not achieved', reason: 'a newer request came' }),
      ],
    ]);
  });

  it('are reported as not achieved where a serial line has no such thing', () => {
    const { reports, start } = runnerOn();
    start({ kind: 'close', waitMs: 0, how: 'end' }, bytes(0, 1));
    expect(reports).toEqual([
      [
        expect.objectContaining({ reason: 'a serial line has no connection to close' }),
        expect.objectContaining({ outcome: 'achieved' }),
      ],
    ]);
  });
});
