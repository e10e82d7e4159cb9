import type { Report } from '../../../src/testing/report/report.js';
import { JITTERS } from '../client/error-rates.js';
import { FAULTLESS_CLIENTS } from './faultless.js';
import { fuzzModel } from './fuzz-bench.js';
import { PLANTED, type Planted } from './planted.js';

/** What became of clients that were fuzzed with several seeds each. */
export interface FuzzedRates {
  planted: number;
  /** How many of these were found, and shrunk to at most one move more than was planted. */
  found: number;
  shrunk: number;
  faultless: number;
  /** Moves until a mistake was found, of each that was. */
  readonly moves: number[];
  /** What should not be, in words. */
  readonly misses: string[];
  readonly findings: string[];
}

export function noRates(): FuzzedRates {
  return { planted: 0, found: 0, shrunk: 0, faultless: 0, moves: [], misses: [], findings: [] };
}

/** A planted mistake is to be found within this many moves. */
const MOST_MOVES = 2_000;

function textOf({ on, name }: { readonly on: string; readonly name: string }, seed: number): string {
  return `"${name}" on ${on}, seed ${seed}`;
}

function movesOf({ parameters }: Report): number {
  return Number(parameters.find(({ name }) => name === 'moves')?.value);
}

export async function fuzzPlanted(rates: FuzzedRates, planted: Planted, seed: number): Promise<void> {
  const report = await fuzzModel(planted, { seed, mostMoves: MOST_MOVES });
  const { verdict, conclusions, fuzzed } = report;
  rates.planted++;
  if (verdict !== 'fail' || !fuzzed) {
    rates.misses.push(`${textOf(planted, seed)}: ${verdict}. ${conclusions.join(' ')}`);
    return;
  }
  rates.found++;
  rates.moves.push(movesOf(report));
  if (fuzzed.schedule.length <= planted.needs.length + 1) rates.shrunk++;
  else rates.misses.push(`${textOf(planted, seed)}: not shrunk. ${conclusions.join(' ')}`);
}

/** @param mostMoves how many are tried at most */
export async function fuzzFaultless(
  rates: FuzzedRates,
  client: (typeof FAULTLESS_CLIENTS)[number],
  seed: number,
  mostMoves: number,
): Promise<void> {
  const jitterMs = JITTERS[seed % JITTERS.length] as number;
  const { verdict, findings, conclusions } = await fuzzModel(client, { seed, mostMoves }, jitterMs);
  rates.faultless++;
  if (verdict === 'pass' && findings.length === 0) return;
  rates.findings.push(`${textOf(client, seed)}, jitter ${jitterMs} ms: ${verdict}. ${conclusions.join(' ')}`);
}

/** The rates in words, with what should not be below. */
export function ratesText(rates: FuzzedRates): string {
  const { planted, found, shrunk, faultless, moves, misses, findings } = rates;
  const sorted = moves.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)];
  return [
    `${planted} runs of ${PLANTED.length} planted mistakes: ${found} found within ${MOST_MOVES} moves, ${shrunk} shrunk to at most one move more; moves until found: median ${at(0.5)}, 95 % ${at(0.95)}, most ${at(1)}`,
    `${faultless} runs of ${FAULTLESS_CLIENTS.length} faultless clients: ${findings.length} with findings`,
    ...misses,
    ...findings,
    '',
  ].join('\n');
}
