import { sentBytes } from '../../../modbus/protocol/reply-plan.js';
import { longestPauseIn, readingOf, wentWell } from '../heard/exchange.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import {
  type Contrast,
  type ContrastRow,
  contrastCheck,
  spoilt,
  TAKES_IT,
  TAKES_NONE,
  TOO_LONG,
  twice,
  whyNotTwice,
} from '../trial/trial.js';

/** A way to damage a reply that a client must not take. */
interface Damage extends Omit<ContrastRow, 'rule' | 'meaning' | 'contrast' | 'values' | 'blame'> {
  /**
   * True when the reply is there undamaged, with more bytes around it, so that its own value may be taken.
   */
  readonly isIntact?: boolean;
  /**
   * True when the undamaged reply comes first, so that a client that goes on as usual has done nothing wrong.
   */
  readonly isHarmless?: boolean;
  /**
   * Makes the faults for this client.
   * @returns the faults, or why its poll can't be damaged like this
   */
  readonly faults: (exam: Exam) => readonly object[] | string;
}

const READS_NOTHING = 'the client asks nothing that reads registers or bits, so a reply has no byte count';
/** A reply with fewer data bytes gets a byte count that is too high instead of too low. */
const FEWEST_BYTES = 4;
const LAST_UNIT = 247;
/**
 * How far the wrong transaction identifier is from the right one. It must not be one that the client uses next, and many
 * count up by one. Only one byte differs: some clients do not compare that one.
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
    title: 'Throws away a reply with a wrong CRC',
    what: 'a reply with a wrong CRC',
    does: 'Inverts the first or the second byte of the CRC of replies (the LRC on an ASCII line).',
    matters: 'A client that does not check the CRC, or only one byte of it, takes noise for values.',
    fix: 'Check the CRC of every reply, and treat a reply with a wrong one as no reply.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.2',
    abilities: ['crc'],
    faults: () => [{ crc: 'byte' }],
  },
  {
    id: 'truncated-reply',
    title: 'Throws away a reply that breaks off',
    what: 'half a reply',
    does: 'Sends only the first half of replies.',
    matters: 'A client that uses the bytes so far shows values that no device sent.',
    fix: 'Accept a reply only when all its bytes are there, and empty the buffer before the next request.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.1: an incomplete message is discarded',
    faults: halfOf,
  },
  {
    id: 'extended-reply',
    title: 'Survives bytes behind a reply',
    what: 'bytes behind a reply',
    does: 'Sends 3 random bytes right behind replies.',
    matters:
      'Bytes left in a buffer are taken for the start of the next reply, and every later reply is wrong.',
    fix: 'Empty the receive buffer before each request.',
    source:
      'Modbus over Serial Line V1.02, 2.5.1.1: the frame ends with the silence; common with adapters that switch late',
    isIntact: true,
    isHarmless: true,
    faults: () => [{ extend: 3 }],
  },
  {
    id: 'noise-before',
    title: 'Survives noise before a reply',
    what: 'noise before a reply',
    does: 'Sends 3 random bytes right before replies.',
    matters: 'Lines without bias resistors make such bytes whenever a driver is switched on.',
    fix: 'Search for the reply in the received bytes, or discard them all and send the request again.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.2 and 3.4.6 (line polarization)',
    isIntact: true,
    faults: () => [{ noise: 3 }],
  },
  {
    id: 'junk',
    title: 'Throws away junk in place of a reply',
    what: 'junk',
    does: 'Sends as many random bytes as the reply is long in place of replies.',
    matters: 'Another baud rate or another protocol on the same line looks like this.',
    fix: 'Check unit, function, length and CRC of every reply, and empty the buffer before the next request.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.2; Modbus Messaging on TCP/IP V1.0b, 4.4.1.3',
    faults: (exam) => [{ junk: replyLength(exam) }],
  },
  {
    id: 'wrong-unit',
    title: 'Throws away a reply of another unit',
    what: 'a reply of another unit',
    does: 'Sends replies with the unit identifier of a unit that was not asked; the frame is valid.',
    matters:
      'On a serial line a late reply of another device looks like this, and its value belongs to another register.',
    fix: 'Compare the unit identifier of every reply with that of the request.',
    source: 'Modbus over Serial Line V1.02, 2.4.1: a reply from an unexpected slave is ignored',
    faults: ({ target: { unitId } }) => [{ unit: unitId < LAST_UNIT ? unitId + 1 : unitId - 1 }],
  },
  {
    id: 'wrong-function',
    title: 'Throws away a reply of another function',
    what: 'a reply of another function',
    does: 'Sends replies with the function code of a like function that was not asked for; the frame is valid.',
    matters: 'A late reply to another request looks like this, and its value belongs to another register.',
    fix: 'Compare the function code of every reply with that of the request.',
    source: 'Application Protocol V1.1b3, 4.1: a normal response echoes the function code',
    faults: ({ target: { functionCode } }) => {
      const twin = TWINS.find((pair) => pair.includes(functionCode))?.find((code) => code !== functionCode);
      return twin === undefined ? `function ${functionCode} has none that is like it` : [{ function: twin }];
    },
  },
  {
    id: 'wrong-byte-count',
    title: 'Throws away a reply with a wrong byte count',
    what: 'a reply with a wrong byte count',
    does: 'Sends replies whose byte count is two less than their data bytes, or two more where there are few; the rest of the frame is valid.',
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
    title: 'Throws away a reply with fewer values than asked',
    what: 'a reply with too few values',
    does: 'Sends replies that are valid in themselves, with one register (eight bits) less than was asked for.',
    matters:
      'A late reply to a shorter request looks like this; a client that does not count the values keeps old ones for the rest.',
    fix: 'Compare the number of values in every reply with the requested quantity.',
    source: 'Application Protocol V1.1b3, 6.1 to 6.4',
    faults: ({ target, client }) => {
      const reading = readingOf(target);
      if (!reading) return READS_NOTHING;
      const less = reading.isBits ? 1 : 2;
      if (reading.bytes <= less)
        return `the client asks for ${reading.isBits ? 'eight bits at most' : 'one register'}, and a reply can have no fewer data bytes`;
      const characters = client.line.framing === 'ascii' ? 2 : 1;
      // Setting a field last makes the CRC or the length fit again.
      return [{ truncate: -less * characters }, { byteCount: reading.bytes - less }];
    },
  },
  {
    id: 'wrong-transaction',
    title: 'Throws away a reply with another transaction identifier',
    what: 'a reply with another transaction identifier',
    does: 'Sends replies with a transaction identifier that the client has not used of late.',
    matters: 'Only the identifier distinguishes a late reply from the expected one.',
    fix: 'Give each request its own identifier, and discard replies with any other.',
    source: 'Modbus Messaging on TCP/IP V1.0b, 4.4.1.3: a response to no pending transaction is discarded',
    abilities: ['transaction'],
    faults: () => [{ transaction: `+${AWAY}` }],
  },
];

/** Writes the rule of a check: when a client passes, as far as that depends on the damage. */
function ruleOf({ isIntact, isHarmless }: Damage): string {
  const usual = isHarmless ? ', or goes on as after a good reply' : '';
  const value = isIntact ? 'a value that no reply carried' : 'the spoilt value';
  const unclear = isHarmless ? '' : ', and when it goes on as after a good reply and there is no observer';
  return `Passes when the client asks again, or goes on as when no reply comes${usual}, in three trials that agree, or when the observer \
shows no spoilt value; fails when the observer shows ${value} or follows no more, when the client stops, and when it does not poll as before \
afterwards; inconclusive when the trials do not agree or show neither${unclear}.`;
}

function damageCheck(damage: Damage): Check {
  const { isIntact, isHarmless, faults: faultsFor, ...described } = damage;
  return contrastCheck('damaged', {
    ...described,
    rule: ruleOf(damage),
    blame: `takes ${damage.what} for a good one: dangerous`,
    meaning: { missing: 'right', again: 'right', usual: isHarmless ? 'right' : 'unclear' },
    values: { kept: 'right', sent: isIntact ? 'right' : 'wrong', other: 'wrong' },
    contrast: (exam) => {
      const faults = faultsFor(exam);
      return typeof faults === 'string' ? faults : spoilt(faults);
    },
  });
}

/** The length of a reply with one register on RTU, in bytes, for a client of which no reply was kept. */
const SHORTEST = 7;

/** The length of the reply to the disturbed poll, in bytes, or in characters on an ASCII line. */
function replyLength({ target }: Exam): number {
  const reply = target.asked.findLast(wentWell)?.reply;
  if (!reply) return SHORTEST;
  return sentBytes(reply.plan, reply.report).reduce((sum, { length }) => sum + length, 0);
}

function halfOf(exam: Exam): readonly object[] {
  return [{ truncate: replyLength(exam) >> 1 }];
}

/** The pause between two pieces of a reply on TCP, and on an ASCII line, where up to a second is allowed. */
const GAP_MS = 20;

const duplicate = contrastCheck('damaged', {
  id: 'duplicate-reply',
  title: 'Does not take a duplicate for the next reply',
  what: 'a duplicate reply',
  does: 'Sends a reply twice, and leaves the request after it without a reply.',
  matters:
    'A client that takes the copy for the next reply is off by one reply from then on: every value belongs to another request.',
  fix: 'Empty the receive buffer before each request; on TCP, compare the transaction identifier.',
  rule: 'Passes when the client waits for a reply to the next request as it does without the copy, in three trials that agree; fails when it goes on as if that request had been answered, or stops; inconclusive when both look the same for this client.',
  source: 'libmodbus issue 255, goburrow/modbus issue 64, NModbus issue 88',
  blame: 'takes a duplicate for the next reply, or gives up a request because of it',
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
  title: 'Takes a reply that comes in two pieces',
  what: 'a reply in two pieces',
  does: `Sends replies in two halves: on RTU with a pause of one character, which is less than t1.5, elsewhere of ${GAP_MS} ms.`,
  matters:
    'Adapters and networks split replies anywhere. A client that treats each read as a whole reply fails occasionally.',
  fix: 'Keep reading until the whole reply is there or the time-out is over.',
  rule: 'Passes when the client goes on as after a whole reply, in three trials that agree, fails when it asks again or goes on as when no reply comes; inconclusive when it goes on as usual after half a reply, too, or when both look the same for this client, and there is no observer.',
  source:
    'Modbus over Serial Line V1.02, 2.5.1.1 (t1.5) and 2.5.2.1; Modbus Messaging on TCP/IP V1.0b, 4.2: TCP is a stream',
  transports: ['serial', 'tcp', 'tls'],
  needs: ['truncated-reply'],
  blame: 'throws away a reply that comes in two pieces',
  meaning: TAKES_IT,
  values: { sent: 'right', kept: 'wrong', other: 'wrong' },
  contrast: (exam) => {
    const { line } = exam.client;
    const isRtu = line.framing === 'rtu';
    return {
      shown: [[{ split: { at: 'middle', gap: isRtu ? line.characterTime : GAP_MS } }]],
      ifTaken: ['good'],
      ifLeft: [LOST],
      // A client that goes on as usual after half a reply need not have taken the whole one.
      alsoUsual: [halfOf(exam)],
      isVoid: ([first]) => (isRtu && longestPauseIn(first) > line.t15 ? TOO_LONG : undefined),
    };
  },
});

export const damaged: readonly Check[] = [...DAMAGE.map(damageCheck), duplicate, split];
