import type { Report } from '../../../src/testing/report/report.js';
import { written } from './observers.js';
import { habitsOf, type Subject } from './subjects.js';
import { testModelClient } from './virtual-bench.js';

/** By how much timers, rounds and bytes are late at most, in ms: one of these in each client test. */
export const JITTERS = [0, 1, 2, 5, 10, 20, 35, 50];
const LIMIT_MS = 10 * 3_600_000;

/** What became of one check in many client tests. */
interface Rate {
  examined: number;
  falsePasses: number;
  falseFailures: number;
  inconclusive: number;
  /** It should pass. */
  faultless: number;
  passed: number;
  /** It should fail. */
  mistaken: number;
  failed: number;
}

/** The rates of checks by their names, and the wrong verdicts in words. */
export interface Rates {
  readonly byCheck: Map<string, Rate>;
  readonly wrong: string[];
}

/** Tests a subject in virtual time. @param seed of the client, the bench and the client test; it chooses the jitter */
export async function testSubject(subject: Subject, seed: number): Promise<Report> {
  const { on, isObserved, checks } = subject;
  const jitterMs = JITTERS[seed % JITTERS.length] as number;
  const { report } = await testModelClient({
    on,
    habits: { ...habitsOf(subject), jitterMs, latenessMs: jitterMs, seed },
    lateness: (random) => random.next() * jitterMs,
    limitMs: LIMIT_MS,
    seed,
    ...(checks && { checks }),
    ...(isObserved && { observer: written }),
  });
  return report;
}

/** Adds what a client test has said to what others have said. */
export function count(
  { byCheck, wrong }: Rates,
  subject: Subject,
  report: Pick<Report, 'findings'>,
  seed: number,
): void {
  for (const { id, verdict, summary } of report.findings) {
    const rate = byCheck.get(id) ?? {
      examined: 0,
      falsePasses: 0,
      falseFailures: 0,
      inconclusive: 0,
      faultless: 0,
      passed: 0,
      mistaken: 0,
      failed: 0,
    };
    byCheck.set(id, rate);
    const isWrong = subject.wrong.includes(id);
    const isOpen = !isWrong && (subject.open.includes(id) || subject.open.includes('*'));
    if (isOpen || verdict === 'not run') continue;
    rate.examined++;
    if (isWrong) rate.mistaken++;
    else rate.faultless++;
    if (verdict === 'inconclusive') rate.inconclusive++;
    if (verdict === 'pass' && !isWrong) rate.passed++;
    if (verdict === 'fail' && isWrong) rate.failed++;
    const isFalse =
      verdict === 'error' || (verdict === 'pass' && isWrong) || (verdict === 'fail' && !isWrong);
    if (!isFalse) continue;
    if (verdict === 'pass') rate.falsePasses++;
    else rate.falseFailures++;
    const observed = subject.isObserved ? ', observed' : '';
    wrong.push(
      `${id}: ${verdict} for "${subject.name}" on ${subject.on}${observed}, seed ${seed}: ${summary}`,
    );
  }
}

/** The rates as a table in Markdown, with what was tested above it and the wrong verdicts below. */
export function ratesText({ byCheck, wrong }: Rates, subjects: number, each: number): string {
  const rows = [...byCheck].map(
    ([id, { examined, falsePasses, falseFailures, inconclusive, faultless, passed, mistaken, failed }]) =>
      `| \`${id}\` | ${examined} | ${falsePasses} | ${falseFailures} | ${inconclusive} | ${passed} of ${faultless} | ${failed} of ${mistaken} |`,
  );
  return [
    `${subjects} clients, each tested ${each} times`,
    '',
    '| check | verdicts | false passes | false failures | inconclusive | faultless clients passed | mistakes found |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...wrong,
    '',
  ].join('\n');
}
