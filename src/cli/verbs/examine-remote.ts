import { failure, type Result, success } from '../../common/result.js';
import type { ReportView } from '../../testing/report/report.js';
import { Remote } from './remote.js';
import { CHECKS, type RemoteAudience, runThere, type ShownFinding } from './run-remotely.js';

/** An examination on a simulator that already runs. */
export interface RemoteExamination {
  readonly line: string;
  readonly unitId?: number | undefined;
  /** Identifiers of checks and names of groups; all checks when empty. */
  readonly checks: readonly string[];
  /** Longest duration in ms; the simulator has a default. */
  readonly limitMs?: number | undefined;
  readonly seed?: number | undefined;
  /** Name of a value to which the client writes what it has read. The simulator takes no other observers. */
  readonly register?: string | undefined;
  /** The command line that starts the client on this machine. */
  readonly dut?: string | undefined;
}

interface ExaminationAnswer {
  readonly id: number;
  readonly state: 'running' | 'over';
  readonly checks: readonly ShownFinding[];
  /** The report; absent if the request did not ask for it. */
  readonly report: ReportView;
}

/**
 * Examines the client of a line on a simulator that already runs, and follows the examination.
 * @returns the report, or lines for a terminal that say why there is none
 */
export async function examineRemotely(
  wanted: RemoteExamination,
  where: { readonly url: string; readonly token: string | undefined },
  audience: RemoteAudience,
): Promise<Result<ReportView>> {
  const { dut } = wanted;
  const over = await runThere(
    new Remote(where.url, where.token),
    {
      path: '/api/v1/examinations',
      body: bodyOf(wanted),
      // A report holds the frames of dozens of checks, so only the last request asks for it.
      query: '?report=false',
      findings: ({ checks }: ExaminationAnswer) => checks,
      shape: CHECKS,
      dut: dut === undefined ? undefined : { command: dut, ready: undefined, readyWithin: 0 },
      directory: process.cwd(),
    },
    audience,
  );
  return over.ok ? success(over.body.report) : failure(over.error);
}

/** The body of the request that starts the examination. */
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
    ...(limitMs !== undefined && { limit: limitMs }),
    ...(unitId !== undefined && { unit: unitId }),
    ...(checks.length > 0 && { checks }),
    ...(seed !== undefined && { seed }),
    ...(register !== undefined && { witness: { register } }),
  };
}
