import type { FleetAnswer, FleetBench } from '../../remote/mqtt/fleet.js';
import { complain, FAILED, OK, say } from './say.js';
import { save } from './write-files.js';

/** The outcome of a command on one bench. */
interface BenchOutcome {
  readonly bench: FleetBench;
  readonly answer: FleetAnswer;
}

/**
 * Asks all benches at once, and prints each outcome as it arrives.
 * @param show turns a good answer into text
 */
export function onAll(
  benches: readonly FleetBench[],
  work: (bench: FleetBench) => Promise<FleetAnswer>,
  show = ({ topic }: FleetBench, value: unknown) => void say(`${topic}: ${JSON.stringify(value) ?? 'done'}`),
): Promise<BenchOutcome[]> {
  return Promise.all(
    benches.map(async (bench): Promise<BenchOutcome> => {
      const answer = await work(bench);
      if (answer.ok) show(bench, answer.value);
      else complain(`${bench.topic}: ${answer.code}: ${answer.detail}`);
      return { bench, answer };
    }),
  );
}

/**
 * Prints how many benches have succeeded, and writes the answers.
 * @returns the exit code: 1 if one bench has failed
 */
export function conclude(outcomes: readonly BenchOutcome[], json: string | undefined): number {
  const done = outcomes.filter(({ answer }) => answer.ok).length;
  say(`${done} of ${outcomes.length} ${outcomes.length === 1 ? 'bench has' : 'benches have'} done it`);
  const answers = outcomes.map(({ bench, answer }) => ({ bench: bench.topic, ...answer }));
  return writeJson(json, answers, done === outcomes.length ? OK : FAILED);
}

/** @returns the exit code: `code`, unless the file can't be written */
export function writeJson(file: string | undefined, content: unknown, code = OK): number {
  if (file === undefined) return code;
  const failure = save(file, `${JSON.stringify(content, null, 2)}\n`, true);
  return failure === undefined ? code : complain(failure);
}
