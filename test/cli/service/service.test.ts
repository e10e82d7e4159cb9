import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { answerReloads, askForReload, socketOfService } from '../../../src/cli/service/reload-socket.js';
import { Reloads, watchFile } from '../../../src/cli/service/reloads.js';
import { supervise } from '../../../src/cli/service/service.js';
import type { LoadResult } from '../../../src/document/load.js';
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
  const notify = (assignments: object) => void told.push(...Object.keys(assignments));
  const supervision = supervise(simulator, {
    manager: { watchdogMs: undefined, notify },
    log,
    rest: undefined,
  });
  onTestFinished(() => supervision.end());
  const reloads = new Reloads({
    ...{ context, configuration, log, file: 'bench.yaml', load: read },
    begins: () => supervision.reloading(),
    reloaded: (_, problem) => supervision.reloaded(problem),
  });
  const path = socketOfService(runtimeDirectory);
  onTestFinished(answerReloads(path, (request) => reloads.ask(request), expect.fail));
  const reload = async () => {
    const answer = await askForReload(path);
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
    mistakes: ['bench.yaml: entry checked before does not fit (a defect of this program)'],
    ...{ warnings: [], done: [], refused: [], atRestart: [] },
  });
  expect(told).toContain('READY');
  expect([...simulator.devices.keys()]).toEqual(['meter']);
  fails = false;
  expect(await reload()).toMatchObject({ done: ['device pump'], refused: [] });
});

it('with mistakes in it changes nothing and says which', async () => {
  const problems = [{ path: 'lines.lan', message: 'expected a mapping', line: 3, column: 5 }];
  const { simulator, reload } = await serve(() => ({ ok: false, problems, warnings: [] }));
  expect(await reload()).toMatchObject({
    mistakes: ['bench.yaml:3:5: lines.lan: expected a mapping'],
    done: [],
  });
  expect(simulator.lines.get('lan')?.state.kind).toBe('open');
});

it('a file that is watched is seen when it is written, and when an editor puts another one in its place', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-watch-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [file, other] = [join(directory, 'bench.yaml'), join(directory, '.bench.yaml.swp')];
  writeFileSync(file, 'a');
  let saved = 0;
  onTestFinished(watchFile(file, () => saved++));
  writeFileSync(file, 'longer');
  await expect.poll(() => saved).toBe(1);
  writeFileSync(other, 'another');
  renameSync(other, file);
  await expect.poll(() => saved).toBe(2);
});
