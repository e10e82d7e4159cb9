import { expect, it } from 'vitest';
import { DeskSilence, type ThreadTimes, threadTimes } from '../../../src/cli/verbs/desk-silence.js';
import { HERE } from '../../../src/common/platform.js';

/** The states of a desk that is asked every 2 s for some seconds, and gives no answer. */
function states(
  seconds: number,
  times: (second: number) => ThreadTimes | undefined,
  silence = startedSilence(),
): string[] {
  const found: string[] = [];
  for (let second = 0; second <= seconds; second += 2) {
    const { state } = silence.look(2000, times(second));
    if (found.at(-1) !== state) found.push(state);
  }
  return found;
}

function startedSilence(): DeskSilence {
  const silence = new DeskSilence();
  silence.started();
  return silence;
}

it('a desk that gets a tenth of a processor is slow for a minute, and is not stuck', () => {
  const starved = (second: number) => ({ ran: 500 + second * 100, waited: 7 + second * 900 });
  expect(states(8, starved)).toEqual(['short']);
  expect(states(60, starved)).toEqual(['short', 'slow']);
});

it('a desk is stuck when it has used ten seconds of processor without an answer, however long that takes', () => {
  expect(states(8, (second) => ({ ran: second * 1000, waited: 1 }))).toEqual(['short']);
  expect(states(10, (second) => ({ ran: second * 1000, waited: 1 }))).toEqual(['short', 'stuck']);
  expect(states(98, (second) => ({ ran: second * 100, waited: second * 900 }))).toEqual(['short', 'slow']);
  expect(states(100, (second) => ({ ran: second * 100, waited: second * 900 })).at(-1)).toBe('stuck');
});

it('an answer begins the count again', () => {
  const silence = startedSilence();
  const busy = (second: number) => ({ ran: second * 1000, waited: 0 });
  expect(states(8, busy, silence)).toEqual(['short']);
  silence.heard();
  expect(states(8, (second) => busy(second + 10), silence)).toEqual(['short']);
});

it('a desk may use a minute of processor while it starts', () => {
  const starting = (seconds: number) =>
    states(seconds, (second) => ({ ran: second * 999, waited: 0 }), new DeskSilence()).at(-1);
  expect(starting(58)).toBe('slow');
  expect(starting(62)).toBe('stuck');
});

it('a desk that neither runs nor waits for a processor is stuck after a minute, and so is one of which nothing is known', () => {
  for (const times of [() => ({ ran: 9, waited: 9 }), () => undefined]) {
    expect(states(58, times)).toEqual(['short', 'slow']);
    expect(states(60, times).at(-1)).toBe('stuck');
  }
});

it.runIf(HERE.isLinux)(
  'the system says how long a thread has run; nothing of one that is not there',
  async () => {
    const before = threadTimes(process.pid) as ThreadTimes;
    while ((threadTimes(process.pid) as ThreadTimes).ran === before.ran);
    expect((threadTimes(process.pid) as ThreadTimes).ran).toBeGreaterThan(before.ran);
    expect(threadTimes(4_194_304)).toBeUndefined();
    expect(threadTimes(undefined)).toBeUndefined();
  },
);
