import { type ConnectionsFound, connectionsText } from '../words.js';
import { type Soaked, soakText } from './phrases.js';

/** What to look at when nothing answers, the likeliest first. */
const SERIAL_HINT =
  'try A and B exchanged, the unit identifier, parity and speed (--find tries them), the power, and the terminating resistor';
const TCP_HINT =
  'try the unit identifier (1, 255 or 0), the port, and whether another client holds the only connection';

/** Values that are not read, and so are not written. */
interface NotRead {
  readonly unit?: number;
  readonly table: string;
  readonly first: number;
  readonly last: number;
}

/** What is not decided, not there or not run, each a sentence without its full stop. */
export const UNDECIDED = {
  // Not run
  stopped: 'the server test was stopped',
  'nothing-answers': 'nothing answers',
  'limit-reached': 'the limit of {limitMs:ms} was reached; --limit gives more',
  'not-asked-for': 'it was not asked for',
  'not-claimed': 'it is not claimed',
  'not-allowed': 'it needs {option:s}[ with {addresses?:n} addresses]',
  'gone-since': 'the server no longer answers since {check:s}',
  'may-silence': 'it may silence the server: see {check:s}',
  'replies-behind': 'its replies are those of the requests before: see back-to-back',
  'serial-only': 'only on a serial port',
  'pseudo-terminal': 'a pseudo-terminal has neither speed nor parity',
  'not-read': ({ unit, table, first, last }: NotRead) =>
    `${unit === undefined ? '' : `of unit ${unit}, `}${table} ${first}${last > first ? ` to ${last} are` : ' is'} not read, and so can not be put back`,
  'outside-scratch': 'it would write {table:s} {first:n} to {last:n}, which is not in the scratch range',
  'needs-scratch-beyond-end':
    'it needs --scratch holding:… that goes one address beyond the last holding register',

  // Why a finding decides nothing
  'longer-run-decides': 'a longer run decides (--soak)',
  'frames-odd': '{oddity:oddity}: see frames',
  'others-send': 'somebody else sends on the bus: see stray-bytes and rtu-collision',
  'machine-late': 'this machine was late by {ms:ms}',
  'adapter-in-the-way': 'the adapter may be the cause: set its latency timer to 1 ms',
  'not-seen': 'it was not seen',

  // The answer of another one, or of none
  unreachable: '{reason:s}',
  'no-answer': ({ isSerial, isGarbled }: { readonly isSerial: boolean; readonly isGarbled: boolean }) =>
    `${isGarbled ? 'only bytes that are no reply came' : 'nothing answers: it did not answer'}; ${isSerial ? SERIAL_HINT : TCP_HINT}`,
  'no-address-known':
    'it is there, and refuses every address that was tried (exception {exception:hex}); say one that it has with --scratch or --map',
  'no-address-found': 'no address that function {function:n} reads was found; name one with --map',
  'function-absent': 'function {function:n}[/{mei?:n}] is not there',
  'function-mute':
    'function {function:n} is not answered, as others that are not there: see function-unknown',
  'function-unclear': 'to function {function:n}, the server {answer:did}',
  'refused-asks-for-patience': 'exception {exception:hex} (acknowledge) asks for patience',
  'refused-as-busy': 'exception {exception:hex} (busy) says nothing about the request',
  'refused-by-gateway': 'exception {exception:hex} comes from a gateway',
  'refused-otherwise': 'exception {exception:hex}: it is refused, with another code',
  'refused-as-quantity': 'exception {exception:hex}: it is refused, with the code of a wrong quantity',
  'refused-as-address':
    'exception {exception:hex}: the map may end before, and some servers look at the address first',
  'refused-as-other-address': 'exception {exception:hex}: the missing bytes may read as an address',
  'not-refused-lives-on': 'the server {answer:did}, where exception {right:hexOr} is expected; it lives on',

  // Frames and timing
  'busy-now-and-then': 'the server says now and then that it is busy (exception 06): see back-to-back',
  'replies-lost': 'replies get lost by chance: see back-to-back',
  'pause-in-the-way': 'it needs a pause between requests: see back-to-back',
  'one-read-lost': '1 of {of:n} reads was not answered; a longer run decides (--soak)',
  'reads-spoilt': 'of reads in a row the server {answers:often}: see frames',
  'other-values-once': '1 of {of:n} reads gave other values; a longer run decides (--soak)',
  'odd-once': 'once, {oddity:oddity}; a longer run decides (--soak)',
  'stray-once': 'once, bytes came that nobody asked for; a longer run decides (--soak)',
  'first-lost': 'the first request of a connection was lost, and a pause did not help',
  'first-lost-sometimes': 'now and then a request right after connecting is lost',
  'no-pause-helps': 'replies get lost whatever the pause',
  'one-lost-after-idle': 'after {idleMs:ms} without a request, one request was lost',
  'no-registers': 'the server has no registers',
  'registers-alive': 'the registers are alive; name quiet ones with --scratch or --map',
  'registers-not-read': '{quantity:n} registers from {address:n} on: the server {answer:did}',
  'no-block': 'no block of four registers was found; name some with --scratch or --map',

  // What it has, and its map
  'all-addresses-exist': 'every address exists',
  'bits-not-read': '1, 3 and 9 bits could not be read',
  'bits-all-zero': 'unused bits are 0, and so are the coils beside them: set one to decide',
  'block-differed-once': 'a block had other values once, and the next time the right ones',
  'block-of-other-size': 'a block has another number of values: see frames',
  'reply-of-other-size': 'the reply to {quantity:n} {what:s} has another number of them: see frames',
  'map-too-small':
    'the map ends at {last:n}, so {most:n} {what:s} are the most that can be read from {address:n} on; name more in a row with --map',
  'map-too-small-refused':
    'the map ends at {last:n}, so {most:n} {what:s} are the most that can be read from {address:n} on (refused with exception {exception:hex})',
  'few-as-claimed': 'at most {most:n} {what:s} in one read; {claimed:n} are claimed',
  'no-sunspec': 'there is no SunSpec marker at 40000, 0 or 50000',
  'no-wide-value': 'no value of the map has several registers',
  'no-wide-value-read': 'no value of several registers is read whole: see map-values',
  'part-unclear': 'register {register:n} of {value:s} alone: the server {answer:did}',
  'holes-said': 'the map says how holes are answered (manners.holes)',
  'no-narrow-hole': 'the map has no narrow hole between two values',
  'no-hole-refused': 'no hole of the map is refused alone with exception 02, so none can be read over',
  'no-read-only': 'the map has no read-only register in the scratch range',
  'no-refused-write': 'no write to a read-only register was refused with exception 02, 03 or 04',
  'no-limits': 'the map has no value with limits in the scratch range',

  // Refusals and identification
  'address-not-refused': 'an address that is not there: the server {answer:did}',
  'order-unclear':
    'the server {answers:dids} to a wrong quantity at a good address, and with exception {exception:hex} to a wrong address: two codes would tell the order',
  'identification-deaf': 'function 43 is not answered: see fc43-basic',
  'no-counters': 'the counters 8/12 and 8/13 are not there',
  'no-exception-counted': 'no exception came that could be counted',
  'objects-not-single': 'objects are not read one by one',

  // Bus and connections
  'no-free-unit': 'no unit was found that nobody has: see rtu-other-unit',
  'alike-unit-answered':
    'unit {unit:n} is answered, which differs from its own in one bit: by this server or another one; --scratch holding:… decides',
  'no-parity': 'the line has no parity',
  'speed-not-borne':
    'at {baudRate:n} baud, the server {answer:did}: it, or this adapter, does not bear 2 %; another adapter decides',
  'closes-and-serves-next': 'the server closes the connection, and serves the next',
  'transactions-not-copied':
    'transaction identifiers are not copied, so replies can not be distinguished: see mbap-echo',
  'one-reconnect-lost': 'one read after reconnecting was not answered; a second run decides',
  'one-connection': 'it has one connection',
  'second-connection-deaf': 'a second connection is not answered: see connections',
  'second-connection-refuses': 'function 16 on a second connection: the server {answer:did}',

  // Writes
  'holding-not-read': 'holding registers are not read',
  'scratch-not-read': 'the scratch addresses are not read',
  'scratch-moves': '{table:s} of the scratch range change by themselves; name quiet ones with --scratch',
  'stored-late-always': 'it reads the value from before, as after any write for a while: see write-read-back',
  'scratch-resets': 'a value that was written is gone on the next connection: see write-read-back',
  'scratch-takes-no-write': 'the scratch register takes no write; name one that does with --scratch',
  'scratch-refuses':
    'the scratch address refuses function {function:n} with exception {exception:hex}; name one that takes writes',
  'scratch-not-written': 'the scratch address is not written: the server {answer:did}',
  'too-few-in-one-read': '123 registers in one read are refused',
  'own-values-unknown': '124 registers are not read, so they are not written with their own values',
  'torn-once': 'once, half of a value was old; a longer run decides (--soak)',
  'no-input-register': 'function 4 does not read this address',

  // Endurance and claims
  'soak-too-short': (facts: Soaked) => `${soakText(facts)}; a longer run decides`,
  'no-large-table': 'no table is large enough to tell; name more addresses with --map',
  'connections-not-counted': 'connections were not counted: see connections',
  'connections-not-tried': (found: ConnectionsFound) => `${connectionsText(found)}; more were not tried`,
  'no-broadcast-sent': 'no broadcast was sent; it needs --broadcast and --scratch holding:…',
  'no-reply-timed': 'no reply was timed',
  'functions-not-tried': '{functions:functions} not asked for; functions that write need --scratch',
} as const;
