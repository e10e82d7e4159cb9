import { type Did, type DidOften, ODDITIES, type Oddity } from './reading.js';
import {
  answerText,
  type ConnectionsFound,
  codeText,
  connectionsText,
  listText,
  ofText,
  silenceText,
  timeText,
} from './words.js';

/** What had been sent before a read that got lost. */
const BEFORE_READ = {
  'half-frame': 'half a frame',
  'others-exchange': 'an exchange of another unit',
  'unanswered-request': 'a request that nobody answers',
  noise: 'noise',
} as const;

export interface BeforeRead {
  readonly after: keyof typeof BEFORE_READ;
  /** How many bytes of noise. */
  readonly bytes?: number;
}

export function beforeText({ after, bytes }: BeforeRead): string {
  return bytes === undefined ? BEFORE_READ[after] : `${bytes} bytes of ${BEFORE_READ[after]}`;
}

const BEFORE_CONNECTION = {
  'wrong-lengths': 'after frames of length 0, 1, 3 and 65535',
  'client-left': 'after a client that left within a request',
  'client-reset': 'after a client that reset its connection',
} as const;

export type BeforeConnection = keyof typeof BEFORE_CONNECTION;

export function connectionBeforeText(after: BeforeConnection): string {
  return BEFORE_CONNECTION[after];
}

/** The reads of a soak, and their times by powers of two: the longest in ms, and how many. */
export interface Soaked {
  readonly answered: number;
  readonly of: number;
  readonly upToMs: readonly (readonly [number, number])[];
  readonly stoppedAfterMs?: number;
}

export function soakText({ answered, of, upToMs, stoppedAfterMs }: Soaked): string {
  const times = upToMs.map(([bound, many]) => `≤ ${timeText(bound)}: ${many}`).join(', ');
  const end = stoppedAfterMs === undefined ? '' : `; stopped after ${timeText(stoppedAfterMs)}`;
  return `${ofText(answered, of, 'reads')} were answered; ${times}${end}`;
}

/** `of reads in a row the server gave no answer (3 times)`. */
function lostText(answers: readonly DidOften[]): string {
  const texts = answers.map((did) => {
    const what = did.kind === 'silent' ? 'gave no answer' : answerText(did);
    return `${what} (${did.times} times)`;
  });
  return `of reads in a row the server ${listText(texts)}`;
}

const kindsText = (answers: readonly DidOften[]) => listText(answers.map(answerText));
const rightText = (right: readonly number[]) => right.map(codeText).join(' or ');
const ofCodes = (codes: readonly number[]) =>
  `${codes.length === 1 ? 'function' : 'functions'} ${listText(codes.map(String))} ${codes.length === 1 ? 'is' : 'are'}`;

/** How a server stopped, as a part of a sentence after "the server". @param check what it stopped after */
export function stoppedText({ only, silentMs, isBack }: Stopped, check = 'it'): string {
  const what =
    only === undefined ? 'stopped answering' : `only ${answerText({ kind: 'exception', exception: only })}`;
  const fate = isBack ? `for ${timeText(silentMs)}` : `and did not come back within ${timeText(silentMs)}`;
  return `${what} after ${check}, ${fate}`;
}

interface Stopped {
  /** The exception with which it answers everything; undefined when it is silent. */
  readonly only?: number;
  readonly silentMs: number;
  readonly isBack: boolean;
}

/** Replies that are odd in one way, and how often they are in others. */
interface Odd {
  readonly times: number;
  readonly of: number;
  readonly also?: readonly { readonly code: Oddity; readonly times: number }[];
}

/** How a finding is said: as a title that says what was seen, and as a sentence with its facts. */
type Wording<Facts> = readonly [title: string, text: (facts: Facts) => string];
type Answered = { readonly answer: Did };

/** Makes a row of the table. */
const says = <Facts extends object = object>(
  title: string,
  text: (facts: Facts) => string,
): Wording<Facts> => [title, text];

/** A row without facts: its sentence is its title. */
const plain = (text: string): Wording<object> => [text, () => text];

const ODD_TITLES: Readonly<Record<Oddity, string>> = {
  'bytes-before': 'Sends bytes before its replies',
  'bytes-after': 'Sends bytes behind its replies',
  echo: 'Sends each request back before its reply',
  'frame-before': 'Sends another frame before its replies',
  'frame-behind': 'Sends another frame behind its replies',
  transaction: 'Replies with another transaction identifier',
  'earlier-transaction': 'Replies with the transaction identifier of an earlier request',
  protocol: 'Replies with another protocol identifier than 0',
  length: 'Replies with a wrong length in the header',
  unit: 'Replies with another unit identifier',
  'byte-count': 'Replies with a wrong byte count',
  'fewer-values': 'Replies with fewer values than were asked for',
  'more-values': 'Replies with more values than were asked for',
  crc: 'Replies with a wrong check value',
  'no-exception-code': 'Sends exceptions without a code',
  'exception-code': 'Sends exceptions with a code that does not exist',
  cut: 'Sends replies without their end',
  rubbish: 'Sends bytes that are no reply',
};

const ODD = Object.fromEntries(
  Object.entries(ODDITIES).map(([code, text]) => [
    code,
    says<Odd>(ODD_TITLES[code as Oddity], ({ times, of, also = [] }) =>
      listText([
        `${text} (${ofText(times, of, 'replies')})`,
        ...also.map((each) => `${ODDITIES[each.code]} (${ofText(each.times, of, 'replies')})`),
      ]),
    ),
  ]),
) as unknown as Readonly<Record<Oddity, Wording<Odd>>>;

/**
 * The words of all codes: the one place that words what a server test finds, but for what conforms. Times are in ms.
 */
const WORDS = {
  ...ODD,

  // Refusals
  'wrong-exception': says<{ readonly exception: number; readonly right: readonly number[] }>(
    'Refuses with another exception than it has to',
    ({ exception, right }) => `exception ${codeText(exception)} in place of ${rightText(right)}`,
  ),
  'answered-not-refused': says<Answered & { readonly right: readonly number[] }>(
    'Answers what has to be refused',
    ({ answer, right }) => `the server ${answerText(answer)} in place of exception ${rightText(right)}`,
  ),
  'garbled-refusal': says<Answered & { readonly right: readonly number[] }>(
    'Sends no reply, but other bytes',
    ({ answer, right }) => `the server ${answerText(answer)}, in place of exception ${rightText(right)}`,
  ),
  'not-refused': says<Answered & { readonly right: readonly number[] }>(
    'Does not answer what has to be refused',
    ({ answer, right }) =>
      `the server ${answerText(answer)}, where exception ${rightText(right)} is expected`,
  ),
  'function-not-answered': says<{ readonly function: number }>(
    'Leaves functions without an answer',
    (facts) => silenceText([facts.function]),
  ),
  'wrong-quantity-answered': says<{
    readonly quantity: number;
    readonly what: string;
    readonly bytes: number;
  }>(
    'Answers a quantity that does not exist',
    ({ quantity, what, bytes }) => `${quantity} ${what} are answered with ${bytes} bytes`,
  ),
  'too-long-answered': says(
    'Answers a request that is too long',
    () => 'two bytes too many are taken, and the read is answered',
  ),
  'address-wraps': says<{ readonly values: string }>(
    'Reads on from the other end of its map',
    ({ values }) => `two registers from FFFF on are answered (${values})`,
  ),
  'refusal-looks-like-data': says(
    'Refuses with a reply that looks like data',
    () => 'the refusal has the function code 03: a client takes it for data',
  ),
  'quantity-first': says<{ readonly exception: number; readonly figure: number }>(
    'Looks at the quantity first',
    ({ exception, figure }) =>
      `exception ${codeText(exception)}: it looks at the quantity first, as figure ${figure} has it`,
  ),
  'address-first': says<{ readonly exception: number; readonly figure: number }>(
    'Looks at the address first',
    ({ exception, figure }) =>
      `exception ${codeText(exception)}: it looks at the address first, as figure 9 has it for all functions; figure ${figure} has the quantity first`,
  ),
  'other-answer': says<Answered>(
    'Answers in another way',
    ({ answer }) => `the server ${answerText(answer)}`,
  ),

  // What it has
  'few-in-one-read': says<
    Answered & { readonly most: number; readonly limit: number; readonly what: string }
  >(
    'Answers fewer in one read than the specification has',
    ({ most, limit, what, answer }) =>
      `at most ${most} ${what} in one read, where the specification has ${limit}: then the server ${answerText(answer)}`,
  ),
  'end-in-block': says<{ readonly address: number; readonly before: number }>(
    'Answers a block that goes beyond the end',
    ({ address, before }) => `address ${address} is refused alone, and answered in a block with ${before}`,
  ),
  'hole-in-block': says<{ readonly address: number; readonly from: number }>(
    'Answers a block over a hole',
    ({ address, from }) => `address ${address} is refused alone, and answered in a block from ${from} on`,
  ),
  'bits-set': says<{ readonly quantity: number; readonly byte: number }>(
    'Sets bits that were not asked for',
    ({ quantity, byte }) => `the reply to ${quantity} bits has more bits set: ${codeText(byte)}`,
  ),
  'block-differs': says<{ readonly address: number; readonly alone: string; readonly block: string }>(
    'Gives other values in a block than alone',
    ({ address, alone, block }) => `alone the registers from ${address} on are ${alone}, in a block ${block}`,
  ),
  'sunspec-end': says<{ readonly address: number; readonly length?: number }>(
    'Ends its SunSpec models without the length 0',
    ({ address, length }) =>
      `the end of the chain at ${address} has ${length === undefined ? 'no length' : `the length ${length}, not 0`}`,
  ),
  'sunspec-cut': says<{ readonly models: readonly number[]; readonly address: number }>(
    'Cuts its chain of SunSpec models off',
    ({ models, address }) =>
      `behind the models ${listText(models.map(String)) || 'none'}, address ${address} is not there`,
  ),
  'sunspec-first': says<{ readonly model: number }>(
    'Begins its SunSpec models with another one than 1',
    ({ model }) => `the first model is ${model}, not 1`,
  ),
  'sunspec-length': says<{
    readonly model: number;
    readonly address: number;
    readonly length: number;
    readonly right?: number;
  }>('Gives a SunSpec model a wrong length', ({ model, address, length, right }) =>
    right === undefined
      ? `model ${model} at ${address} has no registers`
      : `model ${model} at ${address} has the length ${length}, and the model ${right}`,
  ),
  'sunspec-short': says<
    Answered & { readonly model: number; readonly address: number; readonly length: number }
  >(
    'Has fewer registers of a SunSpec model than it says',
    ({ model, address, length, answer }) =>
      `model ${model} at ${address} says that it has ${length} registers; at the last, the server ${answerText(answer)}`,
  ),
  'sunspec-endless': says<{ readonly models: number }>(
    'Has a chain of SunSpec models without an end',
    ({ models }) => `the chain does not end within ${models} models`,
  ),

  // Its map
  'values-missing': says<
    Answered & {
      readonly missing: number;
      readonly of: number;
      readonly isCut: boolean;
      readonly values: readonly string[];
    }
  >(
    'Does not have all values of its map',
    ({ missing, of, isCut, values, answer }) =>
      `${missing} of ${mapReadsText(of, isCut)} are not answered in full: ${values.join(', ')}${missing > values.length ? ', …' : ''}; at the first, the server ${answerText(answer)}`,
  ),
  'part-not-refused': says<Answered & { readonly register: number; readonly value: string }>(
    'Neither answers nor refuses a part of a value',
    ({ register, value, answer }) =>
      `register ${register} of ${value} alone: the server ${answerText(answer)}, where 16 bits or exception 02 are right`,
  ),
  'part-against-map': says<
    Answered & { readonly register: number; readonly value: string; readonly wholeValues: boolean }
  >(
    'Treats a part of a value in another way than its map says',
    ({ register, value, answer, wholeValues }) =>
      `register ${register} of ${value} alone: the server ${answerText(answer)}, and the map says wholeValues: ${wholeValues}`,
  ),
  'read-only-taken': says<{ readonly value: string }>(
    'Accepts a write to what its map has read-only',
    ({ value }) => `a write to ${value} is accepted, and the map has it read-only`,
  ),
  'beyond-limits-taken': says<{ readonly words: readonly number[]; readonly value: string }>(
    'Takes a value beyond the limits of its map',
    ({ words, value }) => `${words.join(' ')} for ${value} is taken, which is beyond the limits of the map`,
  ),
  'confirmed-not-taken': says<{ readonly words: readonly number[]; readonly value: string }>(
    'Confirms a value beyond its limits and does not take it',
    ({ words, value }) => `${words.join(' ')} for ${value} is confirmed, and not taken`,
  ),

  // Frames and timing
  'one-behind': says(
    'Answers each request with the reply to the one before',
    () => 'each reply is that of the request before it',
  ),
  'reads-lost': says<{ readonly answers: readonly DidOften[]; readonly longestPauseMs: number }>(
    'Loses reads in a row',
    ({ answers, longestPauseMs }) =>
      `${lostText(answers)}, and no pause up to ${timeText(longestPauseMs)} cures that`,
  ),
  'needs-pause': says<{ readonly answers: readonly DidOften[]; readonly pauseMs: number }>(
    'Needs a pause before a request',
    ({ answers, pauseMs }) =>
      `${lostText(answers)}; with a pause of ${timeText(pauseMs)} between a reply and the next request, all are answered`,
  ),
  pause: says<{ readonly pauseMs: number }>(
    'Needs a pause before a request',
    ({ pauseMs }) => `needs ${timeText(pauseMs)} between a reply and the next request`,
  ),
  'repeated-reads-lost': says<{ readonly registers: number; readonly answers: readonly DidOften[] }>(
    'Loses reads of the same registers',
    ({ registers, answers }) => `of reads of ${registers} registers the server ${kindsText(answers)}`,
  ),
  'block-reads-lost': says<{
    readonly function: number;
    readonly registers: number;
    readonly times: number;
    readonly of: number;
    readonly answers: readonly DidOften[];
  }>(
    'Loses reads of a block',
    (f) =>
      `function ${f.function}, ${f.registers} registers: ${ofText(f.times, f.of, 'reads')} ${kindsText(f.answers)}`,
  ),
  'other-values': says<{ readonly values: readonly number[]; readonly usual: string }>(
    'Gives other values now and then',
    ({ values, usual }) =>
      `a read now and then gives other values (${values.join(' ')}) than the reads before and after it (${usual})`,
  ),
  'stray-behind': says<{ readonly times: number; readonly of: number }>(
    'Sends bytes behind its replies',
    ({ times, of }) => `bytes behind a reply: ${ofText(times, of, 'exchanges')}`,
  ),
  'unsolicited-frame': says<{ readonly bytes: string; readonly times: number; readonly of: number }>(
    'Sends frames unsolicited',
    ({ bytes, times, of }) => `a frame that nobody asked for (${bytes}): ${ofText(times, of, 'exchanges')}`,
  ),
  'unsolicited-bytes': says<{ readonly bytes: string; readonly times: number; readonly of: number }>(
    'Sends bytes unsolicited',
    ({ bytes, times, of }) => `bytes that nobody asked for (${bytes}): ${ofText(times, of, 'exchanges')}`,
  ),
  'transactions-behind': says(
    'Replies with the transaction identifier of an earlier request',
    () => 'replies carry the transaction identifier of an earlier request: the server is behind',
  ),
  'transactions-fixed': says<{ readonly transaction: number }>(
    'Replies with one transaction identifier always',
    ({ transaction }) => `${OTHER_TRANSACTION} (always ${codeText(transaction)})`,
  ),
  'transactions-one-more': says(
    'Replies with the next transaction identifier',
    () => `${OTHER_TRANSACTION} (always one more)`,
  ),
  'transactions-swapped': says(
    'Swaps the bytes of the transaction identifier',
    () => `${OTHER_TRANSACTION} (its bytes are swapped)`,
  ),
  'transactions-other': says('Replies with other transaction identifiers', () => OTHER_TRANSACTION),
  'in-pieces': says<{ readonly times: number; readonly of: number }>(
    'Sends replies in pieces',
    ({ times, of }) =>
      `${ofText(times, of, 'replies')} came in pieces: TCP allows that, some clients do not bear it`,
  ),
  'reply-too-soon': says<{ readonly ms: number; readonly t35Ms: number }>(
    'Replies before t3.5 has passed',
    ({ ms, t35Ms }) =>
      `replies begin ${timeText(ms)} after the request, before t3.5 (${timeText(t35Ms)}) has passed`,
  ),
  'gap-in-reply': says<{ readonly ms: number; readonly t15Ms: number }>(
    'Sends replies with gaps',
    ({ ms, t15Ms }) => `gaps of up to ${timeText(ms)} inside a reply, where t1.5 is ${timeText(t15Ms)}`,
  ),
  'deaf-after-connecting': says<{ readonly pauseMs: number }>(
    'Does not answer right after connecting',
    ({ pauseMs }) => `a request right after connecting gets no answer; ${timeText(pauseMs)} later, it does`,
  ),
  'closed-when-idle': says<{ readonly idleMs: number }>(
    'Closes an idle connection',
    ({ idleMs }) => `${idleText(idleMs)}, the server has closed the connection: allowed`,
  ),
  'deaf-after-idle': says<{ readonly idleMs: number; readonly lost: number }>(
    'Loses requests after a time without any',
    ({ idleMs, lost }) =>
      `${idleText(idleMs)}, ${lost === 1 ? 'the first request is lost' : `the first ${lost} requests are lost`}; the next one is answered`,
  ),

  // Identification and diagnostics
  'not-identified': says<Answered>(
    'Neither identifies itself nor refuses that with exception 01',
    ({ answer }) =>
      answer.kind === 'exception'
        ? `exception ${codeText(answer.exception)} in place of objects`
        : `the server ${answerText(answer)}, where objects or exception 01 are expected`,
  ),
  'no-identification': says(
    'Sends a reply that is no identification',
    () => 'the reply is no identification',
  ),
  'objects-cut': says<{ readonly objects: number }>(
    'Cuts its list of objects off',
    ({ objects }) => `the list ends before its ${objects} objects`,
  ),
  'bytes-after-objects': says<{ readonly bytes: number }>(
    'Sends bytes behind its list of objects',
    ({ bytes }) => `${bytes} bytes follow the last object`,
  ),
  'object-never-follows': says<{ readonly object: number }>(
    'Names a next object where none follows',
    ({ object }) => `the next object is ${codeText(object)}, and none follows`,
  ),
  'more-follows': says<{ readonly more: number; readonly object: number }>(
    'Says wrongly how its list of objects goes on',
    ({ more, object }) => `"more follows" is ${codeText(more)}, and the next object ${codeText(object)}`,
  ),
  'objects-endless': says('Has a list of objects without an end', () => 'the list has no end'),
  'objects-missing': says<{ readonly objects: readonly number[] }>(
    'Does not have all mandatory objects',
    ({ objects }) => `the mandatory objects ${objects.map(codeText).join(', ')} are missing`,
  ),
  'level-refused': says(
    'Refuses a higher level of objects',
    () => 'exception 03 in place of the objects of its own level',
  ),
  'no-restart': says<Answered>(
    'Does not begin again at an unknown object',
    ({ answer }) => `the server ${answerText(answer)}, where the list begins again at object 00`,
  ),
  'echo-differs': says('Echoes other data', () => 'the echo is another one'),
  'reply-length': says<{ readonly bytes: number; readonly right: number }>(
    'Sends a reply of a wrong length',
    ({ bytes, right }) => `${bytes} bytes in place of ${right}`,
  ),
  'status-wrong': says('Sends a status that does not exist', () => 'the status is neither 0000 nor FFFF'),
  'byte-count-wrong': says<{ readonly byteCount: number; readonly bytes: number }>(
    'Sends a reply with a wrong byte count',
    ({ byteCount, bytes }) => `the byte count is ${byteCount}, and ${bytes} bytes follow`,
  ),
  'function-misanswered': says<Answered>(
    'Neither answers nor refuses a function',
    ({ answer }) => `the server ${answerText(answer)}, where an answer or exception 01 is expected`,
  ),
  miscounted: says<{ readonly errors: number; readonly exceptions: number }>(
    'Counts errors or exceptions wrongly',
    ({ errors, exceptions }) => `one bad frame was counted as ${errors}, one exception as ${exceptions}`,
  ),

  // Damage and neighbours on the bus
  'not-ignored': says<Answered & { readonly bytes: string }>(
    'Answers what it has to ignore',
    ({ answer, bytes }) => `the server ${answerText(answer)} (${bytes})`,
  ),
  'read-lost-after': says<Answered & BeforeRead & { readonly ms: number; readonly curedMs?: number }>(
    'Loses the read after a disturbance',
    ({ ms, answer, curedMs, ...before }) =>
      `a read ${timeText(ms)} after ${beforeText(before)}: the server ${answerText(answer)}${curedMs === undefined ? '' : `; ${timeText(curedMs)} later it is answered`}`,
  ),
  'other-units-answered': says<{ readonly units: readonly number[] }>(
    'Answers requests to other units',
    ({ units }) => `the server answers requests to the units ${units.join(', ')}, too`,
  ),
  'other-unit-answered': says<Answered & { readonly unit: number }>(
    'Answers a request to another unit',
    ({ unit, answer }) => `a read of unit ${unit}: the server ${answerText(answer)}`,
  ),
  'deaf-after-other-unit': says<{ readonly unit: number }>(
    'Loses its own request after one to another unit',
    ({ unit }) => `after a request to unit ${unit}, its own one is not answered`,
  ),
  'lost-after-disturbed': says<Answered>(
    'Loses the request after a disturbed one',
    ({ answer }) => `after a disturbed request, the next one: the server ${answerText(answer)}`,
  ),
  'joins-over-pause': says(
    'Joins what a pause separates',
    () => '4 bytes, 250 ms, 4 bytes: the server takes them for one request',
  ),
  'short-pause': says<{ readonly isAnswered: boolean }>(
    'What it does with a short pause',
    ({ isAnswered }) =>
      `a request with a pause of 2.5 characters in it is ${isAnswered ? 'answered' : 'discarded'} (the clause says "should" be discarded)`,
  ),
  'inner-frame-executed': says(
    'Executes a write inside the reply of another unit',
    () => 'a write inside the reply of another unit is executed',
  ),
  'inner-frame-answered': says(
    'Answers a write inside the reply of another unit',
    () => 'a write inside the reply of another unit is answered',
  ),
  'broadcast-not-executed': says(
    'Does not execute a broadcast write',
    () => 'a broadcast write is not executed',
  ),
  'other-master': says<{ readonly units: readonly number[] }>(
    'Somebody else asks on the bus',
    ({ units }) =>
      `${units.length === 1 ? 'a request' : `${units.length} requests`} of another master came, to unit ${listText([...new Set(units)].map(String))}`,
  ),
  'wrong-parity-answered': says<{ readonly parity: string }>(
    'Answers a frame with a wrong parity',
    ({ parity }) => `a read with ${parity} parity: the server answers`,
  ),

  // TCP connections
  'not-served-after': says<Answered & { readonly after: BeforeConnection }>(
    'Serves no client after a bad one',
    ({ after, answer }) => `${connectionBeforeText(after)}, a read: the server ${answerText(answer)}`,
  ),
  'other-protocol-answered': says<Answered>(
    'Answers another protocol',
    ({ answer }) => `protocol identifier 1: the server ${answerText(answer)}`,
  ),
  'deaf-after-other-protocol': says<Answered>(
    'Loses the request after one of another protocol',
    ({ answer }) =>
      `the frame is discarded, and on this connection the next one, too: the server ${answerText(answer)}`,
  ),
  'wrong-length-answered': says<{ readonly length: number }>(
    'Answers a request with a wrong length',
    ({ length }) => `length ${length}: the read is answered`,
  ),
  'inner-write-executed': says(
    'Executes a write inside the frame of a read',
    () => 'a write inside the frame of a read is executed',
  ),
  'gateway-exception': says('Answers as a gateway', () => 'exception 0A or 0B: right for a gateway'),
  'unit-not-answered': says<Answered & { readonly unit: number }>(
    'Does not answer another unit',
    ({ unit, answer }) => `unit ${unit}: the server ${answerText(answer)}: right for a gateway`,
  ),
  'unit-replaced': says<{ readonly unit: number }>(
    'Answers with another unit identifier',
    ({ unit }) => `unit ${unit} is answered with another unit identifier`,
  ),
  'unit-answered': says<{ readonly unit: number }>(
    'Answers another unit',
    ({ unit }) => `unit ${unit} is answered`,
  ),
  'pieces-lost': says<Answered & { readonly pieces: number }>(
    'Loses a request that comes in pieces',
    ({ pieces, answer }) => `a request in ${pieces} pieces: the server ${answerText(answer)}`,
  ),
  'together-lost': says<{ readonly answered: number; readonly of: number; readonly isOneSegment: boolean }>(
    'Loses requests that come together',
    (facts) => togetherText(facts),
  ),
  'accepted-not-answered': says<{ readonly connection: number }>(
    'Accepts a connection and does not answer on it',
    ({ connection }) =>
      `connection ${connection} is accepted and not answered${connection === 1 ? '' : ` while ${connection === 2 ? 'another one is' : 'others are'} open`}`,
  ),
  connections: says<ConnectionsFound>('How many connections it has', connectionsText),
  'refused-until-gone': says(
    'Refuses a connection until the one before is gone',
    () => 'a connection is refused until the one before is gone',
  ),
  'deaf-after-close': says<{ readonly curedMs: number }>(
    'Does not answer right after a connection was closed',
    ({ curedMs }) =>
      `a connection right after another one was closed gets no answer; after ${timeText(curedMs)}, it does`,
  ),
  'lost-after-reconnect': says<Answered>(
    'Does not answer after reconnecting',
    ({ answer }) => `reads after reconnecting: the server ${answerText(answer)}`,
  ),
  'held-up': says<Answered>(
    'Lets one slow client hold up the others',
    ({ answer }) => `half a request on one connection; on another one, the server ${answerText(answer)}`,
  ),

  // Writes
  'write-misanswered': says<Answered>(
    'Answers a write in another way',
    ({ answer }) => `the server ${answerText(answer)}`,
  ),
  'not-repeated': says('Confirms a write with another reply', () => 'the reply does not repeat the request'),
  'never-stored': says<{ readonly value: number; readonly function?: number }>(
    'Confirms a write and stores nothing',
    (facts) =>
      `${facts.value} was written ${facts.function === undefined ? '' : `with function ${facts.function} `}and confirmed, and is never read`,
  ),
  'stored-late': says<{ readonly ms: number }>(
    'Gives the old value after a write was confirmed',
    ({ ms }) => `the old value is read at once, and the new one ${timeText(ms)} later`,
  ),
  'malformed-executed': says<{ readonly register?: number; readonly before?: number; readonly now?: number }>(
    'Executes a malformed write',
    ({ register, before, now }) =>
      `${register === undefined ? '' : `register ${register} read ${before}, now ${now}: `}the malformed request is executed`,
  ),
  'mask-wrong': says<{ readonly value: number }>(
    'Masks a register wrongly',
    ({ value }) => `12 with the masks F2 and 25 becomes ${codeText(value)}, not 17`,
  ),
  'reads-before-it-writes': says('Reads before it writes', () => 'it reads first, and writes then'),
  'reads-something-else': says<{ readonly value: number | undefined }>(
    'Reads another value than it has just written',
    ({ value }) => `it reads ${value}`,
  ),
  'written-by-half': says<{ readonly register: number; readonly beyond: number }>(
    'Writes a part of what it can not write whole',
    ({ register, beyond }) => `register ${register} is written, and register ${beyond} is not there`,
  ),
  torn: says(
    'Answers with halves of two values',
    () => 'reads while it is written have one register of the old value and one of the new',
  ),
  'one-table': says('Has one table for both', () => 'holding and input registers are one table'),
  'two-tables': says('Has two tables', () => 'holding and input registers are separate'),
  'coil-not-stored': says<{ readonly reads: number; readonly wrote: string }>(
    'Confirms a write of a coil and does not store it',
    ({ reads, wrote }) => `the coil reads ${reads} after ${wrote} was confirmed`,
  ),

  // Endurance
  'soak-lost': says<Soaked & { readonly answers: readonly DidOften[] }>(
    'Loses reads in the long run',
    (facts) => `${soakText(facts)}; the others: the server ${kindsText(facts.answers)}`,
  ),
  'soak-slower': says<Soaked & { readonly firstMs: number; readonly lastMs: number }>(
    'Gets slower and slower',
    (facts) =>
      `${soakText(facts)}; the times grew from ${timeText(facts.firstMs)} to ${timeText(facts.lastMs)}`,
  ),
  'stopped-answering': says<Stopped>('Stops answering', (facts) => `the server ${stoppedText(facts)}`),

  // Not decided, not there, not run
  'replies-lost': plain('replies get lost by chance; a longer run decides (--soak)'),
  'replies-lost-before': plain('replies get lost by chance: see back-to-back'),
  'no-free-unit': plain('no unit was found that nobody has: see rtu-other-unit'),
  'holding-not-read': plain('holding registers are not read'),
  'no-large-table': plain('no table is large enough to tell; name more addresses with --map'),
  'connections-not-counted': plain('connections were not counted: see connections'),
  'no-broadcast-sent': plain('no broadcast was sent; it needs --broadcast and --scratch holding:…'),
  'serial-only': plain('only on a serial port'),
  'no-reply-timed': plain('no reply was timed'),
  'not-claimed': plain('it is not claimed'),
  'closes-and-serves-next': plain('the server closes the connection, and serves the next'),
  'pause-in-the-way': plain('it needs a pause between requests: see back-to-back'),
  'transactions-not-copied': plain(
    'transaction identifiers are not copied, so replies can not be told apart: see mbap-echo',
  ),
  'one-reconnect-lost': plain('one read after reconnecting was not answered; a second run decides'),
  'one-connection': plain('it has one connection'),
  'second-connection-deaf': plain('a second connection is not answered: see connections'),
  stopped: plain('the server test was stopped'),
  'no-registers': plain('the server has no registers'),
  'registers-alive': plain('the registers are alive; name quiet ones with --scratch or --map'),
  'no-block': plain('no block of four registers was found; name some with --scratch or --map'),
  'stray-once': plain('once, bytes came that nobody asked for; a longer run decides (--soak)'),
  'first-lost': plain('the first request of a connection was lost, and a pause did not help'),
  'first-lost-sometimes': plain('now and then a request right after connecting is lost'),
  'no-pause-helps': plain('replies get lost whatever the pause'),
  'all-addresses-exist': plain('every address exists'),
  'bits-not-read': plain('1, 3 and 9 bits could not be read'),
  'bits-all-zero': plain('unused bits are 0, and so are the coils beside them: set one to decide'),
  'block-of-other-size': plain('a block has another number of values: see frames'),
  'no-sunspec': plain('there is no SunSpec marker at 40000, 0 or 50000'),
  'identification-deaf': plain('function 43 is not answered: see fc43-basic'),
  'no-counters': plain('the counters 8/12 and 8/13 are not there'),
  'no-exception-counted': plain('no exception came that could be counted'),
  'objects-not-single': plain('objects are not read one by one'),
  'pseudo-terminal': plain('a pseudo-terminal has neither speed nor parity'),
  'no-parity': plain('the line has no parity'),
  'no-wide-value': plain('no value of the map has several registers'),
  'no-wide-value-read': plain('no value of several registers is read whole: see map-values'),
  'holes-said': plain('the map says how holes are answered (manners.holes)'),
  'no-narrow-hole': plain('the map has no narrow hole between two values'),
  'no-hole-refused': plain('no hole of the map is refused alone with exception 02, so none can be read over'),
  'no-read-only': plain('the map has no read-only register in the scratch range'),
  'no-refused-write': plain('no write to a read-only register was refused with exception 02, 03 or 04'),
  'no-limits': plain('the map has no value with limits in the scratch range'),
  'too-few-in-one-read': plain('123 registers in one read are refused'),
  'own-values-unknown': plain('124 registers are not read, so they are not written with their own values'),
  'scratch-not-read': plain('function 3 does not read the scratch register'),
  'needs-scratch-beyond-end': plain(
    'it needs --scratch holding:… that goes one address beyond the last holding register',
  ),
  'torn-once': plain('once, half of a value was old; a longer run decides (--soak)'),
  'no-input-register': plain('function 4 does not read this address'),
  'nothing-answers': plain('nothing answers'),
  'not-asked-for': plain('it was not asked for'),

  'function-absent': says<{ readonly function: number; readonly mei?: number }>(
    'Does not have a function',
    (f) => `function ${f.function}${f.mei === undefined ? '' : `/${f.mei}`} is not there`,
  ),
  'function-mute': says<{ readonly function: number }>(
    'Does not answer a function, like all that it does not have',
    (f) => `function ${f.function} is not answered, as others that are not there: see function-unknown`,
  ),
  'no-address-found': says<{ readonly function: number }>(
    'No address of a function was found',
    (f) => `no address that function ${f.function} reads was found; name one with --map`,
  ),
  'no-address-known': says<{ readonly exception: number }>(
    'Refuses every address that was tried',
    ({ exception }) =>
      `it is there, and refuses every address that was tried (exception ${codeText(exception)}); say one that it has with --scratch or --map`,
  ),
  'function-unclear': says<Answered & { readonly function: number }>(
    'Neither answers nor refuses a function',
    (f) => `to function ${f.function}, the server ${answerText(f.answer)}`,
  ),
  'reply-of-other-size': says<{ readonly quantity: number; readonly what: string }>(
    'Replies with another number of values',
    ({ quantity, what }) => `the reply to ${quantity} ${what} has another number of them: see frames`,
  ),
  'map-too-small': says<{
    readonly address: number;
    readonly last: number;
    readonly most: number;
    readonly what: string;
    readonly exception?: number;
  }>(
    'Has too small a map to tell',
    ({ address, last, most, what, exception }) =>
      `the map ends at ${last}, so ${most} ${what} are the most that can be read from ${address} on${exception === undefined ? '; name more in a row with --map' : ` (refused with exception ${codeText(exception)})`}`,
  ),
  'few-as-claimed': says<{ readonly most: number; readonly what: string; readonly claimed: number }>(
    'Answers as many in one read as are claimed',
    ({ most, what, claimed }) => `at most ${most} ${what} in one read; ${claimed} are claimed`,
  ),
  'one-read-lost': says<{ readonly of: number }>(
    'One read was lost',
    ({ of }) => `1 of ${of} reads was not answered; a longer run decides (--soak)`,
  ),
  'reads-spoilt': says<{ readonly answers: readonly DidOften[] }>(
    'Reads were lost, and their frames are odd',
    ({ answers }) => `${lostText(answers)}: see frames`,
  ),
  'registers-not-read': says<Answered & { readonly quantity: number; readonly address: number }>(
    'Does not read registers that are there',
    ({ quantity, address, answer }) =>
      `${quantity} registers from ${address} on: the server ${answerText(answer)}`,
  ),
  'other-values-once': says<{ readonly of: number }>(
    'One read gave other values',
    ({ of }) => `1 of ${of} reads gave other values; a longer run decides (--soak)`,
  ),
  'odd-once': says<{ readonly oddity: Oddity }>(
    'One reply was odd',
    ({ oddity }) => `once, ${ODDITIES[oddity]}; a longer run decides (--soak)`,
  ),
  'one-lost-after-idle': says<{ readonly idleMs: number }>(
    'One request was lost after a time without any',
    ({ idleMs }) => `${idleText(idleMs)}, one request was lost`,
  ),
  'functions-not-tried': says<{ readonly functions: readonly number[] }>(
    'Functions were not tried',
    ({ functions }) => `${ofCodes(functions)} not asked for; functions that write need --scratch`,
  ),
  'connections-not-tried': says<ConnectionsFound>(
    'More connections were not tried',
    (found) => `${connectionsText(found)}; more were not tried`,
  ),
  'soak-too-short': says<Soaked>(
    'One read was lost, or the soak was stopped',
    (facts) => `${soakText(facts)}; a longer run decides`,
  ),
  'address-not-refused': says<Answered>(
    'Does not refuse an address that is not there',
    ({ answer }) => `an address that is not there: the server ${answerText(answer)}`,
  ),
  'order-unclear': says<{ readonly answers: readonly Did[]; readonly exception: number }>(
    'One code for a wrong quantity and a wrong address',
    ({ answers, exception }) =>
      `the server ${listText(answers.map(answerText))} to a wrong quantity at a good address, and with exception ${codeText(exception)} to a wrong address: two codes would tell the order`,
  ),
  'scratch-refuses': says<{ readonly function: number; readonly exception: number }>(
    'Refuses writes to the scratch address',
    (f) =>
      `the scratch address refuses function ${f.function} with exception ${codeText(f.exception)}; name one that takes writes`,
  ),
  'scratch-not-written': says<Answered>(
    'Does not write the scratch register',
    ({ answer }) => `the scratch register is not written: the server ${answerText(answer)}`,
  ),
  'second-connection-refuses': says<Answered>(
    'Refuses a write on a second connection',
    ({ answer }) => `function 16 on a second connection: the server ${answerText(answer)}`,
  ),
  'refused-otherwise': says<{ readonly exception: number; readonly because: string }>(
    'Refuses with an exception that decides nothing',
    ({ exception, because }) => `exception ${codeText(exception)}: ${because}`,
  ),
  'not-refused-lives-on': says<Answered & { readonly right: readonly number[] }>(
    'Does not answer what has to be refused, and lives on',
    ({ answer, right }) =>
      `the server ${answerText(answer)}, where exception ${rightText(right)} is expected; it lives on`,
  ),
  'speed-not-borne': says<Answered & { readonly baudRate: number }>(
    'Does not answer at a speed that is 2 % off',
    ({ baudRate, answer }) =>
      `at ${baudRate} baud, the server ${answerText(answer)}: it, or this adapter, does not bear 2 %; another adapter decides`,
  ),
  'part-unclear': says<Answered & { readonly register: number; readonly value: string }>(
    'Answers a part of a value with an exception of a gateway',
    ({ register, value, answer }) =>
      `register ${register} of ${value} alone: the server ${answerText(answer)}`,
  ),

  // Claims
  'functions-missing': says<{ readonly functions: readonly number[] }>(
    'Does not have functions that are claimed',
    ({ functions }) => `${ofCodes(functions)} not there`,
  ),
  'exceptions-not-claimed': says<{ readonly exceptions: readonly number[] }>(
    'Answers with exceptions that are not claimed',
    ({ exceptions }) => `exception ${listText(exceptions.map(codeText))} came, which is not claimed`,
  ),
  'fewer-than-claimed': says<{ readonly most: number; readonly claimed: number }>(
    'Reads fewer at once than is claimed',
    ({ most, claimed }) => `${most} in one read, and ${claimed} are claimed`,
  ),
  'fewer-connections': says<ConnectionsFound & { readonly claimed: number }>(
    'Serves fewer connections than are claimed',
    ({ claimed, ...found }) => `${connectionsText(found)}, and ${claimed} are claimed`,
  ),
  'slower-than-claimed': says<{ readonly p99Ms: number; readonly claimedMs: number }>(
    'Answers later than is claimed',
    ({ p99Ms, claimedMs }) => `${beginText(p99Ms)}, and ${timeText(claimedMs)} are claimed`,
  ),
} as const;

const OTHER_TRANSACTION = 'replies carry another transaction identifier than their requests';

export function idleText(ms: number): string {
  return `after ${timeText(ms)} without a request`;
}

export function beginText(p99Ms: number): string {
  return `99 of 100 replies begin within ${timeText(p99Ms)}`;
}

export function mapReadsText(many: number, isCut: boolean): string {
  return `${many} reads of ${isCut ? 'the first values of ' : ''}the map`;
}

export function togetherText(facts: {
  readonly answered: number;
  readonly of: number;
  readonly isOneSegment: boolean;
}): string {
  const how = facts.isOneSegment ? 'in one segment' : 'without waiting';
  return `${facts.answered} of ${facts.of} requests ${how} are answered`;
}

export { ofCodes as functionsText };

/** The codes of what a server test finds. */
export type Code = keyof typeof WORDS;
type FactsOf<C extends Code> = (typeof WORDS)[C] extends Wording<infer Facts> ? Facts : never;

/** What a server test has found, as data: its code, and its facts with their units. */
export type Found = { [C in Code]: { readonly code: C } & FactsOf<C> }[Code];

export const CODES = Object.keys(WORDS) as readonly Code[];

const wordsOf = ({ code }: Found) => WORDS[code] as Wording<Found>;

/** What was found in words, as a sentence without its full stop. */
export function foundText(found: Found): string {
  return wordsOf(found)[1](found);
}

/** What was seen, as a title: `Confirms a write and stores nothing`. */
export function seenTitle(code: Code): string {
  return WORDS[code][0];
}
