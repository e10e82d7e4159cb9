import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { count, examineSubject, type Rates, ratesText } from './error-rates.js';
import { SUBJECTS } from './subjects.js';
import { inVirtualTime } from './virtual-bench.js';

inVirtualTime();

/** Of each subject. `MODBUS_SIM_RATES=200` measures what docs/error-rates.md says; the file gets the table, after each round. `_CHECKS` names the only checks and groups that are run. */
const EXAMINATIONS = Number(process.env.MODBUS_SIM_RATES ?? 1);
const {
  MODBUS_SIM_RATES_FILE: file,
  MODBUS_SIM_RATES_OF: only = '',
  MODBUS_SIM_RATES_CHECKS: checks,
  MODBUS_SIM_RATES_FROM: from = '0',
} = process.env;

it('passes no mistake and fails no faultless client', { timeout: 24 * 3_600_000 }, async () => {
  const rates: Rates = { byCheck: new Map(), wrong: [] };
  const subjects = SUBJECTS.filter(({ name, on }) => `${on} ${name}`.includes(only)).flatMap((subject) => {
    if (!checks) return [subject];
    const chosen = checks.split(',').filter((check) => subject.checks?.includes(check) ?? true);
    return chosen.length > 0 ? [{ ...subject, checks: chosen }] : [];
  });
  for (let round = 0; round < EXAMINATIONS; round++) {
    const seed = Number(from) + round;
    for (const subject of subjects) count(rates, subject, await examineSubject(subject, seed), seed);
    // After each round, because hours may pass until the last.
    if (file) writeFileSync(file, ratesText(rates, subjects.length, round + 1));
  }
  expect(rates.wrong).toEqual([]);
});
