import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from '../testing/report/report.js';
import type { RemoteAnswer } from './remote.js';

/** How often the simulator is asked how far it is. */
const ASK_EVERY_MS = 200;

/** What is shown of a finding. */
export type ShownFinding = Pick<Finding, 'id' | 'title' | 'verdict' | 'summary'>;

/** How far a test or an examination has come. */
interface Progress<Found> {
  readonly state: 'running' | 'over';
  readonly findings: readonly Found[];
}

/**
 * Reports the findings of something that runs on another simulator, as they come, until it is over. The list that it answers
 * with has an order of its own, so one that is new may stand before others.
 * @param look asks how far it is
 * @returns what the simulator has answered last
 */
export async function follow<Found extends ShownFinding, Answer extends Progress<Found>>(
  look: () => Promise<RemoteAnswer<Answer & Progress<Found>>>,
  onFinding: (finding: Found, number: number) => void,
): Promise<RemoteAnswer<Answer>> {
  for (const known = new Set<string>(); ; await sleep(ASK_EVERY_MS)) {
    const answer = await look();
    if (!answer.ok) return answer;
    const { state, findings } = answer.body;
    for (const finding of findings.filter(({ id }) => !known.has(id)))
      onFinding(finding, known.add(finding.id).size);
    if (state === 'over') return answer;
  }
}
