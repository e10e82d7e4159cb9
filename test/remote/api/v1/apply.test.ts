import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../../src/document/load.js';
import type { Line } from '../../../../src/simulator/line.js';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

/* `PUT /api/v1/configuration`, with `preview`, and `POST /api/v1/configuration/undo`. */

const meter = (value: number) => ({
  registers: { holding: [{ address: 0, name: 'power', value, write: true }] },
});
const FILE = {
  devices: { meter: meter(7), pump: meter(1) },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'pump', 9: { copyOf: 'pump' } } } },
  faults: [{ name: 'slow', seed: 1, do: [{ delay: 1 }] }],
};
type Steps = { readonly steps: readonly object[] };

async function yaml(rest: Rest, url: string, text: string) {
  const { statusCode, body } = await rest.app.inject({
    method: 'PUT',
    url: `/api/v1${url}`,
    headers: { host: 'localhost', 'content-type': 'application/yaml' },
    payload: text,
  });
  return { status: statusCode, body: JSON.parse(body) };
}

const written = async ({ app }: Rest) => {
  const url = '/api/v1/configuration';
  return (await app.inject({ method: 'GET', url, headers: { host: 'localhost' } })).body;
};
const undo = (rest: Rest) => rest.send<Steps>('POST', '/api/v1/configuration/undo');
const powerOf = async (rest: Rest, device: string) =>
  (await rest.send<{ value: number }>('GET', `/api/v1/devices/${device}/values/power`)).body.value;

describe('PUT /api/v1/configuration', () => {
  it('takes what GET answers with, and then nothing has changed', async () => {
    const rest = new Rest(nativeSetup({ ...FILE, traffic: { events: 5000 }, state: 'keep' }));
    const text = await written(rest);
    expect(await yaml(rest, '/configuration', text)).toEqual({ status: 200, body: { steps: [] } });
    const other = await yaml(rest, '/configuration', text.replace('events: 5000', 'events: 6000'));
    expect(other).toMatchObject({ status: 400, body: { code: 'configuration.invalid' } });
  });

  it('finds a file in YAML that runs equal to what is sent as JSON', async () => {
    const text = JSON.stringify({ ...FILE, devices: { ...FILE.devices, pump: { sunspec: [1] } } });
    const loaded = loadNative(text, '.');
    if (!loaded.ok) throw new Error('not loaded');
    const rest = new Rest(loaded.configuration);
    const same = await rest.send<Steps>('PUT', '/api/v1/configuration', JSON.parse(text));
    expect(same.body.steps).toEqual([]);
  });

  it('says with preview what it would do, in this order, and does it without', async () => {
    const rest = new Rest(nativeSetup(FILE));
    const wanted = {
      devices: { meter: meter(8), valve: meter(3) },
      lines: { more: { tcp: { port: 0 }, units: { 3: 'valve', 1: 'meter' } } },
      faults: [
        { name: 'slow', seed: 1, do: [{ delay: 2 }] },
        { name: 'cut', do: [{ silence: true }] },
      ],
    };
    const steps = [
      { change: 'removed', of: 'line', name: 'lan' },
      { change: 'changed', of: 'device', name: 'meter' },
      { change: 'added', of: 'device', name: 'valve' },
      { change: 'added', of: 'line', name: 'more' },
      { change: 'removed', of: 'device', name: 'pump' },
      { change: 'removed', of: 'device', name: 'pump-9' },
      { change: 'changed', of: 'rule', name: 'slow' },
      { change: 'added', of: 'rule', name: 'cut' },
    ];
    const before = await written(rest);
    const preview = await rest.send('PUT', '/api/v1/configuration?preview=true', wanted);
    expect(preview).toMatchObject({ status: 200, body: { steps } });
    expect(await written(rest)).toBe(before);
    const applied = await rest.send('PUT', '/api/v1/configuration', wanted);
    expect(applied).toMatchObject({ status: 200, body: { steps } });
    expect([...rest.simulator.lines.keys()]).toEqual(['more']);
  });

  it('names the line of a mistake in YAML, and refuses what is no configuration', async () => {
    const rest = new Rest(nativeSetup(FILE));
    const text =
      'devices:\n  meter: {registers: {holding: [{address: 0}]}}\nlines:\n  lan: {tcp: {prot: 0}, units: {1: meter}}\n';
    const wrong = await yaml(rest, '/configuration', text);
    expect(wrong).toMatchObject({
      status: 400,
      body: { problems: [{ path: 'lines.lan.tcp.prot', line: 4 }] },
    });
    expect(await yaml(rest, '/configuration', 'devices: [')).toMatchObject({ status: 400 });
    for (const body of ['5', '[]', 'null', '"text"', ''])
      expect(await yaml(rest, '/configuration', body)).toMatchObject({ status: 400 });
    expect((await rest.send('PUT', '/api/v1/configuration?preview=maybe', FILE)).status).toBe(400);
  });
});

describe('POST /api/v1/configuration/undo', () => {
  it('takes the last change back, and the second time brings it back', async () => {
    const rest = new Rest(nativeSetup(FILE));
    expect(await undo(rest)).toMatchObject({ status: 409, body: { code: 'configuration.not_undone' } });
    const before = await written(rest);
    await rest.send('PUT', '/api/v1/lines/lan', { units: { 1: 'meter' }, tcp: { maxClients: 3 } });
    const after = await written(rest);
    expect(after).not.toBe(before);
    expect((await undo(rest)).body.steps).toContainEqual({ change: 'changed', of: 'line', name: 'lan' });
    expect(await written(rest)).toBe(before);
    expect((await undo(rest)).status).toBe(200);
    expect(await written(rest)).toBe(after);
  });

  it.each<[string, 'PUT' | 'POST' | 'DELETE', string, object | undefined]>([
    ['a line that was removed', 'DELETE', '/lines/lan', undefined],
    [
      'a line that was added',
      'POST',
      '/lines',
      { name: 'new', udp: { port: 0 }, units: { 1: { copyOf: 'meter' } } },
    ],
    ['a device that was removed', 'DELETE', '/devices/pump?force=true', undefined],
    ['a device that was added', 'POST', '/devices', { name: 'new', ...meter(5) }],
    ['a rule that was removed', 'DELETE', '/faults/slow', undefined],
    ['a rule that was added', 'POST', '/faults', { name: 'new', seed: 3, do: [{ delay: 5 }] }],
    ['a rule that was replaced', 'PUT', '/faults/slow', { name: 'slow', seed: 3, do: [{ delay: 5 }] }],
    [
      'a whole configuration',
      'PUT',
      '/configuration',
      {
        devices: { meter: meter(9) },
        lines: FILE.lines && { other: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      },
    ],
  ])('takes back %s', async (_, method, url, body) => {
    const more = { spare: { tcp: { port: 0 }, units: { 1: 'meter' } } };
    const rest = new Rest(nativeSetup({ ...FILE, lines: { ...FILE.lines, ...more } }));
    const before = await written(rest);
    expect((await rest.send(method, `/api/v1${url}`, body)).status).toBeLessThan(300);
    expect(await written(rest)).not.toBe(before);
    expect(await undo(rest)).toMatchObject({ status: 200 });
    expect(await written(rest)).toBe(before);
  });

  it('leaves values, and what was changed by other commands', async () => {
    const rest = new Rest(nativeSetup(FILE));
    await rest.send('POST', '/api/v1/faults', { name: 'new', do: [{ delay: 5 }] });
    await rest.send('PUT', '/api/v1/devices/meter/values/power', { value: 55 });
    expect((await undo(rest)).body.steps).toEqual([{ change: 'removed', of: 'rule', name: 'new' }]);
    expect(await powerOf(rest, 'meter')).toBe(55);
  });

  it('is refused when something is needed by now', async () => {
    const rest = new Rest(nativeSetup(FILE));
    await rest.send('POST', '/api/v1/devices', { name: 'new', ...meter(5) });
    const { changes, lines } = rest.simulator;
    await changes.changeLine(lines.get('lan') as Line, { units: { 1: 'new' } });
    const refused = await undo(rest);
    expect(refused).toMatchObject({ status: 409, body: { code: 'configuration.not_undone' } });
    expect([...rest.simulator.devices.keys()]).toContain('new');
  });
});
