import { z } from 'zod';
import { hexadecimal, section, UNLIMITED, wholeNumber } from '../../../common/schema/parts.js';
import { concatBytes } from '../../../modbus/protocol/bytes.js';
import { WORK } from '../budget.js';
import { type FaultContext, fault } from '../kind.js';
import { countFrames, mapFrameSteps, mapFrames, pick, randomBytesFor, withOneFrame } from '../plan.js';

const wrongCrc = z.union([z.enum(['invert', 'byte', 'zero', 'swap']), wholeNumber(0, 0xffff, 'a CRC')], {
  error: '"invert", "byte", "zero", "swap" or a value from 0 to 65535',
});

/** The maximum number of bytes that a rule may spell out. */
const MAX_EXACT = 1024;

/**
 * The schema of a number of random bytes, or of exact bytes. YAML reads `00` as 0, so the message for that
 * also mentions the quotes.
 */
const someBytes = z.union([z.int().min(1, { abort: true }), hexadecimal(MAX_EXACT, 'bytes', 'ff 00')], {
  error: `a number of bytes, 1 or more, or 1 to ${MAX_EXACT} bytes of hexadecimal text in quotes, as in "ff 00"`,
});

/** The number of bytes before a position in a frame. */
const offset = wholeNumber(0, UNLIMITED, 'a number of bytes');

const NOT_CARRIED = 'an ASCII line carries no byte above 7f';

/** Faults that corrupt the bytes of a frame after its check value was computed. */
export const DAMAGE = {
  /** On an ASCII line, only the seven data bits are flipped. */
  corrupt: fault({
    does: 'Flips n different bits, anywhere in the frame.',
    schema: wholeNumber(1, 2048, 'a number of bits'),
    apply(plan, count, context) {
      const { characterBits } = context.framing;
      return mapFrames(plan, context, 'no frame to corrupt', (frame) => {
        for (const bit of pick(context, count, characterBits * frame.length)) {
          const index = Math.floor(bit / characterBits);
          frame[index] = (frame[index] as number) ^ (1 << (bit % characterBits));
        }
        return frame;
      });
    },
  }),

  crc: fault({
    does: 'Sends a wrong CRC; on an ASCII line, a wrong LRC.',
    schema: wrongCrc,
    needs: 'crc',
    apply: (plan, wrong, context) =>
      mapFrames(plan, context, 'no frame with a CRC to change', (frame) => {
        const changed = context.framing.recheck?.(frame, (check) => wrongCheck(wrong, check, context));
        return changed?.some((byte, i) => byte !== frame[i]) ? changed : undefined;
      }),
  }),

  truncate: fault({
    does: 'Sends only the first n bytes of the frame. A negative number cuts n bytes off the end; 0 sends nothing.',
    schema: z.int({ error: 'a number of bytes to keep, or a negative number to cut' }),
    apply: (plan, length, context) =>
      mapFrames(plan, context, 'no frame that is long enough', (frame) =>
        length < frame.length ? frame.slice(0, length) : undefined,
      ),
  }),

  extend: fault({
    does: 'Sends n random bytes, or the bytes given as hexadecimal text, after the frame.',
    schema: someBytes,
    apply(plan, what, context) {
      const added = bytesFor(countFrames(plan), context, what);
      if (!added) return NOT_CARRIED;
      return mapFrames(plan, context, 'no frame to extend', (frame) => concatBytes(frame, added()));
    },
  }),

  noise: fault({
    does: 'Sends n random bytes, or the bytes given as hexadecimal text, before the frame, or on their own if there is no frame.',
    schema: someBytes,
    apply(plan, what, context) {
      const frames = countFrames(plan);
      const added = bytesFor(Math.max(1, frames), context, what);
      if (!added) return NOT_CARRIED;
      if (frames === 0) return withOneFrame(plan, added());
      return mapFrameSteps(plan, context, 'no frame', ([first, ...rest]) => {
        if (!context.budget.spend({ work: WORK.byte * first.bytes.length })) return undefined;
        return [{ ...first, bytes: concatBytes(added(), first.bytes) }, ...rest];
      });
    },
  }),

  drop: fault({
    does: 'Drops n random bytes, or the byte after the first `at` bytes, like a UART that is read too late.',
    schema: z.union(
      [
        wholeNumber(1, MAX_EXACT, 'a number of bytes'),
        section({ at: offset }, { at: 'Number of bytes before the dropped one.' }),
      ],
      {
        error: 'a number of bytes, or {at: 5} for the one after the first five',
      },
    ),
    apply: (plan, lost, context) =>
      mapFrames(plan, context, 'no frame that is long enough', (frame) => {
        if (typeof lost !== 'number' && lost.at >= frame.length) return undefined;
        const gone = new Set(typeof lost === 'number' ? pick(context, lost, frame.length) : [lost.at]);
        return frame.filter((_, i) => !gone.has(i));
      }),
  }),

  insert: fault({
    does: 'Inserts n random bytes, or the bytes given as hexadecimal text, into the frame: at a random place, or after its first `at` bytes.',
    schema: z.union(
      [
        someBytes,
        section(
          { at: offset, bytes: someBytes },
          {
            at: 'Number of frame bytes before the inserted ones.',
            bytes: 'Number of bytes, or the bytes as hexadecimal text.',
          },
        ),
      ],
      {
        error: 'a number of bytes, hexadecimal text in quotes as in "00", or {at: 5, bytes: "00"}',
      },
    ),
    apply(plan, what, context) {
      const { at, bytes } =
        typeof what === 'object' && 'bytes' in what ? what : { at: undefined, bytes: what };
      const added = bytesFor(countFrames(plan), context, bytes);
      if (!added) return NOT_CARRIED;
      return mapFrames(plan, context, 'no frame that is long enough', (frame) => {
        if (frame.length < 2 || (at ?? 0) >= frame.length) return undefined;
        const place = at ?? 1 + context.random.below(frame.length - 1);
        return concatBytes(frame.subarray(0, place), added(), frame.subarray(place));
      });
    },
  }),

  junk: fault({
    does: 'Sends n random bytes, or the bytes given as hexadecimal text, instead of the frame. The device still executes the request.',
    schema: someBytes,
    apply(plan, what, context) {
      const bytes = bytesFor(1, context, what);
      return bytes ? withOneFrame(plan, bytes()) : NOT_CARRIED;
    },
  }),
};

/**
 * Creates the bytes that a fault adds to each of `frames` frames. Each call of the result returns the bytes
 * for the next frame, which are empty if the budget does not allow them. Undefined if the line can't carry
 * the bytes.
 */
function bytesFor(
  frames: number,
  context: FaultContext,
  what: number | Uint8Array,
): (() => Uint8Array) | undefined {
  if (typeof what === 'number') return randomBytesFor(frames, context, what);
  const { characterBits } = context.framing;
  if (what.some((byte) => byte >> characterBits > 0)) return undefined;
  const total = frames * what.length;
  const added = context.budget.spend({ bytes: total, work: WORK.byte * total }) ? what : new Uint8Array(0);
  return () => added;
}

/**
 * Returns the wrong check value as bytes in wire order. A CRC is sent low byte first. An LRC is one byte: its
 * two digits are swapped, and only the low byte of a given value is used.
 */
function wrongCheck(
  wrong: z.infer<typeof wrongCrc>,
  check: readonly number[],
  { random }: FaultContext,
): readonly number[] {
  switch (wrong) {
    case 'invert':
      return check.map((byte) => byte ^ 0xff);
    case 'byte': {
      const one = random.below(check.length);
      return check.map((byte, i) => (i === one ? byte ^ 0xff : byte));
    }
    case 'zero':
      return check.map(() => 0);
    case 'swap':
      return check.length > 1 ? check.toReversed() : check.map((byte) => ((byte << 4) | (byte >> 4)) & 0xff);
    default:
      return check.map((_, i) => (wrong >> (8 * i)) & 0xff);
  }
}
