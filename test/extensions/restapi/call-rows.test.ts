import { beforeEach, describe, expect, test } from 'vitest';
import { type RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import type { CallsBody, Rest } from '../../remote/api/rest.js';
import { nativeSetup } from '../../support/configuration.js';
import { exchangesOf, requestsOf } from '../../support/exchanges.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

const SETUP = nativeSetup({
  devices: {
    meter: {
      registers: {
        holding: [{ address: 0, quantity: 100, value: 1, write: true }],
        coils: [{ address: 0, quantity: 100, value: 1, write: true }],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

let rest: Rest;
let master: RawClient;

stopAfterEach();

beforeEach(async () => {
  const served = await startSimulator(SETUP);
  rest = served.rest;
  master = served.client();
});

const READ_0 = '0300000001';
const READ_10 = '03000a0002';
const WRITE_11 = '06000b0007';
const COILS_16 = '0100100004';
/** Reads 40 and 41, writes 20. */
const READ_WRITE = '17002800020014000102' + '0005';

/** The rows, each as call, function and address. */
function rows({ call_rows }: CallsBody): string[] {
  return call_rows.map(({ call, fc, address }) => `${call} ${fc} ${address}`);
}

async function monitor(filter: object = {}): Promise<CallsBody> {
  return rest.calls({ submit: 'Monitor', ...filter });
}

describe('monitoring calls', () => {
  test('nothing is listed before it is asked for', async () => {
    await master.askAll(READ_0);
    expect(await rest.calls({ submit: 'Reset' })).toMatchObject({ call_rows: [], foot: 'not active' });
    expect(await monitor()).toMatchObject({ call_rows: [], foot: 'Monitoring active', result: 'ok' });
  });

  test.each(['Monitor', 'Add'])('%s lists requests and responses, the newest first', async (submit) => {
    await rest.calls({ submit });
    await master.askAll(READ_0, WRITE_11);
    const { call_rows } = await rest.calls({ submit });
    expect(call_rows.map(({ time, ...row }) => row)).toEqual([
      { call: 'response', line: 'lan', unit: 1, fc: 6, address: 11, count: 1, data: '' },
      { call: 'request', line: 'lan', unit: 1, fc: 6, address: 11, count: 1, data: '' },
      { call: 'response', line: 'lan', unit: 1, fc: 3, address: 0, count: 1, data: '' },
      { call: 'request', line: 'lan', unit: 1, fc: 3, address: 0, count: 1, data: '' },
    ]);
    for (const { time } of call_rows) expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
  });

  test('every answer has the rows, whatever was asked for', async () => {
    await monitor();
    await master.askAll(READ_0);
    const expected = ['response 3 0', 'request 3 0'];
    expect(rows(await rest.calls({ submit: 'Reset' }))).toEqual(expected);
    expect(
      rows(
        await rest.calls({
          submit: 'Simulate',
          response_delay: 0,
          response_error: 0,
          response_clear_after: 1,
        }),
      ),
    ).toEqual(expected);
  });

  test('Stop keeps the rows and lists no more; Monitor then begins anew', async () => {
    await monitor({ show_hex: true, range_start: 0, range_stop: 5, function: 3 });
    await master.askAll(READ_0);
    expect(await rest.calls({ submit: 'Stop' })).toMatchObject({
      foot: 'Stopped monitoring',
      range_start: null,
      range_stop: null,
      function_show_hex_checked: false,
    });
    await master.askAll(READ_0);
    const after = await rest.calls({ submit: 'Reset' });
    expect(rows(after)).toEqual(['response 3 0', 'request 3 0']);
    expect(after.foot).toBe('not active');
    expect(after.function_codes.some(({ selected }) => selected)).toBe(false);
    expect(rows(await monitor())).toEqual([]);
  });

  test('of a long reply 1024 bytes are shown', async () => {
    await monitor({ show_hex: true });
    await rest.calls({
      submit: 'Simulate',
      response_type: 3,
      response_junk_datalen: 3000,
      response_delay: 0,
      response_error: 0,
      response_clear_after: 1,
    });
    master.send(Buffer.from(`00010000000601${READ_0}`, 'hex'));
    await until(() => master.received.length === 3000, 'all has come');
    const { call_rows } = await rest.calls({ submit: 'Reset' });
    expect(call_rows[0]?.data).toMatch(/^([0-9a-f]{2} ){1024}… 1976 more$/);
  });

  test('a request that gets no answer has no response', async () => {
    await monitor();
    await rest.calls({
      submit: 'Simulate',
      response_type: 2,
      response_delay: 0,
      response_error: 0,
      response_clear_after: 1,
    });
    master.send(Buffer.from(`000100000006010300000001`, 'hex'));
    await master.askAll(READ_10);
    expect(rows(await monitor())).toEqual(['response 3 10', 'request 3 10', 'request 3 0']);
  });

  test('a response that was never sent, because the client went away, is not listed', async () => {
    await monitor();
    await rest.calls({ submit: 'Simulate', response_delay: 60, response_error: 0, response_clear_after: 1 });
    master.send(Buffer.from(`000100000006010300000001`, 'hex'));
    await until(() => requestsOf(rest.simulator) === 1, 'the request has come');
    await master.end();
    await until(() => exchangesOf(rest.simulator).length > 0, 'the reply has ended');
    expect(rows(await monitor())).toEqual(['request 3 0']);
  });

  test('at most 1000 rows are kept, those of the newest calls', async () => {
    await monitor();
    for (let i = 0; i < 12; i++) {
      const before = master.received.length;
      master.send(Buffer.from('000100000006010300000001'.repeat(50), 'hex'));
      await until(() => master.received.length === before + 50 * 11, 'all are answered');
    }
    await master.askAll(WRITE_11);
    const { call_rows } = await monitor();
    expect(call_rows).toHaveLength(1000);
    expect(call_rows[0]).toMatchObject({ call: 'response', fc: 6 });
    expect(call_rows[999]).toMatchObject({ call: 'request', fc: 3 });
  });
});

describe('which calls are listed', () => {
  beforeEach(async () => {
    await monitor();
    await master.askAll(READ_0, READ_10, WRITE_11, COILS_16, READ_WRITE);
  });

  const requests = async (filter: object) =>
    rows(await monitor(filter)).filter((row) => row.startsWith('request'));

  test.each([
    [{}, ['request 23 40', 'request 1 16', 'request 6 11', 'request 3 10', 'request 3 0']],
    [{ function: 3 }, ['request 3 10', 'request 3 0']],
    [{ function: '3' }, ['request 3 10', 'request 3 0']],
    [{ function: 43 }, []],
    [
      { function: '', range_start: '', range_stop: '' },
      ['request 23 40', 'request 1 16', 'request 6 11', 'request 3 10', 'request 3 0'],
    ],
    [{ range_start: 11, range_stop: 11 }, ['request 6 11', 'request 3 10']],
    [{ range_start: 11 }, ['request 6 11', 'request 3 10']],
    [{ range_start: 12, range_stop: 15 }, []],
    [{ range_start: 19, range_stop: 30 }, ['request 23 40', 'request 1 16']],
    [{ range_stop: 9 }, ['request 3 0']],
    [{ range_start: 0, range_stop: 11, function: 6 }, ['request 6 11']],
  ])('%j', async (filter, expected) => {
    expect(await requests(filter)).toEqual(expected);
  });

  test('the answer shows the filter', async () => {
    const answer = await monitor({
      range_start: 3,
      range_stop: 9,
      function: 16,
      show_hex: 'on',
      show_decode: '',
    });
    expect(answer).toMatchObject({
      range_start: 3,
      range_stop: 9,
      function_show_hex_checked: true,
      function_show_decoded_checked: true,
    });
    expect(answer.function_codes.filter(({ selected }) => selected)).toEqual([
      { value: 16, text: 'write_registers', selected: true },
    ]);
  });

  test('show_hex shows the bytes on the wire, show_decode says what is asked', async () => {
    const data = async (show: object) =>
      (await monitor({ function: 6, ...show })).call_rows.map((row) => row.data);
    const hex = '0001000000060106000b0007';
    const [response, request] = await data({ show_hex: true });
    expect([response, request].map((text) => text?.replaceAll(' ', ''))).toEqual([hex, hex]);
    expect((await data({ show_decode: true }))[1]).toBe('unit 1 write single register 11: 7');
    expect((await data({ show_decode: true, show_hex: 1 }))[1]).toBe(
      `${request}; unit 1 write single register 11: 7`,
    );
    expect(await data({ show_decode: false, show_hex: false })).toEqual(['', '']);
  });

  test.each([
    [{ range_start: 5, range_stop: 4 }, 'range_stop: expected range_start or more'],
    [{ range_start: 'x' }, 'range_start: expected a whole number, 0 or more, got "x"'],
    [{ range_stop: -1 }, 'range_stop: expected a whole number, 0 or more, got -1'],
    [{ function: 'read_coils' }, 'function: expected a whole number, 0 or more, got "read_coils"'],
    [{ function: [3] }, 'function: expected a whole number, 0 or more, got a list'],
  ])('%j is refused, and the filter stays as it was', async (filter, error) => {
    const before = await monitor({ function: 6 });
    expect(await monitor(filter)).toEqual({ result: 'error', error });
    expect(await rest.calls({ submit: 'Reset' })).toEqual(before);
  });
});

test('of an ASCII line the values are told, also of what was sent before the delimiter changed', async () => {
  const { rest, client } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [1, 256] }] } } },
      lines: { text: { tcp: { port: 0 }, framing: 'ascii', units: { 1: 'meter' } } },
    }),
  );
  const master = client('text');
  const answered = async (request: string, reply: string) => {
    const before = master.received.length;
    master.send(Buffer.from(request));
    await until(() => master.received.length === before + reply.length, 'the reply has come');
    expect(master.received.subarray(before).toString()).toBe(reply);
  };
  await rest.calls({ submit: 'Monitor', show_decode: 1 });
  const read = [':010300000002FA', ':01030400010100F6'] as const;
  await answered(`${read[0]}\r\n`, `${read[1]}\r\n`);
  // Function 8/3: messages end with a semicolon from then on.
  await answered(':010800033B00B9\r\n', ':010800033B00B9\r\n');
  await answered(`${read[0]}\r;`, `${read[1]}\r;`);
  const { call_rows } = await rest.calls({ submit: 'Monitor', show_decode: 1 });
  const responses = call_rows.filter(({ call }) => call === 'response');
  const values = 'unit 1 read holding registers 0–1: 1 256';
  const changed = 'unit 1 diagnostics, change ASCII input delimiter: 3b 00';
  expect(responses.map(({ data }) => data)).toEqual([values, changed, values]);
});
