import type { Habits } from '../client/habits.js';
import { SEVERAL } from '../client/shapes.js';
import { habitsOf, SUBJECTS, type Subject } from '../client/subjects.js';

/** A model client without a mistake. */
export type Faultless = Pick<Subject, 'name' | 'on' | 'habits' | 'isObserved'>;

/** A back-off that ends at a second. */
const BOUNDED = [50, 100, 200, 400, 800, 1000, 1000, 1000, 1000];

const MORE: Readonly<Record<Subject['on'], Readonly<Record<string, Partial<Habits>>>>> = {
  serial: {
    'ten attempts with a back-off': { attempts: 10, pausesMs: BOUNDED, timeoutMs: 300 },
    'seven attempts': { attempts: 7, questions: SEVERAL, timeoutMs: 200 },
    'its time-out is for the first byte': { timeoutIsFor: 'first byte' },
    'its time-outs differ': { timeoutSpreadMs: 200, questions: SEVERAL },
    'polls every ten seconds': { periodMs: 10_000, timeoutMs: 3000, attempts: 2 },
    'does not obey busy devices': { questions: SEVERAL, busyPauseMs: undefined, attempts: 2 },
  },
  tcp: {
    'ten attempts with a back-off': { attempts: 10, pausesMs: BOUNDED, timeoutMs: 300 },
    'connects again after ten seconds': { reconnectPauseMs: 10_000, reconnectsOnTimeout: true, attempts: 1 },
    'connects for each request': { mistakes: ['connects for each request'], questions: SEVERAL },
    'repeats the transaction identifier': { repeatsTransaction: true, attempts: 5 },
    'connects anew at a bad reply, later': { atBadReply: 'connects anew', reconnectPauseMs: 5000 },
    'uneven, connects again later': {
      questions: SEVERAL,
      rhythm: 'uneven',
      periodMs: 500,
      reconnectsOnTimeout: true,
      reconnectPauseMs: 3000,
    },
  },
};

const OBSERVED = ['one question', 'three questions'];

/** Forty clients without a mistake. */
export const FAULTLESS_CLIENTS: readonly Faultless[] = [
  ...SUBJECTS.filter(({ name, isObserved }) => name.startsWith('faultless, ') && isFor(name, isObserved)).map(
    (subject) => ({ ...subject, habits: habitsOf(subject) }),
  ),
  ...(['serial', 'tcp'] as const).flatMap((on) =>
    Object.entries(MORE[on]).map(([name, habits]) => ({ name, on, habits, isObserved: false })),
  ),
];

function isFor(name: string, isObserved: boolean): boolean {
  return !isObserved || OBSERVED.some((each) => name === `faultless, ${each}`);
}
