import type { ReportView } from '../testing/report/view.js';
import { follow, type ShownFinding } from './follow-remote.js';
import { Remote } from './remote.js';
import { endRemotely, startRemoteDut } from './remote-dut.js';

/** What is to be examined on a simulator that runs already. */
export interface RemoteExamination {
  readonly line: string;
  readonly unitId?: number | undefined;
  /** Checks and groups; all of them when empty. */
  readonly checks: readonly string[];
  readonly limitMs: number;
  readonly seed?: number | undefined;
  /** A value that the client writes what it has read to. The simulator takes no other witnesses. */
  readonly register?: string | undefined;
  /** Starts the client, here. */
  readonly dut?: string | undefined;
}

/** Who hears of an examination. */
interface ExaminationAudience {
  /** Called when a check is over. */
  readonly onFinding: (finding: ShownFinding, number: number) => void;
  /** Resolves when the examination is to stop. */
  readonly stop: Promise<unknown>;
}

interface ExaminationAnswer {
  readonly id: number;
  readonly state: 'running' | 'over';
  readonly checks: readonly ShownFinding[];
}

/**
 * Examines the client of a line on a simulator that runs already, and follows it.
 * @returns the report, or why there is none, as lines for a terminal
 */
export async function examineRemotely(
  wanted: RemoteExamination,
  where: { readonly url: string; readonly token: string | undefined },
  { onFinding, stop }: ExaminationAudience,
): Promise<ReportView | string> {
  const remote = new Remote(where.url, where.token);
  const definition = { command: wanted.dut ?? '', ready: undefined, readyWithin: 0 };
  const dut =
    wanted.dut === undefined ? undefined : await startRemoteDut(definition, process.cwd(), remote, stop);
  if (typeof dut === 'string') return dut;
  try {
    const started = await remote.ask<ExaminationAnswer>('POST', '/api/v1/examinations', bodyOf(wanted));
    if (!started.ok) return started.error;
    const path = `/api/v1/examinations/${started.body.id}`;
    endRemotely(remote, path, stop, dut);
    const over = await follow(() => look(remote, path), onFinding);
    if (!over.ok) return over.error;
    const whole = await remote.ask<{ readonly report: ReportView }>('GET', path);
    return whole.ok ? whole.body.report : whole.error;
  } finally {
    await dut?.stop();
  }
}

async function look(remote: Remote, path: string) {
  // The frames of dozens of checks are long, and only wanted once.
  const answer = await remote.ask<ExaminationAnswer>('GET', `${path}?report=false`);
  if (!answer.ok) return answer;
  const { state, checks } = answer.body;
  return { ok: true, body: { state, findings: checks } } as const;
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
