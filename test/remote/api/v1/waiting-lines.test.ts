import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ownersContext } from '../../../../src/simulator/commands/context.js';
import { changeLine } from '../../../../src/simulator/commands/lines.js';
import { readReply, readRequest } from '../../../cli/verbs/clients.js';
import { plugIn, unplug } from '../../../cli/verbs/wire.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { takenPort } from '../masters.js';

stopAfterEach();

const REPLY_LENGTH = 7;
/** A net; the line looks after its port every 0.5 s, and more seldom after a while. */
const SERVED_MS = 30_000;

/** A line that has lost its adapter, and waits for it under the name `link`. */
async function waiting() {
  const directory = mkdtempSync(join(tmpdir(), 'waiting-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const link = join(directory, 'adapter');
  const wire = await plugIn(link);
  onTestFinished(wire.hangUp);
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
      lines: { bus: { serial: { path: link, baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } } },
    }),
  );
  await unplug(link, wire);
  const line = rest.simulator.lines.get('bus');
  await vi.waitFor(() => expect(line?.state.kind).toBe('waiting'), { timeout: SERVED_MS });
  const answer = async (name: string, unit = 1) => {
    const plugged = await plugIn(name);
    onTestFinished(plugged.hangUp);
    expect(await plugged.ask(readRequest(unit, 0), REPLY_LENGTH, SERVED_MS)).toEqual(readReply(unit, 7));
  };
  return { rest, directory, link, answer };
}

const URL = '/api/v1/lines/bus';

it.each<object>([
  { timing: { turnaround: 30 } },
  { units: { 1: 'meter', 9: 'meter' } },
  { framing: 'rtu', whenBusy: 'queue' },
  { serial: { baudRate: 115200, stopBits: 2 } },
])('a line that waits for its port takes %j, and is so when the port is back', async (change) => {
  const { rest, link, answer } = await waiting();
  expect(await rest.send('PUT', URL, change)).toMatchObject({
    status: 200,
    body: { state: 'waiting', reason: expect.stringMatching(/./), settings: change },
  });
  expect(await rest.send('GET', URL)).toMatchObject({ body: { state: 'waiting', place: link } });
  await answer(link);
  expect(await rest.send('GET', URL)).toMatchObject({
    body: { state: 'open', reason: null, settings: change },
  });
});

it('a line that waits for its port has the discard gap of the adapter it had', async () => {
  const { rest, link, answer } = await waiting();
  const gap = async () => (await rest.send<{ times: { gap: number } }>('GET', URL)).body.times.gap;
  const whileWaiting = await gap();
  await answer(link);
  expect(whileWaiting).toBe(await gap());
});

it('a line that waits for its port serves at once on another one that is there', async () => {
  const { rest, directory, link } = await waiting();
  const other = join(directory, 'other');
  const wire = await plugIn(other);
  onTestFinished(wire.hangUp);
  // The port of a test is a pseudo-terminal, which REST does not take.
  const settings = { serial: { path: other } };
  expect(await rest.send('PUT', URL, settings)).toMatchObject({
    status: 400,
    body: { code: 'line.not_serial' },
  });
  const owner = ownersContext(rest.simulator, pino({ level: 'silent' }));
  const [line = ''] = rest.simulator.lines.keys();
  expect(await changeLine(owner, { line, settings })).toMatchObject({
    ok: true,
    value: { state: 'open', settings: { serial: { path: other } } },
  });
  expect(await wire.ask(readRequest(1, 0), REPLY_LENGTH, SERVED_MS)).toEqual(readReply(1, 7));
  const old = await plugIn(link);
  onTestFinished(old.hangUp);
  expect(await old.ask(readRequest(1, 0), REPLY_LENGTH, 1500)).toHaveLength(0);
});

it('a line that waits for its port waits for another one, whose absence is told', async () => {
  const { rest, directory, answer } = await waiting();
  const other = join(directory, 'other');
  const owner = ownersContext(rest.simulator, pino({ level: 'silent' }));
  expect(await changeLine(owner, { line: 'bus', settings: { serial: { path: other } } })).toMatchObject({
    ok: true,
    value: { state: 'waiting', reason: expect.stringContaining(other), place: other },
  });
  await answer(other);
});

it('a line that waits for its port goes on waiting when a socket is refused', async () => {
  const { rest, link, answer } = await waiting();
  const port = await takenPort();
  const { body: before } = await rest.send<{ settings: object }>('GET', URL);
  expect(await rest.send('PUT', URL, { tcp: { port } })).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining(String(port)) },
  });
  expect(await rest.send('GET', URL)).toMatchObject({
    body: { state: 'waiting', settings: before.settings },
  });
  await answer(link);
});

it('a line that waits for its port still does after a start and a restart', async () => {
  const { rest, link, answer } = await waiting();
  for (const command of ['start', 'restart']) {
    expect(await rest.send('POST', `${URL}/${command}`)).toMatchObject({
      status: 200,
      body: { state: 'waiting', reason: expect.stringMatching(/./) },
    });
  }
  expect(await rest.send('POST', '/restapi/server', { submit: 'Restart' })).toMatchObject({
    body: { result: 'ok', footer: expect.stringContaining('waiting'), server_rows: [{ state: 'waiting' }] },
  });
  await answer(link);
});

it('a stopped line does not start without its port, and says so', async () => {
  const { rest, link } = await waiting();
  expect(await rest.send('POST', `${URL}/stop`)).toMatchObject({ body: { state: 'stopped', reason: null } });
  expect(await rest.send('POST', `${URL}/start`)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining(link) },
  });
  expect(await rest.send('GET', URL)).toMatchObject({
    body: { state: 'failed', reason: expect.stringContaining(link) },
  });
});
