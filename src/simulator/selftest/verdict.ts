import type { SerialTimes } from '../serial-transport.js';
import type { Measurements } from './measure.js';
import type { Percentiles } from './percentiles.js';

/** A report in plain words; `ok` is false when the line is worse than its configuration promises. */
export interface Verdict {
  readonly ok: boolean;
  readonly text: string;
}

/** How much later than due the median reply may be, and the median wait on which it rests, in ms. */
const MEDIAN_ALLOWANCE_MS = 0.5;

/** Judges what was measured. */
export function verdict(found: Measurements): Verdict {
  const worse = shortcomings(found);
  const rows = [
    ...portRows(found),
    ...(found.timers ? [row('timers', `waits end late by ${summary(found.timers)}`)] : []),
    row('requests', requests(found)),
    ...(found.turnaround ? [row('turnaround', turnaround(found))] : []),
    ...(found.times ? [row('chunks', chunks(found, found.times))] : []),
    ...trouble(found).map((text) => row('noticed', text)),
    row('verdict', worse.length > 0 ? `worse than configured: ${worse.join('; ')}` : praise(found)),
  ];
  return { ok: worse.length === 0, text: [found.description, ...rows].join('\n') };
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(12)}${text}`;
}

function portRows({ port }: Measurements): string[] {
  if (!port) return [];
  const { adapter, settings, lowLatency, direction, parityMarks } = port;
  const name = row('adapter', adapter.hint === undefined ? adapter.name : `${adapter.name}; ${adapter.hint}`);
  // A pseudo-terminal has none of the rest.
  if (adapter.kind === 'pty') return [name];
  const latency = { true: 'on, verified', false: 'the driver does not have it', undefined: "can't be asked" };
  return [
    name,
    row(
      'settings',
      settings === undefined ? "can't be read back here" : `${settings}, read back from the driver`,
    ),
    row('low latency', latency[`${lowLatency}`]),
    row('direction', direction),
    row('parity', parityMarks ? 'damaged characters are marked' : 'damaged characters are not marked'),
  ];
}

function requests({ own, seconds, counters }: Measurements): string {
  if (own) return `${own.asked} from the built-in client, ${own.answered} answered`;
  return counters.requests === 0
    ? `none came within ${seconds} s`
    : `${counters.requests} came within ${seconds} s, ${counters.replies} replies`;
}

function turnaround({ turnaround, times }: Measurements): string {
  if (!turnaround) return '';
  const promised = times?.turnaround;
  const due = promised === undefined ? 'as soon as possible' : `due after ${ms(promised)}`;
  return `${due}; median ${ms(turnaround.median)}, p99 ${ms(turnaround.p99)}, earliest ${ms(turnaround.min)}, latest ${ms(turnaround.max)}`;
}

function chunks({ chunks, longestPause }: Measurements, { gap }: SerialTimes): string {
  const total = chunks.reduce((sum, [, count]) => sum + count, 0);
  const often = chunks.toSorted(([, a], [, b]) => b - a).slice(0, 4);
  const sizes = often.map(([size, count]) => `${size} bytes ${Math.round((100 * count) / total)} %`);
  return `${sizes.join(', ') || 'none'}; longest pause inside a frame ${ms(longestPause)}, discard gap ${ms(gap)}`;
}

/** Not promised by any configuration, and worth knowing. */
function trouble({ counters, overruns }: Measurements): string[] {
  const found: [count: number, text: string][] = [
    [
      counters.noiseBytes,
      'bytes that belong to no valid frame: check baud rate, parity, wiring and termination',
    ],
    [counters.damagedCharacters, 'characters arrived damaged: check parity and baud rate'],
    [overruns, 'characters were lost by the UART, or because nobody fetched them in time'],
    [counters.collisions, 'times somebody else spoke while we did'],
    [counters.duplicates, 'responses of another device with one of our unit identifiers'],
  ];
  return found.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}

function shortcomings(found: Measurements): string[] {
  const { own } = found;
  const unanswered =
    own && own.asked > own.answered ? [`${own.asked - own.answered} requests were not answered`] : [];
  return [...unanswered, ...lateness(found), ...unreadable(found)];
}

/** Only where a time is promised. */
function lateness({ turnaround, timers, times }: Measurements): string[] {
  const promised = times?.turnaround;
  if (promised === undefined) return [];
  const found: string[] = [];
  if (turnaround && turnaround.min < promised) {
    found.push(`a reply came after ${ms(turnaround.min)}, before it was due`);
  }
  if (turnaround && turnaround.median > promised + MEDIAN_ALLOWANCE_MS) {
    found.push(
      `half of the replies are more than ${ms(turnaround.median - promised)} late: is the machine busy?`,
    );
  }
  if (timers && timers.median > MEDIAN_ALLOWANCE_MS) {
    found.push(`half of the waits end more than ${ms(timers.median)} late: is the machine busy?`);
  }
  return found;
}

/** Why bytes become no frames. */
function unreadable(found: Measurements): string[] {
  const { times, longestPause, counters } = found;
  if (times && longestPause >= times.gap) {
    return [
      `frames are cut: ${ms(longestPause)} between two pieces, and they are discarded after ${ms(times.gap)}; set timing.gap higher`,
    ];
  }
  if (!times || counters.noiseBytes + counters.damagedCharacters === 0 || heardFrames(counters)) return [];
  return [
    'what came was no valid frame: the baud rate, parity or wiring is wrong, or the adapter cuts frames (then set timing.gap higher)',
  ];
}

function heardFrames({ requests, foreignFrames, duplicates }: Measurements['counters']): boolean {
  return requests + foreignFrames + duplicates > 0;
}

function praise({ own, counters }: Measurements): string {
  if (own) return 'as configured; there was no wire, so this tells of this machine and not of a bus';
  if (counters.requests > 0) return 'as configured';
  const advice = 'let your client poll this line, then run this again';
  if (counters.foreignFrames + counters.duplicates > 0) {
    return `frames were heard, but nobody asked the units of this line: ${advice}`;
  }
  return `nothing wrong found, but nobody asked: ${advice}`;
}

function summary({ count, median, p99, max }: Percentiles): string {
  return `${ms(median)} median, ${ms(p99)} p99, ${ms(max)} at most (${count} waits)`;
}

function ms(time: number): string {
  return `${time.toFixed(3)} ms`;
}
