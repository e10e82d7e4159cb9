import { describe, expect, it } from 'vitest';
import type { MqttAuthority } from '../../../src/document/configuration.js';
import type { Arrived } from '../../../src/remote/mqtt/broker.js';
import { Commands } from '../../../src/remote/mqtt/commands.js';
import type { Publication } from '../../../src/remote/mqtt/outbox.js';
import { COMMANDS, declaredAs } from '../../../src/remote/rpc/declared.js';
import { FUNCTIONS } from '../../../src/remote/rpc/line-end.js';
import type { Refusal } from '../../../src/simulator/commands/refusal.js';
import { deskOf } from './desk-of.js';

const FILE = {
  devices: { meter: { registers: { holding: [{ address: 0, name: 'power', value: 7 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

async function commandsOf(authority: MqttAuthority, file: object = FILE) {
  const { rpc, simulator } = await deskOf(file);
  const published: Publication[] = [];
  const commands = new Commands(rpc, {
    authority,
    bench: 'b',
    publish: (message) => published.push(message),
  });
  const refused: (Refusal | undefined)[] = [];
  const send = async (name: string, payload: unknown, more: Partial<Arrived> = {}) => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    refused.push(
      await commands.arrived(name, {
        topic: `b/command/${name}`,
        payload: Buffer.from(text),
        isRetained: false,
        responseTopic: 'modbus-sim/fleet/1',
        correlation: undefined,
        ...more,
      }),
    );
    const answer = published.at(-1);
    return answer && (JSON.parse(`${answer.payload}`) as Record<string, unknown>);
  };
  return { send, published, refused, simulator };
}

describe('commands that come as messages', () => {
  it('are all of the door, each with what it takes', () => {
    expect(Object.keys(COMMANDS).toSorted()).toEqual(Object.keys(FUNCTIONS).toSorted());
  });

  it('are known to change something, or not', () => {
    const changing = Object.keys(COMMANDS).filter((name) => !declaredAs(name)?.kind);
    expect(changing.toSorted()).toEqual(
      [
        'configuration.apply',
        'configuration.undo',
        'traffic.clear',
        ...['add', 'change', 'remove', 'start', 'restart', 'stop'].map((each) => `line.${each}`),
        ...['add', 'remove', 'power', 'clock', 'manners', 'reset'].map((each) => `device.${each}`),
        ...[
          'value.set',
          'value.change',
          'value.define',
          'signal.set',
          'signal.remove',
          'inlet.take',
          'cells.set',
        ],
        ...['add', 'replace', 'switch', 'remove', 'reset'].map((each) => `rule.${each}`),
        ...['misbehaviour.arm', 'misbehaviour.disarm'],
        ...['run.start', 'run.stop'],
      ].toSorted(),
    );
  });

  it('preview a rule as REST does', async () => {
    const { send } = await commandsOf('read');
    const rule = { name: 'slow', do: [{ delay: 250 }] };
    expect(await send('rule.preview', { rule })).toMatchObject({
      value: { matches: true, faults: [{ rule: 'slow', kind: 'delay' }] },
    });
  });

  it('are answered with what came, and with the name of the bench', async () => {
    const { send, published, simulator } = await commandsOf('all');
    const correlation = Buffer.from([1, 2]);
    expect(
      await send('value.set', { device: 'meter', name: 'power', value: 9 }, { correlation }),
    ).toMatchObject({
      bench: 'b',
      ok: true,
      value: { name: 'power', value: 9 },
    });
    expect(published.at(-1)).toMatchObject({ topic: 'modbus-sim/fleet/1', correlation });
    expect(await send('device.list', '')).toMatchObject({ ok: true, value: [{ name: 'meter' }] });
    expect(await send('program.configuration', '')).toMatchObject({
      value: expect.stringContaining('devices:'),
    });
    expect(await send('program.map', '{}')).toMatchObject({
      value: [{ name: 'lan', units: { 1: 'meter' } }],
    });
    expect(await send('cells.read', { table: 'holding', from: 0, to: 0 })).toMatchObject({
      value: { words: [9] },
    });
    const passed = { kind: 'broadcast', at: 0, unitId: 0, functionCode: 6, bytes: Buffer.alloc(8) };
    simulator.lines.get('lan')?.sums.count(passed as never, 1);
    await expect
      .poll(() => send('line.metrics', '{}'))
      .toMatchObject({ value: [{ sums: [{ unit: 0, function: 6, requests: 1, bytesIn: 8 }] }] });
  });

  it('have the topic of the answer in the payload where MQTT has no properties', async () => {
    const { send } = await commandsOf('all');
    const wrapped = { responseTopic: 'modbus-sim/fleet/2', correlation: 'a1', input: { line: 'lan' } };
    expect(await send('line.get', wrapped, { responseTopic: undefined })).toMatchObject({
      ok: true,
      correlation: 'a1',
      value: { name: 'lan' },
    });
  });

  it('are refused by the rules of the table, with its codes and places', async () => {
    const { send } = await commandsOf('all');
    expect(await send('line.gte', {})).toMatchObject({ ok: false, code: 'path.unknown' });
    expect(await send('line.get', { line: 'x' })).toMatchObject({ ok: false, code: 'line.unknown' });
    expect(await send('line.get', { lin: 'x' })).toMatchObject({ code: 'request.invalid' });
    expect(await send('line.get', '{')).toMatchObject({ ok: false, code: 'request.not_json' });
    expect(await send('toString', {})).toMatchObject({ code: 'path.unknown' });
    expect(await send('rule.add', { rule: { name: 'r', do: [{ dely: 1 }] } })).toMatchObject({
      code: 'rule.invalid',
      detail: expect.stringContaining('do[0].dely'),
    });
  });

  it.each(['none', 'read'] as const)('change nothing with the authority %s', async (authority) => {
    const { send, simulator } = await commandsOf(authority);
    expect(await send('rule.add', { rule: { name: 'r', do: [{ delay: 1 }] } })).toMatchObject({
      ok: false,
      code: 'access.read_only',
    });
    expect(simulator.faults.rules.list()).toEqual([]);
    expect(await send('line.list', '')).toMatchObject({ ok: authority === 'read' });
  });

  it('are refused where their correlation data are long, as these are kept with the answer', async () => {
    const { send, published, refused } = await commandsOf('all');
    await send('program.ping', {}, { correlation: Buffer.alloc(1025) });
    const wrapped = { responseTopic: 'modbus-sim/fleet/2', correlation: 'x'.repeat(1e6), input: {} };
    await send('program.ping', wrapped, { responseTopic: undefined });
    expect(refused).toEqual([1, 2].map(() => expect.objectContaining({ code: 'request.too_long' })));
    expect(published).toEqual([]);
    expect(await send('program.ping', {}, { correlation: Buffer.alloc(1024) })).toMatchObject({ ok: true });
  });

  it('have answers that are remembered as long as these are 4 MiB together', async () => {
    const holding = Array.from({ length: 2000 }, (_, address) => ({ address, name: `register_${address}` }));
    const { send, published } = await commandsOf('all', {
      ...FILE,
      devices: { meter: { registers: { holding } } },
    });
    const rule = { rule: { name: 'r', do: [{ delay: 1 }] } };
    const correlation = Buffer.from('first');
    await send('rule.add', rule, { correlation });
    let bytes = 0;
    for (let i = 0; bytes < 4 * 2 ** 20; i++) {
      expect(await send('rule.add', rule, { correlation })).toMatchObject({ ok: true });
      await send('value.list', { device: 'meter', from: 0, to: 1999 }, { correlation: Buffer.from(`${i}`) });
      bytes += published.at(-1)?.payload.length ?? 0;
    }
    expect(await send('rule.add', rule, { correlation })).toMatchObject({ code: 'rule.name_taken' });
  });

  it('are carried out once, however often they come with one correlation', async () => {
    const { send, simulator } = await commandsOf('all');
    const correlation = Buffer.from('same');
    const rule = { rule: { name: 'r', do: [{ delay: 1 }] } };
    const first = await send('rule.add', rule, { correlation });
    expect(await send('rule.add', rule, { correlation })).toEqual(first);
    expect(first).toMatchObject({ ok: true });
    expect(await send('rule.add', rule)).toMatchObject({ ok: false, code: 'rule.name_taken' });
    expect(simulator.faults.rules.list()).toHaveLength(1);
  });

  it('are ignored when the broker has kept them', async () => {
    const { send, simulator } = await commandsOf('all');
    await send('rule.add', { rule: { name: 'r', do: [{ delay: 1 }] } }, { isRetained: true });
    expect(simulator.faults.rules.list()).toEqual([]);
  });

  it.each(['other/topic', 'modbus-sim/#', 'modbus-sim/+', '', 'homeassistant/x'])(
    'are not carried out when the answer should go to %j',
    async (responseTopic) => {
      const { send, simulator, published } = await commandsOf('all');
      await send('rule.add', { rule: { name: 'r', do: [{ delay: 1 }] } }, { responseTopic });
      expect(simulator.faults.rules.list()).toEqual([]);
      expect(published).toEqual([]);
    },
  );

  it('are answered with a refusal where the answer would be too long', async () => {
    const { send } = await commandsOf('all');
    const names = Array.from({ length: 4000 }, (_, i) => `n${i}`.padEnd(64, 'x'));
    for (let first = 0; first < names.length; first += 500) {
      const holding = names
        .slice(first, first + 500)
        .map((name, i) => ({ address: i, name, description: 'd'.repeat(190) }));
      expect(await send('device.add', { name: `d${first}`, registers: { holding } })).toMatchObject({
        ok: true,
      });
    }
    expect(await send('program.configuration', {})).toMatchObject({ ok: false, code: 'answer.too_long' });
    expect(await send('program.ping', {})).toMatchObject({ ok: true });
  });

  it('let an entry of the catalogue be armed and taken back', async () => {
    const { send } = await commandsOf('all');
    const armed = await send('misbehaviour.arm', { id: 'sleeps', target: { device: 'meter' } });
    expect(armed).toMatchObject({ ok: true });
    expect(await send('misbehaviour.disarm', { id: 'sleeps' })).toMatchObject({
      ok: true,
      value: { devices: ['meter'] },
    });
    expect(await send('misbehaviour.arm', { id: 'no', target: { device: 'meter' } })).toMatchObject({
      code: 'misbehaviour.unknown',
    });
  });
});
