import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { askForReload } from '../../../src/cli/service/reload-socket.js';
import { runService } from '../../../src/cli/service/service.js';
import type { LoadResult } from '../../../src/files/config/load.js';
import { ownersContext } from '../../../src/simulator/commands/context.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

const BENCH = {
  devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};
const WITH_PUMP = { ...BENCH, devices: { ...BENCH.devices, pump: { registers: {} } } };

stopAfterEach();

/** A service whose file is what `read` makes of it. */
async function serve(read: () => LoadResult) {
  const configuration = nativeSetup(BENCH);
  const { simulator } = await startSimulator(configuration);
  const runtimeDirectory = mkdtempSync(join(tmpdir(), 'modbus-sim-service-'));
  onTestFinished(() => rmSync(runtimeDirectory, { recursive: true }));
  const log = pino({ level: 'silent' });
  const told: string[] = [];
  const context = ownersContext(simulator, log);
  const end = runService({
    context,
    configuration,
    manager: {
      watchdogMs: undefined,
      notify: (assignments) => void told.push(...Object.keys(assignments)),
    },
    runtimeDirectory,
    log,
    rest: undefined,
    file: 'bench.yaml',
    load: read,
    reloaded: () => {},
  });
  onTestFinished(end);
  const reload = async () => {
    const answer = await askForReload(runtimeDirectory);
    return answer.ok ? answer.value : answer.error;
  };
  return { simulator, told, reload };
}

const withPump = (): LoadResult => ({ ok: true, configuration: nativeSetup(WITH_PUMP), warnings: [] });

it('goes on as it is, and says why, when the program fails at reading the file; the next reload is a new attempt', async () => {
  let fails = true;
  const { simulator, told, reload } = await serve(() => {
    if (fails) throw new Error('entry checked before does not fit');
    return withPump();
  });
  told.length = 0;
  expect(await reload()).toEqual({
    warnings: [],
    done: [],
    refused: ['bench.yaml: entry checked before does not fit (a defect of this program)'],
  });
  expect(told).toContain('READY');
  expect([...simulator.devices.keys()]).toEqual(['meter']);
  fails = false;
  expect(await reload()).toMatchObject({ done: ['device pump'], refused: [] });
});
