import type { Simulator } from '../../simulator/simulator.js';
import { configurationText } from '../../simulator/written/written-configuration.js';
import { overallVerdict } from '../report/overall.js';
import type { Report } from '../report/report.js';
import { versions } from '../report/versions.js';
import type { ExaminationOrder } from './examination-order.js';
import { type Found, foundText, parametersOf } from './found.js';

interface KnownByNow extends Pick<Report, 'startedAt' | 'durationMs' | 'conclusions' | 'findings'> {
  /** Why the examination could not begin, as a sentence. */
  readonly refusal: string | undefined;
  readonly found: Found;
}

/** The report on what an examination has found by now. */
export function examinationReport(
  { line, seed }: ExaminationOrder,
  bench: Simulator,
  { startedAt, durationMs, refusal, found, conclusions, findings }: KnownByNow,
): Report {
  const first = refusal ?? (foundText(found) || 'No time was measured');
  return {
    kind: 'examination',
    name: `the client on line ${line.name}`,
    startedAt,
    durationMs,
    verdict: refusal === undefined ? overallVerdict(findings.map(({ verdict }) => verdict)) : 'error',
    line: line.name,
    seed,
    conclusions: [first, ...conclusions].map(sentence),
    parameters: parametersOf(found),
    found: { ...found },
    findings,
    // It may be long, and not everybody who looks at a report wants it.
    get configuration() {
      return [...configurationText(bench.running)].join('');
    },
    versions: versions(),
  };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
