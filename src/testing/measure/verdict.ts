import { HERE } from '../../common/platform.js';
import { timeSliceText } from '../../modbus/transport/port/time-slice.js';
import type { SerialTimes } from '../../modbus/transport/serial/behaviour.js';
import { ENOUGH, type Measurements, type Percentiles } from './measure.js';

/** A report in plain words; `ok` is false if the line is worse than its configuration promises. */
export interface LineVerdict {
  readonly ok: boolean;
  readonly text: string;
}

/** How late the typical reply may be, in ms, and how late the typical timer may fire. */
const ALLOWANCE_MS = 0.5;

/** Judges the measurements against the configuration of the line. */
export function verdict(found: Measurements): LineVerdict {
  const worse = shortcomings(found);
  const rows = [
    ...portRows(found),
    row('scheduler', scheduler(found)),
    ...(found.timers ? [row('timers', `waits end late: ${summary(found.timers)}`)] : []),
    row('requests', requests(found)),
    ...(found.turnaround ? [row('turnaround', turnaround(found))] : []),
    ...(found.times ? [row('chunks', chunks(found, found.times))] : []),
    ...echo(found).map((text) => row('echo', text)),
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
  // The other rows do not apply to a pseudo-terminal.
  if (adapter.kind === 'pty') return [name];
  const latency = {
    true: 'on, verified',
    false: 'the driver has no such setting',
    undefined: "unknown: the driver can't be queried",
  };
  return [
    name,
    row(
      'settings',
      settings === undefined ? "can't be read back on this system" : `${settings}, read back from the driver`,
    ),
    row('low latency', latency[`${lowLatency}`]),
    row('direction', direction),
    row('parity', parityMarks ? 'damaged characters are marked' : 'damaged characters are not marked'),
  ];
}

/** A Linux real-time class helps if the kernel has no short time slices, and if all threads share one core. */
function scheduler({ slice, cores }: Measurements): string {
  if (!HERE.isLinux) return `unchanged: the default of ${HERE.name}`;
  const isEnough = slice.kind === 'realtime' || (slice.kind === 'short' && cores > 1);
  const advice =
    '; if other programs are busy, a real-time class helps: chrt --reset-on-fork --rr 20 COMMAND';
  return timeSliceText(slice) + (isEnough ? '' : advice);
}

function requests({ own, seconds, counters }: Measurements): string {
  if (own) return `${own.asked} from the built-in client, ${own.answered} answered`;
  return counters.requests === 0
    ? `none received within ${seconds} s`
    : `${counters.requests} received within ${seconds} s, ${counters.replies} answered`;
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

/**
 * The `echo` setting that the line needs, judged by the echoed replies. The built-in client causes no echo.
 */
function echo({ own, echo, counters: { echoes, replies, collisions } }: Measurements): string[] {
  if (own || echo === undefined || replies === 0) return [];
  if (echo === 'no')
    return collisions > 0
      ? ['not checked (echo: no); if the collisions are echoes, this line needs echo: yes']
      : [];
  const found = `${echoes} of ${replies} replies came back`;
  if (echoes > 0) return [echo === 'yes' ? `${found} (echo: yes)` : `${found}: set echo: yes for this line`];
  return [
    echo === 'yes'
      ? `${found}: set echo: no for this line; otherwise repeated writes get no reply`
      : `${found}: if you set echo: no, clients can repeat a write at any time`,
  ];
}

/** Problems that break no promise of the configuration but are worth reporting. */
function trouble({ counters, overruns }: Measurements): string[] {
  const found: [count: number, text: string][] = [
    [
      counters.noiseBytes,
      'bytes that do not belong to a valid frame: check baud rate, parity, wiring and termination',
    ],
    [counters.damagedCharacters, 'characters arrived damaged: check parity and baud rate'],
    [overruns, 'characters were lost, in the UART or because they were read too late'],
    [counters.collisions, 'collisions: another device sent at the same time'],
    [counters.duplicates, 'replies from another device that has one of our unit identifiers'],
  ];
  return found.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}

function shortcomings(found: Measurements): string[] {
  return [...unanswered(found), ...lateness(found), ...unreadable(found)];
}

function unanswered({ own }: Measurements): string[] {
  if (!own) return [];
  const { asked, answered, closed } = own;
  const found: string[] = [];
  if (asked > answered) found.push(`${asked - answered} of ${asked} requests were not answered`);
  if (closed) {
    const requests = asked === 1 ? 'one request' : `${asked} requests`;
    const text = `the line closed the connection of the built-in client after ${requests}`;
    found.push(closed.reason === undefined ? text : `${text}: ${closed.reason}`);
  }
  return found;
}

/** Checks reply times if the configuration promises a turnaround. */
function lateness({ turnaround, timers, times }: Measurements): string[] {
  const promised = times?.turnaround;
  if (promised === undefined) return [];
  const found: string[] = [];
  if (turnaround && turnaround.min < promised) {
    found.push(`a reply came after ${ms(turnaround.min)}, before it was due`);
  }
  if (turnaround && typical(turnaround) > promised + ALLOWANCE_MS) {
    const late = ms(typical(turnaround) - promised);
    found.push(
      `${typicalOnes(turnaround, 'reply', 'replies')} came more than ${late} late: is the machine busy?`,
    );
  }
  if (timers && typical(timers) > ALLOWANCE_MS) {
    const late = ms(typical(timers));
    found.push(`${typicalOnes(timers, 'wait', 'waits')} ended more than ${late} late: is the machine busy?`);
  }
  return found;
}

/** The median; with few samples the minimum, so that the verdict is bad only if all samples are. */
function typical({ count, min, median }: Percentiles): number {
  return count < ENOUGH ? min : median;
}

/** Names the samples that `typical` represents. */
function typicalOnes({ count }: Percentiles, one: string, many: string): string {
  if (count >= ENOUGH) return `half of the ${many}`;
  return count === 1 ? `the only ${one}` : `all ${count} ${many}`;
}

/** Explains why received bytes do not form valid frames. */
function unreadable(found: Measurements): string[] {
  const { own, times, longestPause, counters } = found;
  // If all requests were answered, no frame was split: this machine stalled, or the gap was slightly longer.
  const allAnswered = own !== undefined && own.asked === own.answered;
  if (times && longestPause >= times.gap && !allAnswered) {
    return [
      `frames arrive in pieces, ${ms(longestPause)} apart, and are discarded after ${ms(times.gap)}; set timing.gap higher`,
    ];
  }
  if (!times || counters.noiseBytes + counters.damagedCharacters === 0 || heardFrames(counters)) return [];
  return [
    'no valid frame was received: the baud rate, parity or wiring is wrong, or the adapter splits frames (then set timing.gap higher)',
  ];
}

function heardFrames({ requests, foreignFrames, duplicates }: Measurements['counters']): boolean {
  return requests + foreignFrames + duplicates > 0;
}

function praise({ own, turnaround, counters }: Measurements): string {
  const good = `as configured${turnaround ? restsOn(turnaround) : ''}`;
  if (own) return `${good}; there was no wire, so this measures the machine, not a bus`;
  if (counters.requests > 0) return good;
  const advice = 'let your client poll this line and run this again';
  if (counters.foreignFrames + counters.duplicates > 0) {
    return `frames were received, but none for the units of this line: ${advice}`;
  }
  return `no problem found, but no client sent requests: ${advice}`;
}

function restsOn({ count }: Percentiles): string {
  if (count >= ENOUGH) return '';
  return count === 1 ? ', but this is based on one reply' : `, but this is based on ${count} replies`;
}

function summary({ count, median, p99, max }: Percentiles): string {
  return `${ms(median)} median, ${ms(p99)} p99, at most ${ms(max)} (${count} waits)`;
}

function ms(time: number): string {
  return `${time.toFixed(3)} ms`;
}
