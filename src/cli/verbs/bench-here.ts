import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { Findings, fileFindings } from '../../common/schema/findings.js';
import { withFreePortsHint } from '../../document/free-ports.js';
import type { ConfigurationSource } from '../../document/load.js';
import { LineMap } from '../../remote/api/line-map.js';
import { MOST_RECORDED, recordRegisters } from '../../remote/api/register-recorder.js';
import { LocalRpc } from '../../remote/rpc/local-rpc.js';
import { configurationText } from '../../simulator/as-file/written-configuration.js';
import type { Line } from '../../simulator/line.js';
import { Simulator } from '../../simulator/simulator.js';
import type { MakeObserver, Observer } from '../../testing/client/observer.js';
import type { Audience } from '../../testing/client/watched-client.js';
import { newTestContext } from '../../testing/commands.js';
import { framesOf, type Report, type ReportView, viewReport } from '../../testing/report/report.js';
import type { RunKind } from '../../testing/run-kinds.js';
import {
  Dut,
  openEndpoints,
  programOf,
  reportUnknownEndpoints,
  withEndpoints,
} from '../../testing/scenario/dut.js';
import type { ClientRun } from '../../testing/start-client-test.js';
import { load } from './load.js';
import { warningLog } from './log.js';
import { RunProgress } from './progress.js';
import { printFinding, say } from './say.js';

/** The client that polls a line: the command line that starts it, and the observer of the values it reads. */
export interface ClientHere {
  readonly dut: string | undefined;
  readonly makeObserver: MakeObserver | undefined;
}

/**
 * Runs something on a simulator of its own, without the file's fault rules: their effects would be taken for
 * the client's behaviour.
 * @param prepare reads the order before the lines are opened, and returns the function that carries it out
 * afterwards
 * @returns the result of that function, or lines for a terminal that say why it could not begin; undefined if
 * these were printed
 */
export async function onOwnSimulator<Value>(
  source: ConfigurationSource,
  prepare: (simulator: Simulator) => Result<() => Promise<Result<Value>>>,
): Promise<Result<Value | undefined>> {
  const configuration = load(source, {});
  if (!configuration) return success(undefined);
  const simulator = new Simulator({ ...configuration, faults: [] }, await warningLog());
  const run = prepare(simulator);
  if (!run.ok) return run;
  const started = await simulator.start();
  if (!started.ok) return failure(withFreePortsHint(started));
  for (const { name, description } of started.lines) say(`line ${name}: ${description}`);
  try {
    return await run.value();
  } finally {
    await simulator.stop();
  }
}

/**
 * Reads an order about a line's client like a REST request would, plus what only a local simulator can have:
 * the client's program, and any kind of observer.
 * @param read reads the order; returns undefined after reporting mistakes
 * @returns the order, or an error message about the options
 */
export function orderHere<Order extends { readonly line: Line }>(
  body: object,
  read: (at: At, simulator: Simulator) => Order | undefined,
  { dut, makeObserver }: ClientHere,
  simulator: Simulator,
): Result<Order & { readonly observer: Observer | undefined }> {
  const wrong = new Findings();
  const order = read(new At(body, wrong), simulator);
  if (!order) {
    const texts = wrong.listed.map(({ path: [key], message }) =>
      key === 'checks' || key === 'except' ? `--${key}: ${message}` : message,
    );
    return failure(texts.join('\n'));
  }
  const { name, definition } = order.line;
  if (definition.kind === 'serial' && definition.mode === 'monitor') {
    return failure(`line ${name} only listens, so it can't disturb a client`);
  }
  if (dut !== undefined) {
    const findings = fileFindings();
    reportUnknownEndpoints(dut, simulator, new At(dut, findings));
    const [issue] = findings.listed;
    if (issue) return failure(`--dut: ${issue.message}`);
  }
  const observer = makeObserver?.(simulator);
  // Only a register name can be unknown; pages and commands are not checked here.
  if (observer?.ok === false) return failure(`--observer-register: ${observer.error}`);
  return success({ ...order, observer: observer?.value });
}

/**
 * Runs a client test or a fuzz run on a line's client. Starts the client's program first and stops it at the
 * end.
 * @param wanted `dut` is the command line of the client, undefined for a client that is already running; `html`
 * is the page to write
 * @param stop resolves when the run is to stop
 * @param make makes the run; `restart` starts the client again, and says why if it can't
 * @param kind the kind of the run
 * @param over called with the report at the end of the run
 * @returns the report, or why the client could not be started
 */
export async function runOnClient(
  simulator: Simulator,
  { dut: command, html }: { readonly dut?: string | undefined; readonly html?: string | undefined },
  stop: Promise<unknown>,
  kind: RunKind,
  make: (restart: () => Promise<string | undefined>, audience: Audience) => ClientRun,
  over: (report: Report) => void = () => {},
): Promise<Result<ReportView>> {
  let dut: Dut | undefined;
  const stopDut = async () => {
    await dut?.stop();
    dut = undefined;
  };
  const start = async () => {
    if (command === undefined) return undefined;
    await stopDut();
    const started = await Dut.start(programOf(command), {
      command: withEndpoints(command, openEndpoints(simulator)),
      directory: process.cwd(),
      giveUp: stop,
    });
    if (!started.ok) return started.error;
    dut = started.dut;
    void dut.died().then((how) => run.clientEnded(how));
    return undefined;
  };
  const progress = new RunProgress(kind, () => run.doing);
  const run = make(start, { found: progress.above(printFinding), note: progress.above(say) });
  const problem = await start();
  try {
    if (problem !== undefined) return failure(problem);
    void stop.then(() => run.stop());
    const report = await run.run().finally(() => progress.end());
    over(report);
    return success(await shownReport(report, simulator, html === undefined ? 0 : MOST_RECORDED));
  } finally {
    await stopDut();
  }
}

/**
 * Returns a report as plain data, with the names and values of registers. Works after the simulator has stopped.
 * @param recorded maximum size of the registers for its page, in characters of JSON; 0 for none
 */
export async function shownReport(
  report: Report,
  simulator: Simulator,
  recorded: number,
): Promise<ReportView> {
  const rpc = new LocalRpc(newTestContext(simulator, await warningLog()));
  const map = new LineMap(rpc, simulator.traffic);
  const configuration = [...configurationText(simulator.running)].join('');
  const view = viewReport(report, configuration, await map.viewer(framesOf(report)));
  return recorded > 0
    ? { ...view, registers: await recordRegisters(rpc, map, framesOf(report), recorded) }
    : view;
}
