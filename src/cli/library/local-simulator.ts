import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Configuration } from '../../document/configuration.js';
import { type ApiRules, buildApp } from '../../remote/api/app.js';
import { type ApiContext, newDesk } from '../../remote/api/desk.js';
import { type AtDesk, startParts, stopParts } from '../../remote/api/extension.js';
import { LocalRpc } from '../../remote/rpc/local-rpc.js';
import { Simulator } from '../../simulator/simulator.js';
import { newTestContext } from '../../testing/commands.js';

/** A simulator in this process with its REST interface. The interface opens no port: requests are injected. */
export interface LocalSimulator {
  readonly simulator: Simulator;
  readonly desk: ApiContext;
  readonly app: FastifyInstance;
  /** Opens every line. If one can't be opened, closes all of them and rejects with the reason. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param rules who may use the REST interface
 * @param writesIn directory in which clients may write files; the configuration's directory when absent
 */
export function newLocalSimulator(
  configuration: Configuration,
  rules: ApiRules,
  log: Logger,
  extensions: readonly AtDesk[],
  writesIn?: string,
): LocalSimulator {
  const simulator = new Simulator(configuration, log);
  const context = newTestContext(simulator, log, writesIn);
  const desk = newDesk(new LocalRpc(context), simulator.traffic, {
    writesIn: context.writesIn,
    log,
    now: () => performance.now(),
  });
  const parts = extensions.map((begin) => begin(desk));
  const app = buildApp(desk, rules, log, parts);
  return {
    simulator,
    desk,
    app,
    async start() {
      const { trafficFile } = simulator;
      const problem = await startParts(parts, { trafficFile });
      if (problem !== undefined) throw new Error(problem);
      const started = await simulator.start();
      if (started.ok) return;
      await stopParts(parts);
      throw new Error(started.error);
    },
    async stop() {
      const stopped = context.runs.stopAll();
      await app.close();
      await simulator.stop();
      await stopped;
      await stopParts(parts);
      context.lag.stop();
    },
  };
}
