import { plural } from '../../common/words.js';

/** The title of a report. For a scenario, its name is enough. */
export function reportTitle({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return kind === 'scenario' ? name : `Report on ${name}`;
}

/** Formats a tester's notes: `gateway 2.1, tested by A. Bee: new firmware`. Empty if there are none. */
export function aboutText({
  client,
  tester,
  remark,
}: Partial<Record<'client' | 'tester' | 'remark', string | undefined>> = {}): string {
  const who = [client, tester && `tested by ${tester}`].filter((text) => text).join(', ');
  return [who, remark].filter((text) => text).join(': ');
}

/** Formats a duration: `250 ms`, `20 s`, `5 min`. */
export function durationText(ms: number): string {
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms >= 1000 ? `${Number((ms / 1000).toFixed(3))} s` : `${Number(ms.toFixed(1))} ms`;
}

/** Formats a long duration in its two largest units: `3 d 4 h`, `12 min 5 s`. */
export function longDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}

/**
 * Formats what was expected but did not come, one fact per line: `expected  …`, `received  …`, `when  …`.
 * @param newest the newest events with their times from the start of the step
 */
export function missedText(
  { expected, received }: { readonly expected?: string; readonly received?: string },
  newest: readonly string[],
): string {
  const rows = [
    ['expected', expected],
    ['received', received],
    ...newest.map((event, i) => [i === 0 ? 'when' : '', event]),
  ];
  return rows
    .flatMap(([head = '', text]) =>
      text === undefined || text === ''
        ? []
        : [`${head.padEnd(9)} ${text.replaceAll('\n', `\n${' '.repeat(10)}`)}`],
    )
    .join('\n');
}

/** The result of a finding, laid out in lines if it is one sentence about something that was missed. */
export function resultText({
  summary,
  missed,
}: {
  readonly summary: string;
  readonly missed?:
    | { readonly expected: string; readonly received: string; readonly frame?: number | undefined }
    | undefined;
}): string {
  if (missed?.received !== summary) return summary;
  return missedText(missed, missed.frame === undefined ? [] : [framesText([missed.frame])]);
}

/** Formats a count: `3 times`, `once`. */
export function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Formats a range of counts: `2 to 4 times`, `at least 3 times`. Empty for once or more. */
export function rangeOfTimes(min: number, max: number): string {
  if (min === max) return timesText(min);
  if (max === Number.POSITIVE_INFINITY) return min === 1 ? '' : `at least ${timesText(min)}`;
  return `${min} to ${max} times`;
}

/** Maximum number of frames named in a message. */
const MOST_FRAMES = 6;

/** Names frames: `frame 7`, `frames 3, 9, 12`; if there are many, the first and last ones. */
export function framesText(frames: readonly number[]): string {
  const named =
    frames.length > MOST_FRAMES ? [...frames.slice(0, MOST_FRAMES - 2), '…', ...frames.slice(-1)] : frames;
  return `${plural(frames.length, 'frame')} ${named.join(', ')}`;
}

/**
 * Turns part of a sentence into a sentence: adds a capital letter, and a full stop unless lines of a
 * program's output follow.
 */
export function sentence(text: string): string {
  const isWhole = text.endsWith('.') || text.includes('\n');
  return `${capital(text)}${isWhole ? '' : '.'}`;
}

/** Capitalises the first letter of a string. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for XML and HTML, between tags and in attributes. Characters that XML 1.0 (2.2) forbids become
 * readable text such as `\x1b`: control characters, halves of surrogate pairs, and two code points.
 */
export function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\P{Cc}]|\p{Cs}|[\ufffe\uffff]/gu, (character) => {
      const code = character.charCodeAt(0).toString(16);
      return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code}`;
    })
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
