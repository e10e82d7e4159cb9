import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import type { Measured, Measurements } from '../../report/report.js';
import { timesText } from '../../report/words.js';
import type { Exchange } from './exchange.js';

/** A time in which nothing on the line was answered. */
export interface Silence {
  readonly at: number;
  readonly spoilt: readonly Exchange[];
  readonly endedAt: number;
  /** Everything with a higher sequence number came after the silence. */
  readonly last: number;
}

/** How a client repeats a request while it gets no reply to it. */
export interface UnansweredRun {
  /** The requests without a reply, beginning with a poll. */
  readonly asked: readonly Exchange[];
  /** The other request that came after them; undefined while only this one comes. */
  readonly after: Exchange | undefined;
  /** The times from each of these requests to the next one, in ms. */
  readonly intervals: readonly number[];
}

/** What the checks have found so far. Later checks use it, and reports show the measurements. */
export interface ClientFacts extends Measurements {
  /** The longest silence that the client sat through on its old connections. */
  readonly silence?: Silence;
  /** A short silence, and the connection that the client opened meanwhile. */
  readonly opened?: Silence & { readonly connection: TrafficEvent };
  /** How long the client waits for a reply at most before it goes on, in ms; absent until that was tried. */
  readonly waitMs?: number;
  readonly run?: UnansweredRun;
  /** True when some of the requests of `run` may be polls that became due, so that there are fewer retries. */
  readonly mayBePolls?: boolean;
  /** True when the client has waited on for a reply until it came, for longer than any other. */
  readonly neverGivesUp?: boolean;
  /** What its observer shows in place of a value when no reply comes. */
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

/** Puts a measured time into words: `487 ± 3 ms`. */
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
 * Puts the measurements into words: `gives up after 487 ± 3 ms, retries 2 times, pauses 100, 200 ms`. Empty when
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

/** Writes the shortest and the longest of some times: `4.6 to 9`, or one number when these look alike. */
export function spanText(times: readonly number[]): string {
  const [low, high] = [Math.min(...times), Math.max(...times)].map(numberText);
  return low === high ? String(low) : `${low} to ${high}`;
}

/** Writes a time below 100 ms with one decimal, and a longer one without. */
export function numberText(ms: number): string {
  return String(Number(ms.toFixed(ms < 100 ? 1 : 0)));
}
