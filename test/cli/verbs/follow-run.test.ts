import { describe, expect, it } from 'vitest';
import { type FollowedRun, followRun, type RunCarrier } from '../../../src/cli/verbs/follow-run.js';
import { failure, success } from '../../../src/common/result.js';

const NEVER = new Promise<never>(() => {});

/** A simulator with a run that is over after this many questions, or when stopped; those after `lost` fail. */
function simulatorWith({ over, lost = Number.POSITIVE_INFINITY }: { over: number; lost?: number }) {
  const asked: string[] = [];
  let isOver = false;
  const run = (): FollowedRun => ({ id: 7, isOver, findings: [] });
  const carrier: RunCarrier<FollowedRun> = {
    start: async (sent) => {
      asked.push(`start ${JSON.stringify(sent)}`);
      return success(run());
    },
    get: async (id) => {
      const count = asked.push(`get ${id}`) - 1;
      isOver ||= count >= over;
      return count > lost ? failure('it is gone') : success(run());
    },
    stop: async (id, why = 'stopped') => {
      asked.push(`stop ${id}: ${why}`);
      isOver = true;
    },
  };
  return { asked, carrier };
}

describe('a run on another simulator', () => {
  it('is asked for until it is over, and is stopped no more after that', async () => {
    const { asked, carrier } = simulatorWith({ over: 2 });
    const seen: FollowedRun[] = [];
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const over = await followRun(
      carrier,
      { line: 'bus' },
      { everyMs: 1, stop: stopped, seen: (run) => seen.push(run) },
    );
    stop();
    await stopped;
    expect(over).toEqual(success({ id: 7, isOver: true, findings: [] }));
    expect(seen.map(({ isOver }) => isOver)).toEqual([false, false, true]);
    expect(asked).toEqual(['start {"line":"bus"}', 'get 7', 'get 7']);
  });

  it('is stopped with the reason why its client has failed', async () => {
    const { asked, carrier } = simulatorWith({ over: Number.POSITIVE_INFINITY });
    const failed = Promise.resolve('ended with exit code 3');
    const over = await followRun(carrier, {}, { everyMs: 1, stop: NEVER, failed, seen: () => {} });
    expect(over).toMatchObject({ ok: true, value: { isOver: true } });
    expect(asked).toContain('stop 7: ended with exit code 3');
  });

  it('is stopped at once, and asked for once more', async () => {
    const { asked, carrier } = simulatorWith({ over: Number.POSITIVE_INFINITY });
    await followRun(carrier, {}, { everyMs: 1, stop: Promise.resolve(), seen: () => {} });
    expect(asked.slice(-2)).toEqual(['stop 7: stopped', 'get 7']);
  });

  it('is lost with the reason when its simulator does not answer any more', async () => {
    const { carrier } = simulatorWith({ over: 5, lost: 1 });
    const over = await followRun(carrier, {}, { everyMs: 1, stop: NEVER, seen: () => {} });
    expect(over).toEqual(failure('it is gone'));
  });
});
