import { pino } from 'pino';
import { At } from '../../../src/common/schema/at.js';
import { fileFindings } from '../../../src/common/schema/findings.js';
import { pathText } from '../../../src/common/schema/problem.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { readScenario } from '../../../src/testing/scenario/read-scenario.js';
import type { Scenario } from '../../../src/testing/scenario/scenario.js';
import { nativeSetup } from '../../support/configuration.js';

/** A meter and a relay on a TCP line. */
export const BENCH = {
  devices: {
    meter: {
      registers: {
        holding: [
          { address: 0, value: 230, name: 'voltage', write: true },
          { address: 10, type: 'float32', value: 1, name: 'limit', write: true },
          { address: 12, name: 'status', bits: { 0: 'running', 3: 'overload' }, write: true },
        ],
        input: [{ address: 0, value: 1, name: 'current' }],
      },
    },
    relay: {
      registers: {
        coils: [{ address: 0, name: 'coil', write: true }],
        holding: [
          { address: 0, value: [1, 2] },
          { address: 20, type: 'float32', value: [1, 2], write: true },
        ],
      },
    },
  },
  lines: { bus: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'relay' } } },
};

export function newLocalSimulator(): Simulator {
  return new Simulator(nativeSetup(BENCH), pino({ level: 'silent' }));
}

/** The scenario, or its mistakes as `path: message`. */
export function read(source: object, bench = newLocalSimulator()): Scenario | string[] {
  const findings = fileFindings();
  const scenario = readScenario(new At({ name: 'a test', ...source }, findings), bench);
  return scenario ?? findings.listed.map(({ path, message }) => `${pathText(path)}: ${message}`);
}

/** A scenario without mistakes. */
export function scenarioOf(source: object, bench: Simulator): Scenario {
  const scenario = read(source, bench);
  if (Array.isArray(scenario)) throw new Error(scenario.join('\n'));
  return scenario;
}
