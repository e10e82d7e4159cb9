import type { Conversation, LoggedExchange } from './exchanges.js';
import type { LearnedDevice } from './learned.js';
import type { Cell } from './model.js';

/** How a log is replayed as recorded. */
export interface Recorded {
  /** Whether the values start over at the end. */
  readonly loop: boolean;
}

/** The shortest delay written to the file, in ms. A shorter one disappears in the program's own response time. */
export const SHORTEST_DELAY = 2;
/** Maximum length of a signal, in characters. */
const MOST_OF_SIGNAL = 500_000;
/** Maximum length of all recordings in a file, in characters, so that the file can be read. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Maximum number of reply times in a file, and in a rule. */
const MOST_TIMES = 50_000;
const MOST_IN_RULE = 10_000;
/** The longest reply time that a rule accepts, in ms. */
const LONGEST = 1_800_000;
/** Estimated length of a move in a recording, in characters. */
const MOVE = 24;

/** The time of the first request in a log and the end of the last reply, in ms; 0 if the log has no times. */
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
 * The values in a log as they changed over time, and the time of each reply. Registers that clients wrote
 * remain writable and are not replayed.
 */
export class Recording {
  readonly notes: string[] = [];
  readonly #recorded: Recorded;
  /** Start and length of the log, in ms. */
  readonly #start: number;
  readonly #length: number;
  /** Maximum number of rules per device. */
  readonly #rules: number;
  #left = MOST_CHARACTERS;
  #timesLeft = MOST_TIMES;

  /** @param rules maximum number of rules for reply times, for all devices together */
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
      `Plays ${Math.ceil(this.#length / 1000)} s as recorded, on the clock of each device${recorded.loop ? ', and starts again at the end' : ''}.`,
    );
  }

  /**
   * The signal of a register whose value changed; undefined for one that clients write, and for one that no
   * longer fits in the file.
   */
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

  /** The rules that delay each reply of a device as recorded; undefined if there are not enough rules. */
  delaysOf(device: LearnedDevice, name: string): object[] | undefined {
    const slow = device.timed.filter(({ ms }) => ms.some((each) => each >= SHORTEST_DELAY));
    if (slow.length > this.#rules) {
      return this.#cut(
        `${name}: too many kinds of requests for one rule each, so replies have the usual delay`,
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
