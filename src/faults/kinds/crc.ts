import { z } from 'zod';
import { concatBytes } from '../../protocol/bytes.js';
import { wholeNumber } from '../../schema/parts.js';
import type { FaultKind } from '../kind.js';
import { mapFrames } from '../plan.js';

type WrongCrc = 'invert' | 'zero' | 'swap' | number;

/** `crc: "invert" | "zero" | "swap" | value`: a wrong CRC: inverted, 0, its bytes in the wrong order, or this one. */
export const crc: FaultKind<WrongCrc> = {
  schema: z.union([z.enum(['invert', 'zero', 'swap']), wholeNumber(0, 0xffff, 'a CRC')], {
    error: '"invert", "zero", "swap" or a value from 0 to 65535',
  }),
  needs: 'crc',
  apply(plan, wrong) {
    return mapFrames(plan, 'no frame with another CRC', (frame) => {
      if (frame.length < 2) return undefined;
      const [low, high] = frame.slice(-2) as unknown as [number, number];
      const [wrongLow, wrongHigh] = wrongCrc(wrong, low, high);
      if (wrongLow === low && wrongHigh === high) return undefined;
      return concatBytes(frame.subarray(0, -2), [wrongLow, wrongHigh]);
    });
  },
};

/** The two bytes as sent, low byte first. */
function wrongCrc(wrong: WrongCrc, low: number, high: number): [number, number] {
  switch (wrong) {
    case 'invert':
      return [low ^ 0xff, high ^ 0xff];
    case 'zero':
      return [0, 0];
    case 'swap':
      return [high, low];
    default:
      return [wrong & 0xff, wrong >> 8];
  }
}
