import { sentBytes } from '../../../modbus/protocol/reply-plan.js';
import { timesText } from '../../report/words.js';
import { longestPauseIn, readingOf, wentWell } from '../heard/exchange.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import { behaviourAfter, continuationOf } from '../trial/observation.js';
import {
  type Contrast,
  type ContrastRow,
  contrastCheck,
  LATE_MS,
  spoilt,
  TAKES_IT,
  TAKES_NONE,
  TOO_LONG,
  twice,
  whyNotTwice,
} from '../trial/trial.js';
import { DECIDES, type Judged, sure } from '../trial/verdict.js';

/** A way to damage a reply so that a client must reject it. */
interface Damage
  extends Omit<ContrastRow, 'rule' | 'expected' | 'meaning' | 'contrast' | 'values' | 'blame'> {
  /** True if the reply itself is intact, with extra bytes around it, so that the client may accept its value. */
  readonly isIntact?: boolean;
  /** True if the intact reply comes first, so that a client that continues as usual has done nothing wrong. */
  readonly isHarmless?: boolean;
  /**
   * Makes the faults for this client.
   * @returns the faults, or why its poll can't be damaged this way
   */
  readonly faults: (exam: Exam) => readonly object[] | string;
}

const READS_NOTHING = 'the client reads no registers or bits, so the replies to it have no byte count';
/** Maximum number of data bytes in a reply: 125 registers or 2000 bits. */
const MOST_BYTES = 250;
/** The LRC of an ASCII frame and its end, in characters. */
const ASCII_END = 4;
/** If a reply has fewer data bytes, its byte count is made too high instead of too low. */
const FEWEST_BYTES = 4;
const LAST_UNIT = 247;
/**
 * Distance of the wrong transaction identifier from the right one. The client must not be about to use it,
 * and many count up by one. Only one byte differs, because some clients do not compare that byte.
 */
const AWAY = 0x4000;

/**
 * Pairs of functions whose replies have the same shape: coils and discrete inputs, holding and input
 * registers, single writes, multiple writes.
 */
const TWINS = [
  [1, 2],
  [3, 4],
  [5, 6],
  [15, 16],
];

const DAMAGE: readonly Damage[] = [
  {
    id: 'wrong-crc',
    title: 'Discards a reply with a wrong CRC',
    what: 'a reply with a wrong CRC',
    does: 'Inverts the first or the second byte of the CRC of replies (the LRC on an ASCII line).',
    matters:
      'A client that does not check the CRC, or checks only one byte of it, mistakes noise for values.',
    fix: 'Check the CRC of every reply, and treat a reply with a wrong CRC as no reply.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.2',
    abilities: ['crc'],
    faults: () => [{ crc: 'byte' }],
  },
  {
    id: 'truncated-reply',
    title: 'Discards a truncated reply',
    what: 'half a reply',
    does: 'Sends only the first half of replies.',
    matters: 'A client that uses the bytes received so far shows values that no device sent.',
    fix: 'Accept a reply only when all its bytes have arrived, and empty the buffer before the next request.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.1: an incomplete message is discarded',
    faults: halfOf,
  },
  {
    id: 'extended-reply',
    title: 'Survives bytes after a reply',
    what: 'a reply followed by stray bytes',
    does: 'Sends 3 random bytes right after replies.',
    matters:
      'Bytes left in a buffer are mistaken for the start of the next reply, and every later reply is wrong.',
    fix: 'Empty the receive buffer before each request.',
    source:
      'Modbus over Serial Line V1.02, 2.5.1.1: the frame ends with the silence; common with adapters that switch direction late',
    isIntact: true,
    isHarmless: true,
    faults: () => [{ extend: 3 }],
  },
  {
    id: 'noise-before',
    title: 'Survives noise before a reply',
    what: 'a reply preceded by noise',
    does: 'Sends 3 random bytes right before replies.',
    matters: 'On lines without bias resistors, such bytes appear whenever a driver is switched on.',
    fix: 'Search for the reply in the received bytes, or discard them all and send the request again.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.2 and 3.4.6 (line polarization)',
    isIntact: true,
    faults: () => [{ noise: 3 }],
  },
  {
    id: 'junk',
    title: 'Discards junk sent instead of a reply',
    what: 'junk',
    does: 'Replaces replies with random bytes of the same length.',
    matters: 'Devices with a different baud rate or protocol on the same line cause this.',
    fix: 'Check unit, function, length and CRC of every reply, and empty the buffer before the next request.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.2; Modbus Messaging on TCP/IP V1.0b, 4.4.1.3',
    faults: (exam) => [{ junk: replyLength(exam) }],
  },
  {
    id: 'wrong-unit',
    title: 'Discards a reply from another unit',
    what: 'a reply from another unit',
    does: 'Sends replies with the unit identifier of another unit; the frame is valid.',
    matters:
      'On a serial line, a late reply from another device looks like this, and its value belongs to another register.',
    fix: 'Compare the unit identifier of every reply with that of the request.',
    source: 'Modbus over Serial Line V1.02, 2.4.1: a reply from an unexpected slave is ignored',
    faults: ({ target: { unitId } }) => [{ unit: unitId < LAST_UNIT ? unitId + 1 : unitId - 1 }],
  },
  {
    id: 'wrong-function',
    title: 'Discards a reply to another function',
    what: 'a reply to another function',
    does: 'Sends replies with the function code of a similar function that the client did not request; the frame is valid.',
    matters: 'A late reply to another request looks like this, and its value belongs to another register.',
    fix: 'Compare the function code of every reply with that of the request.',
    source: 'Application Protocol V1.1b3, 4.1: a normal response echoes the function code',
    faults: ({ target: { functionCode } }) => {
      const twin = TWINS.find((pair) => pair.includes(functionCode))?.find((code) => code !== functionCode);
      return twin === undefined
        ? `no other function is similar to function ${functionCode}`
        : [{ function: twin }];
    },
  },
  {
    id: 'wrong-byte-count',
    title: 'Discards a reply with a wrong byte count',
    what: 'a reply with a wrong byte count',
    does: 'Sends replies whose byte count is two too small, or two too large if there are few data bytes; the rest of the frame is valid.',
    matters: 'A client that trusts the byte count reads past the end of the data or loses values.',
    fix: 'Compare the byte count of every reply with the requested quantity and with the length of the frame.',
    source: 'Application Protocol V1.1b3, 6.1 to 6.4',
    faults: ({ target }) => {
      const reading = readingOf(target);
      if (!reading) return READS_NOTHING;
      const { bytes } = reading;
      return [{ byteCount: bytes >= FEWEST_BYTES ? bytes - 2 : bytes + 2 }];
    },
  },
  {
    id: 'fewer-registers',
    title: 'Discards a reply with fewer values than requested',
    what: 'a reply with too few values',
    does: 'Sends valid replies with one register (or eight bits) fewer than requested.',
    matters:
      'A late reply to a shorter request looks like this; a client that does not count the values keeps old ones for the rest.',
    fix: 'Compare the number of values in every reply with the requested quantity.',
    source: 'Application Protocol V1.1b3, 6.1 to 6.4',
    faults: ({ target, client }) => {
      const reading = readingOf(target);
      if (!reading) return READS_NOTHING;
      const less = reading.isBits ? 1 : 2;
      if (reading.bytes <= less)
        return `the client requests ${reading.isBits ? 'at most eight bits' : 'one register'}, so no reply can have fewer data bytes`;
      const characters = client.line.framing === 'ascii' ? 2 : 1;
      // The field is set last, so that the CRC or the length is correct again.
      return [{ truncate: -less * characters }, { byteCount: reading.bytes - less }];
    },
  },
  {
    id: 'more-registers',
    title: 'Discards a reply with more values than requested',
    what: 'a reply with too many values',
    does: 'Sends valid replies with one register (or eight bits) more than requested.',
    matters:
      'A late reply to a longer request looks like this; a client that copies what comes writes past the end of its buffer.',
    fix: 'Compare the number of values in every reply with the requested quantity.',
    source: 'Application Protocol V1.1b3, 6.1 to 6.4; epics-modules/modbus issue 1',
    faults: (exam) => {
      const reading = readingOf(exam.target);
      if (!reading) return READS_NOTHING;
      const bytes = reading.bytes + (reading.isBits ? 1 : 2);
      if (bytes > MOST_BYTES) return 'the client already requests as many values as a reply can hold';
      const added = bytes - reading.bytes;
      // The hexadecimal digits of an ASCII frame end before its LRC.
      const more =
        exam.client.line.framing === 'ascii'
          ? { insert: { at: replyLength(exam) - ASCII_END, bytes: '3030'.repeat(added) } }
          : { extend: '00'.repeat(added) };
      return [more, { byteCount: bytes }];
    },
  },
  {
    id: 'wrong-transaction',
    title: 'Discards a reply with a wrong transaction identifier',
    what: 'a reply with a wrong transaction identifier',
    does: 'Sends replies with a transaction identifier that the client has not used recently.',
    matters: 'Only the identifier distinguishes a late reply from the expected one.',
    fix: 'Give each request its own identifier, and discard replies that carry another one.',
    source: 'Modbus Messaging on TCP/IP V1.0b, 4.4.1.3: a response to no pending transaction is discarded',
    abilities: ['transaction'],
    faults: () => [{ transaction: `+${AWAY}` }],
  },
  {
    id: 'wrong-protocol',
    title: 'Discards a reply with a wrong protocol identifier',
    what: 'a reply with a wrong protocol identifier',
    does: 'Sends replies with the protocol identifier 1 instead of 0.',
    matters: 'Such a frame is not Modbus, so its bytes are no values.',
    fix: 'Discard frames whose protocol identifier is not 0.',
    source: 'Modbus Messaging on TCP/IP V1.0b, 3.1.3 and 4.4.1.3',
    abilities: ['transaction'],
    needsObserver: true,
    faults: () => [{ mbap: { protocol: 1 } }],
  },
];

/** Returns a check's rule: when a client passes, fails or is inconclusive for this damage. */
function ruleOf({ isIntact, isHarmless }: Damage): string {
  const usual = isHarmless ? ', or continues as after a good reply' : '';
  const value = isIntact ? 'a value that no reply carried' : 'the corrupted value';
  const unclear = isHarmless ? '' : ', or, without an observer, when it continues as after a good reply';
  return `Passes when the client retries or continues as without a reply${usual}, in three trials that agree, or when the observer \
shows no corrupted value. Fails when the observer shows ${value} or stops following, when the client stops, when it does not \
poll as before, or when, three times out of three, it does not accept the good reply after the corrupted one either. Inconclusive when the \
trials do not agree or show neither${unclear}.`;
}

function damageCheck(damage: Damage): Check {
  const { isIntact, isHarmless, faults: faultsFor, ...described } = damage;
  const check = contrastCheck('damaged', {
    ...described,
    expected: damage.isHarmless
      ? 'the client continues as with or without a reply, or retries, and accepts the next good reply'
      : 'the client continues as without a reply, or retries, and accepts the next good reply',
    rule: ruleOf(damage),
    blame: `accepts ${damage.what}: dangerous`,
    meaning: { missing: 'right', again: 'right', usual: isHarmless ? 'right' : 'unclear' },
    values: { kept: 'right', sent: isIntact ? 'right' : 'wrong', other: 'wrong' },
    contrast: (exam) => {
      const faults = faultsFor(exam);
      return typeof faults === 'string' ? faults : spoilt(faults);
    },
  });
  return {
    ...check,
    async run(exam) {
      const judged = await check.run(exam);
      const { afterwards } = judged;
      const wrong = judged.verdict === 'pass' && costsAnother(exam, damage.what);
      if (!wrong || !afterwards) return wrong || judged;
      // One that takes no reply any more has the worse mistake.
      const later = async () => {
        const then = await afterwards.later();
        return then.verdict === 'pass' ? wrong : then;
      };
      return { ...wrong, afterwards: { ...afterwards, later } };
    },
  };
}

/** How often it has to be known what a client does after a good reply. */
const FEWEST_USUAL = 8;

/** The verdict on a client that keeps the corrupted bytes, and so loses the good reply after them as well; undefined for any other. */
function costsAnother(exam: Exam, what: string): Judged | undefined {
  const met = exam.log.spoilt.filter(({ seq, rule }) => seq > exam.since && rule?.faults !== LOST);
  const followed = met.flatMap(({ next }) => (next && wentWell(next) ? (continuationOf(next) ?? []) : []));
  const waitMs = behaviourAfter(exam, [LOST]).shortest;
  const isLost = followed.every(({ of, afterMs }) => {
    const usual = exam.log.newest().flatMap((each) => {
      // The second reply after the corrupted one may be lost too, and is not usual.
      const isPlain = [each.before, each.before?.before].every(
        (one) => !one?.rule || one.rule.faults === LOST,
      );
      return isPlain && !each.isStuck && each.poll === of.poll && wentWell(each)
        ? (continuationOf(each)?.afterMs ?? [])
        : [];
    });
    return (
      usual.length >= FEWEST_USUAL && afterMs > Math.max(...usual) + LATE_MS && afterMs >= waitMs - LATE_MS
    );
  });
  const isLate = exam.client.lateness.between(met[0]?.at ?? 0) >= LATE_MS;
  if (followed.length < DECIDES || !isLost || isLate) return undefined;
  const text = `after ${what}, it did not accept the good reply to its next request either, ${timesText(followed.length)}`;
  const evidence = followed.flatMap(({ of, next }) => [of.before ?? [], of, next].flat());
  return sure('wrong', text, evidence, `loses the next reply, too, after ${what}`);
}

/** The length of an RTU reply with one register, in bytes, used if no reply was kept. */
const SHORTEST = 7;

/** The length of the reply to the disturbed poll, in bytes; on an ASCII line, in characters. */
function replyLength({ target }: Exam): number {
  const reply = target.asked.findLast(wentWell)?.reply;
  if (!reply) return SHORTEST;
  return sentBytes(reply.plan, reply.report).reduce((sum, { length }) => sum + length, 0);
}

function halfOf(exam: Exam): readonly object[] {
  return [{ truncate: replyLength(exam) >> 1 }];
}

/** Where the header of a reply on Modbus TCP is cut, which has seven bytes. */
const PART_OF_HEADER = 4;
/** The pause between two pieces of a reply, in ms, on TCP and on an ASCII line, where up to a second is allowed. */
const GAP_MS = 20;

const duplicate = contrastCheck('damaged', {
  id: 'duplicate-reply',
  title: 'Does not mistake a duplicate for the next reply',
  what: 'a duplicate reply',
  does: 'Sends a reply twice and does not answer the next request.',
  matters:
    'A client that mistakes the copy for the next reply is off by one reply from then on: every value belongs to another request.',
  fix: 'Empty the receive buffer before each request; on TCP, compare the transaction identifier.',
  expected: 'the client waits for a reply to its next request',
  rule: 'Passes when the client waits for a reply to the next request as it does without the copy, in three trials that agree; fails when it continues as if that request had been answered, or stops; inconclusive when this client behaves the same in both cases.',
  source: 'libmodbus issue 255, goburrow/modbus issue 64, NModbus issue 88',
  blame: 'mistakes a duplicate for the next reply, or gives up a request because of it',
  meaning: TAKES_NONE,
  contrast: (exam): Contrast => ({
    shown: [twice(exam), LOST],
    ifTaken: ['good', 'good'],
    ifLeft: ['good', LOST],
    isVoid: ([first]) => whyNotTwice(first),
  }),
});

const split = contrastCheck('damaged', {
  id: 'split-reply',
  title: 'Accepts a reply in two pieces',
  what: 'a reply in two pieces',
  does: `Sends replies in two halves, with a pause of one character between them on RTU (less than t1.5), and of ${GAP_MS} ms otherwise; the header of Modbus TCP also comes in two pieces.`,
  matters:
    'Adapters and networks split replies anywhere. A client that treats each read as a whole reply fails occasionally.',
  fix: 'Keep reading until the whole reply has arrived or the time-out has expired.',
  expected: 'the client continues as after a whole reply',
  rule: 'Passes when the client continues as after a whole reply, in three trials that agree; fails when it retries or continues as without a reply. Inconclusive, without an observer, when the client also continues as usual after half a reply, or behaves the same in both cases.',
  source:
    'Modbus over Serial Line V1.02, 2.5.1.1 (t1.5) and 2.5.2.1; Modbus Messaging on TCP/IP V1.0b, 4.2: TCP is a stream',
  transports: ['serial', 'tcp', 'tls'],
  needs: ['truncated-reply'],
  blame: 'discards a reply in two pieces',
  meaning: TAKES_IT,
  values: { sent: 'right', kept: 'wrong', other: 'wrong' },
  contrast: (exam) => {
    const { line } = exam.client;
    const isRtu = line.framing === 'rtu';
    const cut = (at: 'middle' | number) => ({ split: { at, gap: isRtu ? line.characterTime : GAP_MS } });
    const header = line.framing === 'socket' ? [cut(PART_OF_HEADER)] : [];
    return {
      shown: [[...header, cut('middle')]],
      ifTaken: ['good'],
      ifLeft: [LOST],
      // If a client continues as usual even after half a reply, continuing as usual does not show that it
      // accepted the whole one.
      alsoUsual: [halfOf(exam)],
      isVoid: ([first]) => (isRtu && longestPauseIn(first) > line.t15 ? TOO_LONG : undefined),
    };
  },
});

export const damaged: readonly Check[] = [...DAMAGE.map(damageCheck), duplicate, split];
