/** Formats a duration in ms, to the µs: `1.752 ms`. */
export function msText(us: number): string {
  return `${(us / 1000).toFixed(3)} ms`;
}

/** Formats a duration in ms, and in characters of the line if characters take time: `1.752 ms · 20.1 ch`. */
export function lengthText(us: number, characterUs: number | undefined): string {
  return characterUs ? `${msText(us)} · ${(us / characterUs).toFixed(1)} ch` : msText(us);
}

/** The zero of a ruler, and how its times are formatted. */
export interface Ruler {
  /** The moment of zero on the ruler, in µs: the beginning of a part, or midnight in the reader's time zone. */
  readonly zeroUs: number;
  /** Formats a moment. @param us since zero; a multiple of `stepUs` */
  readonly textOf: (us: number, stepUs: number) => string;
}

/** Creates a ruler that counts from a moment: `+1.5 ms`. */
export function rulerFrom(zeroUs: number): Ruler {
  return {
    zeroUs,
    textOf: (us, stepUs) =>
      `${us > 0 ? '+' : ''}${(us / 1000).toFixed(us === 0 ? 0 : digitsFor(stepUs / 1000))} ms`,
  };
}

/**
 * Creates a ruler that shows the time of day: `14:03:07.250`.
 * @param zeroUs midnight in the reader's time zone, or a whole number of days before
 */
export function rulerOfDay(zeroUs: number): Ruler {
  return {
    zeroUs,
    textOf: (us, stepUs) => {
      const seconds = Math.floor(us / 1e6);
      const two = (value: number) => String(value).padStart(2, '0');
      const day = `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
      const digits = digitsFor(stepUs / 1e6);
      const fraction = String(us - seconds * 1e6).padStart(6, '0');
      return digits === 0 ? day : `${day}.${fraction.slice(0, digits)}`;
    },
  };
}

/** The minimum distance between two ticks on a screen, in pixels, so that there is room for their texts. */
export const TICK = 110;

/** Round times on a clock from 10 s up, in s; days beyond. */
const CLOCK = [10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

/** Returns the smallest round time that is at least `least`: like `roundStep`, but minutes and hours from 10 s up. */
function roundTime(leastUs: number): number {
  const step = roundStep(leastUs);
  const onClock = step < 10e6 ? undefined : CLOCK.find((seconds) => 1e6 * seconds >= leastUs);
  return onClock === undefined ? step : 1e6 * onClock;
}

/** Returns the lines of a ruler, at round times since its zero. */
export function ticksOf(
  { zeroUs, textOf }: Ruler,
  fromUs: number,
  toUs: number,
  leastStepUs: number,
): { readonly us: number; readonly text: string }[] {
  const stepUs = roundTime(Math.max(1, leastStepUs));
  const first = Math.ceil((fromUs - zeroUs) / stepUs);
  const last = Math.floor((toUs - zeroUs) / stepUs);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const us = (first + i) * stepUs;
    return { us: zeroUs + us, text: textOf(us, stepUs) };
  });
}

/** Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((times) => times * power >= least) ?? 10) * power;
}

/** Returns how many digits after the decimal point distinguish two neighbours. */
function digitsFor(step: number): number {
  return Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}
