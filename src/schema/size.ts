import { z } from 'zod';

/** Bytes of each unit that a size can be written in. */
const UNITS: Readonly<Record<string, number>> = { KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 };

const SIZE = /^(\d+(?:\.\d+)?)(KB|MB|GB)$/;

/** A number of bytes from `min` to `max`, both in MB: a plain number of bytes, or text such as `64MB`. */
export function size(min: number, max: number) {
  const error = `a size from ${min}MB to ${max}MB, such as ${min}MB, 64MB or 1GB`;
  const MB = UNITS.MB as number;
  return z.union([z.number(), z.string().transform(bytesOf)], { error }).pipe(
    z
      .int({ error })
      .min(min * MB, { error })
      .max(max * MB, { error }),
  );
}

/** NaN for other text. A fraction of a byte is rounded off. */
function bytesOf(text: string): number {
  const [, digits, unit] = SIZE.exec(text) ?? [];
  return unit === undefined ? Number.NaN : Math.round(Number(digits) * (UNITS[unit] as number));
}
