import type { AskOptions, Exchange } from './asker.js';
import type { Bench } from './bench.js';
import { type Code, type Found, foundText } from './found.js';
import { didOf } from './reading.js';
import { answerText, codeText } from './words.js';

/**
 * The verdict of a check on a server. `unsupported`: the server has not what is asked for, and the
 * specification allows that. `fact`: told, not judged. `inconclusive`: the text says what would decide it.
 */
export type ServerVerdict = 'conforms' | 'violates' | 'unsupported' | 'fact' | 'inconclusive' | 'not-run';

/**
 * How bad a violation is. `dangerous`: a wrong value or command gets through, or the server stops. `met`:
 * clients in the field fail. `seldom`: few clients meet it.
 */
export type Grade = 'dangerous' | 'met' | 'seldom';

/** The groups in the order in which they are shown, each with its name for people. */
export const GROUPS = {
  there: 'is it there',
  frames: 'frames and timing',
  has: 'what it has',
  map: 'as its map says',
  refusals: 'refusals',
  identification: 'identification and diagnostics',
  bus: 'damage and neighbours on the bus',
  connections: 'TCP connections',
  writes: 'writes',
  endurance: 'endurance',
  claims: 'as its maker claims',
} as const;

export type ServerCheckGroup = keyof typeof GROUPS;

/** Refusals that silence some servers: of an address, of a function, of a value. */
export type Provoked = 'address' | 'function' | 'value';

/** What one trial has shown. */
export interface Judged {
  readonly verdict: ServerVerdict;
  /** What was found: as data. What conforms, or was not run, may be a sentence without its full stop. */
  readonly said: Found | string;
  /** Where it was found, if one check asks several questions. */
  readonly at?: { readonly address: number } | { readonly words: readonly number[]; readonly value: string };
  /** True for what was seen once: a longer run decides. */
  readonly isOnce?: boolean;
  /** What other trials have shown; then it was seen once, and decides nothing. */
  readonly otherwise?: string;
  /** Why it does not count. */
  readonly but?: string;
  /** The exchanges that show it. */
  readonly shown?: readonly Exchange[];
  /** How often it was seen, and how often it could have been. */
  readonly seen?: { readonly times: number; readonly of: number };
  /** True when the replies are odd in a way for which frames are blamed: trying again shows the same. */
  readonly isOdd?: boolean;
  /** Where a violation is worse than those of its check usually are. */
  readonly grade?: Grade;
}

/** What a user has to allow, or to give, before a check runs. */
export type Permission = 'holding' | 'coils' | 'broadcast' | 'soak' | 'map' | 'claims';

/** One check of a server: a row of a table in `checks/`. */
export interface ServerCheck {
  readonly id: string;
  readonly group: ServerCheckGroup;
  readonly title: string;
  /** What is sent. */
  readonly does: string;
  /** What conforms, and when nothing is decided. */
  readonly rule: string;
  readonly clause: string;
  /** What a violation does to which clients, with public reports. */
  readonly matters: string;
  readonly mend: string;
  readonly grade: Grade;
  /** The carrier that the check is about; any when absent. */
  readonly on?: 'tcp' | 'serial' | 'rtu' | 'ascii';
  readonly needs?: readonly Permission[];
  /** How many addresses of the scratch range the check needs; 1 when absent. */
  readonly room?: number;
  /** `late`: takes long, or may stop a server, so it runs after the others. `end`: judges all exchanges. */
  readonly turn?: 'late' | 'end';
  /** What the check provokes. When that silences a server once, checks that provoke the same are left out. */
  readonly provokes?: readonly Provoked[];
  /** True when one run is several trials already; other violations are tried again. */
  readonly isSeveral?: boolean;
  readonly run: (bench: Bench) => Judged | Promise<Judged>;
}

const judged =
  <Said extends Found | string>(verdict: ServerVerdict) =>
  (said: Said, ...shown: readonly Exchange[]): Judged => ({ verdict, said, shown });

export const conforms = judged<Found | string>('conforms');
export const violates = judged<Found>('violates');
export const unsupported = judged<Found>('unsupported');
export const fact = judged<Found>('fact');
export const inconclusive = judged<Found | string>('inconclusive');
/** What would be a violation, if it had been seen twice. */
export const once = (found: Found, ...shown: readonly Exchange[]): Judged => ({
  ...inconclusive(found, ...shown),
  isOnce: true,
});
export const notRun = judged<Found | string>('not-run');

/** The code of what was found; undefined for what only a sentence says. */
export function codeOf({ said }: Pick<Judged, 'said'>): Code | undefined {
  return typeof said === 'string' ? undefined : said.code;
}

/** What was found, in a sentence without its full stop. Nothing decides on it. */
export function textOf({ said, at, isOnce, otherwise, but }: Judged): string {
  const text = `${at ? `${placeText(at)}: ` : ''}${typeof said === 'string' ? said : foundText(said)}`;
  if (isOnce) return `once, ${text}; a longer run decides (--soak)`;
  if (otherwise !== undefined) return `once, ${text}; the other times, ${otherwise}: a second run decides`;
  return but === undefined ? text : `${text}; ${but}`;
}

function placeText(at: NonNullable<Judged['at']>): string {
  return 'address' in at ? `address ${at.address}` : `${at.words.join(' ')} for ${at.value}`;
}

/** Functions of a serial line alone: clients on TCP seldom ask them (6.7, 6.9 and 6.10). */
const SERIAL_ONLY = [7, 11, 12];

/** A function that is not there has to be refused with exception 01 (7, code 01): it got no answer. */
export function notAnswered(code: number, isSerial: boolean, ...shown: readonly Exchange[]): Judged {
  return {
    ...violates({ code: 'function-not-answered', function: code }, ...shown),
    grade: SERIAL_ONLY.includes(code) && !isSerial ? 'seldom' : 'met',
  };
}

/** A violation that lets a wrong value or command through, or stops the server. */
export const dangerous = (found: Found, ...shown: readonly Exchange[]): Judged => ({
  ...violates(found, ...shown),
  grade: 'dangerous',
});

/** What is expected of a refusal. */
export interface ExpectedRefusal {
  /** The exception codes that conform. */
  readonly right: readonly number[];
  /** Exception codes that decide nothing, each with the reason. */
  readonly open?: Readonly<Record<number, string>>;
  /** What silence or a closed connection means where the server lives on: `inconclusive` when absent. */
  readonly silence?: 'conforms' | 'inconclusive' | 'violates';
  /** What data in place of an exception mean, in words; a violation when absent. */
  readonly data?: (exchange: Exchange) => Judged;
  /** True when exception 01 means that the function is not there; false if 01 is right or wrong by itself. */
  readonly isOptional?: boolean;
}

/** Codes that come from a gateway or a busy server, and say nothing about the question. */
const OTHERS: Readonly<Record<number, string>> = {
  5: 'exception 05 (acknowledge) asks for patience',
  6: 'exception 06 (busy) says nothing about the request',
  10: 'exception 0A comes from a gateway',
  11: 'exception 0B comes from a gateway',
};

/** Sends a request that has to be refused, and judges the answer. */
export async function refused(
  bench: Bench,
  pdu: Uint8Array,
  refusal: ExpectedRefusal,
  options?: AskOptions,
): Promise<Judged> {
  return judgeRefusal(await bench.ask(pdu, options), refusal);
}

/** Judges the answer to a request that has to be refused. */
export function judgeRefusal(
  exchange: Exchange,
  { right, open = {}, silence = 'inconclusive', data, isOptional = true }: ExpectedRefusal,
): Judged {
  const { answer } = exchange;
  const code = exchange.pdu?.[0] ?? 0;
  const did = didOf(answer);
  const wanted = right.map(codeText).join(' or ');
  switch (answer.kind) {
    case 'exception': {
      if (right.includes(answer.code)) return conforms(`exception ${codeText(answer.code)}`, exchange);
      if (answer.code === 1 && isOptional)
        return unsupported({ code: 'function-absent', function: code }, exchange);
      const why = open[answer.code] ?? OTHERS[answer.code];
      if (why !== undefined)
        return inconclusive({ code: 'refused-otherwise', exception: answer.code, because: why }, exchange);
      return violates({ code: 'wrong-exception', exception: answer.code, right }, exchange);
    }
    case 'data':
      return data?.(exchange) ?? violates({ code: 'answered-not-refused', answer: did, right }, exchange);
    case 'garbled':
      return violates({ code: 'garbled-refusal', answer: did, right }, exchange);
    default: {
      if (silence === 'violates') return violates({ code: 'not-refused', answer: did, right }, exchange);
      const text = `the server ${answerText(answer)}, where exception ${wanted} is expected`;
      return silence === 'conforms'
        ? conforms(`${text}: allowed, and it lives on`, exchange)
        : inconclusive({ code: 'not-refused-lives-on', answer: did, right }, exchange);
    }
  }
}
