import { z } from 'zod';
import { wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';

type WrongCrc = 'invert' | 'zero' | 'swap' | number;

/**
 * `crc: "invert" | "zero" | "swap" | value`: a wrong CRC: inverted, 0, with its bytes swapped, or the given value. An
 * ASCII line has an LRC of one byte instead: its two digits are swapped, and the low byte of a value is used.
 */
export const crc: FaultKind<WrongCrc> = {
  does: 'Sends a wrong CRC; on an ASCII line, a wrong LRC.',
  schema: z.union([z.enum(['invert', 'zero', 'swap']), wholeNumber(0, 0xffff, 'a CRC')], {
    error: '"invert", "zero", "swap" or a value from 0 to 65535',
  }),
  needs: 'crc',
  apply(plan, wrong, context) {
    return mapFrames(plan, context, 'no frame with another CRC', (frame) => {
      const changed = context.framing.recheck?.(frame, (check) => wrongCheck(wrong, check));
      return changed?.some((byte, i) => byte !== frame[i]) ? changed : undefined;
    });
  },
};

/** The bytes as sent; a CRC is sent low byte first. */
function wrongCheck(wrong: WrongCrc, check: readonly number[]): readonly number[] {
  switch (wrong) {
    case 'invert':
      return check.map((byte) => byte ^ 0xff);
    case 'zero':
      return check.map(() => 0);
    case 'swap':
      return check.length > 1 ? check.toReversed() : check.map((byte) => ((byte << 4) | (byte >> 4)) & 0xff);
    default:
      return check.map((_, i) => (wrong >> (8 * i)) & 0xff);
  }
}
