import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import type { Measured, Measurements } from '../../report/report.js';
import { timesText } from '../../report/words.js';
import type { Exchange } from './exchange.js';

/** A period in which nothing on the line was answered. */
export interface Silence {
  readonly at: number;
  readonly spoilt: readonly Exchange[];
  readonly endedAt: number;
  /** Everything with a higher sequence number came after the silence. */
  readonly last: number;
}

/** How a client repeats an unanswered request. */
export interface UnansweredRun {
  /** The requests without a reply, beginning with a poll. */
  readonly asked: readonly Exchange[];
  /** The next other request; undefined if there was none. */
  readonly after: Exchange | undefined;
  /** The times between consecutive requests of these, in ms. */
  readonly intervals: readonly number[];
}

/** What the checks have found so far. Later checks use it, and reports show the measurements. */
export interface ClientFacts extends Measurements {
  /** The longest silence during which the client kept its old connections. */
  readonly silence?: Silence;
  /** A short silence, and the connection that the client opened during it. */
  readonly opened?: Silence & { readonly connection: TrafficEvent };
  /**
   * The longest time that the client waits for a reply before it continues, in ms; absent until it has been
   * measured.
   */
  readonly waitMs?: number;
  readonly run?: UnansweredRun;
  /** True if some of the requests in `run` may be polls that became due, so that there are fewer retries. */
  readonly mayBePolls?: boolean;
  /** True if the client waited for a delayed reply until it came, longer than any client with a time-out does. */
  readonly neverGivesUp?: boolean;
  /** What the observer shows instead of a value when no reply comes. */
  readonly shownForNothing?: string;
  /** The value of an earlier reply that its observer still showed at the end of an outage of so many ms. */
  readonly keptInOutage?: { readonly text: string; readonly ms: number };
}

/** The measurements among the facts. */
export function measurementsOf({ timeoutMs, retries, pausesMs, pollPeriodMs }: ClientFacts): Measurements {
  return {
    ...(timeoutMs && { timeoutMs }),
    ...(retries !== undefined && { retries }),
    ...(pausesMs && { pausesMs }),
    ...(pollPeriodMs !== undefined && { pollPeriodMs }),
  };
}

/** Formats a measured time: `487 ± 3 ms`. */
export function measuredText({ value, plusMinus }: Measured): string {
  return `${numberText(value)} ± ${numberText(plusMinus)} ms`;
}

/** The measurements by name, for reports. */
export function parametersOf({ pollPeriodMs, timeoutMs, retries, pausesMs, mayBePolls }: ClientFacts) {
  const rows: [string, string | undefined][] = [
    ['poll period', pollPeriodMs === undefined ? undefined : `${numberText(pollPeriodMs)} ms`],
    ['response time-out', timeoutMs && measuredText(timeoutMs)],
    ['retries', retries === undefined ? undefined : `${retries}${mayBePolls ? ' at most' : ''}`],
    ['pauses before retries', pausesMs && (pausesMs.length > 0 ? pausesText(pausesMs) : undefined)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

/**
 * Formats the measurements: `gives up after 487 ± 3 ms, retries 2 times, pauses 100, 200 ms`. Empty if
 * nothing was measured.
 */
export function foundText({ timeoutMs, retries, pausesMs = [], mayBePolls }: ClientFacts): string {
  const waits = pausesMs.some((ms) => Math.round(ms) > 0);
  return [
    ...(timeoutMs ? [`gives up after ${measuredText(timeoutMs)}`] : []),
    ...(retries === undefined
      ? []
      : [retries === 0 ? 'does not retry' : `retries ${timesText(retries)}${mayBePolls ? ' at most' : ''}`]),
    ...(waits ? [`pauses ${pausesText(pausesMs)}`] : []),
  ].join(', ');
}

function pausesText(pausesMs: readonly number[]): string {
  return `${pausesMs.map((ms) => Math.round(ms)).join(', ')} ms`;
}

/** Formats the shortest and longest of some times: `4.6 to 9`, or one number if they look alike. */
export function spanText(times: readonly number[]): string {
  const [low, high] = [Math.min(...times), Math.max(...times)].map(numberText);
  return low === high ? String(low) : `${low} to ${high}`;
}

/** Formats a time below 100 ms with one decimal, and a longer one with none. */
export function numberText(ms: number): string {
  return String(Number(ms.toFixed(ms < 100 ? 1 : 0)));
}
