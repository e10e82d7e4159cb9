import { listText } from '../../../common/words.js';
import type { Did, DidOften } from '../reading.js';
import { answerText, type ConnectionsFound, connectionsText, timeText } from '../words.js';
import { ODDITIES, type OddFacts, type Oddity, oddFactsText } from './oddities.js';
import {
  type BeforeConnection,
  beforeText,
  connectionBeforeText,
  mixedText,
  type ReadLost,
  type Soaked,
  type Stopped,
  soakText,
  stoppedText,
  togetherText,
} from './phrases.js';

/** Replies that are odd in one way, and how often they are odd in other ways. */
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

const OTHER_TRANSACTION = 'the transaction identifier of replies does not match the request';

/**
 * The wording of violations of a clause, and of facts in the data sheet: a title with the observation,
 * followed by a sentence.
 */
export const VIOLATED = {
  ...ODD,

  // Refusals
  'wrong-exception': 'Refuses with the wrong exception: exception {exception:hex} instead of {right:hexOr}',
  'answered-not-refused':
    'Answers a request that must be refused: the server {answer:did} instead of exception {right:hexOr}',
  'garbled-refusal':
    'Sends bytes that are not a reply: the server {answer:did} instead of exception {right:hexOr}',
  'not-refused':
    'Does not answer a request that must be refused: the server {answer:did}; exception {right:hexOr} is expected',
  'function-not-answered':
    'Does not answer some functions: function {function:n} is not answered; an answer or exception 01 is expected',
  'wrong-quantity-answered':
    'Answers an invalid quantity: {quantity:n} {what:s} are answered with {bytes:n} bytes',
  'too-long-answered':
    'Answers a request that is too long: two extra bytes are accepted, and the read is answered',
  'address-wraps':
    'Answers a read beyond the last address: two registers from FFFF are answered ({values:words}), although FFFF is the last address',
  'address-cut':
    'Uses only eight bits of an address: addresses {addresses:list} have the values of {address:n}, although {absent:n} is refused',
  'flag-ignored':
    'Mistakes the reply of another server for a request: function code 83, which no request has, is answered like function 3',
  'refusal-looks-like-data':
    'Refuses with a reply that looks like data: the refusal has function code 03, so a client takes it for data',
  'quantity-first':
    'Checks the quantity first: exception {exception:hex}: the server checks the quantity first, as in figure {figure:n}',
  'address-first':
    'Checks the address first: exception {exception:hex}: the server checks the address first, as in figure 9 for all functions; figure {figure:n} checks the quantity first',
  'other-answer': 'Answers in a different way: the server {answer:did}',

  // Features
  'few-in-one-read':
    'Reads fewer at once than the specification allows: at most {most:n} {what:s} in one read, although the specification allows {limit:n}; beyond that, the server {answer:did}',
  'few-as-others':
    'Reads as few at once as another function: at most {most:n} {what:s} in one read, as with function {function:n}',
  'end-in-block':
    'Answers a block that goes beyond the end: address {address:n} is refused on its own, but answered in a block with {before:n}',
  'hole-in-block':
    'Answers a block over a hole: address {address:n} is refused on its own, but answered in a block from {from:n}',
  'bits-set':
    'Sets bits that were not requested: the reply to a read of {quantity:n} bits has more bits set: {byte:hex}',
  'end-refused-in-block':
    'Refuses a block that ends with the last address: address {address:n} is answered on its own; in a block with {before:n} the server {answer:did}',
  'block-differs':
    'Returns different values in a block: function {function:n}, values from {address:n}: {alone:s} in single reads, {block:s} in a block of {quantity:n}',
  'sunspec-end': [
    'Ends its SunSpec models without a length of 0',
    (facts: { readonly address: number; readonly length?: number }) =>
      `the end of the chain at ${facts.address} has ${facts.length === undefined ? 'no length' : `the length ${facts.length}, not 0`}`,
  ],
  'sunspec-cut':
    'Has an incomplete chain of SunSpec models: address {address:n}, after the models {models:list}, does not exist',
  'sunspec-first': 'Does not begin its SunSpec models with model 1: the first model is {model:n}, not 1',
  'sunspec-length':
    'Gives a SunSpec model a wrong length: model {model:n} at {address:n} has the length {length:n}[, and the model {right?:n}]',
  'sunspec-short':
    'Has fewer registers of a SunSpec model than its length says: model {model:n} at {address:n} has the length {length:n}; for the last register, the server {answer:did}',
  'sunspec-endless':
    'Never ends its chain of SunSpec models: the chain does not end within {models:n} models',

  // Map
  'values-missing':
    'Lacks values of its map: {missing:n} of {of:n} reads of {isCut:cut}the map are not answered in full: {values:texts}; for the first, the server {answer:did}',
  'part-not-refused':
    'Neither answers nor refuses a part of a value: register {register:n} of {value:s} alone: the server {answer:did}; 16 bits or exception 02 would be right',
  'part-against-map': [
    'Treats parts of a value differently from its map',
    (f: { readonly register: number; readonly value: string; readonly wholeValues: boolean }) =>
      `register ${f.register} of ${f.value} alone is ${f.wholeValues ? 'answered' : 'refused'}, but the map says wholeValues: ${f.wholeValues}`,
  ],
  'read-only-taken':
    'Accepts a write to a read-only value of its map: a write to {value:s} is accepted, but the map says read-only',
  'beyond-limits-taken':
    'Accepts a value outside the limits of its map: {words:words} for {value:s} is accepted, but outside the limits of the map',
  'confirmed-not-taken':
    'Confirms a value outside its limits without storing it: {words:words} for {value:s} is confirmed but not stored',

  // Frames and timing
  'one-behind': 'Answers each request with the previous reply: each reply belongs to the previous request',
  'reads-lost':
    'Loses consecutive reads: on consecutive reads, the server {answers:often}, and no pause up to {longestPauseMs:ms} helps',
  'busy-in-a-row':
    'Reports that it is busy: on consecutive reads, the server {answers:often}[; not with a pause of {pauseMs?:ms}]',
  'needs-pause':
    'Needs a pause before a request: on consecutive reads, the server {answers:often}; with a pause of {pauseMs:ms} between a reply and the next request, all are answered',
  pause: 'Needs a pause before a request: needs {pauseMs:ms} between a reply and the next request',
  'repeated-reads-lost':
    'Loses reads of the same registers: on reads of {registers:n} registers, the server {answers:dids}',
  'block-reads-lost':
    'Loses reads of a block: function {function:n}, {registers:n} registers: on {times:n} of {of:n} reads, the server {answers:dids}',
  'other-values':
    'Occasionally returns different values: some reads return other values ({values:words}) than the reads before and after them ({usual:s})',
  'stray-behind': 'Sends bytes after its replies: bytes after a reply, in {times:n} of {of:n} exchanges',
  'unsolicited-frame':
    'Sends unsolicited frames: an unsolicited frame ({bytes:s}), in {times:n} of {of:n} exchanges',
  'unsolicited-bytes':
    'Sends unsolicited bytes: unsolicited bytes ({bytes:s}), in {times:n} of {of:n} exchanges',
  'transactions-behind':
    'Replies with the transaction identifier of an earlier request: the server lags behind: its replies have the transaction identifier of an earlier request',
  'transactions-fixed': `Always replies with the same transaction identifier: ${OTHER_TRANSACTION} (always {transaction:hex})`,
  'transactions-of-connection': `Replies with the transaction identifier of the first request: ${OTHER_TRANSACTION} (always that of the first request of the connection)`,
  'transactions-one-more': `Replies with the next transaction identifier: ${OTHER_TRANSACTION} (always one more)`,
  'transactions-swapped': `Swaps the bytes of the transaction identifier: ${OTHER_TRANSACTION} (its bytes are swapped)`,
  'transactions-other': `Replies with wrong transaction identifiers: ${OTHER_TRANSACTION}`,
  'in-pieces':
    'Sends replies in pieces: {times:n} of {of:n} replies came in pieces; TCP allows that, but some clients fail on it',
  'reply-too-soon':
    'Replies before t3.5 has passed: replies begin {ms:ms} after the request, sooner than t3.5 ({t35Ms:ms})',
  'gap-in-reply': 'Sends replies with gaps: gaps of up to {ms:ms} inside a reply, where t1.5 is {t15Ms:ms}',
  'deaf-after-connecting':
    'Does not answer right after connecting: a request right after connecting gets no answer; {pauseMs:ms} later it does',
  'closed-when-idle':
    'Closes an idle connection: after {idleMs:ms} without a request, the server closed the connection, which is allowed',
  'deaf-after-idle': [
    'Loses the first requests after an idle time',
    ({ idleMs, lost }: { readonly idleMs: number; readonly lost: number }) =>
      `after ${timeText(idleMs)} without a request, ${lost === 1 ? 'the first request is lost' : `the first ${lost} requests are lost`}; the next one is answered`,
  ],

  // Identification and diagnostics
  'not-identified':
    'Neither identifies itself nor refuses with exception 01: the server {answer:did}; objects or exception 01 are expected',
  'no-identification': 'Sends a reply that is not an identification: the reply is not an identification',
  'level-unknown': 'Reports an undefined conformity level: level {level:hex}',
  'queue-too-long':
    'Returns more values from a queue than the specification allows: {values:n} values; 31 are allowed',
  'reference-type':
    'Returns a file record with a wrong reference type: the reference type is {type:n}, not 6',
  'objects-cut': 'Truncates its list of objects: the list ends before it has all of its {objects:n} objects',
  'bytes-after-objects': 'Sends bytes after its list of objects: {bytes:n} bytes follow the last object',
  'object-never-follows':
    'Names a next object where none follows: the next object is given as {object:hex}, but none follows',
  'more-follows':
    'Misreports how its list of objects continues: "more follows" is {more:hex}, and the next object {object:hex}',
  'objects-endless': 'Never ends its list of objects: each reply announces more objects',
  'objects-missing': 'Lacks mandatory objects: the mandatory objects {objects:hexes} are missing',
  'level-refused':
    'Refuses a request for a higher level: exception 03 instead of the objects of its own level',
  'no-restart':
    'Does not restart the list at an unknown object: the server {answer:did}; the list should restart at object 00',
  'echo-differs': 'Echoes different data: the echo differs from the request',
  'reply-length': 'Sends a reply of the wrong length: {bytes:n} bytes instead of {right:n}',
  'status-wrong': 'Sends an undefined status: the status is neither 0000 nor FFFF',
  'byte-count-wrong':
    'Sends a reply with a wrong byte count: the byte count is {byteCount:n}, and {bytes:n} bytes follow',
  'function-misanswered':
    'Neither answers nor refuses a function: the server {answer:did}; an answer or exception 01 is expected',
  'events-miscounted':
    'Counts events that must not be counted: function 11 itself was counted as {own:n} and one exception as {exceptions:n}; both must count as 0',
  miscounted:
    'Counts errors or exceptions wrongly: one bad frame was counted as {errors:n}, one exception as {exceptions:n}',

  // Damage and neighbours on the bus
  'not-ignored': 'Answers a frame that it must ignore: the server {answer:did} ({bytes:s})',
  'exception-not-ignored': 'Refuses a frame that it must ignore: the server {answer:did} ({bytes:s})',
  'read-lost-after': [
    'Loses the read after a disturbance',
    ({ ms, answer, curedMs, ...before }: ReadLost) =>
      `a read ${timeText(ms)} after ${beforeText(before)}: the server ${answerText(answer)}${curedMs === undefined ? '' : `; ${timeText(curedMs)} later it is answered`}`,
  ],
  'other-units-answered':
    'Answers requests to other units: the server also answers requests to units {units:list}',
  'other-unit-answered':
    'Answers a request to another unit: a read of unit {unit:n}: the server {answer:did}',
  'deaf-after-other-unit':
    'Loses its own request after one to another unit: after a request to unit {unit:n}, a request to its own unit is not answered',
  'lost-after-disturbed':
    'Loses the request after a disturbed one: the request after a disturbed one: the server {answer:did}',
  'joins-over-pause':
    'Joins bytes across a pause: the server treats 4 bytes, a pause of 250 ms and 4 more bytes as one request',
  'bytes-lost':
    'Loses requests that contain a certain byte: reads of {lost:list} {what:s} are not answered, while reads of {answered:list} are; their frames differ in the bytes {bytes:hexes} (hexadecimal)',
  'short-pause': [
    'Behaviour at a short pause',
    ({ isAnswered }: { readonly isAnswered: boolean }) =>
      `a request with a pause of 2.5 characters in it is ${isAnswered ? 'answered' : 'discarded'} (the clause says that it "should" be discarded)`,
  ],
  'spoilt-write-executed':
    'Executes a write with a wrong CRC: the register is written although the CRC is wrong',
  'spoilt-write-answered':
    'Answers a write with a wrong CRC: the server replies although the CRC is wrong, but writes nothing',
  'inner-frame-executed':
    'Executes a write inside the reply of another unit: the register is written although the write was data in the reply of another unit',
  'inner-frame-answered':
    'Answers a write inside the reply of another unit: the server replies to a write that was data in the reply of another unit',
  'broadcast-not-executed':
    'Does not execute a broadcast write: a broadcast write leaves the register unchanged',
  'other-master': [
    'Another master is on the bus',
    ({ units }: { readonly units: readonly number[] }) =>
      `${units.length === 1 ? 'a request' : `${units.length} requests`} from another master arrived, to ${new Set(units).size === 1 ? 'unit' : 'units'} ${listText([...new Set(units)].map(String))}`,
  ],
  'wrong-parity-answered':
    'Answers a frame with a wrong parity: the server answers a read with {parity:s} parity',

  // TCP connections
  'not-served-after': [
    'Serves no client after a misbehaving one',
    ({ after, answer }: { readonly after: BeforeConnection; readonly answer: Did }) =>
      `a read ${connectionBeforeText(after)}: the server ${answerText(answer)}`,
  ],
  'other-protocol-answered':
    'Answers a request of another protocol: to a request with protocol identifier 1, the server {answer:did}',
  'deaf-after-other-protocol':
    'Loses the request after one of another protocol: the frame is discarded, but so is the next one on this connection: the server {answer:did}',
  'wrong-length-answered':
    'Answers a request with a wrong length: a read with length {length:n} in its header is answered',
  'inner-write-executed':
    'Executes a write inside the frame of a read: the register is written although the write was part of a longer frame',
  'gateway-exception': 'Answers like a gateway: exception 0A or 0B, which is right for a gateway',
  'unit-not-answered':
    'Does not answer another unit: unit {unit:n}: the server {answer:did}, which is right for a gateway',
  'unit-replaced':
    'Answers with another unit identifier: the reply to a read of unit {unit:n} has another unit identifier',
  'unit-answered': 'Answers another unit: a read of unit {unit:n} is answered',
  'pieces-lost':
    'Loses a request that arrives in pieces: a request in {pieces:n} pieces: the server {answer:did}',
  'together-lost': ['Loses requests that arrive together', togetherText],
  'together-mixed': ['Mixes up requests that arrive together', mixedText],
  'reply-of-other-client':
    'Sends the reply for a disconnected client to the next one: the reply to a request whose connection was closed arrives on the next connection',
  'accepted-not-answered': [
    'Accepts a connection and does not answer on it',
    ({ connection }: { readonly connection: number }) =>
      `connection ${connection} is accepted and not answered${connection === 1 ? '' : ` while ${connection === 2 ? 'another one is' : 'others are'} open`}`,
  ],
  connections: ['Number of connections', connectionsText],
  'refused-until-gone':
    'Refuses a connection until the previous one is gone: for a short time after a connection was closed, the next one is refused',
  'deaf-after-close':
    'Does not answer right after a connection was closed: a connection opened right after another one closed gets no answer; one opened {curedMs:ms} later does',
  'lost-after-reconnect':
    'Does not answer after reconnecting: reads after reconnecting: the server {answer:did}',
  'connections-not-freed':
    'Does not free connections that were closed: {served:n} connections were served, each closed before the next was opened; on the one after them, and on others within 20 s, the server {answer:did}',
  'closes-after-exception':
    'Closes the connection after an exception: the connection is closed after an exception reply',
  'mute-after-exception':
    'Stops answering after an exception: after an exception, the connection stays silent; a new connection is answered',
  'closes-after-requests':
    'Closes the connection after a number of requests: a connection is closed after {requests:requests}',
  'closes-now-and-then':
    'Occasionally closes connections: {times:n} connections were closed between two requests',
  'held-up':
    'Lets one slow client hold up the others: while half a request was pending on one connection, the server {answer:did} on another',

  // Writes
  'write-misanswered': 'Answers a write in an unexpected way: the server {answer:did}',
  'not-repeated': 'Confirms a write with a wrong reply: the reply does not repeat the request',
  'never-stored':
    'Confirms a write but stores nothing: {wrote:words} was written to {address:n} with function {function:n} and confirmed, but {reads:words} is read back',
  'stored-otherwise':
    'Confirms a write but stores other values: {wrote:words} was written to {address:n} with function {function:n} and confirmed, but {reads:words} is read back{how:how}',
  'stored-for-connection':
    'Keeps a value for the connection that wrote it: {wrote:words} was written to {address:n} and reads back, but the next connection reads {reads:words}',
  'neighbour-written':
    'Changes an address outside the write: {wrote:words} was written to {address:n} with function {function:n}, and {table:s} {beside:n} changed from {before:n} to {now:n}',
  'next-eaten':
    'Treats the next request as missing data: a write that lacks a byte is not answered, and the next request on the same connection gets no reply of its own',
  'stored-late':
    'Returns the old value after a write was confirmed: the old value is read immediately, the new one {ms:ms} later',
  'malformed-executed':
    'Executes a malformed write: [register {register?:n} was {before?:n} and is now {now?:n}: ][coil {coil?:n} was {before?:n} and is now {now?:n}: ]the malformed request is executed',
  'reads-before-it-writes': 'Reads before it writes: the server reads first and writes afterwards',
  'reads-something-else': 'Reads a different value than it has just written: the value read is {value:words}',
  'written-by-half':
    'Writes part of a block that it cannot write in full: register {register:n} is written, but register {beyond:n} does not exist',
  torn: 'Returns a mix of two values: reads during a write return one register of the old value and one of the new',
  'one-table': 'Has one table for both kinds of register: holding and input registers are one table',
  'two-tables': 'Has two tables: holding and input registers are separate',

  // Endurance
  'soak-lost': [
    'Loses reads in a long run',
    (facts: Soaked & { readonly answers: readonly DidOften[] }) =>
      `${soakText(facts)}; the others: the server ${listText(facts.answers.map(answerText))}`,
  ],
  'soak-slower': [
    'Becomes slower over time',
    (facts: Soaked & { readonly firstMs: number; readonly lastMs: number }) =>
      `${soakText(facts)}; the reply times grew from ${timeText(facts.firstMs)} to ${timeText(facts.lastMs)}`,
  ],
  'stopped-answering': ['Stops answering', (facts: Stopped) => `the server ${stoppedText(facts)}`],

  // Claims
  'functions-missing': 'Lacks functions that are claimed: {functions:functions} not supported',
  'exceptions-not-claimed':
    'Answers with exceptions that are not claimed: exception {exceptions:hexes} was received but is not claimed',
  'fewer-than-claimed': 'Reads fewer at once than claimed: {most:n} in one read; {claimed:n} are claimed',
  'fewer-connections': [
    'Serves fewer connections than claimed',
    ({ claimed, ...found }: ConnectionsFound & { readonly claimed: number }) =>
      `${connectionsText(found)}; ${claimed} are claimed`,
  ],
  'slower-than-claimed':
    'Answers later than claimed: 99 of 100 replies begin within {p99Ms:ms}; {claimedMs:ms} is claimed',
} as const;
