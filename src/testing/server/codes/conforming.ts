import { timeText } from '../words.js';
import {
  type BeforeConnection,
  type BeforeRead,
  beforeText,
  connectionBeforeText,
  soakText,
  togetherText,
} from './phrases.js';

/** The texts for results that conform, each a sentence without its full stop. */
export const CONFORMING = {
  exception: 'exception {exception:hex}',
  answered: 'the server {answer:did}',
  'ignored-lives-on':
    'the server {answer:did} and keeps working, which is allowed instead of exception {right:hexOr}',
  'address-answers': 'function {function:n} answers at address {address:n}[, {pauseMs?:ms} after connecting]',

  'reads-answered': '{of:n} reads in a row, sent as early as allowed, were answered',
  'no-pause': 'needs no pause',
  'first-answered': 'the first request of a connection is answered at once',
  'answered-after-idle': 'after {idleMs:ms} without a request, the first read is answered',
  'same-values': '{of:n} reads of {registers:registers} returned the same values',
  'block-reads-answered': 'function {function:n}: {of:n} reads of {registers:n} registers were answered',
  'well-formed': '{of:n} replies: header, unit, function, byte count and length are right',
  'nothing-unsolicited': 'no unsolicited bytes in {of:n} exchanges',
  'transactions-copied':
    '{of:n} replies, exceptions included, have the transaction identifier of their request',
  'one-piece': 'all {of:n} replies came in one piece',
  't35-kept':
    'no reply was seen before t3.5 ({t35Ms:ms}); the earliest came after {soonestMs:ms}. An adapter can hide early replies, up to its latency',
  'no-gap': 'no gap over t1.5 ({t15Ms:ms}) in replies of {registers:n} registers',

  'as-many-in-one-read': '{most:n} {what:s} in one read',
  'bits-padded': 'byte counts are right, and unused bits are 0',
  'block-same': '{blocks:n} blocks return the same values as single reads',
  'sunspec-chain': 'models {models:list} from address {first:n}, and the end marker',

  'map-whole': '{of:n} reads of {isCut:cut}the map are answered in full',
  parts: 'parts of values: {answered:n} answered, {refused:n} refused with exception 02',
  'hole-refused': 'a block over a hole is refused with exception 02',
  'read-only-refused': 'writes to {registers:n} read-only registers are refused',
  'limits-kept': '{values:n} values beyond limits are refused with exception 03',

  identified: '{names:texts}; level {level:hex}',
  objects: '{objects:n} objects; level {level:hex}',
  'begins-again': 'the list restarts at object 00',
  counted: 'one bad frame and one exception are counted',

  'no-reply': 'no reply came',
  'read-answered-after': ({ ms, ...before }: BeforeRead & { readonly ms: number }) =>
    `a read ${timeText(ms)} after ${beforeText(before)} is answered`,
  'other-unit-ignored': 'a read of unit {unit:n} is not answered; the next read of its own unit is',
  'noise-borne': 'reads after 1, 2, 20 and 300 bytes of noise are answered',
  'flow-bytes-answered': 'a read with the byte 0x11 or 0x13 in its frame is answered',
  'disturbed-answered': 'the read after a disturbed one is answered',
  'pause-parts': '4 bytes, a pause of 250 ms and 4 more bytes are not treated as one request',
  'inner-frame-ignored': 'a write inside the reply of another unit is neither answered nor executed',
  'broadcasts-ignored': 'refused broadcasts are not answered',
  'broadcast-executed': 'a broadcast write is executed and not answered',
  'no-other-master': 'no request from another master in {listenedMs:ms} of listening and {of:n} exchanges',
  'wrong-parity-ignored': 'a read with {parity:s} parity is not answered',
  'speeds-borne': 'reads 2 % too fast and 2 % too slow are answered',

  'served-after': ({ after }: { readonly after: BeforeConnection }) =>
    `${connectionBeforeText(after)}, a read is answered`,
  'other-protocol-discarded': 'the frame is discarded and the next one answered',
  'inner-write-ignored': 'a write inside the frame of a read is not executed',
  'pieces-taken': 'a request in 12 pieces and one in 2 are answered',
  'together-answered': togetherText,
  reconnected: 'a read is answered after each of {times:n} immediate reconnects',
  'connection-kept': 'connections stay open, even after exceptions',
  'not-held-up': 'half a request on one connection does not delay another connection',

  repeated: 'the reply repeats the request',
  'read-at-once': 'the new value can be read immediately',
  'writes-before-it-reads': 'the server writes before it reads',
  'not-torn': '{of:n} reads during writes: both registers always belonged to the same value',

  soaked: soakText,
  'functions-there': '{functions:functions} supported',
  'no-other-exceptions': 'no other exceptions were received',
  'as-fast': '99 of 100 replies begin within {p99Ms:ms}',
} as const;
