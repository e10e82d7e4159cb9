import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Configuration } from '../../files/config/configuration.js';
import { type ApiRules, buildApp } from '../../remote/api/app.js';
import { type ApiContext, newDesk } from '../../remote/api/desk.js';
import { LocalRpc } from '../../remote/rpc/local-rpc.js';
import { Simulator } from '../../simulator/simulator.js';
import { newTestContext } from '../../testing/commands.js';

/** A simulator in this process, and its REST interface, which listens nowhere: requests are injected. */
export interface LocalSimulator {
  readonly simulator: Simulator;
  readonly desk: ApiContext;
  readonly app: FastifyInstance;
  /** Opens every line. Rejects with the reason when one can't be opened; then none is open. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param rules who may use the REST interface
 * @param writesIn where clients may let files be made; where the configuration is when absent
 */
export function newLocalSimulator(
  configuration: Configuration,
  rules: ApiRules,
  log: Logger,
  writesIn?: string,
): LocalSimulator {
  const simulator = new Simulator(configuration, log);
  const room = newTestContext(simulator, log, writesIn);
  const desk = newDesk(new LocalRpc(room), simulator.traffic, {
    writesIn: room.writesIn,
    log,
    now: () => performance.now(),
  });
  const app = buildApp(desk, rules, log);
  return {
    simulator,
    desk,
    app,
    async start() {
      const { trafficFile } = simulator;
      const problem = trafficFile && (await desk.files.start(trafficFile));
      if (problem !== undefined) throw new Error(`traffic: ${problem}`);
      const started = await simulator.start();
      if (started.ok) return;
      await desk.files.stop();
      throw new Error(started.error);
    },
    async stop() {
      room.runs.stopAll();
      await app.close();
      await simulator.stop();
      await desk.files.stop();
      room.lag.stop();
    },
  };
}
