import { printableLine } from '../../common/rest-client/printable.js';
import type { EventKind } from '../../simulator/traffic/event.js';
import type { LeftOut, TrafficView } from '../../simulator/traffic/view-schema.js';

const CODES = { red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36, dim: 2 } as const;

type Style = keyof typeof CODES;

/** Makes text from any source safe for a terminal, and gives it a style if there is one. */
type Paint = (style: Style | undefined, text: string) => string;

export const plain: Paint = (_, text) => printableLine(text);

/** Paints text in the colours of a terminal (ECMA-48, 8.3.117). */
export const coloured: Paint = (style, text) => {
  const shown = plain(style, text);
  return style === undefined || shown === '' ? shown : `\x1b[${CODES[style]}m${shown}\x1b[0m`;
};

export type ShownEvent = TrafficView | LeftOut;

interface LineOptions {
  /** Whether the bytes of an event are shown as well. */
  readonly hex: boolean;
  readonly paint: Paint;
  /** Length of the longest line name so far, in characters. */
  readonly nameWidth: number;
}

/**
 * Arrows for frames: `→` to us, `←` from us, dashed between others. `✗` marks damage, and `•` events that are
 * not frames.
 */
const ARROWS: Readonly<Partial<Record<EventKind, string>>> = {
  request: '→',
  broadcast: '→',
  dropped: '→',
  reply: '←',
  'foreign request': '⇢',
  'foreign response': '⇠',
  duplicate: '⇠',
  damaged: '✗',
  discarded: '✗',
};

const STYLES: Readonly<Partial<Record<EventKind, Style>>> = {
  request: 'cyan',
  broadcast: 'cyan',
  reply: 'green',
  'foreign request': 'dim',
  'foreign response': 'dim',
  dropped: 'yellow',
  duplicate: 'red',
  damaged: 'red',
  discarded: 'red',
  collision: 'red',
  loop: 'red',
  overrun: 'red',
  'damaged characters': 'red',
};

/**
 * Formats an event as one line: the time of day, the line, the pause before it in ms and in characters, the
 * direction, the content, the response time, the faults that acted, and the bytes.
 */
export function eventLine(event: ShownEvent, { hex, paint, nameWidth }: LineOptions): string {
  if (event.kind === 'left out') return paint('red', `… ${event.text}`);
  const { kind, line, exception, bytes = '' } = event;
  const style = exception === undefined ? STYLES[kind] : 'yellow';
  const parts = [
    paint('dim', timeOfDay(event.time)),
    paint(undefined, line.padEnd(nameWidth)),
    paint('dim', pauseBefore(event)),
    paint(style, `${ARROWS[kind] ?? '•'} ${event.text}${clientOf(event)}`),
    responseTime(event),
    paint('magenta', faultsOf(event)),
    hex && bytes !== '' ? paint('dim', `| ${bytes}${omitted(event)}`) : '',
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** The local time of day of an ISO 8601 time with µs: `14:03:09.123456`. */
function timeOfDay(time: string): string {
  const local = new Date(time);
  const [hours, minutes, seconds] = [local.getHours(), local.getMinutes(), local.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${/\.(\d+)/.exec(time)?.[1] ?? '000000'}`;
}

/** The pause before an event. For a reply, this is the time since its request. */
function pauseBefore({ kind, pauseUs, pauseCharacters, responseTimeUs }: TrafficView): string {
  const us = kind === 'reply' ? responseTimeUs : pauseUs;
  const ms = us == null ? '' : `${inMs(us)} ms`;
  const characters = pauseCharacters == null ? '' : `${pauseCharacters.toFixed(1)} ch`;
  return `${ms.padStart(14)} ${characters.padStart(12)}`;
}

/**
 * The client of an event that is not a frame. Frames do not show their client, because it would only make the
 * lines longer.
 */
function clientOf({ direction, client }: TrafficView): string {
  return direction === 'none' && client !== undefined ? ` (${client})` : '';
}

function responseTime({ kind, responseTimeUs }: TrafficView): string {
  return responseTimeUs == null || kind === 'reply' ? '' : `(after ${inMs(responseTimeUs)} ms)`;
}

/** The faults of an event, as in `[bad-crc: crc; torn: break not achieved, no break here]`. */
function faultsOf({ faults = [], omittedFaults = 0 }: TrafficView): string {
  if (faults.length === 0) return '';
  const texts = faults.map(({ rule, kind, reason }) => {
    const failed = reason === undefined ? '' : ` not achieved, ${reason}`;
    return `${rule}: ${kind}${failed}`;
  });
  const more = omittedFaults > 0 ? `; ${omittedFaults} more` : '';
  return `[${texts.join('; ')}${more}]`;
}

function omitted({ omittedBytes = 0 }: TrafficView): string {
  return omittedBytes > 0 ? ` … ${omittedBytes} more` : '';
}

function inMs(us: number): string {
  return (us / 1000).toFixed(3);
}
