import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { inVirtualTime } from '../client/virtual-bench.js';
import { FAULTLESS_CLIENTS } from './faultless.js';
import { fuzzFaultless, fuzzPlanted, noRates, ratesText } from './fuzzed.js';
import { PLANTED } from './planted.js';

inVirtualTime();

/**
 * Without `MODBUS_SIM_FUZZ` every fifth client is fuzzed, with one seed. With it each is, with that many seeds; `_FROM` is the first seed,
 * `_OF` a part of the names of the only clients, `_MOVES` how many moves each faultless one gets, `_KIND` only `planted` or `faultless`.
 * The file gets the rates after each round.
 */
const {
  MODBUS_SIM_FUZZ: shakes,
  MODBUS_SIM_FUZZ_FROM: from = '1',
  MODBUS_SIM_FUZZ_OF: only = '',
  MODBUS_SIM_FUZZ_MOVES: moves = '60',
  MODBUS_SIM_FUZZ_KIND: kind = '',
  MODBUS_SIM_FUZZ_FILE: file,
} = process.env;
/** How many runs of a hundred may find nothing, or not the shortest schedule. */
const MOST_MISSES = 5;
const EVERY = 5;

function chosen<T extends { readonly on: string; readonly name: string }>(
  all: readonly T[],
  what: string,
): readonly T[] {
  if (kind !== '' && kind !== what) return [];
  if (shakes === undefined) return all.filter((_, i) => i % EVERY === 0);
  return all.filter(({ on, name }) => `${on} ${name}`.includes(only));
}

it('finds and shrinks planted mistakes, and nothing in faultless clients', {
  timeout: 24 * 3_600_000,
}, async () => {
  const rates = noRates();
  for (let round = 0; round < Number(shakes ?? 1); round++) {
    const seed = Number(from) + round;
    for (const planted of chosen(PLANTED, 'planted')) await fuzzPlanted(rates, planted, seed);
    for (const [i, client] of chosen(FAULTLESS_CLIENTS, 'faultless').entries())
      await fuzzFaultless(rates, client, seed + i, Number(moves));
    // After each round, because hours may pass until the last.
    if (file) writeFileSync(file, ratesText(rates));
  }
  expect(rates.findings).toEqual([]);
  expect(rates.misses.length, rates.misses.join('\n')).toBeLessThanOrEqual(
    (rates.planted * MOST_MISSES) / 100,
  );
});
