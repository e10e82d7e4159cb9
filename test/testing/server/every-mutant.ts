import { findMisbehaviour } from '../../../src/document/catalogue.js';
import { dataSheet } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import { deviceForMap, mapOf } from '../../../src/testing/server/device-map.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { nativeSetup } from '../../support/configuration.js';
import { METER, testModelServer } from './virtual-server.js';

/** A server that is wrong in one known way, and what a server test finds of it. */
export interface Mutant {
  /** Manners of a device; an entry of the catalogue has its own. */
  readonly manners?: object;
  /** The checks that are violated, by line; absent where it can't be wrong in this way. */
  readonly tcp?: readonly string[];
  readonly serial?: readonly string[];
  /** What the report says where nothing is violated, because the specification allows it, or it came once. */
  readonly told?: RegExp;
  /** It is tested with the map of a right device. */
  readonly hasMap?: boolean;
  readonly idleMs?: number;
}

const both = (...violated: readonly string[]) => ({ tcp: violated, serial: violated });
const onTcp = (...violated: readonly string[]) => ({ tcp: violated });
const onSerial = (...violated: readonly string[]) => ({ serial: violated });
const FIRST = /^first reply: 80. ms/;
const TIME_OUT = /^time-out: longer than/;
const ONE_TABLE = /^tables-separate: .* are one table/;
const HALVES = /^half-values: .* refused with exception 02/;
const NO_16 = /^functions: .*not there: .*16/;
const NO_6 = /^functions: .*not there: .*6/;
const CLIENTS = 'on real connections: test/cli/verbs/inspect.test.ts';

/**
 * Every entry of the catalogue by its name, and every key of manners. Entries about several connections at a time need real ones,
 * and two need a night.
 */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'answers-for-others': onSerial('frames', 'stray-bytes'),
  'answers-too-soon': onSerial('rtu-reply-silence'),
  'busy-every-other': both('back-to-back', 'frames'),
  'deaf-after-early-request': onTcp('connect-pause'),
  'deaf-after-neighbour': both('back-to-back'),
  echo: both('frames'),
  'exception-without-code': both('frames'),
  'exception-zero': both('frames'),
  'extra-byte-before': both('frames'),
  'extra-bytes-after': { tcp: ['stray-bytes'], serial: ['frames'] },
  'few-registers': both('fc03-quantity-125', 'fc01-quantity-2000'),
  'first-reply-slow': { ...both(), told: FIRST },
  'first-request-lost': onTcp('connect-pause'),
  'gap-in-frame': onSerial('rtu-gaps'),
  'gateway-gives-up': both('back-to-back'),
  'holes-all-or-nothing': both('map-end'),
  'holes-shift': both('map-end'),
  'holes-silent': both('address-unknown'),
  'last-byte-apart': { tcp: [], serial: ['rtu-gaps'], told: /^reply-in-one-piece: .* in pieces/ },
  'last-byte-lost': both('frames'),
  'late-by-one': { ...both(), told: /^time-out: longer than/ },
  'length-too-long': { ...onTcp(), told: /^frames: once, the length in the header/ },
  'length-too-short': onTcp('frames'),
  'locks-up-after-bad-read': both('address-unknown'),
  'locks-up-on-fast-reconnect': onTcp('reconnect-at-once'),
  'map-off-by-one': { ...both('map-values'), hasMap: true },
  'needs-a-pause': both('back-to-back'),
  'no-half-values': { ...both(), hasMap: true, told: HALVES },
  // One read in fifty: on TCP, the reads of a run may all be others.
  'old-value-after-write': both('write-read-back'),
  'one-behind-for-ever': { tcp: ['frames', 'mbap-echo'], serial: ['back-to-back', 'frames'] },
  'one-bit-too-many': both('block-agrees', 'fc01-padding'),
  'only-function-16': { ...both(), told: NO_6 },
  'only-function-6': { ...both(), told: NO_16 },
  'reboots-when-polled': onTcp('repeat-block'),
  'second-master': onSerial('rtu-collision', 'stray-bytes'),
  'shared-memory': { ...both(), told: ONE_TABLE },
  'short-block': both('frames'),
  sleeps: { ...both('idle'), idleMs: 31_000 },
  'slower-than-default': { ...both(), told: TIME_OUT },
  'stranger-answers-first': onSerial('frames'),
  'stray-byte-while-idle': onSerial('stray-bytes'),
  'substituted-block': both('repeat-pair'),
  'torn-value': both('same-value', 'repeat-pair'),
  'transaction-off-by-one': onTcp('mbap-echo'),
  'transaction-swapped': onTcp('mbap-echo'),
  'transaction-zero': onTcp('mbap-echo'),
  'unknown-function-silent': both('fc43-basic', 'fc17-shape'),
  'wide-registers': both('frames'),
  'words-swapped': both('block-agrees'),
  'wrong-byte-count': both('frames'),
  'wrong-unit': both('frames'),
  'zero-for-a-poll': both('same-value', 'repeat-pair'),
  'most: cut': { manners: { most: { registers: 40, otherwise: 'cut' } }, ...both('frames') },
  'most: silence': {
    manners: { most: { registers: 40, otherwise: 'silence' } },
    ...both('fc03-quantity-125'),
  },
  'most: bits': { manners: { most: { bits: 256 } }, ...both('fc01-quantity-2000') },
  'holes: fill': {
    manners: { holes: { fill: 0 } },
    ...both(),
    hasMap: true,
    told: /^address-unknown: every address exists/,
  },
  'holes: unless': { manners: { holes: { unless: 'all' } }, ...both('map-end', 'holes'), hasMap: true },
  'holes: silence': { manners: { holes: 'silence' }, ...both('address-unknown'), hasMap: true },
  'holes: shift': { manners: { holes: 'shift' }, ...both('map-end', 'holes'), hasMap: true },
  wholeValues: { manners: { wholeValues: true }, ...both(), hasMap: true, told: HALVES },
  'writes: single': { manners: { writes: 'single' }, ...both(), told: NO_16 },
  'writes: multiple': { manners: { writes: 'multiple' }, ...both(), told: NO_6 },
  sharedMemory: { manners: { sharedMemory: [['holding', 'input']] }, ...both(), told: ONE_TABLE },
  addresses: { manners: { addresses: { first: 1 } }, ...both('map-values'), hasMap: true },
  'pauseBefore: 30ms': { manners: { pauseBefore: '30ms' }, ...both('back-to-back') },
  'pauseBefore: 300ms': { manners: { pauseBefore: '300ms' }, ...both('back-to-back') },
  'connectPause: silence': { manners: { connectPause: '1s' }, ...onTcp('connect-pause') },
  'connectPause: deaf': {
    manners: { connectPause: { for: '1s', otherwise: 'deaf' } },
    ...onTcp('connect-pause'),
  },
  'sleeps: once': { manners: { sleeps: { after: '2s' } }, ...both('idle') },
  'sleeps: wakes': { manners: { sleeps: { after: '2500ms', wakes: 3 } }, ...both('idle') },
  'locksUp: function': {
    manners: { locksUp: { on: ['function'], for: '20s' } },
    ...both('function-unknown'),
  },
  'locksUp: address': { manners: { locksUp: { on: ['address'], for: '20s' } }, ...both('address-unknown') },
  'locksUp: value': {
    manners: { locksUp: { on: ['value'], for: '20s' } },
    ...{ tcp: ['fc04-quantity-0'], serial: ['fc04-quantity-126'] },
  },
  'locksUp: all': {
    manners: { locksUp: { on: ['function', 'address', 'value'], for: '20s' } },
    tcp: ['address-unknown', 'function-unknown', 'fc04-quantity-0'],
    serial: ['address-unknown', 'function-unknown', 'fc04-quantity-126'],
  },
  'locksUp: reconnect': {
    manners: { locksUp: { on: [{ reconnect: '1s' }], for: '5s' } },
    ...onTcp('reconnect-at-once'),
  },
  'answersBroadcasts: own': {
    manners: { answersBroadcasts: 'own' },
    ...onSerial('rtu-broadcast-read', 'rtu-broadcast-refused', 'rtu-broadcast-write'),
  },
  'answersBroadcasts: zero': {
    manners: { answersBroadcasts: 'zero' },
    ...onSerial('rtu-broadcast-read', 'rtu-broadcast-refused', 'rtu-broadcast-write'),
  },
  firstReply: { manners: { firstReply: { slow: '800ms', on: 'both' } }, ...both(), told: FIRST },
};

/** Entries that are not tested in virtual time, with the reason. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'newcomer-evicts': CLIENTS,
  'one-client': CLIENTS,
  'second-client-unheard': CLIENTS,
  'pipelined-dropped': CLIENTS,
  'two-replies-one-segment': 'replies in one segment are right, and every check bears them',
  'no-modbus-at-night': 'it takes a night (--soak)',
  'not-available-at-night': 'it takes a night (--soak)',
  'command-expires': 'it shows a minute after a write',
  'falls-back-without-traffic': 'it shows after a pause of 15 s, which no check makes',
  'noise-becomes-exception': 'two requests of a hundred get an exception: it takes a soak',
  'zero-after-start': 'it takes a start of the device',
};

const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } };

/** A device with values of two registers and a hole, for what only a map can show. */
const MAPPED = {
  registers: {
    ...METER.registers,
    holding: [
      { address: 0, value: Array.from({ length: 150 }, (_, i) => 1000 + i), write: true },
      { address: 200, type: 'float32', value: 1.5 },
      { address: 202, type: 'uint32', value: 70_000 },
      { address: 206, value: [1, 2] },
    ],
  },
};

function mapOfMapped() {
  const lines = { bus: { tcp: { port: 502 }, units: { 1: 'meter' } } };
  const device = deviceForMap(nativeSetup({ devices: { meter: MAPPED }, lines }), 1);
  if (!device) throw new Error('no device');
  return mapOf(device);
}

/** Tests a mutant with scratch addresses and broadcasts. */
export function testMutant(name: string, mutant: Mutant, on: 'tcp' | 'serial') {
  const entry = mutant.manners ? undefined : findMisbehaviour(name);
  if (entry && !entry.ok) throw new Error(entry.error);
  const { faults = [], line } = entry?.value ?? {};
  const manners = mutant.manners ?? entry?.value.manners;
  const map = mutant.hasMap ? mapOfMapped() : undefined;
  return testModelServer({
    ...{ on, faults },
    ...(manners && { manners }),
    ...(line && { line }),
    ...(map && { device: MAPPED }),
    order: {
      ...{ scratch: SCRATCH, broadcast: on === 'serial' },
      ...(mutant.idleMs !== undefined && { idleMs: mutant.idleMs }),
      ...(map && { map }),
    },
  });
}

/** The lines of a report, each behind its name: what was found, and the data sheet. */
export function linesOf(serverTest: ServerTest): string[] {
  return [
    ...serverTest.findings.map((each) => `${each.check.id}: ${textOf(each)}`),
    ...dataSheet(serverTest).map(({ name, value }) => `${name}: ${value}`),
  ];
}
