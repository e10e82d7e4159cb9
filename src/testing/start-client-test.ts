import type { z } from 'zod';
import { newSeed } from '../common/random.js';
import { At } from '../common/schema/at.js';
import { Findings } from '../common/schema/findings.js';
import { unknownName } from '../common/schema/nearest.js';
import { type Outcome, refusalOf } from '../simulator/commands/refusal.js';
import type { Line } from '../simulator/line.js';
import type { Simulator } from '../simulator/simulator.js';
import { chosenChecks } from './checks.js';
import { ClientTest } from './client/client-test.js';
import { type ClientTestOrder, DEFAULT_LIMIT_MS } from './client/client-test-order.js';
import { registerObserver } from './client/observer.js';
import type { Audience } from './client/watched-client.js';
import type { Doing } from './doing.js';
import { clientOrderSchema } from './order-schemas.js';
import type { Report } from './report/report.js';
import type { RunKind } from './run-kinds.js';
import type { KnownRun, Runs } from './runs.js';

/**
 * Starts a client test on a running simulator. If `source`, which `clientOrderSchema` describes, has
 * mistakes, the refusal lists all of them.
 */
export function startClientTest(runs: Runs, source: unknown): Outcome<KnownRun> {
  const { simulator } = runs;
  const findings = new Findings();
  const order = readClientTest(new At(source, findings), simulator);
  if (!order) return refusalOf(findings, 'run.invalid');
  return startOnClient(runs, 'client', order.line, (audience) => new ClientTest(simulator, order, audience));
}

/** A client test or a fuzz run, during which the client may exit. */
export interface ClientRun {
  readonly isOver: boolean;
  readonly report: Report;
  /** The current activity; undefined after the end. */
  readonly doing: Doing | undefined;
  run(): Promise<Report>;
  clientEnded(how: string): void;
  stop(): void;
}

/** Starts a run on the client of a line. A follower of the line's traffic also follows the run. */
export function startOnClient(
  runs: Runs,
  kind: RunKind,
  line: Line,
  make: (audience: Audience) => ClientRun,
): Outcome<KnownRun> {
  return runs.start(
    kind,
    [line.name],
    (progress) =>
      make({
        found: (finding, number) => progress.ended(finding, number),
        note: (text) => progress.waits(text),
      }),
    (run, failure) => {
      if (failure !== undefined) run.clientEnded(failure);
      else run.stop();
    },
  );
}

/** Reads an order for a client test and checks it against a simulator. Undefined after reporting mistakes. */
export function readClientTest(at: At, simulator: Simulator): ClientTestOrder | undefined {
  return at.unlessWrong(() => {
    const read = readClient(at, clientOrderSchema, simulator);
    if (!read) return undefined;
    const { client, source } = read;
    const checks = chosenChecks(source.checks ?? [], client.line);
    if (!checks.ok) return at.key('checks').wrong(checks.error);
    return { ...client, checks: checks.value, limitMs: source.limit ?? DEFAULT_LIMIT_MS };
  });
}

/** The keys about the client that all orders for a client run share. */
type ClientSource = Pick<z.output<typeof clientOrderSchema>, 'line' | 'unit' | 'seed' | 'about' | 'observer'>;

/**
 * Reads which client an order is about, and checks that against a running simulator. Undefined after
 * reporting mistakes. A register is the only observer allowed here: a command would run with the rights of
 * this program, and a URL would be fetched from inside this machine's network.
 */
export function readClient<Source extends ClientSource>(
  at: At,
  schema: z.ZodType<Source>,
  simulator: Simulator,
) {
  if (hasForeignObserver(at.key('observer'))) return undefined;
  const source = at.check(schema);
  if (!source) return undefined;
  const { unit: unitId, seed = newSeed(Math.random), about, observer: written } = source;
  const line = simulator.lines.get(source.line);
  if (!line) return at.key('line').wrong(unknownName('line', source.line, [...simulator.lines.keys()]));
  if (unitId !== undefined && !line.owns(unitId))
    return at.key('unit').wrong(`line ${line.name} has no unit ${unitId}`);
  const observer = written && registerObserver(written.register, simulator);
  if (observer?.ok === false) return at.key('observer').key('register').wrong(observer.error);
  return { source, client: { line, unitId, seed, observer: observer?.value, about } };
}

/** Reports a command or a URL as observer: only `modbus-sim test-client` accepts these, on its own simulator. */
function hasForeignObserver(at: At): boolean {
  for (const key of ['command', 'url'] as const) {
    if (at.key(key).value === undefined) continue;
    const why =
      key === 'command'
        ? "a REST request can't start a program"
        : "a REST request can't make the simulator fetch a URL";
    at.key(key).wrong(`${why}; use a register, or modbus-sim test-client without --url`);
    return true;
  }
  return false;
}
