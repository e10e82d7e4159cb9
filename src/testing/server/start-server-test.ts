import { compact } from '../../common/compact.js';
import { newSeed } from '../../common/random.js';
import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { RealTarget } from '../../document/configuration.js';
import { keyOf, readTarget } from '../../document/native/real.js';
import { systemClock } from '../../modbus/transport/clock.js';
import type { CommandContext } from '../../simulator/commands/context.js';
import { type Outcome, refusal, refusalOf } from '../../simulator/commands/refusal.js';
import { wrongReal } from '../../simulator/commands/remote-files.js';
import type { Simulator } from '../../simulator/simulator.js';
import { serverOrderSchema } from '../order-schemas.js';
import type { ServerTestReport } from '../report/report.js';
import type { KnownRun, Runs } from '../runs.js';
import {
  DEFAULT_IDLE_MS,
  DEFAULT_LIMIT_MS,
  DEFAULT_PAUSE_MS,
  type DeviceMap,
  type ServerTestOrder,
} from './bench.js';
import { unknownChecks } from './checks.js';
import { mapOf } from './device-map.js';
import { ServerTestRun } from './server-test.js';
import { serverTestReport } from './server-test-report.js';

/**
 * Starts a server test from a running simulator. If `source`, which `serverOrderSchema` describes, has
 * mistakes, the refusal lists all of them. Also refused: a server that the client may not name, and one that
 * is already being tested.
 */
export async function startServerTest(
  runs: Runs,
  context: CommandContext,
  source: unknown,
): Promise<Outcome<KnownRun>> {
  const findings = new Findings();
  const wanted = readOrder(new At(source, findings), context.simulator);
  if (!wanted) return refusalOf(findings, 'run.invalid');
  const { target, order } = wanted;
  const wrong = await wrongReal(context, source as Readonly<Record<string, unknown>>);
  if (wrong) return wrong;
  const place = keyOf(target);
  const other = runs.list('server').find((run) => !run.isOver && run.server === place);
  if (other)
    return refusal(
      'server.under_test',
      '',
      `run ${other.id} tests ${place}; DELETE /api/v1/runs/${other.id} stops it`,
    );
  return runs.start(
    'server',
    [],
    () => {
      // A report goes through all exchanges, so it is made again only when a check has ended.
      let report: ServerTestReport | undefined;
      const found = () => {
        report = undefined;
      };
      const run = new ServerTestRun({ target, clock: systemClock }, order, { found });
      const startedAt = Date.now();
      let isOver = false;
      return {
        stop: () => run.stop(),
        get isOver() {
          return isOver;
        },
        get report() {
          report ??= serverTestReport(run.soFar(), startedAt);
          return report;
        },
        get doing() {
          return isOver ? undefined : run.doing;
        },
        async run() {
          const serverTest = await run.run();
          isOver = true;
          report = serverTestReport(serverTest, startedAt);
          return report;
        },
      };
    },
    (run) => run.stop(),
    place,
  );
}

interface Wanted {
  readonly target: RealTarget;
  readonly order: ServerTestOrder;
}

/** Reads a request for a server test. Undefined after reporting every mistake. */
function readOrder(at: At, simulator: Simulator): Wanted | undefined {
  return at.unlessWrong(() => {
    const source = at.check(serverOrderSchema);
    if (!source) return undefined;
    const { device, real, scratch = {}, checks = [] } = source;
    for (const table of ['holding', 'coils'] as const) {
      const span = scratch[table];
      if (span && span.first > span.last)
        at.key('scratch').key(table).wrong('expected a first address no greater than the last one');
    }
    const unknown = unknownChecks(checks);
    if (unknown !== undefined) at.key('checks').wrong(unknown);
    if ((device === undefined) === (real === undefined)) return at.wrong('expected either device or real');
    if (device !== undefined && !simulator.devices.has(device))
      return at.key('device').wrong(unknownName('device', device, [...simulator.devices.keys()]));
    const known = device === undefined ? undefined : simulator.definitionOf(device).real;
    if (device !== undefined && !known)
      return at.key('device').wrong(`expected a device with real, but ${device} is simulated`);
    const map = source.map === undefined ? undefined : readMap(at.key('map'), source.map, simulator);
    const target = real ? readTarget(at.key('real'), real) : known?.target;
    return (
      target && {
        target,
        order: {
          unitId: source.unit ?? known?.unit ?? 1,
          pauseMs: source.pause ?? known?.pause ?? DEFAULT_PAUSE_MS,
          idleMs: source.idle ?? DEFAULT_IDLE_MS,
          limitMs: source.limit ?? DEFAULT_LIMIT_MS,
          ...(source.timeout !== undefined && { timeoutMs: source.timeout }),
          soakMs: source.soak ?? 0,
          scratch: compact(scratch),
          broadcast: source.broadcast ?? false,
          checks,
          ...(map && { map }),
          ...(source.claims && { claims: source.claims }),
          seed: source.seed ?? newSeed(Math.random),
        },
      }
    );
  });
}

/** Makes the map from a device of the simulator. */
function readMap(at: At, name: string, simulator: Simulator): DeviceMap | undefined {
  if (!simulator.devices.has(name))
    return at.wrong(unknownName('device', name, [...simulator.devices.keys()]));
  const map = mapOf(simulator.definitionOf(name));
  return map.values.length > 0 ? map : at.wrong(`expected a device with registers, but ${name} has none`);
}
