import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { withFreePortsHint } from '../../files/config/free-ports.js';
import type { ConfigurationSource } from '../../files/config/load.js';
import type { Line } from '../../simulator/line.js';
import { Simulator } from '../../simulator/simulator.js';
import type { MakeObserver, Observer } from '../../testing/examine/observer.js';
import { Dut, openEndpoints, reportUnknownEndpoints, withEndpoints } from '../../testing/scenario/dut.js';
import { load } from './load.js';
import { warningLog } from './log.js';
import { say } from './say.js';

/** Names the client that polls a line, as options do. */
interface ClientNamed {
  readonly line: string;
  readonly unitId?: number;
  readonly dut?: string;
}

/**
 * Runs something on a simulator of its own, without the faults of its file: they would be taken for the client's
 * behaviour.
 * @param prepare reads the order before the lines are opened, and returns what runs it after that
 * @returns what that returns, or lines for a terminal that say why it could not begin; undefined if they have been printed
 */
export async function onOwnSimulator<Value>(
  source: ConfigurationSource,
  prepare: (simulator: Simulator) => Result<() => Promise<Result<Value>>>,
): Promise<Result<Value | undefined>> {
  const configuration = load(source, {});
  if (!configuration) return success(undefined);
  const simulator = new Simulator({ ...configuration, faults: [] }, warningLog());
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

/** Finds the line, and what observes its client. @returns what is wrong with the options, as a sentence */
export function clientOf(
  { line: name, unitId, dut }: ClientNamed,
  makeObserver: MakeObserver | undefined,
  simulator: Simulator,
): Result<{ readonly line: Line; readonly observer: Observer | undefined }> {
  const line = simulator.lines.get(name);
  if (!line) return failure(unknownName('line', name, [...simulator.lines.keys()]));
  if (line.definition.kind === 'serial' && line.definition.mode === 'monitor') {
    return failure(`line ${name} only listens, so it can't disturb a client`);
  }
  if (unitId !== undefined && !line.owns(unitId)) return failure(`line ${name} has no unit ${unitId}`);
  if (dut !== undefined) {
    const findings = fileFindings();
    reportUnknownEndpoints(dut, simulator, new At(dut, findings));
    const [issue] = findings.listed;
    if (issue) return failure(`--dut: ${issue.message}`);
  }
  const observer = makeObserver?.(simulator);
  // Only the name of a register can be unknown; those of pages and commands are not checked here.
  if (observer?.ok === false) return failure(`--witness-register: ${observer.error}`);
  return success({ line, observer: observer?.value });
}

/** The program of a client, which can be started again and again. */
export class ClientProgram {
  readonly #command: string | undefined;
  readonly #simulator: Simulator;
  readonly #giveUp: Promise<unknown>;
  readonly #ended: (how: string) => void;
  #dut: Dut | undefined;

  /**
   * @param command its command line; undefined for a client that runs already
   * @param giveUp resolves when nobody needs it any more
   * @param ended called with a sentence when it ends although nobody has stopped it
   */
  constructor(
    command: string | undefined,
    simulator: Simulator,
    giveUp: Promise<unknown>,
    ended: (how: string) => void,
  ) {
    this.#command = command;
    this.#simulator = simulator;
    this.#giveUp = giveUp;
    this.#ended = ended;
  }

  /** Starts it, and stops the one before. @returns why it could not be started; undefined when it was */
  async start(): Promise<string | undefined> {
    if (this.#command === undefined) return undefined;
    await this.stop();
    const started = await Dut.start(
      { command: this.#command, ready: undefined, readyWithin: 0 },
      {
        command: withEndpoints(this.#command, openEndpoints(this.#simulator)),
        directory: process.cwd(),
        giveUp: this.#giveUp,
      },
    );
    if (!started.ok) return started.error;
    this.#dut = started.dut;
    void started.dut.died().then(this.#ended);
    return undefined;
  }

  async stop(): Promise<void> {
    await this.#dut?.stop();
    this.#dut = undefined;
  }
}
