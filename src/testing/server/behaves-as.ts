import { findMisbehaviour, type Misbehaviour } from '../../document/catalogue.js';
import type { ServerVerdict } from './check.js';
import type { Code, Found } from './found.js';
import type { ServerFinding, ServerTest } from './server-test.js';

/** The required result of a check: a verdict, a violation or fact with this code, or one that meets a condition. */
type Shown = ServerVerdict | Code | ((found: Found) => boolean);

/** The results of a server test for a server that behaves like a catalogue entry. */
export interface Likeness {
  /** The transport that the entry is about; absent: any. */
  readonly on?: 'tcp' | 'serial';
  /** The required result of each check: another verdict, any violation, or one with these codes and facts. */
  readonly shows: Readonly<Record<string, Shown>>;
  /** Checks that the same behaviour also violates, if the server has the feature. */
  readonly too?: readonly string[];
}

/** Reads were lost to an exception, or no further replies came. */
const lostTo = (exception: number) => (found: Found) =>
  found.code === 'reads-lost' || found.code === 'needs-pause'
    ? found.answers.some((did) => did.kind === 'exception' && did.exception === exception)
    : found.code === 'stopped-answering' && found.only === exception;

/** A request got no answer at all. */
const isSilent = (found: Found) => 'answer' in found && found.answer.kind === 'silent';

/** The server stopped answering altogether. */
const isStopped = (found: Found) => found.code === 'stopped-answering' && found.only === undefined;

const isOnlyOne = (found: Found) =>
  found.code === 'connections' && found.served === 1 && (found.next === 'refused' || found.next === 'closed');

/** Reads sometimes returned zeros. */
const zeros = (found: Found) => found.code === 'other-values' && found.values.every((value) => value === 0);

/** The server test results for catalogue entries. Other entries need a map, a night, or several days. */
export const LIKENESSES: Readonly<Record<string, Likeness>> = {
  'answers-for-others': {
    on: 'serial',
    shows: { frames: 'frame-before', 'stray-bytes': 'violates' },
  },
  'answers-too-soon': { on: 'serial', shows: { 'rtu-reply-silence': 'violates' } },
  'busy-every-other': { shows: { 'back-to-back': lostTo(6), frames: 'unit' } },
  'deaf-after-early-request': { on: 'tcp', shows: { 'connect-pause': 'violates' } },
  'deaf-after-neighbour': { on: 'serial', shows: { 'back-to-back': 'needs-pause' } },
  echo: { shows: { frames: 'echo' } },
  'exception-without-code': { shows: { frames: 'no-exception-code' } },
  'exception-zero': { shows: { frames: 'exception-code' } },
  'extra-byte-before': { shows: { frames: 'bytes-before' } },
  'extra-bytes-after': { on: 'tcp', shows: { 'stray-bytes': 'stray-behind' } },
  'few-registers': {
    shows: { 'fc03-quantity-125': 'few-in-one-read' },
    too: ['fc01-quantity-2000'],
  },
  'first-request-lost': { on: 'tcp', shows: { 'connect-pause': 'violates' } },
  'gateway-gives-up': { shows: { 'back-to-back': lostTo(11) } },
  'holes-all-or-nothing': { shows: { 'map-end': 'end-in-block' } },
  'holes-shift': { shows: { 'map-end': 'end-in-block' } },
  'holes-silent': { shows: { 'address-unknown': isSilent } },
  'last-byte-lost': { shows: { frames: 'cut' } },
  'length-too-short': { on: 'tcp', shows: { frames: 'length' } },
  'locks-up-after-bad-read': { shows: { 'address-unknown': isStopped } },
  'locks-up-on-fast-reconnect': { on: 'tcp', shows: { 'reconnect-at-once': 'deaf-after-close' } },
  'needs-a-pause': { shows: { 'back-to-back': 'needs-pause' } },
  'newcomer-evicts': {
    on: 'tcp',
    shows: { connections: (found) => found.code === 'connections' && found.next === 'evicts' },
  },
  'old-value-after-write': { shows: { 'write-read-back': 'stored-late' } },
  'one-behind-for-ever': { shows: { 'back-to-back': 'one-behind' }, too: ['frames'] },
  'one-bit-too-many': { shows: { 'fc01-padding': 'violates' }, too: ['block-agrees'] },
  'one-client': { on: 'tcp', shows: { connections: isOnlyOne } },
  'only-function-16': { shows: { 'fc06-echo': 'unsupported', 'fc16-echo': 'conforms' } },
  'only-function-6': { shows: { 'fc06-echo': 'conforms', 'fc16-echo': 'unsupported' } },
  'pipelined-dropped': { on: 'tcp', shows: { 'tcp-pipelined': 'violates' } },
  'reboots-when-polled': { on: 'tcp', shows: { 'repeat-block': 'violates' } },
  'second-client-unheard': { on: 'tcp', shows: { connections: 'accepted-not-answered' } },
  'second-master': {
    on: 'serial',
    shows: { 'stray-bytes': 'unsolicited-frame' },
    too: ['rtu-collision'],
  },
  'shared-memory': { shows: { 'tables-separate': 'one-table' } },
  'short-block': { shows: { frames: 'fewer-values' } },
  sleeps: { shows: { idle: (found) => found.code === 'deaf-after-idle' && found.lost === 1 } },
  'stranger-answers-first': { on: 'serial', shows: { frames: 'frame-before' } },
  'stray-byte-while-idle': { on: 'serial', shows: { 'stray-bytes': 'unsolicited-bytes' } },
  'substituted-block': { shows: { 'repeat-pair': 'other-values' } },
  'torn-value': { shows: { 'same-value': 'other-values', 'repeat-pair': 'other-values' } },
  'transaction-off-by-one': { on: 'tcp', shows: { 'mbap-echo': 'transactions-one-more' } },
  'transaction-swapped': { on: 'tcp', shows: { 'mbap-echo': 'transactions-swapped' } },
  'transaction-zero': {
    on: 'tcp',
    shows: { 'mbap-echo': (found) => found.code === 'transactions-fixed' && found.transaction === 0 },
  },
  'unknown-function-silent': { shows: { 'fc43-basic': isSilent }, too: ['fc17-shape'] },
  'wide-registers': { shows: { frames: 'more-values' } },
  'words-swapped': {
    shows: { 'block-agrees': (found) => found.code === 'block-differs' && found.function > 2 },
  },
  'wrong-byte-count': { shows: { frames: 'byte-count' } },
  'wrong-unit': { shows: { frames: 'unit' } },
  'zero-for-a-poll': { shows: { 'same-value': zeros, 'repeat-pair': zeros } },
};

/**
 * The catalogue entries that a server behaves like. An entry is left out if its checks are a subset of those
 * of another match, which is the better explanation.
 */
export function behavesAs({ findings, carrier }: Pick<ServerTest, 'findings' | 'carrier'>): Misbehaviour[] {
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
    return findings.some((each) => each.check.id === id && isOne(shown, each));
  });
}

function isOne(shown: Shown, { verdict, said }: ServerFinding): boolean {
  if (shown === verdict) return true;
  if (verdict !== 'violates' && verdict !== 'fact') return false;
  if (typeof shown === 'function') return shown(said);
  const also = 'also' in said ? (said.also ?? []) : [];
  return [said, ...also].some(({ code }) => code === shown);
}

function checksOf({ shows }: Likeness): readonly string[] {
  return Object.keys(shows);
}
