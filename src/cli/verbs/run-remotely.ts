import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { failure, type Result, success } from '../../common/result.js';
import type { Finding } from '../../testing/report/report.js';
import { Dut, type DutDefinition, withEndpoints } from '../../testing/scenario/dut.js';
import type { Remote, RemoteAnswer } from './remote.js';

/** Interval in ms in which the simulator is asked for its progress. */
const ASK_EVERY_MS = 200;
/** Longest text with the last output of a program, in characters. The text becomes part of a URL. */
const LONGEST_FAILURE = 1000;

/** The parts of a finding that are shown. */
export type ShownFinding = Pick<Finding, 'id' | 'title' | 'verdict' | 'summary'>;

/** Who hears of a run on another simulator. */
export interface RemoteAudience<Found = ShownFinding> {
  readonly onFinding: (finding: Found, number: number) => void;
  /** Resolves when the run is to stop. */
  readonly stop: Promise<unknown>;
}

/** The least that findings, and a run with its report, must have. Any program may answer at the address. */
const findingsShape = z.array(
  z.looseObject({ id: z.string(), title: z.string(), verdict: z.string(), summary: z.string() }),
);
const stateShape = { state: z.enum(['running', 'over']) };
export const CHECKS = z.looseObject({ ...stateShape, checks: findingsShape });
export const FINDINGS = z.looseObject({ ...stateShape, findings: findingsShape });
export const REPORT = z.looseObject({
  ...stateShape,
  report: z.looseObject({
    name: z.string(),
    verdict: z.string(),
    conclusions: z.array(z.string()),
    findings: findingsShape,
  }),
});

const STARTED = z.looseObject({ ...stateShape, id: z.number() });

interface Started {
  readonly id: number;
  readonly state: 'running' | 'over';
}

/** A test or an examination on another simulator. */
interface RemoteRun<Answer, Found> {
  readonly path: '/api/v1/tests' | '/api/v1/examinations' | '/api/v1/shakes';
  readonly body: object;
  /** Name of the scenario, for the message of a refusal. */
  readonly name?: string;
  /** The query of requests for progress. The last request has none. */
  readonly query?: string;
  readonly findings: (answer: Answer) => readonly Found[];
  /** The least that an answer must have while the run goes on; the last answer has a report. */
  readonly shape: z.ZodType;
  /** The device under test, which is started on this machine in `directory`. */
  readonly dut: DutDefinition | undefined;
  readonly directory: string;
}

/**
 * Starts a run on another simulator, and reports its findings as they arrive, until the run is over. The
 * findings have an order of their own, so a new one may come before others in the list.
 * @returns the last answer of the simulator
 */
export async function runThere<Answer extends Started, Found extends ShownFinding>(
  remote: Remote,
  { path, body, name, query = '', findings, shape, ...client }: RemoteRun<Answer, Found>,
  { onFinding, stop }: RemoteAudience<Found>,
): Promise<RemoteAnswer<Answer>> {
  const program = client.dut && (await startDut(client.dut, client.directory, remote, stop));
  if (program && !program.ok) return program;
  const dut = program?.value;
  try {
    const started = await remote.ask<Answer>('POST', path, body, STARTED);
    if (!started.ok) return name === undefined ? started : { ok: false, error: `${name}: ${started.error}` };
    const at = `${path}/${started.body.id}`;
    void stop.then(() => void remote.ask('DELETE', at));
    void dut?.died().then((how) => {
      const failure = encodeURIComponent(how.slice(0, LONGEST_FAILURE));
      void remote.ask('DELETE', `${at}?failure=${failure}`);
    });
    for (const known = new Set<string>(); ; await sleep(ASK_EVERY_MS)) {
      const answer = await read<Answer>(remote, `${at}${query}`, shape);
      if (!answer.ok) return answer;
      for (const finding of findings(answer.body).filter(({ id }) => !known.has(id)))
        onFinding(finding, known.add(finding.id).size);
      if (answer.body.state === 'over') return query === '' ? answer : await read<Answer>(remote, at, REPORT);
    }
  } finally {
    await dut?.stop();
  }
}

/** Asks for the progress of a run. */
function read<Answer>(remote: Remote, at: string, shape: z.ZodType): Promise<RemoteAnswer<Answer>> {
  return remote.ask<Answer>('GET', at, undefined, shape);
}

/** @returns why the device under test can't be started, as a sentence */
async function startDut(
  definition: DutDefinition,
  directory: string,
  remote: Remote,
  giveUp: Promise<unknown>,
): Promise<Result<Dut>> {
  const endpoints = await remote.endpoints();
  if (!endpoints.ok) return endpoints;
  const command = withEndpoints(definition.command, endpoints.value);
  const started = await Dut.start(definition, { command, directory, giveUp });
  return started.ok ? success(started.dut) : failure(started.error);
}
