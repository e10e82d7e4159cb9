import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type ApiRules, buildApp } from '../api/app.js';
import type { Configuration } from '../config/configuration.js';
import { Simulator } from '../simulator/simulator.js';

/** A simulator in this process, and its REST interface, which listens nowhere: requests are injected. */
export interface Bench {
  readonly simulator: Simulator;
  readonly app: FastifyInstance;
  /** Opens every line. Rejects with the reason when one can't be opened; then none is open. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** @param rules who may use the REST interface */
export function newBench(configuration: Configuration, rules: ApiRules, log: Logger): Bench {
  const simulator = new Simulator(configuration, log);
  const app = buildApp(simulator, rules, log);
  return {
    simulator,
    app,
    async start() {
      const started = await simulator.start();
      if (!started.ok) throw new Error(started.error);
    },
    async stop() {
      await app.close();
      await simulator.stop();
    },
  };
}
