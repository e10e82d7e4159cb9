import { listText } from '../../../common/words.js';
import type { Did, DidOften } from '../reading.js';
import { answerText, type ConnectionsFound, connectionsText, timeText } from '../words.js';
import { ODDITIES, type OddFacts, type Oddity, oddFactsText } from './oddities.js';
import {
  type BeforeConnection,
  beforeText,
  connectionBeforeText,
  type ReadLost,
  type Soaked,
  type Stopped,
  soakText,
  stoppedText,
  togetherText,
} from './phrases.js';

/** Replies that are odd in one way, and how often they are in others. */
interface Odd extends OddFacts {
  readonly of: number;
  readonly also?: readonly (OddFacts & { readonly code: Oddity })[];
}

const oddText =
  (code: Oddity) =>
  ({ of, also = [], ...facts }: Odd) =>
    listText(
      [{ code, ...facts }, ...also].map(
        (each) => `${oddFactsText(each.code, each)} (${each.times} of ${of} replies)`,
      ),
    );

type OddRows = { readonly [code in Oddity]: readonly [title: string, text: (facts: Odd) => string] };
const ODD = Object.fromEntries(
  Object.entries(ODDITIES).map(([code, [title]]) => [code, [title, oddText(code as Oddity)]]),
) as unknown as OddRows;

const OTHER_TRANSACTION = 'replies carry another transaction identifier than their requests';

/** What violates a clause, and what a data sheet has: a title that says what was seen, and a sentence behind it. */
export const VIOLATED = {
  ...ODD,

  // Refusals
  'wrong-exception':
    'Refuses with another exception than it has to: exception {exception:hex} in place of {right:hexOr}',
  'answered-not-refused':
    'Answers what has to be refused: the server {answer:did} in place of exception {right:hexOr}',
  'garbled-refusal':
    'Sends no reply, but other bytes: the server {answer:did}, in place of exception {right:hexOr}',
  'not-refused':
    'Does not answer what has to be refused: the server {answer:did}, where exception {right:hexOr} is expected',
  'function-not-answered':
    'Leaves functions without an answer: function {function:n} is not answered, where an answer or exception 01 is expected',
  'wrong-quantity-answered':
    'Answers a quantity that does not exist: {quantity:n} {what:s} are answered with {bytes:n} bytes',
  'too-long-answered':
    'Answers a request that is too long: two bytes too many are taken, and the read is answered',
  'address-wraps':
    'Answers a read beyond the last address: two registers from FFFF on are answered ({values:words}), and there is none behind FFFF',
  'flag-ignored':
    'Takes the reply of another server for a request: function code 83, which no request has, is answered as function 3',
  'refusal-looks-like-data':
    'Refuses with a reply that looks like data: the refusal has the function code 03: a client takes it for data',
  'quantity-first':
    'Looks at the quantity first: exception {exception:hex}: it looks at the quantity first, as figure {figure:n} has it',
  'address-first':
    'Looks at the address first: exception {exception:hex}: it looks at the address first, as figure 9 has it for all functions; figure {figure:n} has the quantity first',
  'other-answer': 'Answers in another way: the server {answer:did}',

  // What it has
  'few-in-one-read':
    'Answers fewer in one read than the specification has: at most {most:n} {what:s} in one read, where the specification has {limit:n}: then the server {answer:did}',
  'few-as-others':
    'Answers as few in one read as another function: at most {most:n} {what:s} in one read, as with function {function:n}',
  'end-in-block':
    'Answers a block that goes beyond the end: address {address:n} is refused alone, and answered in a block with {before:n}',
  'hole-in-block':
    'Answers a block over a hole: address {address:n} is refused alone, and answered in a block from {from:n} on',
  'bits-set':
    'Sets bits that were not asked for: the reply to {quantity:n} bits has more bits set: {byte:hex}',
  'end-refused-in-block':
    'Refuses a block that ends with the last address: address {address:n} is answered alone, and in a block with {before:n} the server {answer:did}',
  'block-differs':
    'Gives other values in a block than alone: function {function:n}, alone the values from {address:n} on are {alone:s}, in a block of {quantity:n} {block:s}',
  'sunspec-end': [
    'Ends its SunSpec models without the length 0',
    (facts: { readonly address: number; readonly length?: number }) =>
      `the end of the chain at ${facts.address} has ${facts.length === undefined ? 'no length' : `the length ${facts.length}, not 0`}`,
  ],
  'sunspec-cut':
    'Cuts its chain of SunSpec models off: behind the models {models:list}, address {address:n} is not there',
  'sunspec-first': 'Begins its SunSpec models with another one than 1: the first model is {model:n}, not 1',
  'sunspec-length':
    'Gives a SunSpec model a wrong length: model {model:n} at {address:n} has the length {length:n}[, and the model {right?:n}]',
  'sunspec-short':
    'Has fewer registers of a SunSpec model than it says: model {model:n} at {address:n} says that it has {length:n} registers; at the last, the server {answer:did}',
  'sunspec-endless':
    'Has a chain of SunSpec models without an end: the chain does not end within {models:n} models',

  // Its map
  'values-missing':
    'Does not have all values of its map: {missing:n} of {of:n} reads of {isCut:cut}the map are not answered in full: {values:texts}; at the first, the server {answer:did}',
  'part-not-refused':
    'Neither answers nor refuses a part of a value: register {register:n} of {value:s} alone: the server {answer:did}, where 16 bits or exception 02 are right',
  'part-against-map': [
    'Treats a part of a value in another way than its map says',
    (f: { readonly register: number; readonly value: string; readonly wholeValues: boolean }) =>
      `register ${f.register} of ${f.value} alone is ${f.wholeValues ? 'answered' : 'refused'}, and the map says wholeValues: ${f.wholeValues}`,
  ],
  'read-only-taken':
    'Accepts a write to what its map has read-only: a write to {value:s} is accepted, and the map has it read-only',
  'beyond-limits-taken':
    'Takes a value beyond the limits of its map: {words:words} for {value:s} is taken, which is beyond the limits of the map',
  'confirmed-not-taken':
    'Confirms a value beyond its limits and does not take it: {words:words} for {value:s} is confirmed, and not taken',

  // Frames and timing
  'one-behind':
    'Answers each request with the reply to the one before: each reply is that of the request before it',
  'reads-lost':
    'Loses reads in a row: of reads in a row the server {answers:often}, and no pause up to {longestPauseMs:ms} cures that',
  'busy-in-a-row':
    'Says that it is busy: of reads in a row the server {answers:often}[; with a pause of {pauseMs?:ms}, it does not]',
  'needs-pause':
    'Needs a pause before a request: of reads in a row the server {answers:often}; with a pause of {pauseMs:ms} between a reply and the next request, all are answered',
  pause: 'Needs a pause before a request: needs {pauseMs:ms} between a reply and the next request',
  'repeated-reads-lost':
    'Loses reads of the same registers: of reads of {registers:n} registers the server {answers:dids}',
  'block-reads-lost':
    'Loses reads of a block: function {function:n}, {registers:n} registers: {times:n} of {of:n} reads {answers:dids}',
  'other-values':
    'Gives other values now and then: a read now and then gives other values ({values:words}) than the reads before and after it ({usual:s})',
  'stray-behind': 'Sends bytes behind its replies: bytes behind a reply: {times:n} of {of:n} exchanges',
  'unsolicited-frame':
    'Sends frames unsolicited: a frame that nobody asked for ({bytes:s}): {times:n} of {of:n} exchanges',
  'unsolicited-bytes':
    'Sends bytes unsolicited: bytes that nobody asked for ({bytes:s}): {times:n} of {of:n} exchanges',
  'transactions-behind':
    'Replies with the transaction identifier of an earlier request: replies carry the transaction identifier of an earlier request: the server is behind',
  'transactions-fixed': `Replies with one transaction identifier always: ${OTHER_TRANSACTION} (always {transaction:hex})`,
  'transactions-of-connection': `Replies with the transaction identifier of the first request: ${OTHER_TRANSACTION} (always that of the first request of the connection)`,
  'transactions-one-more': `Replies with the next transaction identifier: ${OTHER_TRANSACTION} (always one more)`,
  'transactions-swapped': `Swaps the bytes of the transaction identifier: ${OTHER_TRANSACTION} (its bytes are swapped)`,
  'transactions-other': `Replies with other transaction identifiers: ${OTHER_TRANSACTION}`,
  'in-pieces':
    'Sends replies in pieces: {times:n} of {of:n} replies came in pieces: TCP allows that, some clients do not bear it',
  'reply-too-soon':
    'Replies before t3.5 has passed: replies begin {ms:ms} after the request, before t3.5 ({t35Ms:ms}) has passed',
  'gap-in-reply': 'Sends replies with gaps: gaps of up to {ms:ms} inside a reply, where t1.5 is {t15Ms:ms}',
  'deaf-after-connecting':
    'Does not answer right after connecting: a request right after connecting gets no answer; {pauseMs:ms} later, it does',
  'closed-when-idle':
    'Closes an idle connection: after {idleMs:ms} without a request, the server has closed the connection: allowed',
  'deaf-after-idle': [
    'Loses requests after a time without any',
    ({ idleMs, lost }: { readonly idleMs: number; readonly lost: number }) =>
      `after ${timeText(idleMs)} without a request, ${lost === 1 ? 'the first request is lost' : `the first ${lost} requests are lost`}; the next one is answered`,
  ],

  // Identification and diagnostics
  'not-identified':
    'Neither identifies itself nor refuses that with exception 01: the server {answer:did}, where objects or exception 01 are expected',
  'no-identification': 'Sends a reply that is no identification: the reply is no identification',
  'level-unknown': 'Has a conformity level that does not exist: level {level:hex}',
  'queue-too-long':
    'Has more values in a queue than the specification allows: {values:n} values, and 31 are allowed',
  'reference-type':
    'Replies with another reference type of a file record: the reference type is {type:n}, not 6',
  'objects-cut': 'Cuts its list of objects off: the list ends before its {objects:n} objects',
  'bytes-after-objects': 'Sends bytes behind its list of objects: {bytes:n} bytes follow the last object',
  'object-never-follows':
    'Names a next object where none follows: the next object is {object:hex}, and none follows',
  'more-follows':
    'Says wrongly how its list of objects goes on: "more follows" is {more:hex}, and the next object {object:hex}',
  'objects-endless': 'Has a list of objects without an end: the list has no end',
  'objects-missing': 'Does not have all mandatory objects: the mandatory objects {objects:hexes} are missing',
  'level-refused': 'Refuses a higher level of objects: exception 03 in place of the objects of its own level',
  'no-restart':
    'Does not begin again at an unknown object: the server {answer:did}, where the list begins again at object 00',
  'echo-differs': 'Echoes other data: the echo is another one',
  'reply-length': 'Sends a reply of a wrong length: {bytes:n} bytes in place of {right:n}',
  'status-wrong': 'Sends a status that does not exist: the status is neither 0000 nor FFFF',
  'byte-count-wrong':
    'Sends a reply with a wrong byte count: the byte count is {byteCount:n}, and {bytes:n} bytes follow',
  'function-misanswered':
    'Neither answers nor refuses a function: the server {answer:did}, where an answer or exception 01 is expected',
  miscounted:
    'Counts errors or exceptions wrongly: one bad frame was counted as {errors:n}, one exception as {exceptions:n}',

  // Damage and neighbours on the bus
  'not-ignored': 'Answers what it has to ignore: the server {answer:did} ({bytes:s})',
  'read-lost-after': [
    'Loses the read after a disturbance',
    ({ ms, answer, curedMs, ...before }: ReadLost) =>
      `a read ${timeText(ms)} after ${beforeText(before)}: the server ${answerText(answer)}${curedMs === undefined ? '' : `; ${timeText(curedMs)} later it is answered`}`,
  ],
  'other-units-answered':
    'Answers requests to other units: the server answers requests to the units {units:list}, too',
  'other-unit-answered':
    'Answers a request to another unit: a read of unit {unit:n}: the server {answer:did}',
  'deaf-after-other-unit':
    'Loses its own request after one to another unit: after a request to unit {unit:n}, its own one is not answered',
  'lost-after-disturbed':
    'Loses the request after a disturbed one: after a disturbed request, the next one: the server {answer:did}',
  'joins-over-pause':
    'Joins what a pause separates: 4 bytes, 250 ms, 4 bytes: the server takes them for one request',
  'short-pause': [
    'What it does with a short pause',
    ({ isAnswered }: { readonly isAnswered: boolean }) =>
      `a request with a pause of 2.5 characters in it is ${isAnswered ? 'answered' : 'discarded'} (the clause says "should" be discarded)`,
  ],
  'spoilt-write-executed': 'Executes a write with a wrong CRC: a write with a wrong CRC is executed',
  'spoilt-write-answered': 'Answers a write with a wrong CRC: a write with a wrong CRC is answered',
  'inner-frame-executed':
    'Executes a write inside the reply of another unit: a write inside the reply of another unit is executed',
  'inner-frame-answered':
    'Answers a write inside the reply of another unit: a write inside the reply of another unit is answered',
  'broadcast-not-executed': 'Does not execute a broadcast write: a broadcast write is not executed',
  'other-master': [
    'Somebody else asks on the bus',
    ({ units }: { readonly units: readonly number[] }) =>
      `${units.length === 1 ? 'a request' : `${units.length} requests`} of another master came, to unit ${listText([...new Set(units)].map(String))}`,
  ],
  'wrong-parity-answered':
    'Answers a frame with a wrong parity: a read with {parity:s} parity: the server answers',

  // TCP connections
  'not-served-after': [
    'Serves no client after a bad one',
    ({ after, answer }: { readonly after: BeforeConnection; readonly answer: Did }) =>
      `${connectionBeforeText(after)}, a read: the server ${answerText(answer)}`,
  ],
  'other-protocol-answered': 'Answers another protocol: protocol identifier 1: the server {answer:did}',
  'deaf-after-other-protocol':
    'Loses the request after one of another protocol: the frame is discarded, and on this connection the next one, too: the server {answer:did}',
  'wrong-length-answered': 'Answers a request with a wrong length: length {length:n}: the read is answered',
  'inner-write-executed':
    'Executes a write inside the frame of a read: a write inside the frame of a read is executed',
  'gateway-exception': 'Answers as a gateway: exception 0A or 0B: right for a gateway',
  'unit-not-answered':
    'Does not answer another unit: unit {unit:n}: the server {answer:did}: right for a gateway',
  'unit-replaced':
    'Answers with another unit identifier: unit {unit:n} is answered with another unit identifier',
  'unit-answered': 'Answers another unit: unit {unit:n} is answered',
  'pieces-lost':
    'Loses a request that comes in pieces: a request in {pieces:n} pieces: the server {answer:did}',
  'together-lost': ['Loses requests that come together', togetherText],
  'accepted-not-answered': [
    'Accepts a connection and does not answer on it',
    ({ connection }: { readonly connection: number }) =>
      `connection ${connection} is accepted and not answered${connection === 1 ? '' : ` while ${connection === 2 ? 'another one is' : 'others are'} open`}`,
  ],
  connections: ['How many connections it has', connectionsText],
  'refused-until-gone':
    'Refuses a connection until the one before is gone: a connection is refused until the one before is gone',
  'deaf-after-close':
    'Does not answer right after a connection was closed: a connection right after another one was closed gets no answer; after {curedMs:ms}, it does',
  'lost-after-reconnect':
    'Does not answer after reconnecting: reads after reconnecting: the server {answer:did}',
  'connections-not-freed':
    'Does not free connections that were closed: {served:n} connections were served, each closed before the next; to the one after, and to others within 20 s, the server {answer:did}',
  'closes-after-exception':
    'Closes the connection after an exception: after an exception, the connection is closed',
  'mute-after-exception':
    'Answers nothing more after an exception: after an exception, nothing is answered on the same connection; on a new one, it is',
  'closes-after-requests':
    'Closes the connection after some requests: a connection is closed after {requests:n} requests',
  'closes-now-and-then':
    'Closes connections now and then: {times:n} connections were closed between two requests',
  'held-up':
    'Lets one slow client hold up the others: half a request on one connection; on another one, the server {answer:did}',

  // Writes
  'write-misanswered': 'Answers a write in another way: the server {answer:did}',
  'not-repeated': 'Confirms a write with another reply: the reply does not repeat the request',
  'never-stored':
    'Confirms a write and stores nothing: {wrote:words} was written from {address:n} on with function {function:n} and confirmed, and {reads:words} is read',
  'stored-otherwise':
    'Confirms a write and stores other values: {wrote:words} was written from {address:n} on with function {function:n} and confirmed, and {reads:words} is read{how:how}',
  'stored-for-connection':
    'Keeps a value for the connection that wrote it: {wrote:words} was written to {address:n} and is read, and on the next connection {reads:words} is read',
  'neighbour-written':
    'Changes what it is not asked to write: {wrote:words} was written from {address:n} on with function {function:n}, and {table:s} {beside:n} went from {before:n} to {now:n}',
  'stored-late':
    'Gives the old value after a write was confirmed: the old value is read at once, and the new one {ms:ms} later',
  'malformed-executed':
    'Executes a malformed write: [register {register?:n} read {before?:n}, now {now?:n}: ]the malformed request is executed',
  'reads-before-it-writes': 'Reads before it writes: it reads first, and writes then',
  'reads-something-else': 'Reads another value than it has just written: it reads {value:words}',
  'written-by-half':
    'Writes a part of what it can not write whole: register {register:n} is written, and register {beyond:n} is not there',
  torn: 'Answers with halves of two values: reads while it is written have one register of the old value and one of the new',
  'one-table': 'Has one table for both: holding and input registers are one table',
  'two-tables': 'Has two tables: holding and input registers are separate',

  // Endurance
  'soak-lost': [
    'Loses reads in the long run',
    (facts: Soaked & { readonly answers: readonly DidOften[] }) =>
      `${soakText(facts)}; the others: the server ${listText(facts.answers.map(answerText))}`,
  ],
  'soak-slower': [
    'Gets slower and slower',
    (facts: Soaked & { readonly firstMs: number; readonly lastMs: number }) =>
      `${soakText(facts)}; the times grew from ${timeText(facts.firstMs)} to ${timeText(facts.lastMs)}`,
  ],
  'stopped-answering': ['Stops answering', (facts: Stopped) => `the server ${stoppedText(facts)}`],

  // Claims
  'functions-missing': 'Does not have functions that are claimed: {functions:functions} not there',
  'exceptions-not-claimed':
    'Answers with exceptions that are not claimed: exception {exceptions:hexes} came, which is not claimed',
  'fewer-than-claimed':
    'Reads fewer at once than is claimed: {most:n} in one read, and {claimed:n} are claimed',
  'fewer-connections': [
    'Serves fewer connections than are claimed',
    ({ claimed, ...found }: ConnectionsFound & { readonly claimed: number }) =>
      `${connectionsText(found)}, and ${claimed} are claimed`,
  ],
  'slower-than-claimed':
    'Answers later than is claimed: 99 of 100 replies begin within {p99Ms:ms}, and {claimedMs:ms} are claimed',
} as const;
