import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { newSeed, seededRandom } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import { unknownName } from '../../common/schema/nearest.js';
import { systemClock } from '../../modbus/transport/clock.js';
import { aboutText } from '../../testing/report/words.js';
import { writeTested } from '../../testing/server/as-file.js';
import {
  DEFAULT_IDLE_MS,
  DEFAULT_LIMIT_MS,
  DEFAULT_PAUSE_MS,
  type DeviceMap,
  type ServerTestOrder,
} from '../../testing/server/bench.js';
import { cardText } from '../../testing/server/card.js';
import { GROUPS, type ServerCheckGroup, textOf } from '../../testing/server/check.js';
import { SERVER_CHECKS, unknownChecks } from '../../testing/server/checks.js';
import { claimsTemplate, readClaims } from '../../testing/server/claims.js';
import { deviceForMap, mapOf } from '../../testing/server/device-map.js';
import { type FoundServer, findServer, settingText } from '../../testing/server/find.js';
import { type ServerFinding, ServerTestRun, verdictOfAll } from '../../testing/server/server-test.js';
import { serverTestReport } from '../../testing/server/server-test-report.js';
import type { TestServerRequest, TestServerWanted } from '../command-line/commands/test-server.js';
import { load } from './load.js';
import { RunProgress } from './progress.js';
import { reportsProblem, writeReports } from './reports.js';
import { complain, FAILED, note, OK, say, WRONG_USAGE } from './say.js';
import { standardOutput } from './standard.js';
import { STOP_SIGNALS } from './stop-signal.js';
import { fileProblem, save, writeNativeFile } from './write-files.js';

/** The file name that means standard output. */
const STDOUT = '-';
/** How long a command that restarts a server may take, in ms. */
const POWER_CYCLE_MS = 60_000;

/** Prints a line of the report or of the progress. */
type Tell = (text: string) => unknown;

/** Tests a server, and prints how it behaves. */
export async function testServer(request: TestServerRequest): Promise<number> {
  if (request.what === 'list') return list();
  const { write, claimsTemplate: template, force } = request;
  const unwritable = [write, template].find(
    (file) => file !== undefined && file !== STDOUT && fileProblem(file, force) !== undefined,
  );
  const unknown =
    unknownChecks(request.checks) ??
    reportsProblem(request) ??
    (unwritable === undefined ? undefined : fileProblem(unwritable, force));
  if (unknown !== undefined) return complain(unknown, WRONG_USAGE);
  const claims = request.claims === undefined ? undefined : readClaims(request.claims);
  if (claims && !claims.ok) return complain(claims.error, WRONG_USAGE);
  const { powerCycle, claims: _, map: mapFile, seed = newSeed(Math.random), ...rest } = request;
  // If the draft goes to standard output, nothing else does, so that it can be redirected.
  const tell = template === STDOUT ? note : say;
  const stop = new AbortController();
  // Further signals are ignored: values that were written are restored first, which takes a bounded time.
  const onSignal = () => {
    note('stopping after written values have been put back');
    stop.abort();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const server = await serverOf(request, seed, tell, stop.signal);
  if (server === undefined) return WRONG_USAGE;
  if (!server.ok) return complain(server.error, WRONG_USAGE);
  const { target, unitId } = server.value;
  const map = mapFile === undefined ? undefined : readMap(mapFile, unitId);
  if (map && !map.ok) return map.error === '' ? WRONG_USAGE : complain(map.error, WRONG_USAGE);
  const power = powerCycle === undefined ? {} : { powerCycle: restartBy(powerCycle) };
  const order = {
    pauseMs: DEFAULT_PAUSE_MS,
    idleMs: DEFAULT_IDLE_MS,
    limitMs: DEFAULT_LIMIT_MS,
    ...rest,
    unitId,
    seed,
    ...(map && { map: map.value }),
    ...(claims && { claims: claims.value }),
    ...power,
  };
  const progress = new RunProgress('server', () => run.doing);
  const run = new ServerTestRun({ target, clock: systemClock }, order, {
    found: progress.above((finding: ServerFinding) => printFound(finding, tell)),
    note: progress.above(note),
  });
  if (stop.signal.aborted) run.stop();
  stop.signal.addEventListener('abort', () => run.stop());
  const startedAt = Date.now();
  const serverTest = await run.run().finally(() => progress.end());
  tell(`\n${cardText(serverTest)}`);
  const said = aboutText(request.about);
  if (said !== '') tell(said);
  const report = { ...serverTestReport(serverTest, startedAt), about: request.about };
  const problem = writeReports(request, [report]);
  if (problem !== undefined) return complain(problem, WRONG_USAGE);
  const file = write === undefined ? undefined : writeTested(serverTest);
  if (file !== undefined && writeNativeFile(file, { ...(write && { output: write }), force, tell }) !== OK)
    return WRONG_USAGE;
  if (template !== undefined) {
    const draft = claimsTemplate(serverTest);
    const failed = template === STDOUT ? void standardOutput().print(draft) : save(template, draft, force);
    if (failed !== undefined) return complain(failed, WRONG_USAGE);
  }
  if (serverTest.isStopped) return WRONG_USAGE;
  const verdict = verdictOfAll(serverTest);
  return verdict === 'violates' ? FAILED : verdict === 'conforms' ? OK : WRONG_USAGE;
}

/**
 * The server that the user means. Searches for it if the user asked for that.
 * @returns undefined if an error was printed
 */
async function serverOf(
  { server, unitId, find }: TestServerWanted,
  seed: number,
  tell: Tell,
  signal: AbortSignal,
): Promise<Result<FoundServer> | undefined> {
  let wanted: FoundServer;
  if (server.kind === 'device') {
    const configuration = load(server.source, {});
    if (!configuration) return undefined;
    const device = configuration.devices.find(({ name }) => name === server.name);
    const names = configuration.devices.flatMap(({ name, real }) => (real ? name : []));
    if (!device?.real) return failure(unknownName('device with real', server.name, names));
    wanted = { target: device.real.target, unitId: device.real.unit ?? unitId };
  } else wanted = { target: server, unitId };
  if (!find) return success(wanted);
  const carrier = { target: wanted.target, clock: systemClock };
  const found = await findServer(carrier, wanted.unitId, seededRandom(seed, 1), note, signal);
  if (found.ok) tell(`found: ${settingText(found.value.target)} --unit ${found.value.unitId}`);
  return found;
}

/** Reads the map of a server. The error is empty if it was already printed. */
function readMap(file: string, unitId: number): Result<DeviceMap> {
  const configuration = load({ kind: 'native', file }, {});
  if (!configuration) return failure('');
  const device = deviceForMap(configuration, unitId);
  return device
    ? success(mapOf(device))
    : failure(`${file}: expected one device, or a line with a device at unit ${unitId}`);
}

function restartBy(command: string): NonNullable<ServerTestOrder['powerCycle']> {
  return async (signal) => {
    note(`the server does not answer; starting ${command}`);
    await promisify(exec)(command, { timeout: POWER_CYCLE_MS, signal }).catch((error: Error) =>
      note(`--power-cycle: ${error.message}`),
    );
  };
}

/** Prints each check when it is over, so that the first lines appear within a second. */
function printFound(finding: ServerFinding, tell: Tell): void {
  const { check, verdict } = finding;
  if (verdict !== 'not-run') tell(`${verdict.padEnd(13)}${check.id.padEnd(26)}${textOf(finding)}`);
}

function list(): number {
  for (const [group, name] of Object.entries(GROUPS) as [ServerCheckGroup, string][]) {
    say(`${name} (${group})`);
    for (const { id, title, does, rule, clause, matters, mend } of SERVER_CHECKS.filter(
      (each) => each.group === group,
    )) {
      say([`  ${id}: ${title}`, does, rule, `Clause: ${clause}`, matters, `Fix: ${mend}`].join('\n      '));
    }
  }
  return OK;
}
