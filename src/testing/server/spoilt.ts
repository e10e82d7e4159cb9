import { hex, wordAt } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { responseLength } from '../../modbus/protocol/rtu.js';
import type { Oddity } from './codes/oddities.js';
import { type Exchange, heardIn } from './exchange.js';

/** A fault in a rule: `{noise: "ff"}`. */
export type Fault = Readonly<Record<string, unknown>>;

/**
 * An altered reply: the request, the bytes that came, and the position of the answer's frame in them; -1 if
 * it is not there.
 */
interface SpoiltReply {
  readonly sent: Uint8Array;
  readonly heard: Uint8Array;
  readonly pdu: Uint8Array;
  readonly at: number;
  readonly end: number;
  readonly isSocket: boolean;
}

const signed = (difference: number) => `${difference < 0 ? '' : '+'}${difference}`;
const text = (bytes: Uint8Array) => hex(bytes);
/** Maximum number of bytes that a fault accepts as text. */
const MOST_TEXT = 1024;

/** The faults that may have caused each oddity, the most specific first. */
const FAULTS: Partial<Record<Oddity, (spoilt: SpoiltReply) => readonly Fault[]>> = {
  echo: () => [{ echo: true }],
  'bytes-before': before,
  'frame-before': before,
  'bytes-after': after,
  'frame-behind': after,
  transaction: ({ sent, heard }) => {
    const [asked, came] = [wordAt(sent, 0), wordAt(heard, 0)];
    const swapped = ((asked << 8) | (asked >> 8)) & 0xffff;
    return [
      { transaction: came },
      ...(came === swapped ? [{ transaction: 'swapped' }] : []),
      { transaction: signed(came - asked) },
    ];
  },
  'earlier-transaction': () => [{ stale: true }],
  protocol: ({ heard }) => [{ mbap: { protocol: wordAt(heard, 2) } }],
  length: ({ heard }) => {
    const length = wordAt(heard, 4);
    return [{ mbap: { length } }, { mbap: { length: signed(length - (heard.length - 6)) } }];
  },
  unit: ({ heard, isSocket }) => [{ unit: heard[isSocket ? 6 : 0] }],
  'byte-count': ({ pdu }) => [{ byteCount: pdu[1] }],
  'fewer-values': ({ pdu }) => [{ pdu: text(pdu) }],
  'more-values': ({ pdu }) => [{ pdu: text(pdu) }],
  'no-values': ({ pdu }) => [{ pdu: text(pdu) }],
  'reply-cut': ({ pdu }) => [{ pdu: text(pdu) }],
  'reply-long': ({ pdu }) => [{ pdu: text(pdu) }],
  'no-exception-flag': ({ pdu }) => [{ pdu: text(pdu) }],
  'other-function': ({ heard, isSocket }) => [{ function: heard[isSocket ? 7 : 1] }],
  'no-exception-code': ({ pdu }) => [{ pdu: text(pdu.subarray(0, 1)) }],
  'exception-code': ({ pdu }) => [{ exception: pdu[1] }],
  crc: () => [{ crc: 'invert' }],
  cut: ({ heard, isSocket }) => {
    const whole = isSocket ? 6 + wordAt(heard, 4) : responseLength(heard, 0, heard.length);
    return [
      ...(typeof whole === 'number' ? [{ truncate: heard.length - whole }] : []),
      { truncate: heard.length },
    ];
  },
  rubbish: ({ heard }) => [
    ...(heard.length <= MOST_TEXT ? [{ junk: text(heard) }] : []),
    { junk: heard.length },
  ],
};

function before({ heard, at }: SpoiltReply): readonly Fault[] {
  return at > 0 ? [{ noise: text(heard.subarray(0, at)) }, { noise: at }] : [];
}

function after({ heard, end }: SpoiltReply): readonly Fault[] {
  const rest = heard.length - end;
  return end > 0 && rest > 0 ? [{ extend: text(heard.subarray(end)) }, { extend: rest }] : [];
}

/** The fault that makes all of these replies odd in one way; undefined if none does. */
export function faultFor(oddity: Oddity, odd: readonly Exchange[], framing: Framing): Fault | undefined {
  const faults = FAULTS[oddity];
  if (!faults) return undefined;
  const [first = [], ...others] = odd.map((exchange) => faults(spoiltOf(exchange, framing)));
  const isIn = (all: readonly Fault[], fault: Fault) =>
    all.some((each) => JSON.stringify(each) === JSON.stringify(fault));
  return first.find((fault) => others.every((all) => isIn(all, fault)));
}

function spoiltOf(exchange: Exchange, framing: Framing): SpoiltReply {
  const { pdu: asked, answer, sent, unitId } = exchange;
  const heard = heardIn(exchange);
  const [request] = sent;
  const code = asked?.[0] ?? 0;
  const pdu =
    answer.kind === 'data'
      ? answer.pdu
      : Uint8Array.of(code | EXCEPTION_FLAG, answer.kind === 'exception' ? answer.code : 0);
  const isSocket = framing.name === 'socket';
  const bytes = request?.bytes ?? new Uint8Array();
  const frame = framing.encode({ transactionId: isSocket ? wordAt(bytes, 0) : 0, unitId, pdu });
  const at = Buffer.from(heard).indexOf(frame);
  return { sent: bytes, heard, pdu, at, end: at < 0 ? -1 : at + frame.length, isSocket };
}

/** A condition that all odd replies meet is accepted if the probability of that happening by chance is below this. */
const SURE = 0.05;

/**
 * The condition under which replies are odd, as far as the exchanges show: by function, quantity and address
 * if these separate the odd replies from the others; otherwise every n-th time, or by chance.
 */
export function whenOf(odd: readonly Exchange[], replies: readonly Exchange[]): Fault {
  const codes = [...new Set(odd.map(codeOf))].filter((code) => code > 0).sort((a, b) => a - b);
  let others = replies.filter((each) => !odd.includes(each));
  const when: Record<string, unknown> = {};
  /** Adds a condition if it excludes so many other replies that all odd ones would hardly meet it by chance. */
  const narrow = (key: string, value: unknown, isWithin: (exchange: Exchange) => boolean) => {
    const within = others.filter(isWithin);
    const share = (odd.length + within.length) / (odd.length + others.length);
    if (share ** odd.length >= SURE) return;
    when[key] = value;
    others = within;
  };
  narrow('function', codes, (each) => codes.includes(codeOf(each)));
  const areReads = codes.every((code) => code >= 1 && code <= 4);
  if (areReads && others.length > 0) {
    const quantities = odd.map(quantityOf);
    const [least, most] = [Math.min(...quantities), Math.max(...quantities)];
    narrow(
      'quantity',
      least === most ? least : `${least}-${most}`,
      (each) => quantityOf(each) >= least && quantityOf(each) <= most,
    );
  }
  const alone = odd.filter((each) => quantityOf(each) === 1).map(addressOf);
  if (areReads && others.length > 0 && alone.length > 0) {
    const [first, last] = [Math.min(...alone), Math.max(...alone)];
    const touches = (each: Exchange) =>
      addressOf(each) <= last && addressOf(each) + quantityOf(each) - 1 >= first;
    if (odd.every(touches)) narrow('address', [first, last], touches);
  }
  if (others.length === 0) return when;
  return { ...when, ...howOften(odd, others) };
}

function howOften(odd: readonly Exchange[], others: readonly Exchange[]): Fault {
  const all = [...odd, ...others].sort((a, b) => a.number - b.number);
  const places = all.flatMap((each, i) => (odd.includes(each) ? [i] : []));
  const gaps = places.slice(1).map((place, i) => place - (places[i] ?? place));
  const usual = Math.max(2, Math.round(all.length / odd.length));
  if (gaps.filter((gap) => gap === usual).length > 0.6 * gaps.length) return { every: usual };
  return { probability: Number((odd.length / all.length).toPrecision(2)) };
}

function codeOf({ pdu }: Exchange): number {
  return pdu?.[0] ?? 0;
}

/** The address of a request; 0 if it has none. */
export function addressOf({ pdu }: Exchange): number {
  return pdu && pdu.length >= 3 ? wordAt(pdu, 1) : 0;
}

function quantityOf({ pdu }: Exchange): number {
  return pdu && pdu.length >= 5 ? wordAt(pdu, 3) : 0;
}
