import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MAX_RULES } from '../../../../src/device/faults/rules.js';
import { catalogueIds } from '../../../../src/document/catalogue-files.js';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const registers = { holding: [{ address: 0, value: [1, 2, 3] }] };

let rest: Rest;
beforeEach(() => {
  rest = new Rest(
    nativeSetup({
      devices: { a: { registers, manners: { wholeValues: true } }, b: { registers }, c: { registers } },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'a', 2: 'b' } },
        bus: { serial: { path: 'virtual' }, units: { 3: 'c' } },
      },
    }),
  );
});

const manners = (name: string) => rest.simulator.devices.get(name)?.manners;
const rules = () => rest.simulator.faults.rules.list().map(({ rule }) => rule.name);
const arm = (id: string, target: object) => rest.send('POST', `/api/v1/catalogue/${id}`, target);

describe('/api/v1/catalogue', () => {
  it('lists every entry with its sources', async () => {
    const { body } = await rest.send<{ catalogue: { id: string; sources: unknown[] }[] }>(
      'GET',
      '/api/v1/catalogue',
    );
    expect(body.catalogue.map(({ id }) => id)).toEqual(catalogueIds());
    expect(body.catalogue.every(({ sources }) => sources.length > 0)).toBe(true);
  });

  it('gives others their turn between two files that it reads', async () => {
    onTestFinished(() => void vi.restoreAllMocks());
    let passed = performance.now();
    // Each look at the clock finds that a slow machine has read a file.
    vi.spyOn(performance, 'now').mockImplementation(() => (passed += 100));
    let turns = 0;
    let turn = setImmediate(function next() {
      turns++;
      turn = setImmediate(next);
    });
    await rest.send('GET', '/api/v1/catalogue');
    clearImmediate(turn);
    expect(turns).toBeGreaterThan(catalogueIds().length);
  });

  it('gives a device the manners of an entry beside its own, and takes them back', async () => {
    expect(await arm('sleeps', { device: 'a' })).toMatchObject({
      status: 201,
      body: { devices: ['a'], lines: [], rules: [] },
    });
    expect(manners('a')).toEqual({ wholeValues: true, sleeps: { after: 30_000, wakes: 1 } });
    const back = await rest.send('DELETE', '/api/v1/catalogue/sleeps');
    expect(back).toMatchObject({ status: 200, body: { devices: ['a'], lines: [], rules: [] } });
    expect(manners('a')).toEqual({ wholeValues: true });
  });

  it('puts the rules of an entry in force for all devices of a line, and takes them back', async () => {
    const { body } = await arm('busy-every-other', { line: 'lan' });
    expect(body).toEqual({
      devices: [],
      lines: [],
      rules: ['busy-every-other.lan.busy', 'busy-every-other.lan.mute'],
    });
    expect(rules()).toEqual(['busy-every-other.lan.busy', 'busy-every-other.lan.mute']);
    await rest.send('DELETE', '/api/v1/catalogue/busy-every-other');
    expect(rules()).toEqual([]);
    expect((await rest.send('DELETE', '/api/v1/catalogue/busy-every-other')).body).toEqual({
      devices: [],
      lines: [],
      rules: [],
    });
  });

  it('gives all devices of a line the manners', async () => {
    await arm('few-registers', { line: 'lan' });
    expect([manners('a')?.most, manners('b')?.most, manners('c')].map((each) => each !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each([{ device: 'a' }, { line: 'lan' }])(
    'changes a line for %j, and gives it its defaults back',
    async (target) => {
      const most = () => {
        const definition = rest.simulator.lines.get('lan')?.definition;
        return definition && 'maxClients' in definition ? definition.maxClients : undefined;
      };
      const { status, body } = await arm('newcomer-evicts', target);
      expect([status, body, most()]).toEqual([201, { devices: [], lines: ['lan'], rules: [] }, 1]);
      const back = await rest.send('DELETE', '/api/v1/catalogue/newcomer-evicts');
      expect([back.body, most()]).toEqual([{ devices: [], lines: ['lan'], rules: [] }, 256]);
      expect((await rest.send('DELETE', '/api/v1/catalogue/newcomer-evicts')).body).toMatchObject({
        lines: [],
      });
    },
  );

  it.each([
    ['nobody', { device: 'a' }, 404, 'misbehaviour.unknown'],
    ['sleeps', { device: 'x' }, 404, 'device.unknown'],
    ['sleeps', { line: 'x' }, 404, 'line.unknown'],
    ['first-request-lost', { device: 'c' }, 400, 'manners.no_connection'],
    ['newcomer-evicts', { device: 'c' }, 400, 'line.invalid'],
    ['newcomer-evicts', { line: 'bus' }, 400, 'line.invalid'],
  ])('refuses %s for %j', async (id, target, status, code) => {
    expect(await arm(id, target)).toMatchObject({ status, body: { code } });
    expect(rules()).toEqual([]);
  });

  it('lets a device that is added be like an entry, with its fault rules, or adds none', async () => {
    const add = (name: string) =>
      rest.send('POST', '/api/v1/devices', { name, like: 'exception-zero', registers });
    expect((await add('d')).status).toBe(201);
    expect(rules()).toEqual(['exception-zero.d']);
    for (let i = 1; i < MAX_RULES; i++)
      await rest.send('POST', '/api/v1/faults', { name: `rule-${i}`, do: [{ delay: 1 }] });
    expect((await add('e')).status).toBe(400);
    expect(rest.simulator.devices.has('e')).toBe(false);
  });

  it.each([{}, { device: 'a', line: 'lan' }, { device: 5 }])('refuses the target %j', async (target) => {
    expect((await arm('sleeps', target)).status).toBe(400);
  });
});
