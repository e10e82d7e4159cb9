import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { count, examineSubject, type Rates, ratesTable } from './error-rates.js';
import { SUBJECTS } from './subjects.js';
import { inVirtualTime } from './virtual-bench.js';

inVirtualTime();

/** Of each subject. `MODBUS_SIM_RATES=200` measures what docs/examine.md says; the file gets the table. */
const EXAMINATIONS = Number(process.env.MODBUS_SIM_RATES ?? 1);
const {
  MODBUS_SIM_RATES_FILE: file,
  MODBUS_SIM_RATES_OF: only = '',
  MODBUS_SIM_RATES_FROM: from = '0',
} = process.env;

it('passes no mistake and fails no faultless client', { timeout: 24 * 3_600_000 }, async () => {
  const rates: Rates = { byCheck: new Map(), wrong: [] };
  const subjects = SUBJECTS.filter(({ name, on }) => `${on} ${name}`.includes(only));
  for (const subject of subjects) {
    const before = rates.wrong.length;
    const begin = Date.now();
    for (let seed = Number(from); seed < Number(from) + EXAMINATIONS; seed++)
      count(rates, subject, await examineSubject(subject, seed), seed);
    if (file)
      process.stderr.write(
        `${subject.on} ${subject.name} ${subject.isObserved}: ${rates.wrong.length - before} wrong, ${Date.now() - begin} ms\n`,
      );
  }
  if (file) writeFileSync(file, `${ratesTable(rates)}\n\n${rates.wrong.join('\n')}\n`);
  expect(rates.wrong).toEqual([]);
});
