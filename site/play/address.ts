import { EXAMPLES, exampleFor } from './examples.js';

/** What the page shows: a file, and what is asked of it. */
export interface Shown {
  readonly file: string;
  readonly line?: string | undefined;
  readonly unit: number;
  /** The requests in hexadecimal, each from its function code on, and in a line of its own. */
  readonly pdu: string;
  readonly times: number;
  readonly pauseMs: number;
}

/** An address is taken up to this length; a longer one is not from this page. */
const LONGEST = 200_000;
export const MOST_TIMES = 50;
const MOST_REQUESTS = 20;
export const LONGEST_PAUSE_MS = 86_400_000;

/**
 * The address of what is shown, after its `#`: `fault=crc` or `entry=sleeps` for an example, or the file with what is
 * asked.
 */
export function addressOf({ file, line, unit, pdu, times, pauseMs }: Shown): string {
  const own = { file, ...(line !== undefined && { line }), unit, pdu, times, pause: pauseMs };
  return new URLSearchParams(Object.entries(own).map(([key, value]) => [key, String(value)])).toString();
}

/** What an address shows; undefined for one that is not of this page. */
export function shownAt(hash: string): Shown | undefined {
  if (hash.length > LONGEST) return undefined;
  const found = new URLSearchParams(hash.replace(/^#/, ''));
  for (const kind of Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[]) {
    const name = found.get(kind);
    if (name !== null) return exampleFor(kind, name);
  }
  const file = found.get('file');
  if (file === null) return undefined;
  return {
    file,
    line: found.get('line') ?? undefined,
    unit: within(found.get('unit'), 0, 255, 1),
    pdu: found.get('pdu') ?? '',
    times: within(found.get('times'), 1, MOST_TIMES, 1),
    pauseMs: within(found.get('pause'), 0, LONGEST_PAUSE_MS, 100),
  };
}

/** A whole number between two others; `otherwise` for what is none. */
export function within(text: string | null, least: number, most: number, otherwise: number): number {
  const number = Math.round(Number(text ?? Number.NaN));
  return Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : otherwise;
}

/** The bytes of each request, or what is wrong with their text. */
export function pdusOf(text: string): readonly Uint8Array[] | string {
  const lines = text
    .split('\n')
    .map((line) => line.replaceAll(/\s/g, ''))
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.length > MOST_REQUESTS)
    return `expected 1 to ${MOST_REQUESTS} requests, one in each line`;
  const wrong = lines.find((line) => !/^([0-9a-f]{2}){1,253}$/i.test(line));
  if (wrong !== undefined)
    return `expected 1 to 253 bytes in hexadecimal, such as 03 00 00 00 02, got ${wrong.slice(0, 40)}`;
  return lines.map((line) => Uint8Array.from(line.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));
}
