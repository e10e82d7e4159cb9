import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { abilities } from '../../../src/device/faults/kind.js';
import { CHECKS } from '../../../src/testing/checks.js';
import type { Check } from '../../../src/testing/client/trial/exam.js';
import { count, type Rates, ratesText, testSubject } from './error-rates.js';
import { SUBJECTS, type Subject } from './subjects.js';
import { inVirtualTime } from './virtual-bench.js';

inVirtualTime();

/** How often each subject is tested. `MODBUS_SIM_RATES=200` measures what docs/error-rates.md says; the file gets the table, after each round. `_CHECKS` names the only checks and groups that are run. */
const CLIENT_TESTS = Number(process.env.MODBUS_SIM_RATES ?? 1);
const {
  MODBUS_SIM_RATES_FILE: file,
  MODBUS_SIM_RATES_OF: only = '',
  MODBUS_SIM_RATES_CHECKS: checks,
  MODBUS_SIM_RATES_FROM: from = '0',
} = process.env;

const CARRIED = { serial: abilities('serial', 'rtu'), tcp: abilities('tcp', 'socket') };

/** The identifiers of checks that are named, or whose group is, as far as the line can carry them. */
function idsOf(names: readonly string[], on: Subject['on']): string[] {
  const fits = ({ transports, abilities: needed = [] }: Check) =>
    (transports?.includes(on) ?? true) && needed.every((each) => CARRIED[on].has(each));
  return CHECKS.filter((each) => (names.includes(each.id) || names.includes(each.group)) && fits(each)).map(
    ({ id }) => id,
  );
}

/** Checks that fail none of these clients: one by its rule, one because all show what they read, one because none of them has another time-out once it was found. */
const FAIL_NOBODY = ['pauses', 'shown-value', 'time-out-margins'];

it('passes no mistake and fails no faultless client', { timeout: 24 * 3_600_000 }, async () => {
  const rates: Rates = { byCheck: new Map(), wrong: [] };
  const subjects = SUBJECTS.filter(({ name, on }) => `${on} ${name}`.includes(only)).flatMap((subject) => {
    if (!checks) return [subject];
    const own = subject.checks && idsOf(subject.checks, subject.on);
    const chosen = idsOf(checks.split(','), subject.on).filter((id) => own?.includes(id) ?? true);
    return chosen.length > 0 ? [{ ...subject, checks: chosen }] : [];
  });
  for (let round = 0; round < CLIENT_TESTS; round++) {
    const seed = Number(from) + round;
    for (const subject of subjects) count(rates, subject, await testSubject(subject, seed), seed);
    // After each round, because hours may pass until the last.
    if (file) writeFileSync(file, ratesText(rates, subjects.length, round + 1));
  }
  expect(rates.wrong).toEqual([]);
  // Where every time is late by up to 50 ms, some mistakes are not found.
  if (checks || only || from !== '0') return;
  const { byCheck } = rates;
  expect(
    CHECKS.map(({ id }) => id)
      .filter((id) => !byCheck.get(id)?.failed)
      .sort(),
  ).toEqual(FAIL_NOBODY);
});
