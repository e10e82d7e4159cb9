import type { Measurements } from './measure.js';
import type { Percentiles } from './percentiles.js';

/** A report in plain words; `ok` is false when the line is worse than its configuration promises. */
export interface Verdict {
  readonly ok: boolean;
  readonly text: string;
}

/** How much later than due the median reply may be, in ms. */
const MEDIAN_ALLOWANCE_MS = 0.5;

/** Judges what was measured. */
export function verdict(found: Measurements): Verdict {
  const worse = shortcomings(found);
  const rows = [
    ...portRows(found),
    ...(found.timers ? [row('timers', `waits end late by ${summary(found.timers)}`)] : []),
    row('requests', requests(found)),
    ...(found.turnaround ? [row('turnaround', turnaround(found))] : []),
    ...(found.chunks.length > 0 ? [row('chunks', chunks(found))] : []),
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

function requests({ asked, seconds, counters, unanswered }: Measurements): string {
  if (asked === 'by itself') {
    return `${counters.requests} of a client of this program itself, ${unanswered} not answered`;
  }
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

function chunks({ chunks, longestPause, times }: Measurements): string {
  const total = chunks.reduce((sum, [, count]) => sum + count, 0);
  const often = chunks.toSorted(([, a], [, b]) => b - a).slice(0, 4);
  const sizes = often
    .map(([size, count]) => `${size} bytes ${Math.round((100 * count) / total)} %`)
    .join(', ');
  return `${sizes}; longest pause inside a frame ${ms(longestPause)}, discard gap ${ms(times?.gap ?? 0)}`;
}

/** Not promised by any configuration, and worth knowing. */
function trouble({ counters, overruns }: Measurements): string[] {
  const found: [count: number, text: string][] = [
    [
      counters.noiseBytes,
      'bytes that belong to no valid frame: check baud rate, parity, wiring and termination',
    ],
    [counters.damagedCharacters, 'characters arrived damaged: check parity and baud rate'],
    [overruns, 'characters were lost by the UART'],
    [counters.collisions, 'times somebody else spoke while we did'],
    [counters.duplicates, 'responses of another device with one of our unit identifiers'],
  ];
  return found.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}

function shortcomings({ turnaround, times, longestPause, unanswered }: Measurements): string[] {
  const found: string[] = [];
  const promised = times?.turnaround;
  if (unanswered > 0) found.push(`${unanswered} requests were not answered`);
  if (turnaround && promised !== undefined) {
    if (turnaround.min < promised) found.push(`a reply came after ${ms(turnaround.min)}, before it was due`);
    if (turnaround.median > promised + MEDIAN_ALLOWANCE_MS) {
      found.push(
        `half of the replies are more than ${ms(turnaround.median - promised)} late: is the machine busy?`,
      );
    }
  }
  if (times && longestPause >= times.gap) {
    found.push(
      `frames are cut: ${ms(longestPause)} between two pieces, and they are discarded after ${ms(times.gap)}; set timing.gap higher`,
    );
  }
  return found;
}

function praise({ turnaround, asked }: Measurements): string {
  if (!turnaround && asked === 'from outside') {
    return 'nothing wrong found, but nobody asked: let your client poll this line, then run this again';
  }
  return asked === 'from outside'
    ? 'as configured'
    : 'as configured; there was no wire, so this tells of this machine and not of a bus';
}

function summary({ count, median, p99, max }: Percentiles): string {
  return `${ms(median)} median, ${ms(p99)} p99, ${ms(max)} at most (${count} waits)`;
}

function ms(time: number): string {
  return `${time.toFixed(3)} ms`;
}
