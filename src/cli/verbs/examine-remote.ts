import type { ReportView } from '../../testing/report/view.js';
import { Remote } from './remote.js';
import { CHECKS, type RemoteAudience, runThere, type ShownFinding } from './run-remotely.js';

/** What is to be examined on a simulator that runs already. */
export interface RemoteExamination {
  readonly line: string;
  readonly unitId?: number | undefined;
  /** Checks and groups; all of them when empty. */
  readonly checks: readonly string[];
  readonly limitMs: number;
  readonly seed?: number | undefined;
  /** A value that the client writes what it has read to. The simulator takes no other observers. */
  readonly register?: string | undefined;
  /** Starts the client, here. */
  readonly dut?: string | undefined;
}

interface ExaminationAnswer {
  readonly id: number;
  readonly state: 'running' | 'over';
  readonly checks: readonly ShownFinding[];
  /** Absent where it was not asked for. */
  readonly report: ReportView;
}

/**
 * Examines the client of a line on a simulator that runs already, and follows it.
 * @returns the report, or why there is none, as lines for a terminal
 */
export async function examineRemotely(
  wanted: RemoteExamination,
  where: { readonly url: string; readonly token: string | undefined },
  audience: RemoteAudience,
): Promise<ReportView | string> {
  const { dut } = wanted;
  const over = await runThere(
    new Remote(where.url, where.token),
    {
      path: '/api/v1/examinations',
      body: bodyOf(wanted),
      // The frames of dozens of checks are long, and only wanted once.
      query: '?report=false',
      findings: ({ checks }: ExaminationAnswer) => checks,
      shape: CHECKS,
      dut: dut === undefined ? undefined : { command: dut, ready: undefined, readyWithin: 0 },
      directory: process.cwd(),
    },
    audience,
  );
  return over.ok ? over.body.report : over.error;
}

/** What a simulator that runs already is asked for. */
export function bodyOf({
  line,
  unitId,
  checks,
  limitMs,
  seed,
  register,
}: Omit<RemoteExamination, 'dut'>): object {
  return {
    line,
    limit: limitMs,
    ...(unitId !== undefined && { unit: unitId }),
    ...(checks.length > 0 && { checks }),
    ...(seed !== undefined && { seed }),
    ...(register !== undefined && { witness: { register } }),
  };
}
