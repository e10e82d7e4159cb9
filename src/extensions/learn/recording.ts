import type { Conversation, LoggedExchange } from './exchanges.js';
import type { LearnedDevice } from './learned.js';
import type { Cell } from './model.js';

/** How a log is played as it was. */
export interface Recorded {
  /** Whether the values begin again at the end. */
  readonly loop: boolean;
}

/** The shortest delay that is written, in ms. A shorter one is lost in the time that the program itself takes. */
export const SHORTEST_DELAY = 2;
/** The most characters that a signal takes. */
const MOST_OF_SIGNAL = 500_000;
/** The most characters of all recordings of a file, so that it can be read. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** The most reply times of a file, and of a rule. */
const MOST_TIMES = 50_000;
const MOST_IN_RULE = 10_000;
/** The longest reply time in ms: a rule takes no longer one. */
const LONGEST = 1_800_000;
/** The length of a move in a recording is estimated by this many characters. */
const MOVE = 24;

/** When the first request of a log came, and when the last reply ended, in ms; 0 without times. */
export function spanOf(exchanges: readonly LoggedExchange[]): [start: number, end: number] {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { at, ms = 0 } of exchanges) {
    if (at === undefined) continue;
    start = Math.min(start, at);
    end = Math.max(end, at + ms);
  }
  return start <= end ? [start, end] : [0, 0];
}

/**
 * The values of a log as they moved in time, and the time of each reply. Registers that clients wrote stay registers
 * that clients write.
 */
export class Recording {
  readonly notes: string[] = [];
  readonly #recorded: Recorded;
  /** When the log begins, and how long it is, in ms. */
  readonly #start: number;
  readonly #length: number;
  /** The rules that each device may have. */
  readonly #rules: number;
  #left = MOST_CHARACTERS;
  #timesLeft = MOST_TIMES;

  /** @param rules how many rules all devices may have for the times of replies */
  constructor(
    recorded: Recorded,
    { exchanges }: Conversation,
    devices: readonly { readonly device: LearnedDevice }[],
    rules: number,
  ) {
    this.#recorded = recorded;
    const [start, end] = spanOf(exchanges);
    this.#start = start;
    this.#length = end - start;
    this.#rules = Math.floor(rules / devices.length);
    this.notes.push(
      `Played as recorded, ${Math.ceil(this.#length / 1000)} s on the clock of each device${recorded.loop ? ', again and again' : ''}.`,
    );
  }

  /** The signal of a register that moved; undefined for one that clients write, and one for which there is no room. */
  signalOf({ first, writable, replayed }: Cell): object | undefined {
    if (writable) return undefined;
    const moves: [ms: number, value: number][] = [[0, first]];
    for (const [, value, at] of replayed) {
      const last = moves.at(-1) as [number, number];
      // Rounded down to 0.1 ms, so that the value is set before the request arrives. Clients are less exact than that.
      const ms = Math.floor(10 * ((at ?? this.#start) - this.#start)) / 10;
      if (ms > last[0]) moves.push([ms, value]);
      else last[1] = value;
    }
    const room = Math.floor(Math.min(MOST_OF_SIGNAL, this.#left) / MOVE) - 1;
    if (room < 1)
      return this.#cut(
        'Values changed too often for a file, so some follow the number of reads instead of the time',
      );
    if (moves.length > room) {
      moves.length = room;
      this.#cut('Values changed too often for a file, so some stop changing before the end');
    }
    const end = Math.max(this.#length, (moves.at(-1) as [number, number])[0] + 0.1);
    const written = moves.map(([ms, value]) => `${Number((ms / 1000).toFixed(4))} ${value}`);
    const values = [...written, Math.ceil(10 * end) / 10_000].join(', ');
    this.#left -= values.length;
    return { recorded: { values, ...(this.#recorded.loop && { loop: true }) } };
  }

  /** The rules that give each reply of a device its time; undefined where there are not enough rules. */
  delaysOf(device: LearnedDevice, name: string): object[] | undefined {
    const slow = device.timed.filter(({ ms }) => ms.some((each) => each >= SHORTEST_DELAY));
    if (slow.length > this.#rules) {
      return this.#cut(
        `${name}: too many kinds of requests for one rule each, so replies take the usual time`,
      );
    }
    const most = Math.min(MOST_IN_RULE, Math.floor(this.#timesLeft / Math.max(1, slow.length)));
    return slow.map(({ when, ms }, i) => {
      const delay = ms.slice(0, most).map((each) => Math.min(LONGEST, Math.round(each)));
      if (ms.length > most)
        this.#cut('There are more reply times than a file may have, so they repeat from the first');
      this.#timesLeft -= delay.length;
      return {
        name: `${name}-time-${i + 1}`,
        when: { device: name, ...when },
        do: [{ delay: delay.length === 1 ? delay[0] : delay }],
      };
    });
  }

  #cut(what: string): undefined {
    if (!this.notes.includes(`${what}.`)) this.notes.push(`${what}.`);
    return undefined;
  }
}
