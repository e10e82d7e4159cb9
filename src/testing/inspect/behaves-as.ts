import { findMisbehaviour, type Misbehaviour } from '../../files/config/catalogue.js';
import type { ServerVerdict } from './check.js';
import type { Inspection, ServerFinding } from './inspection.js';

/** What an inspection shows of a server that behaves as an entry of the catalogue. */
export interface Likeness {
  /** The carrier that the entry is about; any when absent. */
  readonly on?: 'tcp' | 'serial';
  /** Words of the violation of each check, or another verdict with words of its text. All must be there. */
  readonly shows: Readonly<Record<string, string | readonly [ServerVerdict, string]>>;
  /** Checks that the same behaviour violates, too, where the server has what they ask for. */
  readonly too?: readonly string[];
}

const now = 'gives other values';

/** What an inspection shows of the entries of the catalogue. Others need a map, a night, or several days. */
export const LIKENESSES: Readonly<Record<string, Likeness>> = {
  'answers-for-others': {
    on: 'serial',
    shows: { frames: 'a whole frame stands before', 'stray-bytes': '' },
  },
  'answers-too-soon': { on: 'serial', shows: { 'rtu-reply-silence': '' } },
  'busy-every-other': { shows: { 'back-to-back': 'exception 06', frames: 'the unit identifier' } },
  'deaf-after-early-request': { on: 'tcp', shows: { 'connect-pause': '' } },
  'deaf-after-neighbour': { on: 'serial', shows: { 'back-to-back': 'with a pause of' } },
  echo: { shows: { frames: 'the request stands before' } },
  'exception-without-code': { shows: { frames: 'the exception has no code' } },
  'exception-zero': { shows: { frames: 'the exception has a code that' } },
  'extra-byte-before': { shows: { frames: 'bytes stand before' } },
  'extra-bytes-after': { on: 'tcp', shows: { 'stray-bytes': 'bytes behind a reply' } },
  'few-registers': { shows: { 'fc03-quantity-125': 'at most' }, too: ['fc01-quantity-2000'] },
  'first-request-lost': { on: 'tcp', shows: { 'connect-pause': '' } },
  'gateway-gives-up': { shows: { 'back-to-back': 'exception 0B' } },
  'holes-all-or-nothing': { shows: { 'map-end': 'answered in a block' } },
  'holes-shift': { shows: { 'map-end': 'answered in a block' } },
  'holes-silent': { shows: { 'address-unknown': 'did not answer' } },
  'last-byte-lost': { shows: { frames: 'ends before its end' } },
  'length-too-short': { on: 'tcp', shows: { frames: 'the length in the header' } },
  'locks-up-after-bad-read': { shows: { 'address-unknown': 'stopped answering' } },
  'locks-up-on-fast-reconnect': { on: 'tcp', shows: { 'reconnect-at-once': 'gets no answer' } },
  'needs-a-pause': { shows: { 'back-to-back': 'with a pause of' } },
  'newcomer-evicts': { on: 'tcp', shows: { connections: ['fact', 'ends an older one'] } },
  'old-value-after-write': { shows: { 'write-read-back': '' } },
  'one-behind-for-ever': { shows: { 'back-to-back': 'that of the request before' }, too: ['frames'] },
  'one-bit-too-many': { shows: { 'fc01-padding': '' } },
  'one-client': { on: 'tcp', shows: { connections: ['fact', '1 at a time; the next one is'] } },
  'only-function-16': { shows: { 'fc06-echo': ['unsupported', ''], 'fc16-echo': ['conforms', ''] } },
  'only-function-6': { shows: { 'fc06-echo': ['conforms', ''], 'fc16-echo': ['unsupported', ''] } },
  'pipelined-dropped': { on: 'tcp', shows: { 'tcp-pipelined': '' } },
  'reboots-when-polled': { on: 'tcp', shows: { 'repeat-block': '' } },
  'second-client-unheard': { on: 'tcp', shows: { connections: 'accepted and not answered' } },
  'second-master': {
    on: 'serial',
    shows: { 'stray-bytes': 'a frame that nobody asked for' },
    too: ['rtu-collision'],
  },
  'shared-memory': { shows: { 'tables-separate': ['fact', 'are one table'] } },
  'short-block': { shows: { frames: 'fewer values' } },
  sleeps: { shows: { idle: 'the first request is lost' } },
  'stranger-answers-first': { on: 'serial', shows: { frames: 'a whole frame stands before' } },
  'stray-byte-while-idle': { on: 'serial', shows: { 'stray-bytes': 'bytes that nobody asked for' } },
  'substituted-block': { shows: { 'repeat-pair': now } },
  'torn-value': { shows: { 'same-value': now, 'repeat-pair': now } },
  'transaction-off-by-one': { on: 'tcp', shows: { 'mbap-echo': 'one more' } },
  'transaction-swapped': { on: 'tcp', shows: { 'mbap-echo': 'swapped' } },
  'transaction-zero': { on: 'tcp', shows: { 'mbap-echo': 'always 00' } },
  'unknown-function-silent': { shows: { 'fc43-basic': 'did not answer' }, too: ['fc17-shape'] },
  'wide-registers': { shows: { frames: 'more values' } },
  'words-swapped': { shows: { 'block-agrees': '' } },
  'wrong-byte-count': { shows: { frames: 'the byte count is not' } },
  'wrong-unit': { shows: { frames: 'the unit identifier is not' } },
  'zero-for-a-poll': { shows: { 'same-value': '(0)', 'repeat-pair': '(0 0)' } },
};

/**
 * The entries of the catalogue that a server behaves as. An entry whose checks are among those of another one
 * that fits is left out: what shows both is the other one.
 */
export function behavesAs({ findings, carrier }: Pick<Inspection, 'findings' | 'carrier'>): Misbehaviour[] {
  const on = carrier.target.kind;
  const fits = Object.entries(LIKENESSES).flatMap(([id, likeness]) =>
    (likeness.on ?? on) === on && isShown(likeness, findings) ? [{ id, checks: checksOf(likeness) }] : [],
  );
  const isWithin = (some: readonly string[], all: readonly string[]) =>
    some.length < all.length && some.every((check) => all.includes(check));
  return fits
    .filter(({ checks }) => !fits.some((other) => isWithin(checks, other.checks)))
    .flatMap(({ id }) => {
      const entry = findMisbehaviour(id);
      return entry.ok ? entry.value : [];
    });
}

function isShown({ shows }: Likeness, findings: readonly ServerFinding[]): boolean {
  return Object.entries(shows).every(([id, shown]) => {
    const [verdict, words] = typeof shown === 'string' ? (['violates', shown] as const) : shown;
    return findings.some(
      (each) => each.check.id === id && each.verdict === verdict && each.text.includes(words),
    );
  });
}

function checksOf({ shows }: Likeness): readonly string[] {
  return Object.keys(shows);
}
