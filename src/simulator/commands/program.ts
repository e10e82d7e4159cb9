import { hostname } from 'node:os';
import { version } from '../../common/package.js';
import { configurationText } from '../as-file/written-configuration.js';
import type { Line } from '../line.js';
import { describeLine, lineStatus } from '../line-status.js';
import type { FrameCounts, LineCounters } from '../traffic/counters.js';
import { micros, thousandths } from '../traffic/words.js';
import type { CommandContext, Lag } from './context.js';
import type { FunctionsOf } from './declared.js';
import { packed } from './packed-sums.js';
import { done, type Outcome } from './refusal.js';
import type { PORT_COMMANDS, PROGRAM_COMMANDS, Summary, TRAFFIC_COMMANDS } from './schemas/program.js';

const PROGRAM = { host: hostname(), version: version() };

/** Answers at once, to show that the main thread is alive. */
function ping(): Outcome<null> {
  return done(null);
}

/** The current state of everything, small enough to be requested every second. */
function summary({ simulator, run, revisionOf }: CommandContext): Outcome<Summary> {
  const { traffic, lines, faults } = simulator;
  return done({
    time: new Date().toISOString(),
    monotonicUs: micros(performance.now()),
    program: { ...PROGRAM, run },
    lastSeq: traffic.last,
    lines: Array.from(lines.values(), (line) => summaryOf(line, revisionOf(line.definition))),
    devices: { edition: simulator.deviceChanges, signals: simulator.signalChanges },
    faults: { changes: faults.rules.changes, hits: faults.rules.hits },
  });
}

function summaryOf(line: Line, edition: number): Summary['lines'][number] {
  const { state, reason, endpoint, uptime, clients } = lineStatus(line);
  const { counts, sum } = line.meters.turnaround;
  return {
    name: line.name,
    state,
    reason: reason ?? null,
    place: endpoint,
    uptime: uptime === undefined ? null : thousandths(uptime),
    ...(clients !== undefined && { clients }),
    counters: { ...line.counters },
    edition,
    turnaround: { count: counts.reduce((total, count) => total + count, 0), sumMs: thousandths(sum) },
  };
}

/** A line as needed for showing its traffic: its kind and address, and the device of each unit. */
export interface MappedLine {
  readonly name: string;
  readonly kind: 'serial' | 'tcp' | 'udp' | 'tls';
  readonly description: string;
  /** The address that a socket listens on; absent for a serial line. */
  readonly host?: string;
  readonly port?: number;
  readonly units: ReadonlyMap<number | '*', string>;
  /** The device of which each address of the line has its own copy. */
  readonly each?: string;
}

/** The lines and their devices. The answer only changes when the simulator's `revision` does. */
function map({ simulator }: CommandContext): Outcome<readonly MappedLine[]> {
  return done(
    Array.from(simulator.lines.values(), (line) => {
      const { name, definition } = line;
      const { kind, units } = definition;
      const each = definition.kind === 'serial' ? undefined : definition.each;
      const shared = { name, kind, units, description: describeLine(line), ...lineStatus(line).address };
      return each === undefined ? shared : { ...shared, each };
    }),
  );
}

/** Metrics of a line. Times are in ms. */
export interface LineMetrics {
  readonly name: string;
  readonly isOpen: boolean;
  readonly clients: number | undefined;
  readonly counters: LineCounters;
  readonly frames: readonly FrameCounts[];
  readonly exceptions: ReadonlyMap<number, number>;
  /** Packed rows, one for each unit and function. */
  readonly sums: Float64Array;
  readonly turnaround: HistogramCounts;
  readonly lateness: HistogramCounts;
}

interface HistogramCounts {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

function* lineMetrics({ simulator }: CommandContext): Generator<LineMetrics> {
  for (const { name, state, clients, counters, meters, sums } of simulator.lines.values()) {
    const { frames, exceptions, turnaround, lateness } = meters;
    yield {
      name,
      isOpen: state.kind === 'open',
      clients,
      counters: { ...counters },
      frames,
      exceptions,
      sums: packed(sums.totals(performance.now())),
      turnaround: plain(turnaround),
      lateness: plain(lateness),
    };
  }
}

/** The traffic of a line in one second. */
interface LineSecond {
  readonly name: string;
  readonly second: number;
  /** Packed rows, one for each unit and function. */
  readonly rows: Float64Array;
}

/**
 * The completed seconds after a given one. Each is packed when its turn comes, so that the time limit per
 * part also limits its size.
 */
function* lineSums(
  { simulator }: CommandContext,
  { after }: { readonly after: number },
): Generator<LineSecond> {
  const now = performance.now();
  for (const { name, sums } of simulator.lines.values())
    for (const { second, rows } of sums.after(after, now)) yield { name, second, rows: packed(rows) };
}

function plain({ bounds, counts, sum }: HistogramCounts): HistogramCounts {
  return { bounds, counts, sum };
}

/** Metrics of the whole program. */
export interface ProgramMetrics {
  readonly hits: readonly { readonly rule: string; readonly hits: number }[];
  readonly lastEvent: number;
  readonly firstEvent: number;
  /** The memory that additions through REST use, and its limit, in bytes. */
  readonly memory: { readonly used: number; readonly limit: number };
  /** How late timers were since the last request; undefined on the first. */
  readonly lag: readonly Lag[] | undefined;
}

function programMetrics({
  simulator: { faults, traffic, changes },
  lag,
}: CommandContext): Outcome<ProgramMetrics> {
  const { used, limit } = changes.budget;
  return done({
    memory: { used, limit },
    hits: faults.rules.list().map(({ rule, hits }) => ({ rule: rule.name, hits })),
    lastEvent: traffic.last,
    firstEvent: traffic.first,
    lag: lag.take(),
  });
}

/** A native file (YAML) that would start what is running now. */
export function configuration({ simulator }: CommandContext): Iterable<string> {
  return configurationText(simulator.running);
}

/** Deletes the stored traffic. Sequence numbers continue. */
function clearTraffic({ simulator }: CommandContext): Outcome<null> {
  simulator.traffic.clear();
  return done(null);
}

/** The serial ports of the lines, from their definitions. */
function usedPorts({
  simulator,
}: CommandContext): Outcome<readonly { readonly name: string; readonly path: string }[]> {
  return done(
    Array.from(simulator.lines.values()).flatMap(({ name, definition }) =>
      definition.kind === 'serial' ? [{ name, path: definition.path }] : [],
    ),
  );
}

export const PROGRAM_FUNCTIONS = {
  'program.ping': ping,
  'program.summary': summary,
  'program.map': map,
  'program.metrics': programMetrics,
  'line.metrics': lineMetrics,
  'line.sums': lineSums,
  'program.configuration': configuration,
  'program.ports': usedPorts,
  'traffic.clear': clearTraffic,
} satisfies FunctionsOf<typeof PROGRAM_COMMANDS & typeof PORT_COMMANDS & typeof TRAFFIC_COMMANDS>;
