import { type Result, success } from '../../common/result.js';
import { counted } from '../../common/words.js';
import type { Simulator } from '../../simulator/simulator.js';
import { CHECKS, linesFor } from '../../testing/checks.js';
import { REAL_WORLD, realWorldChecks } from '../../testing/client/checks/real-world.js';
import { ClientTest } from '../../testing/client/client-test.js';
import { type ClientTestOrder, DEFAULT_LIMIT_MS, runnable } from '../../testing/client/client-test-order.js';
import { type MakeObserver, readObserver } from '../../testing/client/observer.js';
import type { ReportView } from '../../testing/report/report.js';
import { durationText } from '../../testing/report/words.js';
import { programOf } from '../../testing/scenario/dut.js';
import { readClientTest } from '../../testing/start-client-test.js';
import type { TestClientRequest, TestClientWanted } from '../command-line/commands/test-client.js';
import { onOwnSimulator, orderHere, runOnClient } from './bench-here.js';
import { clientTestOrder, type RemoteAudience, type RemoteClientTest, runThere } from './follow-run.js';
import { Remote } from './remote.js';
import { conclude, reportsProblem } from './reports.js';
import { complain, OK, printFinding, say, WRONG_USAGE } from './say.js';
import { stopOfReader } from './stop-signal.js';

/** Tests the client that polls a line, and prints how it behaves. */
export async function testClient(request: TestClientRequest): Promise<number> {
  if (request.what === 'list') return list();
  const read = readObserver(request.observer, (part) => `--observer-${part}`);
  if (!read.ok) return complain(read.error, WRONG_USAGE);
  const unwritable = reportsProblem(request);
  if (unwritable !== undefined) return complain(unwritable, WRONG_USAGE);
  const stop = stopOfReader(WRONG_USAGE);
  const report = await (request.url === undefined
    ? testHere(request, read.value, stop.signal)
    : testThere(request, request.url, stop.signal));
  if (!report.ok) return complain(report.error, WRONG_USAGE);
  return report.value ? conclude(request, report.value) : WRONG_USAGE;
}

function list(): number {
  for (const check of CHECKS) {
    const { id, group, title, does, matters, rule, fix, source } = check;
    const lines = [does, matters, rule, `Lines: ${linesFor(check)}`, `Fix: ${fix}`, `Source: ${source}`];
    say([`${id} (${group}): ${title}`, ...lines].join('\n    '));
  }
  say(`Run only with --checks ${REAL_WORLD} or by name; modbus-sim catalogue ID explains each:`);
  for (const { id, group, title } of realWorldChecks()) say(`${id} (${group}): ${title}`);
  return OK;
}

/** @returns the report; undefined if an error was printed */
function testHere(
  wanted: TestClientWanted,
  makeObserver: MakeObserver | undefined,
  stop: Promise<unknown>,
): Promise<Result<ReportView | undefined>> {
  return onOwnSimulator(wanted.source, (simulator) => {
    const client = { dut: wanted.dut, makeObserver };
    const order = orderHere(clientTestOrder(wanted), readClientTest, client, simulator);
    return order.ok ? success(() => testLine(wanted, simulator, order.value, stop)) : order;
  });
}

function testLine(
  wanted: TestClientWanted,
  simulator: Simulator,
  order: ClientTestOrder,
  stop: Promise<unknown>,
): Promise<Result<ReportView>> {
  const { line, limitMs, seed } = order;
  const many = counted(runnable(order).length, 'check');
  say(
    `line ${line.name}: watching the client, then running ${many} for at most ${durationText(limitMs)}, seed ${seed}`,
  );
  return runOnClient(
    simulator,
    wanted,
    stop,
    'client',
    (restart, audience) =>
      new ClientTest(simulator, { ...order, ...(wanted.restart && { restart }) }, audience),
  );
}

/** Tests a line's client on a running simulator. */
function testThere(
  { observer: { register }, token, ...wanted }: TestClientWanted,
  url: string,
  stop: Promise<unknown>,
): Promise<Result<ReportView>> {
  const { line, limitMs = DEFAULT_LIMIT_MS } = wanted;
  say(
    `line ${line} at ${url}: watching the client, then running the checks for at most ${durationText(limitMs)}`,
  );
  return testClientRemotely({ ...wanted, register }, { url, token }, { onFinding: printFinding, stop });
}

/**
 * Tests a line's client on a running simulator, and follows the client test.
 * @returns the report, or lines for a terminal that say why there is none
 */
export function testClientRemotely(
  wanted: RemoteClientTest,
  { url, token }: { readonly url: string; readonly token: string | undefined },
  audience: RemoteAudience,
): Promise<Result<ReportView>> {
  const dut = wanted.dut === undefined ? undefined : programOf(wanted.dut);
  const run = { kind: 'client', body: clientTestOrder(wanted), dut } as const;
  return runThere(new Remote(url, token), run, audience);
}
