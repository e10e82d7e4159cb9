/** A length of time in ms, to the µs: `1.752 ms`. */
export function msText(us: number): string {
  return `${(us / 1000).toFixed(3)} ms`;
}

/** A length of time in ms, and in characters of the line where they take time: `1.752 ms · 20.1 ch`. */
export function lengthText(us: number, characterUs: number | undefined): string {
  return characterUs ? `${msText(us)} · ${(us / characterUs).toFixed(1)} ch` : msText(us);
}

/** Writes what stands at a line of the ruler. @param stepUs between two lines */
export type TickText = (us: number, stepUs: number) => string;

/** Times from a moment on: `+1.5 ms`. */
export function ticksFrom(originUs: number): TickText {
  return (us, stepUs) => {
    const ms = (us - originUs) / 1000;
    const text = ms.toFixed(digitsFor(stepUs / 1000));
    return `${ms > 0 ? '+' : ''}${Number(text) === 0 ? '0' : text} ms`;
  };
}

/** The time of day: `14:03:07.250`. @param wallUs what must be added to have µs since 1970, in the zone of the reader */
export function ticksOfClock(wallUs: number): TickText {
  return (us, stepUs) => {
    const all = Math.round(us + wallUs);
    const seconds = Math.floor(all / 1e6);
    const two = (value: number) => String(value).padStart(2, '0');
    const day = `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
    const digits = digitsFor(stepUs / 1e6);
    const fraction = String(all - seconds * 1e6).padStart(6, '0');
    return digits === 0 ? day : `${day}.${fraction.slice(0, digits)}`;
  };
}

/** How many digits behind the point tell two neighbours apart. */
function digitsFor(step: number): number {
  return Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
}
