import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import type { Doing } from '../../testing/doing.js';
import type { Finding, ReportView, Verdict } from '../../testing/report/report.js';
import { doingSchema } from '../../testing/report/shapes.js';
import type { RunKind } from '../../testing/run-kinds.js';
import type { DutDefinition } from '../../testing/scenario/dut.js';
import { Dut, withEndpoints } from '../../testing/scenario/dut.js';
import type { ClientTestOrder } from '../command-line/commands/test-client.js';
import { RunProgress } from './progress.js';
import type { Remote } from './remote.js';

type ShownFinding = Pick<Finding, 'id' | 'title' | 'verdict' | 'summary'>;

/** A run on another simulator, reduced to what its follower needs. */
export interface FollowedRun {
  readonly id: number;
  readonly isOver: boolean;
  readonly findings: readonly ShownFinding[];
  readonly doing?: Doing | undefined;
}

/** Sends the commands of a run to a simulator, over REST or MQTT. */
export interface RunCarrier<Run extends FollowedRun> {
  /** @param sent what to run, in the form of a REST body */
  start(sent: object): Promise<Result<Run>>;
  get(id: number): Promise<Result<Run>>;
  /** Resolves when the run is over. @param failure why the program under test failed; undefined for a stop */
  stop(id: number, failure?: string): Promise<unknown>;
}

/** How the caller follows a run. */
export interface RunFollower<Run extends FollowedRun> {
  /** How often the simulator is asked for progress, in ms. */
  readonly everyMs: number;
  /** Resolves when the run is to stop. */
  readonly stop: Promise<unknown>;
  /** Resolves with a sentence if the program under test fails; undefined if only the simulator notices that. */
  readonly failed?: Promise<string> | undefined;
  /** Called with the run after each progress request. */
  readonly seen: (run: Run) => void;
}

/**
 * Starts a run on another simulator, and follows it to the end.
 * @returns the finished run, or why it could not be started or followed to its end
 */
export async function followRun<Run extends FollowedRun>(
  carrier: RunCarrier<Run>,
  sent: object,
  { everyMs, stop, failed, seen }: RunFollower<Run>,
): Promise<Result<Run>> {
  let run = await carrier.start(sent);
  if (!run.ok) return run;
  seen(run.value);
  const { id } = run.value;
  let isFollowed = true;
  let isStopped = false;
  const stopped = stop
    .then(() => isFollowed && carrier.stop(id))
    .then(() => {
      isStopped = true;
    });
  void failed?.then((how) => isFollowed && carrier.stop(id, how));
  while (run.ok && !run.value.isOver) {
    // A stopped run is over, so the simulator is asked at once, and only once more.
    await (isStopped ? sleep(everyMs) : Promise.race([sleep(everyMs), stopped]));
    run = await carrier.get(id);
    if (run.ok) seen(run.value);
  }
  isFollowed = false;
  return run;
}

/** How often a simulator is asked over REST, in ms. */
const ASK_EVERY_MS = 200;
/** Longest text with a program's last output, in characters. The text becomes part of a URL. */
const LONGEST_FAILURE = 1000;

/** A run on another simulator over REST, with a client that this machine starts. */
interface RunThere {
  readonly kind: RunKind;
  /** The order for the run. */
  readonly body: object;
  /** Name of the scenario, for the message about a rejected request. */
  readonly name?: string;
  /** The device under test. It is started on this machine in `directory`, or in the current directory. */
  readonly dut: DutDefinition | undefined;
  readonly directory?: string;
}

/** How the caller follows a run on another simulator. */
export interface RemoteAudience {
  readonly onFinding: (finding: ShownFinding, number: number) => void;
  /** Resolves when the run is to stop. */
  readonly stop: Promise<unknown>;
}

/**
 * Runs something on another simulator, and reports its findings as they arrive. The findings have an order of
 * their own, so a new one may come before others in the list.
 * @returns the report, or lines for a terminal that say why there is none
 */
export async function runThere(
  remote: Remote,
  { kind, body, name, dut: definition, directory = process.cwd() }: RunThere,
  { onFinding, stop }: RemoteAudience,
): Promise<Result<ReportView>> {
  const program = definition && (await startDut(definition, directory, remote, stop));
  if (program && !program.ok) return program;
  const dut = program?.value;
  const known = new Set<string>();
  let doing: Doing | undefined;
  const progress = new RunProgress(kind, () => doing);
  const found = progress.above(onFinding);
  try {
    const over = await followRun(
      restCarrier(remote, name),
      { kind, ...body },
      {
        everyMs: ASK_EVERY_MS,
        stop,
        failed: dut?.died(),
        seen({ findings, doing: now }) {
          doing = now;
          for (const finding of findings.filter(({ id }) => !known.has(id)))
            found(finding, known.add(finding.id).size);
        },
      },
    );
    if (!over.ok) return over;
    const read = await remote.ask<{ report: ReportView }>(
      'GET',
      `${RUNS_PATH}/${over.value.id}`,
      undefined,
      WITH_REPORT,
    );
    return read.ok ? success(read.value.report) : read;
  } finally {
    progress.end();
    await dut?.stop();
  }
}

const verdict = z.custom<Verdict>((value) => typeof value === 'string');

/** The minimum that findings, and runs with findings, must have. Any program may answer at the address. */
const shownFindings = z.array(
  z.looseObject({ id: z.string(), title: z.string(), verdict, summary: z.string() }),
);
/** A run without its report, as REST shows it: a scenario has steps, a client test checks, a fuzz run findings. */
const SUMMARY = z.looseObject({
  id: z.number(),
  state: z.enum(['running', 'over']),
  doing: doingSchema.optional(),
  steps: z.array(z.looseObject({ name: z.string(), verdict, message: z.string() })).optional(),
  checks: shownFindings.optional(),
  findings: shownFindings.optional(),
});
const WITH_REPORT = SUMMARY.extend({
  report: z.looseObject({
    name: z.string(),
    verdict,
    conclusions: z.array(z.string()),
    findings: shownFindings,
  }),
});

const RUNS_PATH = '/api/v1/runs';

/** @param name prefixes the message about a rejected start */
function restCarrier(remote: Remote, name?: string): RunCarrier<FollowedRun> {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Result<FollowedRun>> => {
    const answer = await remote.ask<z.infer<typeof SUMMARY>>(method, path, body, SUMMARY);
    if (!answer.ok) return answer;
    const { id, state, doing, steps = [], checks, findings = checks } = answer.value;
    const ofTest = steps.map((step, i) => {
      return { id: String(i + 1), title: step.name, verdict: step.verdict, summary: step.message };
    });
    return success({ id, isOver: state === 'over', findings: findings ?? ofTest, doing });
  };
  return {
    async start(sent) {
      const started = await ask('POST', RUNS_PATH, sent);
      return started.ok || name === undefined ? started : failure(`${name}: ${started.error}`);
    },
    // A report contains the frames of dozens of checks, so only the last request asks for it.
    get: (id) => ask('GET', `${RUNS_PATH}/${id}?report=false`),
    stop(id, how) {
      const query = how === undefined ? '' : `?failure=${encodeURIComponent(how.slice(0, LONGEST_FAILURE))}`;
      return remote.ask('DELETE', `${RUNS_PATH}/${id}${query}`);
    },
  };
}

/** @returns a sentence if the device under test can't be started */
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

/** A client test on a running simulator. */
export interface RemoteClientTest extends ClientTestOrder {
  readonly line: string;
  /** Name of the value that the client copies its readings to. The simulator accepts no other observers. */
  readonly register?: string | undefined;
  /** The command line that starts the client on this machine. */
  readonly dut?: string | undefined;
}

/** The order of a client test, without its kind. */
export function clientTestOrder(wanted: Omit<RemoteClientTest, 'dut'>): object {
  const { line, unitId: unit, checks, limitMs: limit, seed, register } = wanted;
  return {
    line,
    ...compact({ unit, limit, seed }),
    ...(checks.length > 0 && { checks }),
    ...(register !== undefined && { observer: { register } }),
  };
}
