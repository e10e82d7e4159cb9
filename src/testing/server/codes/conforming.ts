import { timeText } from '../words.js';
import {
  type BeforeConnection,
  type BeforeRead,
  beforeText,
  connectionBeforeText,
  soakText,
  togetherText,
} from './phrases.js';

/** What conforms, each a sentence without its full stop. */
export const CONFORMING = {
  exception: 'exception {exception:hex}',
  answered: 'the server {answer:did}',
  'ignored-lives-on':
    'the server {answer:did}, where exception {right:hexOr} is expected: allowed, and it lives on',
  'address-answers': 'function {function:n} answers at address {address:n}[, {pauseMs?:ms} after connecting]',

  'reads-answered': '{of:n} reads in a row, each as soon as it may come, were answered',
  'no-pause': 'needs no pause',
  'first-answered': 'the first request of a connection is answered at once',
  'answered-after-idle': 'after {idleMs:ms} without a request, the first read is answered',
  'same-values': '{of:n} reads of {registers:registers} gave the same',
  'block-reads-answered': 'function {function:n}: {of:n} reads of {registers:n} registers were answered',
  'well-formed': '{of:n} replies: header, unit, function, byte count and length are right',
  'nothing-unsolicited': 'nothing came unsolicited beside {of:n} exchanges',
  'transactions-copied': '{of:n} replies have the transaction identifier of their request, exceptions too',
  'one-piece': '{of:n} replies came in one piece each',
  't35-kept':
    'no reply was seen before t3.5 ({t35Ms:ms}); the soonest came after {soonestMs:ms}. An adapter may hide up to its latency',
  'no-gap': 'no gap beyond t1.5 ({t15Ms:ms}) was seen in replies of {registers:n} registers',

  'as-many-in-one-read': '{most:n} {what:s} in one read',
  'bits-padded': 'byte counts fit, and unused bits are 0',
  'block-same': '{blocks:n} blocks have the values that are read alone',
  'sunspec-chain': 'the models {models:list} from {first:n} on, and the end',

  'map-whole': '{of:n} reads of {isCut:cut}the map are answered in full',
  parts: 'parts of values: {answered:n} are answered, {refused:n} refused with exception 02',
  'hole-refused': 'a block over a hole is refused with exception 02',
  'read-only-refused': 'writes to {registers:n} read-only registers are refused',
  'limits-kept': '{values:n} values beyond limits are refused with exception 03',

  identified: '{names:texts}; level {level:hex}',
  objects: '{objects:n} objects; level {level:hex}',
  'begins-again': 'it begins again at object 00',
  counted: 'one bad frame and one exception are counted',

  'no-reply': 'no reply came',
  'read-answered-after': ({ ms, ...before }: BeforeRead & { readonly ms: number }) =>
    `a read ${timeText(ms)} after ${beforeText(before)} is answered`,
  'other-unit-ignored': 'a read of unit {unit:n} is not answered, and its own next one is',
  'noise-borne': 'reads after 1, 2, 20 and 300 bytes of noise are answered',
  'disturbed-answered': 'the read after a disturbed one is answered',
  'pause-parts': '4 bytes, 250 ms, 4 bytes are not taken for one request',
  'inner-frame-ignored': 'a write inside the reply of another unit is neither answered nor executed',
  'broadcasts-ignored': 'refused broadcasts are not answered',
  'broadcast-executed': 'a broadcast write is executed, and not answered',
  'no-other-master': 'in {listenedMs:ms}, and beside {of:n} exchanges, nobody else asked',
  'wrong-parity-ignored': 'a read with {parity:s} parity is not answered',
  'speeds-borne': 'reads 2 % too fast and 2 % too slow are answered',

  'served-after': ({ after }: { readonly after: BeforeConnection }) =>
    `${connectionBeforeText(after)}, a read is answered`,
  'other-protocol-discarded': 'the frame is discarded, and the next one answered',
  'inner-write-ignored': 'a write inside the frame of a read is not executed',
  'pieces-taken': 'a request in 12 pieces and one in 2 are answered',
  'together-answered': togetherText,
  reconnected: '{times:n} times closed and opened at once, a read is answered',
  'connection-kept': 'connections last, after exceptions too',
  'not-held-up': 'half a request on one connection does not hold up another one',

  repeated: 'the reply repeats the request',
  'read-at-once': 'the value can be read at once',
  'writes-before-it-reads': 'it writes first, and reads then',
  'not-torn': '{of:n} reads while it was written: both registers were of one value',

  soaked: soakText,
  'functions-there': '{functions:functions} there',
  'no-other-exceptions': 'no other exceptions came',
  'as-fast': '99 of 100 replies begin within {p99Ms:ms}',
} as const;
