import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';

stopAfterEach();

const SETUP = nativeSetup({
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: 1, write: true }],
        holding: [{ address: 0, value: [1, 2, 3], write: true }],
      },
    },
  },
  lines: {
    bus: { serial: { path: 'virtual', baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } },
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
});

const WRITABLE = nativeSetup({
  devices: {
    meter: {
      registers: {
        coils: [{ address: 4 }, { address: 7, write: true }],
        holding: [{ address: 2 }, { address: 9, write: true }],
        input: [{ address: 1 }],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const SPARSE = nativeSetup({
  devices: { meter: { registers: { input: [{ address: 30, type: 'float32', value: 1, name: 'voltage' }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

interface Preview {
  readonly matches: boolean;
  readonly request: { readonly seq: number | null; readonly bytes: string };
  readonly silence: string | null;
  readonly faults: readonly object[];
  readonly steps: readonly {
    readonly bytes?: string;
    readonly plannedUs: number;
    readonly endedUs: number;
  }[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const preview = ({ rest }: RunningSimulator, rule: object, like?: unknown) =>
  rest.send<Preview>('POST', '/api/v1/faults/preview', { rule: { name: 'a', ...rule }, like });

describe('the preview of a fault rule', () => {
  it('shows the steps with the times of the line', async () => {
    const running = await startSimulator(SETUP);
    const { body } = await preview(running, { do: { split: { at: 'middle', gap: 50 } } });
    expect(body).toMatchObject({
      matches: true,
      request: { line: 'bus', unit: 1, function: 3, bytes: '01 03 00 00 00 01 84 0a' },
      faults: [{ rule: 'a', kind: 'split', outcome: 'applied' }],
    });
    const character = 10 / 9600;
    const begin = 3.5 * (11 / 9600);
    const us = (seconds: number) => expect.closeTo(1e6 * seconds, -1);
    expect(body.steps).toEqual([
      { kind: 'bytes', bytes: '01 03 02', plannedUs: us(begin), endedUs: us(begin + 3 * character) },
      {
        kind: 'bytes',
        bytes: '00 01 79 84',
        plannedUs: us(begin + 3 * character + 0.05),
        endedUs: us(begin + 7 * character + 0.05),
      },
    ]);
  });

  it('is of a request of the traffic, or of its reply, with what was answered', async () => {
    const running = await startSimulator(SETUP);
    running.client('lan').send(bytesOf('00 07 00 00 00 06 01 03 00 00 00 02'));
    await until(
      () => running.simulator.traffic.read(running.simulator.traffic.last)?.kind === 'reply',
      'a reply',
    );
    const { last } = running.simulator.traffic;
    for (const like of [last, last - 1]) {
      const { body } = await preview(running, { when: { line: 'lan' }, do: { truncate: -1 } }, like);
      expect(body.steps).toEqual([
        { kind: 'bytes', bytes: '00 07 00 00 00 07 01 03 04 00 01 00', plannedUs: 0, endedUs: 0 },
      ]);
    }
  });

  it('is of the newest request that the rule is for, where none is named', async () => {
    const running = await startSimulator(SETUP);
    const client = running.client('lan');
    client.send(bytesOf('00 07 00 00 00 06 01 03 00 01 00 02'));
    client.send(bytesOf('00 08 00 00 00 06 01 03 00 00 00 01'));
    const { traffic } = running.simulator;
    await until(() => client.received.length >= 13 + 11, 'two replies');
    const newest = Array.from({ length: traffic.last }, (_, i) => traffic.read(i + 1))
      .filter((event) => event?.kind === 'request')
      .map((event) => event?.seq);
    const seen = async (when: object) =>
      (await preview(running, { when, do: { delay: 1 } })).body.request.seq;
    expect(await seen({})).toBe(newest[1]);
    expect(await seen({ line: 'lan', quantity: [2, 3] })).toBe(newest[0]);
    expect(await seen({ address: [2, 9] })).toBe(newest[0]);
    expect(await seen({ line: 'bus' })).toBeNull();
  });

  it('is of a made-up request that meets the conditions, where there was none', async () => {
    const running = await startSimulator(SPARSE);
    const seen = async (when: object) =>
      (await preview(running, { when, do: { delay: 1 } })).body.request.bytes.slice(18);
    expect(await seen({})).toBe('01 04 00 1e 00 01');
    expect(await seen({ address: [5, 9], quantity: [2, 3] })).toBe('01 04 00 05 00 02');
    expect(await seen({ function: 6 })).toBe('01 06 00 00 00 00');
    expect(await seen({ name: 'meter.voltage' })).toBe('01 04 00 1e 00 02');
  });

  it('executes, sends and counts nothing', async () => {
    const running = await startSimulator(SETUP);
    const { simulator } = running;
    running.addRule({ name: 'other', do: [{ delay: 1 }] });
    const { last } = simulator.traffic;
    for (const code of [1, 3, 5, 6, 15, 16]) {
      const like = { function: code, address: 0, quantity: 1 };
      expect((await preview(running, { do: { delay: 5 } }, like)).status).toBe(200);
    }
    const { image } = simulator.devices.get('meter')?.tables.holding.window ?? {};
    expect(image?.reads.get(0)).toBe(0);
    expect(simulator.devices.get('meter')?.tables.coils.bitAt(0)).toBe(true);
    expect(simulator.traffic.last).toBe(last);
    expect(simulator.faults.rules.list()).toMatchObject([{ rule: { name: 'other' }, matches: 0 }]);
  });

  it('tells what could not act, silence, and that a rule is for other requests', async () => {
    const running = await startSimulator(SETUP);
    const lan = { line: 'lan' };
    expect((await preview(running, { do: [{ crc: 'zero' }, { delay: 1 }] }, lan)).body).toMatchObject({
      faults: [{ kind: 'crc', outcome: 'not achieved', reason: 'line lan has no CRC' }, { kind: 'delay' }],
    });
    expect((await preview(running, { do: { silence: true } })).body).toMatchObject({
      silence: 'fault',
      steps: [],
    });
    expect((await preview(running, { when: { unit: 9 }, do: { silence: true } })).body).toMatchObject({
      matches: false,
      faults: [],
      steps: [{ kind: 'bytes' }],
    });
  });

  it('has the bytes of the same seed as the rule itself', async () => {
    const running = await startSimulator(SETUP);
    const rule = { name: 'a', when: { line: 'lan' }, do: [{ corrupt: 3 }], seed: 11 };
    const { body } = await preview(running, rule, { line: 'lan', quantity: 2 });
    running.addRule(rule);
    const client = running.client('lan');
    client.send(bytesOf('00 01 00 00 00 06 01 03 00 00 00 02'));
    await until(() => client.received.length > 0, 'a reply');
    expect(client.received).toEqual(Buffer.from(bytesOf(body.steps[0]?.bytes ?? '')));
  });

  it.each([
    [{ do: { delay: 'soon' } }, undefined, 'rule.do[0].delay'],
    [{ when: { line: 'nowhere' }, do: { delay: 1 } }, undefined, 'rule.when.line'],
    [{ do: { delay: 1 } }, 999_999, 'like'],
    [{ do: { delay: 1 } }, 1, 'like'],
    [{ do: { delay: 1 } }, { line: 'nowhere' }, 'like'],
    [{ do: { delay: 1 } }, { unit: 7 }, 'like'],
    [{ do: { delay: 1 } }, { unit: 0 }, 'like'],
    [{ do: { delay: 1 } }, { function: 17 }, 'like'],
    [{ do: { delay: 1 } }, { address: 70_000 }, 'like.address'],
  ])('refuses %j like %j', async (rule, like, path) => {
    const { status, body } = await preview(await startSimulator(SETUP), rule, like);
    expect([status, body.problems[0]?.path]).toEqual([400, path]);
  });

  it.each([
    [5, '05 00 07'],
    [15, '0f 00 07'],
    [6, '06 00 09'],
    [16, '10 00 09'],
  ])('for function %i writes a register that is there and that clients may write', async (code, begins) => {
    const running = await startSimulator(WRITABLE);
    const { body } = await preview(running, { when: { function: code }, do: { delay: 5 } });
    expect(body.request.bytes.split(' ').slice(7).join(' ')).toMatch(new RegExp(`^${begins}`));
    expect(body.matches).toBe(true);
  });
});
