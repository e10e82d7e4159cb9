import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { newDesk } from '../../../src/remote/api/desk.js';
import { LocalRpc } from '../../../src/remote/rpc/local-rpc.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { newTestContext } from '../../../src/testing/commands.js';
import { nativeSetup } from '../../support/configuration.js';

/** A simulator whose lines are open, and its desk. */
export async function deskOf(file: object) {
  const log = pino({ level: 'silent' });
  const configuration = nativeSetup(file);
  const simulator = new Simulator(configuration, log);
  const started = await simulator.start();
  if (!started.ok) throw new Error(started.error);
  onTestFinished(() => simulator.stop());
  const rpc = new LocalRpc(newTestContext(simulator, log));
  const desk = newDesk(rpc, simulator.traffic, { writesIn: '.', log, now: () => performance.now() });
  return { simulator, rpc, desk, log, configuration };
}
