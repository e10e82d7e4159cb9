import type { Got, Hands, Lax, Stranger } from './strangers.js';

/*
 * Clients with mistakes that the specification forbids, or that users of clients have reported. They were written without
 * a look at what the checks do: each is a few lines of a loop around requests.
 */

/** What a client does after a reply, or after none. `count` is how often in a row that was no value. */
type Minds = (got: Got, hands: Hands, count: number, unit: number) => Promise<void> | void;

export interface Spec {
  readonly lax?: readonly Lax[];
  readonly minds?: readonly Minds[];
  readonly attempts?: number;
  readonly timeoutMs?: number;
  readonly periodMs?: number;
  /** It never closes its connection by itself. */
  readonly holdsOn?: boolean;
  /** It asks no more when its connection has ended. */
  readonly connectsOnce?: boolean;
  /** What it asks unit 1; two holding registers unless this says otherwise. */
  readonly asks?: readonly number[];
  /** The rest after each round is none, or some periods. */
  readonly isUneven?: boolean;
}

const RESTS = [0, 3, 0.1, 2, 0, 4];

/** How a client of these mistakes polls two units. */
export function pollsLike(spec: Spec): Stranger {
  const {
    lax = [],
    minds = [],
    attempts = 3,
    timeoutMs = 300,
    periodMs = 250,
    asks = [3, 0, 0, 0, 2],
  } = spec;
  return async (hands) => {
    hands.lax = new Set(lax);
    let bad = 0;
    for (let round = 0; !hands.isOver; round++) {
      for (const unit of [1, 2]) {
        let got: Got = { kind: 'none' };
        for (
          let i = 0;
          i < attempts && !hands.isOver && got.kind !== 'data' && got.kind !== 'exception';
          i++
        ) {
          got = await hands.ask(unit, unit === 1 ? asks : [3, 0, 0, 0, 2], timeoutMs);
          if (got.kind === 'closed') {
            if (spec.connectsOnce) return;
            await hands.sleep(100);
          } else if (got.kind === 'none' && !spec.holdsOn) hands.close();
        }
        bad = got.kind === 'data' ? 0 : bad + 1;
        if (unit === 1 && got.kind === 'data')
          hands.shown = String(((got.pdu[2] ?? 0) << 8) | (got.pdu[3] ?? 0));
        for (const each of minds) await each(got, hands, bad, unit);
      }
      await hands.sleep(spec.isUneven ? (RESTS[round % RESTS.length] as number) * periodMs : periodMs);
    }
  };
}

const at =
  (code: number, does: (hands: Hands) => Promise<void> | void): Minds =>
  (got, hands) =>
    got.kind === 'exception' && got.code === code ? does(hands) : undefined;
const ends = (hands: Hands) => hands.end();
const hangs = async (hands: Hands) => {
  while (!hands.isOver) await hands.sleep(1000);
};
/** Asks again at once, for as long as the exception comes. */
const hammers =
  (code: number): Minds =>
  async (got, hands, _, unit) => {
    let again = got;
    while (again.kind === 'exception' && again.code === code && !hands.isOver)
      again = await hands.ask(unit, [3, 0, 0, 0, 2], 300);
  };
/** Rests ever longer once something has happened. */
function lazy(when: (got: Got, count: number) => boolean, ms: number): Minds {
  let is = false;
  return async (got, hands, count) => {
    is ||= when(got, count);
    if (is) await hands.sleep(ms);
  };
}

const BOTH = ['tcp', 'serial'] as const;
const TCP = ['tcp'] as const;
const SERIAL = ['serial'] as const;

/** Mistakes: where they are made, and the checks that are to find them, one of them at least. */
export const MISTAKES: Readonly<
  Record<string, readonly [on: readonly ('tcp' | 'serial')[], spec: () => Spec, found: readonly string[]]>
> = {
  'takes any transaction': [TCP, () => ({ lax: ['transaction'] }), ['wrong-transaction']],
  'compares one byte of the transaction': [
    TCP,
    () => ({ lax: ['high byte of the transaction'] }),
    ['wrong-transaction'],
  ],
  'takes replies of any unit': [BOTH, () => ({ lax: ['unit'] }), ['wrong-unit']],
  'takes replies to any function': [BOTH, () => ({ lax: ['function'] }), ['wrong-function']],
  'takes any byte count': [BOTH, () => ({ lax: ['byte count'] }), ['wrong-byte-count', 'fewer-registers']],
  'has no CRC check': [SERIAL, () => ({ lax: ['CRC'] }), ['wrong-crc']],
  'compares one byte of the CRC': [SERIAL, () => ({ lax: ['second byte of the CRC'] }), ['wrong-crc']],
  'takes a piece for a reply': [TCP, () => ({ lax: ['pieces'] }), ['split-reply']],
  'keeps stray bytes': [
    TCP,
    () => ({ lax: ['stray bytes', 'transaction'], holdsOn: true }),
    ['duplicate-reply', 'late-reply', 'noise-before', 'junk'],
  ],
  'ends at damage': [
    BOTH,
    () => ({ lax: ['damage'] }),
    ['junk', 'noise-before', 'wrong-crc', 'truncated-reply', 'extended-reply', 'more-registers'],
  ],
  'asks once': [BOTH, () => ({ attempts: 1 }), ['retries']],
  'asks for ever where nothing comes': [BOTH, () => ({ attempts: 1e9 }), ['retries', 'dead-unit']],
  'ends at exception 1': [BOTH, () => ({ minds: [at(1, ends)] }), ['exception-1']],
  'ends at exception 2': [TCP, () => ({ minds: [at(2, ends)] }), ['exception-2']],
  'ends at exception 6': [SERIAL, () => ({ minds: [at(6, ends)] }), ['exception-6']],
  'hangs at exception 3': [BOTH, () => ({ minds: [at(3, hangs)] }), ['exception-3']],
  'hangs at exception 5': [TCP, () => ({ minds: [at(5, hangs)] }), ['exception-5']],
  'hangs at exception 10': [SERIAL, () => ({ minds: [at(10, hangs)] }), ['exception-10']],
  'asks at once while exception 5 comes': [BOTH, () => ({ minds: [hammers(5)] }), ['exception-5']],
  'asks at once while exception 6 comes': [TCP, () => ({ minds: [hammers(6)] }), ['exception-6']],
  'asks at once while exception 2 comes': [SERIAL, () => ({ minds: [hammers(2)] }), ['exception-2']],
  'asks at once while exception 11 comes': [TCP, () => ({ minds: [hammers(11)] }), ['exception-11']],
  'never connects again': [
    TCP,
    () => ({ connectsOnce: true, holdsOn: true }),
    ['closed-after-reply', 'reset-in-reply', 'listener-gone'],
  ],
  'holds on to a dead connection': [TCP, () => ({ holdsOn: true }), ['half-open']],
  'gives up after twelve requests without a value': [
    BOTH,
    () => ({ minds: [(_, hands, count) => (count >= 12 ? hands.end() : undefined)] }),
    ['exception', 'outage', 'half-open', 'listener-gone'],
  ],
  'sleeps for a minute where nothing comes': [
    BOTH,
    () => ({ minds: [(got, hands) => (got.kind === 'none' ? hands.sleep(60_000) : undefined)], attempts: 1 }),
    ['time-out', 'retries'],
  ],
  'waits for ever': [BOTH, () => ({ timeoutMs: Number.POSITIVE_INFINITY, attempts: 1 }), ['time-out']],
  'polls unevenly': [BOTH, () => ({ isUneven: true }), ['poll-period']],
  'asks for too many registers': [BOTH, () => ({ asks: [3, 0, 0, 0, 126] }), ['legal-requests']],
  'polls ten times more slowly after exception 4': [
    BOTH,
    () => ({ minds: [lazy((got) => got.kind === 'exception' && got.code === 4, 2500)] }),
    ['Since '],
  ],
};

/** Two mistakes in one client. */
export const PAIRS: readonly (readonly [one: keyof typeof MISTAKES, other: keyof typeof MISTAKES])[] = [
  ['takes any transaction', 'asks once'],
  ['takes any transaction', 'hangs at exception 5'],
  ['takes replies of any unit', 'ends at exception 1'],
  ['takes replies of any unit', 'takes any byte count'],
  ['takes replies to any function', 'asks once'],
  ['takes any byte count', 'hangs at exception 3'],
  ['has no CRC check', 'asks once'],
  ['has no CRC check', 'takes replies of any unit'],
  ['has no CRC check', 'hangs at exception 10'],
  ['takes a piece for a reply', 'ends at exception 2'],
  ['takes a piece for a reply', 'takes replies of any unit'],
  ['asks once', 'ends at exception 6'],
  ['asks once', 'holds on to a dead connection'],
  ['asks at once while exception 5 comes', 'takes replies of any unit'],
  ['asks at once while exception 6 comes', 'takes any transaction'],
  ['never connects again', 'takes any byte count'],
  ['holds on to a dead connection', 'takes replies to any function'],
  ['polls unevenly', 'takes replies of any unit'],
  ['asks once', 'hangs at exception 3'],
  ['gives up after twelve requests without a value', 'takes any byte count'],
];

export function together(one: Spec, other: Spec): Spec {
  return {
    ...one,
    ...other,
    lax: [...(one.lax ?? []), ...(other.lax ?? [])],
    minds: [...(one.minds ?? []), ...(other.minds ?? [])],
  };
}

/** Clients without a mistake that are not like others. */
export const FAULTLESS_ONES: Readonly<Record<string, Spec>> = {
  'asks five times': { attempts: 5 },
  'polls every three seconds': { periodMs: 3000 },
  'waits two seconds for a reply': { timeoutMs: 2000, attempts: 2 },
  'waits a tenth of a second': { timeoutMs: 100 },
  'polls as often as it can': { periodMs: 5 },
  'reads one register': { asks: [3, 0, 0, 0, 1] },
  'polls once in ten seconds': { periodMs: 10_000 },
};
