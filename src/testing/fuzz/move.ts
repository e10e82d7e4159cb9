import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { atOnce, type Work } from '../../common/work.js';
import { flow } from '../../document/print.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { ClientOrder } from '../client/watched-client.js';
import { readingSteps } from '../scenario/read-scenario.js';
import type { ScenarioStep } from '../scenario/scenario.js';

/** Actions as a step of a scenario writes them: `{fault: {when: {line: bus}, do: [{silence: true}]}}`. */
export type WrittenActions = Readonly<Record<string, unknown>>;

/**
 * One thing that is done to a client. Its times are in requests of the client, so it can be played again on a
 * client that asks faster or slower.
 */
export interface Move {
  /** How many requests come before the move begins. */
  readonly after: number;
  readonly requests: number;
  readonly does: WrittenActions;
}

/** Moves in their order. */
export type Schedule = readonly Move[];

/** The longest rest between two schedules, in requests. */
const LONGEST_REST = 30;

/** The schedule with a rest before it, in requests. Some mistakes show only after the client was well. */
export function afterRest([first, ...others]: Schedule, requests: number): Schedule {
  return first ? [{ ...first, after: first.after + Math.min(requests, LONGEST_REST) }, ...others] : [];
}

/** A line is closed for at least this long for each request of its move, in ms. */
const SHORTEST_MS = 100;

/** How long a move closes its line, on which nobody can ask, in ms. */
export function closedMs(requests: number, periodMs: number): number {
  return requests * Math.max(Math.round(periodMs), SHORTEST_MS);
}

/** Reports the mistakes of moves from outside. Yields in each move, as a running simulator may have many. */
export function* checkingMoves(at: At, schedule: Schedule, simulator: Simulator): Work<void> {
  for (const i of schedule.keys()) yield* readingStep(at.key(i).key('does'), simulator);
}

/** The step of a scenario that a move is; undefined where this simulator can't do it. */
export function stepOf({ does }: Move, simulator: Simulator): ScenarioStep | undefined {
  return atOnce(readingStep(new At(does, new Findings()), simulator));
}

/** Faults of a scenario have numbers as names. Those of moves are far from the numbers of others. */
const FIRST_NUMBER = 1_000_000;
/** A step with a fault needs an end. The one who plays the move ends it before. */
const NEVER_MS = 86_400_000;

function* readingStep(at: At, simulator: Simulator): Work<ScenarioStep | undefined> {
  const found = new Findings();
  const written = new At([{ ...(at.value as object), wait: NEVER_MS }], found);
  const numbers = { seed: 0, next: FIRST_NUMBER, line: undefined, hasDut: false };
  const [step] = yield* readingSteps(written, simulator, numbers);
  for (const { path, message, code } of found.listed) at.below(path.slice(1)).wrong(message, code);
  return step;
}

/** Stands for all entries of the catalogue in a list of kinds of moves. */
export const ENTRIES = 'catalogue';
/** What is done to a client beside faults and manners. */
export const OTHER_KINDS: readonly string[] = ['power', 'closed', 'unsolicited', ENTRIES];

/** The kinds of what a move does: those of its faults, keys of manners, `power`, `closed`, `unsolicited`. */
export function kindsIn({ fault, manners, ...others }: WrittenActions): string[] {
  const rules = [fault ?? []].flat() as { readonly do?: object | readonly object[] }[];
  const faults = rules.flatMap((rule) => [rule.do ?? []].flat().flatMap((each) => Object.keys(each)));
  const habits = Object.values((manners ?? {}) as Record<string, object>).flatMap((each) =>
    Object.keys(each),
  );
  return [...faults, ...habits, ...OTHER_KINDS.filter((kind) => others[kind] !== undefined)];
}

/**
 * Says what a move does, in a few words: `2 requests later, {silence: true} for 3 requests`.
 * @param met what the client met meanwhile, which comes first: `no reply to 3 requests ({silence: true})`
 */
export function moveText({ after, requests, does }: Move, met?: string): string {
  const begins = after === 0 ? '' : `${countText(after)} later, `;
  const actions = actionsText(does);
  return `${begins}${met === undefined ? `${actions} for ${countText(requests)}` : `${met} (${actions})`}`;
}

/** @param met what the client met in each move, where that is known */
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

/** How long a client is fuzzed, in ms, unless somebody says otherwise. */
export const DEFAULT_FUZZ_MS = 1_800_000;

/** Which client is fuzzed, and how. The time includes that for shrinking. */
export interface FuzzOrder extends ClientOrder {
  /** How many moves are tried at most; without a limit when undefined. */
  readonly mostMoves?: number | undefined;
  /** Kinds of moves that are left out; none when undefined. */
  readonly except?: readonly string[] | undefined;
  /** A schedule to be played in place of drawn ones; undefined to draw. */
  readonly replay?: Schedule | undefined;
  /** What the scenario says of its bench: `configuration` and `dut`; empty for a bench that runs already. */
  readonly bench?: { readonly configuration?: string; readonly dut?: object } | undefined;
}
