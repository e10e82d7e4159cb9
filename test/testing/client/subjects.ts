import type { Habits, Mistake, ModelQuestion } from './habits.js';
import { WRITES_BACK } from './observers.js';
import { ONE, SEVERAL } from './shapes.js';

/** A model client and what a client test may say of it. */
export interface Subject {
  readonly name: string;
  readonly on: 'serial' | 'tcp';
  readonly habits: Partial<Habits>;
  /** The values that it has read are observed: it writes them back. */
  readonly isObserved: boolean;
  /** Checks or groups that are run; all when absent. */
  readonly checks?: readonly string[];
  /** Checks that it does not deserve to pass. */
  readonly wrong: readonly string[];
  /** Checks whose verdict nobody can know beforehand, `*` for all others. All others it does not deserve to fail. */
  readonly open: readonly string[];
}

const ask = (unitId: number, ...pdu: number[]): ModelQuestion => ({ unitId, pdu: Uint8Array.from(pdu) });
/** Two units, one after the other, every 250 ms. */
const TWO_UNITS = [ask(1, 3, 0, 0, 0, 2), ask(2, 3, 0, 0, 0, 2)];
const TWENTY = [ask(1, 3, 0, 0, 0, 20)];

const EXCEPTIONS = [1, 2, 3, 4, 5, 6, 10, 11].map((code) => `exception-${code}`);
const TEMPORARY = ['exception-5', 'exception-6'];
const CONNECTIONS = ['closed-after-reply', 'reset-in-reply', 'listener-gone', 'half-open'];
const BOTH = ['serial', 'tcp'] as const;

/** Rhythms under which each mistake is looked for. */
const RHYTHMS: Readonly<Record<string, Partial<Habits>>> = {
  'one question': {},
  'three questions': { questions: SEVERAL, periodMs: 500, rhythm: 'grid' },
  'two units, asked once': {
    questions: TWO_UNITS,
    periodMs: 250,
    rhythm: 'grid',
    attempts: 1,
    reconnectsOnGivingUp: false,
  },
};

const FAULTLESS: Readonly<Record<string, Partial<Habits>>> = {
  ...RHYTHMS,
  'gives up at once': { questions: SEVERAL, atBadReply: 'gives up at once', attempts: 2 },
  'asks again at once, one question': { atBadReply: 'gives up at once' },
  'connects anew at a bad reply': { questions: SEVERAL, atBadReply: 'connects anew', attempts: 2 },
  'connects anew after a time-out': { questions: SEVERAL, reconnectsOnTimeout: true },
  'backs off': { questions: SEVERAL, attempts: 4, pausesMs: [100, 200, 400] },
  'shows nothing': { rhythm: 'grid', periodMs: 2000, attempts: 1, reconnectsOnGivingUp: false },
  uneven: { questions: SEVERAL, rhythm: 'uneven', periodMs: 300 },
  queue: {
    questions: TWO_UNITS,
    rhythm: 'queue',
    periodMs: 500,
    timeoutMs: 1000,
    attempts: 1,
    reconnectsOnTimeout: true,
    reconnectPauseMs: 5000,
  },
  'polls fast': { questions: SEVERAL, periodMs: 20, timeoutMs: 1000, attempts: 2 },
};

const never = (habits: Partial<Habits>) => (habits.attempts === 1 ? ['retries'] : []);

function faultless(): Subject[] {
  return BOTH.flatMap((on) =>
    Object.entries(FAULTLESS).flatMap(([shape, habits]) =>
      [false, true].map((isObserved) => ({
        name: `faultless, ${shape}`,
        on,
        habits,
        isObserved,
        // One that asks once fails `attempts` by its rule; one that holds on to its connection, `half-open`.
        wrong: never(habits),
        open: [
          ...(habits.rhythm === 'uneven' || habits.rhythm === 'queue' ? ['poll-period'] : []),
          ...(habits.reconnectsOnGivingUp === false ? ['half-open'] : []),
        ],
      })),
    ),
  );
}

interface Mutant {
  readonly mistakes?: readonly Mistake[];
  readonly habits?: Partial<Habits>;
  readonly on?: readonly ('serial' | 'tcp')[];
  /** The rhythms that count; all when absent. */
  readonly rhythms?: readonly string[];
  readonly observed?: readonly boolean[];
  readonly checks: readonly string[];
  readonly wrong: readonly string[];
  readonly open?: readonly string[];
}

const BAD_REPLIES = [
  'wrong-unit',
  'wrong-function',
  'wrong-byte-count',
  'fewer-registers',
  'more-registers',
] as const;

const TAKES_ANYTHING: readonly Mistake[] = [
  'ignores the byte count',
  'ignores the unit',
  'ignores the function',
];

/** A client that is gone after the first of these checks: one for each of them. */
function oneByOne(
  mistake: Mistake,
  checks: readonly string[],
  on: typeof BOTH | ['tcp'],
): Record<string, Mutant> {
  return Object.fromEntries(
    checks.map((check) => [
      `${mistake} (${check})`,
      { mistakes: [mistake], on, checks: [check], wrong: [check] },
    ]),
  );
}

const MUTANTS: Readonly<Record<string, Mutant>> = {
  'no CRC check': { mistakes: ['no CRC check'], on: ['serial'], checks: ['damaged'], wrong: ['wrong-crc'] },
  'ignores the unit': {
    mistakes: ['ignores the unit'],
    checks: ['damaged'],
    wrong: ['wrong-unit'],
    open: ['duplicate-reply', 'late-reply'],
  },
  'ignores the function': {
    mistakes: ['ignores the function'],
    checks: ['damaged'],
    wrong: ['wrong-function'],
  },
  'ignores the byte count': {
    mistakes: ['ignores the byte count'],
    checks: ['damaged'],
    wrong: ['fewer-registers', 'more-registers'],
    open: ['wrong-byte-count', 'duplicate-reply', 'late-reply'],
  },
  'ignores the transaction identifier': {
    mistakes: ['ignores the transaction identifier'],
    on: ['tcp'],
    checks: ['damaged'],
    wrong: ['wrong-transaction'],
    open: ['late-reply', 'duplicate-reply'],
  },
  'ignores the protocol identifier': {
    mistakes: ['ignores the protocol identifier'],
    on: ['tcp'],
    checks: ['wrong-protocol', 'wrong-transaction'],
    wrong: ['wrong-protocol'],
  },
  'crashes at no value': {
    mistakes: ['crashes at no value'],
    checks: ['no-value'],
    wrong: ['no-value'],
  },
  'takes half a reply': {
    mistakes: ['takes one read for a reply', 'no CRC check', 'ignores the byte count'],
    on: ['serial'],
    checks: ['truncated-reply', 'split-reply'],
    wrong: ['truncated-reply', 'split-reply'],
  },
  'takes anything': {
    mistakes: ['takes one read for a reply', 'no CRC check', ...TAKES_ANYTHING],
    on: ['serial'],
    checks: ['junk', 'noise-before'],
    wrong: ['junk', 'noise-before'],
  },
  'takes late replies': {
    mistakes: ['takes late replies', 'ignores the transaction identifier', ...TAKES_ANYTHING],
    checks: ['late-reply', 'duplicate-reply'],
    wrong: ['late-reply', 'duplicate-reply'],
  },
  'takes one read for a reply': {
    mistakes: ['takes one read for a reply'],
    checks: ['split-reply'],
    wrong: ['split-reply'],
  },
  'restarts at a bad reply': {
    mistakes: ['restarts at a bad reply'],
    checks: [...BAD_REPLIES],
    wrong: BAD_REPLIES,
  },
  'restarts quickly at a bad reply': {
    mistakes: ['restarts at a bad reply'],
    habits: { restartMs: 300 },
    on: ['tcp'],
    checks: [...BAD_REPLIES],
    wrong: BAD_REPLIES,
  },
  'restarts at an exception': {
    mistakes: ['restarts at an exception'],
    on: ['tcp'],
    checks: ['exceptions'],
    wrong: EXCEPTIONS,
  },
  'restarts at an exception, unseen': {
    mistakes: ['restarts at an exception'],
    on: ['serial'],
    checks: ['exceptions'],
    wrong: EXCEPTIONS.filter((each) => !TEMPORARY.includes(each)),
    // Without a connection, a program that is started again looks like one that pauses, as it should.
    open: TEMPORARY,
  },
  'crashes at bytes behind a reply': {
    mistakes: ['takes one read for a reply', 'crashes at a bad reply'],
    checks: ['extended-reply'],
    wrong: ['extended-reply'],
  },
  'takes exceptions for zeros': {
    mistakes: ['takes exceptions for zeros'],
    observed: [true],
    checks: ['exceptions'],
    wrong: EXCEPTIONS,
  },
  'stops after an exception': {
    mistakes: ['stops after an exception'],
    checks: ['exceptions'],
    wrong: EXCEPTIONS,
    open: ['*'],
  },
  'repeats after exceptions without end': {
    mistakes: ['repeats after exceptions without end'],
    checks: ['exceptions'],
    wrong: EXCEPTIONS,
  },
  'stops after an outage': {
    mistakes: ['stops after an outage'],
    checks: ['outage-5s', 'outage-60s'],
    wrong: ['outage-5s', 'outage-60s'],
    open: ['*'],
  },
  'stops after a long outage': {
    mistakes: ['stops after an outage'],
    habits: { attempts: 40 },
    checks: ['outage-5s', 'outage-60s'],
    wrong: ['outage-60s'],
  },
  'asks while a reply is pending': {
    mistakes: ['asks while a reply is pending'],
    habits: { periodMs: 40, rhythm: 'grid' },
    on: ['serial'],
    rhythms: ['one question'],
    checks: ['one-at-a-time'],
    wrong: ['one-at-a-time'],
    open: ['*'],
  },
  'ignores t3.5': {
    mistakes: ['ignores t3.5'],
    habits: { betweenMs: 0 },
    on: ['serial'],
    rhythms: ['three questions', 'two units, asked once'],
    checks: ['silence-before-requests'],
    wrong: ['silence-before-requests'],
  },
  'holds on to its connection': {
    habits: { reconnectsOnGivingUp: false },
    on: ['tcp'],
    checks: ['connections'],
    wrong: ['half-open'],
  },
  'connects for each request': {
    mistakes: ['connects for each request'],
    on: ['tcp'],
    checks: ['watching'],
    wrong: ['connections-reused'],
    open: ['poll-period'],
  },
  'asks once': { habits: { attempts: 1 }, checks: ['retries', 'pauses'], wrong: ['retries'] },
  'asks without end': {
    habits: { attempts: 100_000, timeoutMs: 200, reconnectsOnGivingUp: false },
    rhythms: ['three questions'],
    checks: ['retries', 'dead-unit'],
    wrong: ['retries', 'dead-unit'],
  },
  'waits for 31 s': {
    habits: { timeoutMs: 31_000 },
    rhythms: ['three questions'],
    checks: ['time-out'],
    wrong: ['time-out'],
  },
  'waits for as long as it likes': {
    habits: { timeoutMs: 300, timeoutSpreadMs: 200 },
    checks: ['time-out-margins'],
    wrong: ['time-out-margins'],
    open: ['time-out'],
  },
  'is too hasty for slow bytes': {
    habits: { timeoutMs: 12, attempts: 2, questions: TWENTY },
    on: ['serial'],
    rhythms: ['one question'],
    checks: ['trickle-slow'],
    wrong: ['trickle-slow'],
    open: ['*'],
  },
  'crashes at pauses': {
    mistakes: ['takes one read for a reply', 'crashes at a bad reply'],
    on: ['serial'],
    checks: ['trickle-gaps', 'trickle-slow', 'split-reply'],
    wrong: ['trickle-gaps', 'trickle-slow', 'split-reply'],
    open: ['*'],
  },
  'crashes at long pauses': {
    mistakes: ['takes one read for a reply', 'crashes at a bad reply'],
    on: ['serial'],
    checks: ['trickle-gaps'],
    wrong: ['trickle-gaps'],
  },
  'polls as it likes': {
    habits: { rhythm: 'uneven' },
    rhythms: ['one question'],
    checks: ['poll-period'],
    wrong: ['poll-period'],
  },
  'gives broadcasts no time': {
    habits: {
      questions: [...ONE, ask(0, 6, 0, 0, 0, 1)],
      attempts: 1,
      betweenMs: 0,
      timeoutMs: 10,
      periodMs: 0,
    },
    on: ['serial'],
    rhythms: ['one question'],
    checks: ['broadcast-pause'],
    wrong: ['broadcast-pause'],
  },
  'asks what is not there': {
    habits: { questions: [...ONE, ask(1, 3, 0x20, 0, 0, 2)] },
    rhythms: ['one question'],
    checks: ['legal-requests'],
    wrong: ['legal-requests'],
  },
  ...oneByOne('crashes at a bad reply', BAD_REPLIES, BOTH),
  ...oneByOne('never reconnects', CONNECTIONS, ['tcp']),
};

function mutants(): Subject[] {
  return Object.entries(MUTANTS).flatMap(([name, mutant]) => {
    const { mistakes = [], habits, on = BOTH, observed = [false, true], checks, wrong, open = [] } = mutant;
    const rhythms = Object.entries(RHYTHMS).filter(([rhythm]) => mutant.rhythms?.includes(rhythm) ?? true);
    return on.flatMap((line) =>
      rhythms.flatMap(([rhythm, shape]) =>
        observed.map((isObserved): Subject => {
          const all = { ...shape, ...habits, mistakes };
          const holds = all.reconnectsOnGivingUp === false ? ['half-open'] : [];
          return {
            name: `${name}, ${rhythm}`,
            on: line,
            habits: all,
            isObserved,
            checks,
            wrong,
            open: [...open, ...never(all), ...holds],
          };
        }),
      ),
    );
  });
}

/** Clients without a mistake, and clients with one each. */
export const SUBJECTS: readonly Subject[] = [...faultless(), ...mutants()];

/** The habits of a subject, with what an observer of its values needs. */
export function habitsOf({ habits, isObserved }: Subject): Partial<Habits> {
  return isObserved ? { ...habits, ...WRITES_BACK } : habits;
}
