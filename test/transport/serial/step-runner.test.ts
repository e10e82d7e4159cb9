import { describe, expect, it } from 'vitest';
import type { StepReport } from '../../../src/protocol/play-report.js';
import type { Step } from '../../../src/protocol/reply-plan.js';
import { StepRunner } from '../../../src/transport/serial/step-runner.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
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
}

/** A runner on a port that notes what happens to it. */
function runnerOn({ taken = true, writing = () => {}, breaking = () => {} }: PortOptions = {}) {
  const happened: string[] = [];
  const runner = new StepRunner({
    port: {
      write: (content) => {
        happened.push([...content].join(' '));
        writing();
        return taken ? undefined : 'nobody has the line open';
      },
      sendBreak: async (ms) => {
        happened.push('break');
        breaking();
        await pause(ms);
        happened.push('break ends');
        return undefined;
      },
    },
    wireTime: 0,
    outputHold: 0,
    lead: 0,
  });
  const reports: (readonly StepReport[])[] = [];
  const start = (...steps: Step[]) => runner.start(steps, performance.now(), (done) => reports.push(done));
  const calledOff: (readonly StepReport[])[] = [];
  const cancel = () => runner.cancel((done) => calledOff.push(done));
  return { runner, happened, reports, start, calledOff, cancel };
}

describe('the steps of a reply', () => {
  it('are reported as not achieved when nobody takes the bytes', () => {
    const { reports, start } = runnerOn({ taken: false });
    start(bytes(0, 1));
    expect(reports).toEqual([
      [expect.objectContaining({ outcome: 'not achieved', reason: 'nobody has the line open' })],
    ]);
  });

  it('that were called off leave nothing in the report of the next reply', () => {
    const { start, cancel, calledOff } = runnerOn();
    start(bytes(0, 1), bytes(60_000, 2));
    cancel();
    cancel();
    expect(calledOff).toEqual([[expect.objectContaining({ outcome: 'achieved' })], []]);
  });

  it('that were called off are not done, and their reply does not end', async () => {
    const { happened, reports, start, cancel } = runnerOn();
    start(bytes(0, 1), bytes(5, 2));
    cancel();
    await pause(30);
    expect(happened).toEqual(['1']);
    expect(reports).toEqual([]);
  });

  it('with a break that was called off are reported when it has ended, and not changed later', async () => {
    const { runner, happened, reports, start, calledOff, cancel } = runnerOn();
    start({ kind: 'break', waitMs: 0, ms: 40 }, bytes(0, 1));
    cancel();
    cancel();
    expect(calledOff).toEqual([[]]);
    await runner.breaking;
    expect(runner.breaking).toBeUndefined();
    start(bytes(0, 2));
    await expect.poll(() => calledOff).toHaveLength(2);
    expect(happened.slice(0, 2)).toEqual(['break', 'break ends']);
    expect(calledOff[1]).toEqual([expect.objectContaining({ outcome: 'achieved' })]);
    await pause(20);
    expect(calledOff[1]).toHaveLength(1);
    expect(happened).toEqual(['break', 'break ends', '2']);
    expect(reports).toEqual([[expect.objectContaining({ outcome: 'achieved' })]]);
  });

  it('end with a break in which they were called off, once', async () => {
    const line = runnerOn({ breaking: () => line.cancel() });
    line.start({ kind: 'break', waitMs: 0, ms: 5 }, bytes(0, 1));
    await pause(30);
    expect(line.happened).toEqual(['break', 'break ends']);
    expect(line.reports).toEqual([]);
    expect(line.calledOff).toEqual([[expect.objectContaining({ outcome: 'achieved' })]]);
  });

  it('end with the one in which they were called off, which is in the report', () => {
    const line = runnerOn({ taken: false, writing: () => line.cancel() });
    line.start(bytes(0, 1), bytes(0, 2));
    expect(line.happened).toEqual(['1']);
    expect(line.reports).toEqual([]);
    expect(line.calledOff).toEqual([
      [expect.objectContaining({ outcome: 'not achieved', reason: 'nobody has the line open' })],
    ]);
  });
});
