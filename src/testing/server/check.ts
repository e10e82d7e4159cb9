import type { Bench } from './bench.js';
import type { AskOptions, Exchange } from './exchange.js';
import { type Code, type Found, foundText } from './found.js';
import { didOf } from './reading.js';

/**
 * The verdict of a check on a server. `unsupported`: the server lacks the feature, and the specification
 * allows that. `fact`: reported, not judged. `inconclusive`: the text says what would decide it.
 */
export type ServerVerdict = 'conforms' | 'violates' | 'unsupported' | 'fact' | 'inconclusive' | 'not-run';

/**
 * The severity of a violation. `dangerous`: a wrong value or command gets through, or the server stops.
 * `met`: clients in the field fail. `seldom`: few clients meet it.
 */
export type Grade = 'dangerous' | 'met' | 'seldom';

/** The groups in display order, each with its name for people. */
export const GROUPS = {
  there: 'reachability',
  frames: 'frames and timing',
  has: 'functions and limits',
  map: 'match with its map',
  refusals: 'refusals',
  identification: 'identification and diagnostics',
  bus: 'damage and neighbours on the bus',
  connections: 'TCP connections',
  writes: 'writes',
  endurance: 'endurance',
  claims: "the manufacturer's claims",
} as const;

export type ServerCheckGroup = keyof typeof GROUPS;

/** Refusals that silence some servers: of an address, of a function, of a value. */
export type Provoked = 'address' | 'function' | 'value';

/** The result of one trial. */
export interface Judged {
  readonly verdict: ServerVerdict;
  /** The finding, as data. */
  readonly said: Found;
  /** Where it was found, if a check sends several requests. */
  readonly at?:
    | { readonly address: number; readonly function?: number }
    | { readonly words: readonly number[]; readonly value: string };
  /** True if it was seen only once: a longer run decides. */
  readonly isOnce?: boolean;
  /** What other trials have shown. If set, the finding was seen once, and decides nothing. */
  readonly otherwise?: Found;
  /** Why it does not count. */
  readonly but?: Found;
  /** The exchanges that are its evidence. */
  readonly shown?: readonly Exchange[];
  /** The number of cases in which it was seen, and in which it could have been. */
  readonly seen?: { readonly times: number; readonly of: number };
  /** True if the replies are odd in a way that is blamed on the frames: another trial would show the same. */
  readonly isOdd?: boolean;
  /** True if the finding itself says how the server stopped. */
  readonly isOwnFate?: boolean;
  /** True if it was already tried again, or must not be. */
  readonly isFinal?: boolean;
  /** Set if a violation is worse than its check's usual ones. */
  readonly grade?: Grade;
}

/** What a user must permit or provide before a check runs. */
export type Permission = 'holding' | 'coils' | 'broadcast' | 'soak' | 'map' | 'claims';

/** One check of a server: a row of a table in `checks/`. */
export interface ServerCheck {
  readonly id: string;
  readonly group: ServerCheckGroup;
  readonly title: string;
  /** What is sent. */
  readonly does: string;
  /** What conforms, and when the check is inconclusive. */
  readonly rule: string;
  readonly clause: string;
  /** The effect of a violation on which clients, with public reports. */
  readonly matters: string;
  readonly mend: string;
  /** The grade of a violation whose code does not give one. A check on its own is never dangerous. */
  readonly grade: Exclude<Grade, 'dangerous'>;
  /** The transport that the check is about; absent: any. */
  readonly on?: 'tcp' | 'serial' | 'rtu' | 'ascii';
  readonly needs?: readonly Permission[];
  /** How many addresses in the scratch range the check needs; default: 1. */
  readonly room?: number;
  /**
   * `late`: takes long, or may stop a server, so it runs after the others. `last`: takes a minute or more, so
   * it runs after those. `end`: judges all exchanges.
   */
  readonly turn?: 'late' | 'last' | 'end';
  /**
   * The refusals that the check provokes. If one of them silences a server, checks that provoke the same are
   * left out.
   */
  readonly provokes?: readonly Provoked[];
  /** True if one run consists of several trials; other violations are tried again. */
  readonly isSeveral?: boolean;
  readonly run: (bench: Bench) => Judged | Promise<Judged>;
}

/** Makes the checks of a group. `common` has the defaults for its rows. */
export function checksOf<const Common extends Partial<ServerCheck>>(
  common: Common,
  rows: readonly (Omit<ServerCheck, keyof Common> & Partial<ServerCheck>)[],
): readonly ServerCheck[] {
  return rows.map((row) => ({ ...common, ...row }) as unknown as ServerCheck);
}

type Judge = (said: Found, ...shown: readonly Exchange[]) => Judged;
const judge =
  (verdict: ServerVerdict, more: Partial<Judged> = {}): Judge =>
  (said, ...shown) => ({ verdict, said, shown, ...more });

export const conforms = judge('conforms');
export const violates = judge('violates');
/** A violation that lets a wrong value or command through, or stops the server. */
export const dangerous = judge('violates', { grade: 'dangerous' });
export const unsupported = judge('unsupported');
export const fact = judge('fact');
export const inconclusive = judge('inconclusive');
/** A result that would be a violation if it had been seen twice. */
export const once = judge('inconclusive', { isOnce: true });
export const notRun = judge('not-run');

/** The number of exchanges shown for something seen often. */
const SHOWN = 3;

/** A result seen in these exchanges, out of `of`. */
export function counted(by: Judge, said: Found, those: readonly Exchange[], of: number): Judged {
  return { ...by(said, ...those.slice(0, SHOWN)), seen: { times: those.length, of } };
}

const WORST_FIRST: readonly ServerVerdict[] = ['violates', 'inconclusive', 'unsupported', 'fact', 'conforms'];

/** The worst of one or more judgements. */
export function worstOf(judgements: readonly Judged[]): Judged {
  const rankOf = ({ verdict }: Judged) => WORST_FIRST.indexOf(verdict);
  return [...judgements].sort((a, b) => rankOf(a) - rankOf(b))[0] as Judged;
}

/** A violation, unless replies get lost by chance, in which case this one may have been lost too. */
export function unlessLossy(bench: Bench, said: Found, ...shown: readonly Exchange[]): Judged {
  return bench.facts.losses === undefined
    ? violates(said, ...shown)
    : inconclusive(lossy(bench), ...shown.slice(-1));
}

/** Why a missing reply decides nothing if others are missing by chance. */
export function lossy({ facts }: Bench): Found {
  return { code: facts.isBusy ? 'busy-now-and-then' : 'replies-lost' };
}

/** True if the server says that it lacks the function. */
export const isAbsent = ({ answer }: Exchange) => answer.kind === 'exception' && answer.code === 1;

/** The verdict on a function that the server says it lacks. @param mei the MEI type of function 43 */
export function absent(exchange: Exchange, mei?: number): Judged {
  const code = exchange.pdu?.[0] ?? 0;
  return unsupported(
    { code: 'function-absent', function: code, ...(mei !== undefined && { mei }) },
    exchange,
  );
}

/** Why a check ended before its second trial. */
const CUT: readonly Code[] = ['stopped', 'limit-reached'];

/** The result as a sentence without its full stop. For display only: no decision depends on it. */
export function textOf({ said, at, isOnce, otherwise, but }: Judged): string {
  const text = `${at ? `${placeText(at)}: ` : ''}${foundText(said)}`;
  if (isOnce) return `once, ${text}; ${foundText({ code: 'longer-run-decides' })}`;
  if (otherwise !== undefined)
    return `once, ${text}; ${CUT.includes(otherwise.code) ? 'then' : 'the other times,'} ${foundText(otherwise)}: a second run can decide`;
  return but === undefined ? text : `${text}; ${foundText(but)}`;
}

function placeText(at: NonNullable<Judged['at']>): string {
  if ('address' in at)
    return `${at.function === undefined ? '' : `function ${at.function}, `}address ${at.address}`;
  return `${at.words.join(' ')} for ${at.value}`;
}

/** Functions for serial lines only: clients on TCP seldom use them (6.7, 6.9 and 6.10). */
const SERIAL_ONLY = [7, 11, 12];

/**
 * A violation: a function that the server lacks must be refused with exception 01 (7, code 01), but it got no
 * answer.
 */
export function notAnswered(exchange: Exchange, isSerial: boolean): Judged {
  const code = exchange.pdu?.[0] ?? 0;
  const grade = SERIAL_ONLY.includes(code) && !isSerial ? 'seldom' : 'met';
  return { ...violates({ code: 'function-not-answered', function: code }, exchange), grade };
}

/** The requirements for a refusal. */
export interface ExpectedRefusal {
  /** The exception codes that conform. */
  readonly right: readonly number[];
  /** Exception codes that are inconclusive, each with the reason. */
  readonly open?: Readonly<Record<number, Undecided>>;
  /** The meaning of silence or a closed connection if the server still works; default: `inconclusive`. */
  readonly silence?: 'conforms' | 'inconclusive' | 'violates';
  /** Judges data that came instead of an exception; default: a violation. */
  readonly data?: (exchange: Exchange) => Judged;
  /** True if exception 01 means that the server lacks the function; false if 01 is right or wrong by itself. */
  readonly isOptional?: boolean;
}

/** The codes of refusals that are inconclusive. */
type Undecided = Extract<Code, `refused-${string}`>;

/** Exceptions from a gateway or a busy server, which say nothing about the request. */
const OTHERS: Readonly<Record<number, Undecided>> = {
  5: 'refused-asks-for-patience',
  6: 'refused-as-busy',
  10: 'refused-by-gateway',
  11: 'refused-by-gateway',
};

/** Judges an exception without a code, which only shows that it is one. */
export const codeless = (exchange: Exchange): Judged =>
  inconclusive({ code: 'frames-odd', oddity: 'no-exception-code' }, exchange);

/** Sends a request that must be refused, and judges the answer. */
export async function refused(
  bench: Bench,
  pdu: Uint8Array,
  refusal: ExpectedRefusal,
  options?: AskOptions,
): Promise<Judged> {
  return judgeRefusal(await bench.ask(pdu, options), refusal);
}

/** Judges the answer to a request that must be refused. */
export function judgeRefusal(
  exchange: Exchange,
  { right, open = {}, silence = 'inconclusive', data, isOptional = true }: ExpectedRefusal,
): Judged {
  const { answer } = exchange;
  const did = didOf(answer);
  switch (answer.kind) {
    case 'exception': {
      if (exchange.oddities.includes('no-exception-code')) return codeless(exchange);
      const exception = answer.code;
      if (right.includes(exception)) return conforms({ code: 'exception', exception }, exchange);
      if (isAbsent(exchange) && isOptional) return absent(exchange);
      const code = open[exception] ?? OTHERS[exception];
      if (code !== undefined) return inconclusive({ code, exception }, exchange);
      return violates({ code: 'wrong-exception', exception, right }, exchange);
    }
    case 'data':
      return data?.(exchange) ?? violates({ code: 'answered-not-refused', answer: did, right }, exchange);
    case 'garbled':
      return violates({ code: 'garbled-refusal', answer: did, right }, exchange);
    default:
      if (silence === 'violates') return violates({ code: 'not-refused', answer: did, right }, exchange);
      return silence === 'conforms'
        ? conforms({ code: 'ignored-lives-on', answer: did, right }, exchange)
        : inconclusive({ code: 'not-refused-lives-on', answer: did, right }, exchange);
  }
}
