import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { atOnce, type Work } from '../../common/work.js';
import { flow } from '../../document/print.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { ClientOrder } from '../client/watched-client.js';
import { readingSteps } from '../scenario/read-scenario.js';
import type { ScenarioStep } from '../scenario/scenario.js';

/** Actions in the form of a scenario step: `{fault: {when: {line: bus}, do: [{silence: true}]}}`. */
export type WrittenActions = Readonly<Record<string, unknown>>;

/**
 * One disturbance of a client. Its times are counted in the client's requests, so it can be replayed on a
 * faster or slower client.
 */
export interface Move {
  /** The number of requests before the move begins. */
  readonly after: number;
  readonly requests: number;
  readonly does: WrittenActions;
}

/** Moves in order. */
export type Schedule = readonly Move[];

/** The longest rest between two schedules, in requests. */
const LONGEST_REST = 30;

/** Adds a rest before a schedule, in requests. Some mistakes show only after the client has recovered. */
export function afterRest([first, ...others]: Schedule, requests: number): Schedule {
  return first ? [{ ...first, after: first.after + Math.min(requests, LONGEST_REST) }, ...others] : [];
}

/** A line is closed for at least this long per request of its move, in ms. */
const SHORTEST_MS = 100;

/** How long a move closes its line, on which no request can come, in ms. */
export function closedMs(requests: number, periodMs: number): number {
  return requests * Math.max(Math.round(periodMs), SHORTEST_MS);
}

/**
 * Reports mistakes in moves that come from outside. Yields in each move, because there may be many on a
 * running simulator.
 */
export function* checkingMoves(at: At, schedule: Schedule, simulator: Simulator): Work<void> {
  for (const i of schedule.keys()) yield* readingStep(at.key(i).key('does'), simulator);
}

/** Converts a move to a scenario step; undefined if this simulator does not support it. */
export function stepOf({ does }: Move, simulator: Simulator): ScenarioStep | undefined {
  return atOnce(readingStep(new At(does, new Findings()), simulator));
}

/** Faults in a scenario have numbers as names. The numbers for moves are far from all others. */
const FIRST_NUMBER = 1_000_000;
/** A step with a fault needs an end. The player of the move ends it earlier. */
const NEVER_MS = 86_400_000;

function* readingStep(at: At, simulator: Simulator): Work<ScenarioStep | undefined> {
  const found = new Findings();
  const written = new At([{ ...(at.value as object), wait: NEVER_MS }], found);
  const numbers = { seed: 0, next: FIRST_NUMBER, line: undefined, hasDut: false };
  const [step] = yield* readingSteps(written, simulator, numbers);
  for (const { path, message, code } of found.listed) at.below(path.slice(1)).wrong(message, code);
  return step;
}

/** Stands for all catalogue entries in a list of kinds of moves. */
export const ENTRIES = 'catalogue';
/** Kinds of disturbances other than faults and manners. */
export const OTHER_KINDS: readonly string[] = ['power', 'closed', 'unsolicited', ENTRIES];

/** The kinds of disturbances in a move: its faults, keys of manners, `power`, `closed`, `unsolicited`. */
export function kindsIn({ fault, manners, ...others }: WrittenActions): string[] {
  const rules = [fault ?? []].flat() as { readonly do?: object | readonly object[] }[];
  const faults = rules.flatMap((rule) => [rule.do ?? []].flat().flatMap((each) => Object.keys(each)));
  const habits = Object.values((manners ?? {}) as Record<string, object>).flatMap((each) =>
    Object.keys(each),
  );
  return [...faults, ...habits, ...OTHER_KINDS.filter((kind) => others[kind] !== undefined)];
}

/**
 * Describes a move in a few words: `2 requests later, {silence: true} for 3 requests`.
 * @param met what the client met during it, which comes first: `no reply to 3 requests ({silence: true})`
 */
export function moveText({ after, requests, does }: Move, met?: string): string {
  const begins = after === 0 ? '' : `${countText(after)} later, `;
  const actions = actionsText(does);
  return `${begins}${met === undefined ? `${actions} for ${countText(requests)}` : `${met} (${actions})`}`;
}

/** @param met what the client met in each move, if known */
export function movesText(schedule: Schedule, met: readonly (string | undefined)[] = []): string {
  return schedule.map((move, i) => moveText(move, met[i])).join('; ');
}

export function countText(requests: number): string {
  return requests === 1 ? 'one request' : `${requests} requests`;
}

function actionsText(does: WrittenActions): string {
  return Object.entries(does)
    .map(([key, content]) => {
      if (key !== 'fault') return `${key} ${flow(content)}`;
      const rules = [content].flat() as { readonly do?: unknown }[];
      return rules.map((rule) => [rule.do ?? []].flat().map(flow).join(' and ')).join('; ');
    })
    .join(', ');
}

/** The default length of a fuzz run, in ms. */
export const DEFAULT_FUZZ_MS = 1_800_000;

/** The order for a fuzz run. The time limit includes shrinking. */
export interface FuzzOrder extends ClientOrder {
  /** Maximum number of moves; undefined: no limit. */
  readonly mostMoves?: number | undefined;
  /** Kinds of moves to exclude; undefined: none. */
  readonly except?: readonly string[] | undefined;
  /** A schedule to play instead of random ones; undefined: random. */
  readonly replay?: Schedule | undefined;
  /** The scenario's description of its bench: `configuration` and `dut`; empty for a bench that is already running. */
  readonly bench?: { readonly configuration?: string; readonly dut?: object } | undefined;
}
