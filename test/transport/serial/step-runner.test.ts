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

/** A runner on a port that notes what happens to it. `taken` false means that nobody takes the bytes. */
function runnerOn({ taken = true } = {}) {
  const happened: string[] = [];
  const runner = new StepRunner({
    port: {
      write: (content) => {
        happened.push([...content].join(' '));
        return taken ? undefined : 'nobody has the line open';
      },
      sendBreak: async (ms) => {
        happened.push('break');
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
  return { runner, happened, reports, start };
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
    const { runner, start } = runnerOn();
    start(bytes(0, 1), bytes(60_000, 2));
    expect(runner.cancel()).toHaveLength(1);
    expect(runner.cancel()).toEqual([]);
  });

  it('that were called off are not done, and their reply does not end', async () => {
    const { runner, happened, reports, start } = runnerOn();
    start(bytes(0, 1), bytes(5, 2));
    runner.cancel();
    await pause(30);
    expect(happened).toEqual(['1']);
    expect(reports).toEqual([]);
  });

  it('wait for the end of a break that was called off', async () => {
    const { runner, happened, start } = runnerOn();
    start({ kind: 'break', waitMs: 0, ms: 40 }, bytes(0, 1));
    runner.cancel();
    start(bytes(0, 2));
    await expect.poll(() => happened).toEqual(['break', 'break ends', '2']);
  });
});
