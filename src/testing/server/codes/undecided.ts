import { type ConnectionsFound, connectionsText } from '../words.js';
import { type Soaked, soakText } from './phrases.js';

/** What to check if nothing answers, most likely first. */
const SERIAL_HINT =
  'check that A and B are not swapped, then the unit identifier, parity and speed (--find tries them), the power and the terminating resistor';
const TCP_HINT =
  'check the unit identifier (1, 255 or 0), the port, and that no other client holds the only connection';

/** Values that can't be read, and so are not written. */
interface NotRead {
  readonly unit?: number;
  readonly table: string;
  readonly first: number;
  readonly last: number;
}

/** The texts for results that are inconclusive, unsupported or not run, each a sentence without its full stop. */
export const UNDECIDED = {
  // Not run
  stopped: 'the server test was stopped',
  'nothing-answers': 'nothing answers',
  'limit-reached': 'the limit of {limitMs:ms} was reached; --limit raises it',
  'not-asked-for': 'not requested',
  'not-claimed': 'not claimed',
  'not-allowed': 'needs {option:s}[ with {addresses?:n} addresses]',
  'gone-since': 'the server has not answered since {check:s}',
  'may-silence': 'this check may silence the server: see {check:s}',
  'replies-behind': 'each reply belongs to the previous request: see back-to-back',
  'serial-only': 'only on a serial port',
  'pseudo-terminal': 'a pseudo-terminal has neither speed nor parity',
  'not-read': ({ unit, table, first, last }: NotRead) =>
    `${unit === undefined ? '' : `of unit ${unit}, `}${table} ${first}${last > first ? ` to ${last}` : ''} can't be read, and so can't be restored`,
  'outside-scratch':
    'this check would write {table:s} {first:n} to {last:n}, which is outside the scratch range',
  'needs-scratch-beyond-end':
    'needs --scratch holding:… that ends one address after the last holding register',

  // Why a finding decides nothing
  'longer-run-decides': 'a longer run can decide (--soak)',
  'frames-odd': '{oddity:oddity}: see frames',
  'bytes-in-the-way': 'a request with such a byte is always lost: see rtu-flow-control',
  'others-send': 'another device sends on the bus: see stray-bytes and rtu-collision',
  'machine-late': 'this machine was {ms:ms} late',
  'adapter-in-the-way': 'the adapter may be the cause: set its latency timer to 1 ms',
  'not-seen': 'not observed',

  // Answers from another device, or none
  unreachable: '{reason:s}',
  'no-answer': ({ isSerial, isGarbled }: { readonly isSerial: boolean; readonly isGarbled: boolean }) =>
    `${isGarbled ? 'the only bytes received are not a reply' : 'nothing answers'}; ${isSerial ? SERIAL_HINT : TCP_HINT}`,
  'no-address-known':
    'the server refuses every address that was tried (exception {exception:hex}); name a valid one with --scratch or --map',
  'pairs-alone':
    'function {function:n} answers a read of two registers from {address:n} and refuses a read of one; a server test needs a register that can be read on its own: name one with --scratch or --map',
  'no-address-found': 'no address that function {function:n} reads was found; name one with --map',
  'function-absent': 'function {function:n}[/{mei?:n}] is not supported',
  'function-mute':
    'function {function:n} is not answered, like other unsupported functions: see function-unknown',
  'function-unclear': 'to function {function:n}, the server {answer:did}',
  'refused-asks-for-patience':
    'exception {exception:hex} (acknowledge) only says that the request takes longer',
  'refused-as-busy': 'exception {exception:hex} (busy) says nothing about the request',
  'refused-by-gateway': 'exception {exception:hex} comes from a gateway',
  'refused-otherwise': 'exception {exception:hex}: refused, but with another code',
  'refused-as-quantity': 'exception {exception:hex}: refused, but with the code for a wrong quantity',
  'refused-as-address':
    'exception {exception:hex}: the map may end earlier, and some servers check the address first',
  'refused-as-other-address':
    'exception {exception:hex}: the server may have read missing bytes as an address',
  'not-refused-lives-on': 'the server {answer:did} but keeps working; exception {right:hexOr} is expected',

  // Frames and timing
  'busy-now-and-then': 'the server is sometimes busy (exception 06): see back-to-back',
  'replies-lost': 'replies get lost at random: see back-to-back',
  'pause-in-the-way': 'the server needs a pause between requests: see back-to-back',
  'one-read-lost': '1 of {of:n} reads was not answered; a longer run can decide (--soak)',
  'reads-spoilt': 'on consecutive reads, the server {answers:often}: see frames',
  'other-values-once': '1 of {of:n} reads returned different values; a longer run can decide (--soak)',
  'odd-once': 'once, {oddity:oddity}; a longer run can decide (--soak)',
  'stray-once': 'unsolicited bytes came once; a longer run can decide (--soak)',
  'first-lost': 'the first request of a connection was lost, even after a pause',
  'first-lost-sometimes': 'a request right after connecting is sometimes lost',
  'no-pause-helps': 'replies get lost with every pause tried',
  'one-lost-after-idle': 'after {idleMs:ms} without a request, one request was lost',
  'no-registers': 'the server has no registers',
  'registers-alive': 'the register values keep changing; name stable ones with --scratch or --map',
  'registers-not-read': '{quantity:n} registers from {address:n}: the server {answer:did}',
  'no-block': 'no block of four registers was found; name some with --scratch or --map',

  // Features and map
  'all-addresses-exist': 'every address exists',
  'bits-not-read': '1, 3 and 9 bits could not be read',
  'bits-all-zero': 'unused bits are 0, but so are the adjacent coils; set one of them to decide',
  'block-differed-once': 'a block had wrong values once, and the right ones on the next read',
  'block-of-other-size': 'a block does not have the requested number of values: see frames',
  'reply-of-other-size':
    'the reply to a read of {quantity:n} {what:s} does not have that number of them: see frames',
  'map-too-small':
    'the map ends at {last:n}, so at most {most:n} {what:s} can be read from {address:n} on; name more consecutive addresses with --map',
  'map-too-small-refused':
    'the map ends at {last:n}, so at most {most:n} {what:s} can be read from {address:n} on (refused with exception {exception:hex})',
  'few-as-claimed': 'at most {most:n} {what:s} in one read; {claimed:n} are claimed',
  'no-sunspec': 'there is no SunSpec marker at 40000, 0 or 50000',
  'no-wide-value': 'no value of the map has several registers',
  'no-wide-value-read': 'no value of several registers can be read in one piece: see map-values',
  'part-unclear': 'register {register:n} of {value:s} alone: the server {answer:did}',
  'holes-said': 'the map itself says how holes are answered (manners.holes)',
  'no-narrow-hole': 'the map has no narrow hole between two values',
  'no-hole-refused': 'no hole of the map is refused with exception 02, so reading across one proves nothing',
  'no-read-only': 'the map has no read-only register in the scratch range',
  'no-refused-write': 'no write to a read-only register was refused with exception 02, 03 or 04',
  'no-limits': 'the map has no value with limits in the scratch range',

  // Refusals and identification
  'address-not-refused': 'for an address that does not exist, the server {answer:did}',
  'order-unclear':
    'the server {answers:dids} to a wrong quantity at a valid address, and with exception {exception:hex} to a wrong address: only two different codes show the order',
  'identification-deaf': 'function 43 is not answered: see fc43-basic',
  'no-counters': 'the counters 8/12 and 8/13 are not supported',
  'no-exception-counted': 'no request was refused, so there was no exception to count',
  'objects-not-single': 'the server does not return single objects',

  // Bus and connections
  'flow-bytes-unseen':
    'no two reads were found that differ only in the bytes 0x11 and 0x13; name more consecutive addresses with --scratch',
  'no-free-unit': 'no unused unit was found: see rtu-other-unit',
  'alike-unit-answered':
    'a request to unit {unit:n}, which differs from its own in one bit, is answered by this server or another one; --scratch holding:… can decide',
  'no-parity': 'the line has no parity',
  'speed-not-borne':
    'at {baudRate:n} baud, the server {answer:did}: the server or this adapter does not tolerate 2 %; another adapter can decide',
  'closes-each': 'each reply ends its connection: see keeps-connection',
  'closes-and-serves-next': 'the server closes the connection and serves the next',
  'transactions-not-copied':
    "transaction identifiers are not copied, so replies can't be matched to requests: see mbap-echo",
  'one-reconnect-lost': 'one read after reconnecting was not answered; a second run can decide',
  'one-connection': 'the server serves only one connection',
  'second-connection-deaf': 'a second connection is not answered: see connections',
  'second-connection-refuses': 'function 16 on a second connection: the server {answer:did}',

  // Writes
  'holding-not-read': 'holding registers cannot be read',
  'scratch-not-read': 'the scratch addresses cannot be read',
  'units-not-told-apart':
    'bytes arrived that no request explains, so the other units on the bus, to which a broadcast would also write, could not be found',
  'coils-contradict':
    'reads of coils from {first:n} and from the next address contradict each other, so a write could not be verified',
  'scratch-moves': '{table:s} of the scratch range change by themselves; name stable ones with --scratch',
  'stored-late-always':
    'the server returns the old value, as it does for a while after any write: see write-read-back',
  'scratch-resets': 'a written value is gone on the next connection: see write-read-back',
  'scratch-takes-no-write': 'the scratch register is not writable; name a writable one with --scratch',
  'scratch-refuses':
    'the scratch address refuses function {function:n} or its value with exception {exception:hex}; name one that takes any value',
  'scratch-not-written': 'the scratch address cannot be written: the server {answer:did}',
  'too-few-in-one-read': '123 registers in one read are refused',
  'own-values-unknown': '124 registers cannot be read, so their own values cannot be written back',
  'torn-once': 'once, half of a value was old; a longer run can decide (--soak)',
  'no-input-register': 'function 4 does not read this address',

  // Endurance and claims
  'soak-too-short': (facts: Soaked) => `${soakText(facts)}; a longer run can decide`,
  'no-large-table': 'no table is large enough to decide; name more addresses with --map',
  'connections-not-counted': 'connections were not counted: see connections',
  'connections-not-tried': (found: ConnectionsFound) => `${connectionsText(found)}; more were not tried`,
  'no-broadcast-sent': 'no broadcast was sent; that needs --broadcast and --scratch holding:…',
  'no-reply-timed': 'no reply was timed',
  'functions-not-tried': '{functions:functions} not tested; functions that write need --scratch',
} as const;
