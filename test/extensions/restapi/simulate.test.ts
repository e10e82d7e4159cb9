import { setTimeout as sleep } from 'node:timers/promises';
import modbusSerial from 'modbus-serial';
import { beforeEach, describe, expect, test } from 'vitest';
import { hexOf } from '../../modbus/protocol/hex.js';
import { type RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import type { CallsBody, Rest } from '../../remote/api/rest.js';
import { nativeSetup } from '../../support/configuration.js';
import { exchangesOf } from '../../support/exchanges.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';

const SETUP = nativeSetup({
  devices: {
    meter: {
      registers: {
        holding: [{ address: 0, value: [0x0102, 0x0304, 0x0506], write: true }],
        coils: [{ address: 0, value: [1, 0, 1], write: true }],
      },
    },
    other: { registers: { holding: [{ address: 0, value: 5 }] } },
  },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'meter' } },
    far: { tcp: { port: 0 }, units: { 9: 'other' } },
  },
});

const SIMULATE = { submit: 'Simulate', response_delay: 0, response_error: 0, response_clear_after: 1 };

/** Reads three registers of unit 1. */
const READ = '00070000000601030000' + '0003';
const TRUE_REPLY = '00070000000901030601020304' + '0506';
/** Writes 0x1234 to register 1 of unit 1. */
const WRITE = '00080000000601060001' + '1234';

let served: RunningSimulator;
let rest: Rest;
let master: RawClient;

stopAfterEach();

beforeEach(async () => {
  served = await startSimulator(SETUP);
  rest = served.rest;
  master = served.client('lan');
});

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

/** The bytes that come back, once there are `length` of them. */
async function reply(request: string, length: number, client = master): Promise<string> {
  const before = client.received.length;
  client.send(bytes(request));
  await until(() => client.received.length >= before + length, `${length} bytes of reply have come`);
  return client.received.subarray(before).toString('hex');
}

const DEFAULTS = {
  simulation_action: '',
  function_response_normal_checked: false,
  function_response_error_checked: false,
  function_response_empty_checked: false,
  function_response_junk_checked: false,
  function_response_split_checked: false,
  function_response_split_delay: 0,
  function_response_cr_checked: false,
  function_response_cr_pct: 0,
  function_response_delay: 0,
  function_response_junk: 10,
  function_response_clear_after: 1,
};

/** The state, read without changing anything: Stop where nothing is monitored. */
async function state(): Promise<CallsBody> {
  return rest.calls({ submit: 'Stop' });
}

describe('what Simulate does to the next response', () => {
  test('error: an exception response with the code, and nothing is executed', async () => {
    const answer = await rest.calls({ ...SIMULATE, response_type: 1, response_error: 6 });
    expect(answer.function_response_error_checked).toBe(true);
    expect(answer.function_error.filter(({ selected }) => selected)).toEqual([
      { value: 6, text: 'SlaveBusy', selected: true },
    ]);
    expect(await reply(WRITE, 9)).toBe('00080000000301' + '8606');
    expect(await rest.values(1)).toEqual([String(0x0304)]);
    expect(await reply(WRITE, 12)).toBe(WRITE);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 10, 11])(
    'error code %i, asked for by response_error alone',
    async (code) => {
      await rest.calls({ ...SIMULATE, response_error: code });
      expect(await reply(READ, 9)).toBe(`0007000000030183${code.toString(16).padStart(2, '0')}`);
    },
  );

  test('response_type 0 goes before response_error', async () => {
    expect(await rest.calls({ ...SIMULATE, response_type: 0, response_error: 2 })).toMatchObject({
      function_response_normal_checked: true,
      function_response_error_checked: false,
    });
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
  });

  test('empty: no answer at all, and nothing is executed', async () => {
    await rest.calls({ ...SIMULATE, response_type: 2 });
    master.send(bytes(WRITE));
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
    expect(master.received.toString('hex')).toBe(TRUE_REPLY);
    expect(await rest.values(1)).toEqual([String(0x0304)]);
  });

  test('junk: that many bytes instead of the frame, other ones each time', async () => {
    const answer = await rest.calls({
      ...SIMULATE,
      response_type: 3,
      response_junk_datalen: 40,
      response_clear_after: 2,
    });
    expect(answer.function_response_junk).toBe(40);
    const first = await reply(READ, 40);
    const second = await reply(READ, 40);
    await sleep(20);
    expect(master.received).toHaveLength(80);
    expect(first).not.toBe(second);
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
  });

  test('junk: ten bytes where nothing is said, none where 0 is said', async () => {
    await rest.calls({ ...SIMULATE, response_type: 3 });
    await reply(READ, 10);
    await sleep(20);
    expect(master.received).toHaveLength(10);
    await rest.calls({ ...SIMULATE, response_type: 3, response_junk_datalen: 0 });
    master.send(bytes(READ));
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
    expect(master.received).toHaveLength(25);
  });

  test('delay: the response starts so many seconds later, fractions allowed', async () => {
    expect(await rest.calls({ ...SIMULATE, response_delay: 0.25 })).toMatchObject({
      function_response_delay: 0.25,
    });
    const start = performance.now();
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
    expect(performance.now() - start).toBeGreaterThanOrEqual(245);
    await rest.calls({ ...SIMULATE, response_delay: '0.1' });
    const again = performance.now();
    await reply(READ, 15);
    expect(performance.now() - again).toBeGreaterThanOrEqual(95);
  });

  test('delay: a line that nobody asks is not held up by it', async () => {
    await rest.calls({ ...SIMULATE, response_delay: 60 });
    master.send(bytes(READ));
    const other = served.client('far');
    expect(await reply('00010000000609030000' + '0001', 11, other)).toBe('00010000000509030200' + '05');
    expect(master.received).toHaveLength(0);
  });

  test('split: the frame in two parts, split_delay seconds apart', async () => {
    expect(await rest.calls({ ...SIMULATE, response_split: 'nomatter', split_delay: 0.2 })).toMatchObject({
      function_response_split_checked: true,
      function_response_split_delay: 0.2,
    });
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
    // As they were sent: a busy machine hands both parts over at once.
    await until(() => exchangesOf(served.simulator).length === 1, 'the reply has ended');
    const { plan, report } = exchangesOf(served.simulator)[0] ?? expect.fail('no exchange');
    const parts =
      plan.kind === 'send' ? plan.steps.map((step) => step.kind === 'bytes' && hexOf(step.bytes)) : [];
    expect(parts).toHaveLength(2);
    expect(parts.join('')).toBe(TRUE_REPLY);
    const [first = 0, second = 0] = report.steps.map((step) =>
      step.outcome === 'achieved' ? step.achievedAt : 0,
    );
    expect(second - first).toBeGreaterThanOrEqual(199);
  });

  test('delay and split act on an error as on anything else', async () => {
    await rest.calls({
      ...SIMULATE,
      response_error: 4,
      response_delay: 0.1,
      response_split: '',
      split_delay: 0.1,
    });
    const start = performance.now();
    expect(await reply(READ, 9)).toBe('000700000003018304');
    expect(performance.now() - start).toBeGreaterThanOrEqual(190);
  });

  test('change: other data in a valid frame, over and over', async () => {
    expect(
      await rest.calls({ ...SIMULATE, response_cr: '', response_cr_pct: 100, response_clear_after: 20 }),
    ).toMatchObject({ function_response_cr_checked: true, function_response_cr_pct: 100 });
    const replies = new Set<string>();
    for (let i = 0; i < 20; i++) {
      const frame = await reply(READ, 15);
      expect(frame).toHaveLength(30);
      expect(frame.slice(0, 18)).toBe(TRUE_REPLY.slice(0, 18));
      expect(frame).not.toBe(TRUE_REPLY);
      replies.add(frame);
    }
    expect(replies.size).toBeGreaterThan(15);
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
  });

  test('change: 30 percent of many responses, the others are true', async () => {
    const count = 1000;
    await rest.calls({ ...SIMULATE, response_cr: 1, response_cr_pct: 30, response_clear_after: 100_000 });
    for (let sent = 0; sent < count; sent += 50) {
      master.send(bytes(READ.repeat(50)));
      await until(() => master.received.length === 15 * (sent + 50), 'all are answered');
    }
    const frames = master.responses;
    expect(frames).toHaveLength(count);
    const right = bytes(TRUE_REPLY).subarray(7).toString('hex');
    const changed = frames.filter(({ pdu }) => Buffer.from(pdu).toString('hex') !== right);
    for (const { unitId, transactionId, pdu } of changed) {
      expect([unitId, transactionId, pdu.length, pdu[0], pdu[1]]).toEqual([1, 7, 8, 3, 6]);
    }
    // 300 give or take eight standard deviations.
    expect(changed.length).toBeGreaterThan(184);
    expect(changed.length).toBeLessThan(416);
    expect((await state()).function_response_clear_after).toBe(99_000);
  });

  test('change: the same seed gives the same responses again', async () => {
    await rest.calls({ ...SIMULATE, response_cr: 1, response_cr_pct: 50, response_clear_after: 30 });
    const rule = await rest.send<Record<string, unknown>>('GET', '/api/v1/faults/restapi-calls');
    const replies = async () => {
      const all: string[] = [];
      for (let i = 0; i < 30; i++) all.push(await reply(READ, 15));
      return all;
    };
    const first = await replies();
    const { when, do: faults, seed } = rule.body;
    await rest.send('PUT', '/api/v1/faults/restapi-calls', { when, do: faults, seed });
    expect(await replies()).toEqual(first);
  });
});

describe('on a serial line, with modbus-serial as the master', () => {
  test('error, empty, junk, delay and change are what the master sees', async () => {
    const { rest, path } = await startSimulator(
      nativeSetup({
        devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
        lines: { bench: { serial: { path: 'virtual', baudRate: 115200 }, units: { 1: 'meter' } } },
      }),
    );
    const client = new modbusSerial.default();
    await client.connectRTUBuffered(path('bench'), { baudRate: 115200 });
    client.setID(1);
    const [patient, quick] = [5000, 300];
    client.setTimeout(patient);
    const read = async () => (await client.readHoldingRegisters(0, 3)).data;
    const simulate = (settings: object) => rest.calls({ ...SIMULATE, ...settings });

    await simulate({ response_error: 6 });
    await expect(read()).rejects.toMatchObject({ modbusCode: 6 });
    client.setTimeout(quick);
    await simulate({ response_type: 2 });
    await expect(read()).rejects.toMatchObject({ name: 'TransactionTimedOutError' });
    await simulate({ response_type: 3, response_junk_datalen: 30 });
    // Random bytes may look like a frame with a wrong CRC.
    await expect(read()).rejects.toThrow(/Timed out|CRC error/);
    client.setTimeout(patient);
    await simulate({ response_delay: 0.1 });
    const start = performance.now();
    expect(await read()).toEqual([1, 2, 3]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(95);
    await simulate({ response_cr: 1, response_cr_pct: 100 });
    expect(await read()).not.toEqual([1, 2, 3]);
    await simulate({ response_split: 1, split_delay: 0.05 });
    expect(await read()).toEqual([1, 2, 3]);
    expect(await read()).toEqual([1, 2, 3]);
    await new Promise<void>((resolve) => {
      client.close(() => resolve());
    });
  });
});

describe('how long it lasts', () => {
  test('clear_after counts down with every response of any line and unit', async () => {
    await rest.calls({ ...SIMULATE, response_error: 4, response_clear_after: 3 });
    expect(await state()).toMatchObject({ simulation_action: 'ACTIVE', function_response_clear_after: 3 });
    expect(await reply(READ, 9)).toBe('000700000003018304');
    expect(await state()).toMatchObject({ simulation_action: 'ACTIVE', function_response_clear_after: 2 });
    await reply(READ.replace('0601', '0602'), 9);
    expect(await state()).toMatchObject({
      function_response_clear_after: 1,
      function_response_error_checked: true,
    });
    await reply('00010000000609030000' + '0001', 9, served.client('far'));
    const used = await state();
    expect(used).toMatchObject(DEFAULTS);
    expect(used.function_error.some(({ selected }) => selected)).toBe(false);
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
  });

  test('a response that was dropped counts, as does one that no change was the turn of', async () => {
    await rest.calls({ ...SIMULATE, response_type: 2, response_clear_after: 2 });
    master.send(bytes(READ + READ));
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
    await rest.calls({ ...SIMULATE, response_cr: 1, response_cr_pct: 0, response_clear_after: 2 });
    await reply(READ, 15);
    expect(await state()).toMatchObject({ simulation_action: 'ACTIVE', function_response_clear_after: 1 });
    await reply(READ, 15);
    expect(await state()).toMatchObject(DEFAULTS);
  });

  test('Reset ends it, and needs nothing else', async () => {
    await rest.calls({ ...SIMULATE, response_error: 4, response_clear_after: 100 });
    expect(await rest.calls({ submit: 'Reset' })).toMatchObject({ ...DEFAULTS, result: 'ok' });
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
    expect(await rest.calls({ submit: 'Reset' })).toMatchObject(DEFAULTS);
  });

  test('a new Simulate takes the place of the one before', async () => {
    await rest.calls({ ...SIMULATE, response_error: 4, response_clear_after: 100 });
    await rest.calls({ ...SIMULATE, response_type: 3, response_junk_datalen: 3, response_clear_after: 2 });
    await reply(READ, 3);
    expect(await state()).toMatchObject({
      function_response_error_checked: false,
      function_response_junk_checked: true,
      function_response_clear_after: 1,
    });
  });
});

describe('the simulation is one fault rule among the others', () => {
  test('it is listed, and ends with the rule', async () => {
    await rest.calls({ ...SIMULATE, response_error: 4, response_clear_after: 5 });
    expect(await rest.send('GET', '/api/v1/faults')).toMatchObject({
      body: { faults: [{ name: 'restapi-calls', do: [{ exception: 4 }], remaining: 5 }] },
    });
    await rest.send('DELETE', '/api/v1/faults/restapi-calls');
    expect(await state()).toMatchObject(DEFAULTS);
    expect(await reply(READ, 15)).toBe(TRUE_REPLY);
  });

  test('a reset of the fault rules ends it too', async () => {
    await rest.calls({ ...SIMULATE, response_error: 4 });
    await rest.send('POST', '/api/v1/faults/reset');
    expect(await state()).toMatchObject(DEFAULTS);
  });

  test('a rule that somebody put in its place is not taken for it', async () => {
    const rule = { name: 'restapi-calls', when: { count: 7 }, do: [{ exception: 2 }] };
    await rest.send('POST', '/api/v1/faults', rule);
    expect(await state()).toMatchObject(DEFAULTS);
    await rest.calls({ ...SIMULATE, response_error: 4, response_clear_after: 3 });
    await rest.send('PUT', '/api/v1/faults/restapi-calls', rule);
    expect(await state()).toMatchObject(DEFAULTS);
    expect(await reply(READ, 9)).toBe('000700000003018302');
    await rest.calls({ submit: 'Reset' });
    expect(await reply(READ, 9)).toBe('000700000003018302');
  });
});

describe('a Simulate that is not right says why, and the simulation stays as it was', () => {
  const CODES = '1, 2, 3, 4, 5, 6, 7, 10, 11';

  test.each([
    [{ response_delay: undefined }, 'response_delay: missing, expected seconds, 0 to 3600'],
    [{ response_error: undefined }, 'response_error: missing, expected a whole number, 0 or more'],
    [
      { response_clear_after: undefined },
      'response_clear_after: missing, expected a whole number, 0 or more',
    ],
    [{ response_split: 'x' }, 'split_delay: missing, expected seconds'],
    [{ response_cr: 'x' }, 'response_cr_pct: missing, expected percent'],
    [{ response_delay: -1 }, 'response_delay: expected seconds, 0 to 3600, got -1'],
    [{ response_delay: 3601 }, 'response_delay: expected seconds, 0 to 3600, got 3601'],
    [{ response_delay: 1e308 }, 'response_delay: expected seconds, 0 to 3600, got 1e+308'],
    [{ response_delay: 'soon' }, 'response_delay: expected seconds, 0 to 3600, got "soon"'],
    [{ response_delay: null }, 'response_delay: expected seconds, 0 to 3600, got nothing'],
    [{ response_delay: true }, 'response_delay: expected seconds, 0 to 3600, got true'],
    [{ response_split: 1, split_delay: 'x' }, 'split_delay: expected seconds, 0 to 3600, got "x"'],
    [
      { response_split: 1, split_delay: 1800, response_delay: 1801 },
      'split_delay: expected at most 3600 seconds together with response_delay',
    ],
    [
      { response_split: 1, split_delay: 325.665201, response_delay: 3274.3348 },
      'split_delay: expected at most 3600 seconds together with response_delay',
    ],
    [{ response_error: 8 }, `response_error: expected 0 or one of ${CODES}, got 8`],
    [
      { response_error: 'IllegalValue' },
      'response_error: expected a whole number, 0 or more, got "IllegalValue"',
    ],
    [{ response_type: 4 }, 'response_type: expected 0 (normal), 1 (error), 2 (empty) or 3 (junk), got 4'],
    [{ response_type: -1 }, 'response_type: expected a whole number, 0 or more, got -1'],
    [{ response_cr: 1, response_cr_pct: 101 }, 'response_cr_pct: expected percent, 0 to 100, got 101'],
    [
      { response_cr: 1, response_cr_pct: 2.5 },
      'response_cr_pct: expected a whole number, 0 or more, got 2.5',
    ],
    [
      { response_junk_datalen: 65537 },
      'response_junk_datalen: expected a number of bytes, 0 to 65536, got 65537',
    ],
    [{ response_clear_after: 1.5 }, 'response_clear_after: expected a whole number, 0 or more, got 1.5'],
    [{ response_clear_after: [3] }, 'response_clear_after: expected a whole number, 0 or more, got a list'],
    [
      { response_delay: 'x', response_clear_after: 'y' },
      'response_delay: expected seconds, 0 to 3600, got "x"; response_clear_after: expected a whole number, 0 or more, got "y"',
    ],
  ])('%j', async (wrong, error) => {
    await rest.calls({ ...SIMULATE, response_type: 3, response_junk_datalen: 21, response_clear_after: 9 });
    const before = await state();
    expect(await rest.calls({ ...SIMULATE, ...wrong })).toEqual({ result: 'error', error });
    expect(await state()).toEqual(before);
    await reply(READ, 21);
  });

  test('the largest settings are accepted', async () => {
    expect(
      await rest.calls({
        submit: 'Simulate',
        response_type: 3,
        response_junk_datalen: 65_536,
        response_split: null,
        split_delay: 1800,
        response_cr: false,
        response_cr_pct: 100,
        response_delay: 1800,
        response_error: 0,
        response_clear_after: 999_999_999,
      }),
    ).toMatchObject({ simulation_action: 'ACTIVE', function_response_clear_after: 999_999_999 });
  });

  test('fractions that add up to an hour are accepted', async () => {
    const fractions = { response_delay: 3274.3348, response_split: 1, split_delay: 325.6652 };
    const { status, body } = await rest.send('POST', '/restapi/calls', { ...SIMULATE, ...fractions });
    expect(status).toBe(200);
    expect(body).toMatchObject({ simulation_action: 'ACTIVE', function_response_delay: 3274.3348 });
  });
});
