import { beforeEach, describe, expect, test } from 'vitest';
import type { RawClient } from '../../modbus/transport/socket/raw-client.js';
import type { Rest } from '../../remote/api/rest.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

interface LogRow {
  readonly index: number;
  readonly time: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

interface LogBody {
  readonly result: string;
  readonly error?: string;
  readonly footer: string;
  readonly log_rows: readonly LogRow[];
}

let rest: Rest;
let master: RawClient;

stopAfterEach();

beforeEach(async () => {
  const served = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, quantity: 20, write: true }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    }),
  );
  rest = served.rest;
  master = served.client();
  await master.askAll('0300000001', '06000b0007');
});

async function log(submit: string, fields: object = {}): Promise<LogBody> {
  return (await rest.send<LogBody>('POST', '/restapi/log', { submit, ...fields })).body;
}

const indices = ({ log_rows }: LogBody) => log_rows.map(({ index }) => index);

test('Download lists everything that is kept, the oldest first', async () => {
  const { log_rows, ...others } = await log('Download');
  expect(others).toEqual({ result: 'ok', footer: 'All recorded events, oldest first' });
  expect(log_rows.map(({ kind }) => kind)).toEqual([
    'line',
    'client',
    'request',
    'reply',
    'request',
    'reply',
  ]);
  const { time, ...row } = log_rows[4] as LogRow;
  expect(row).toEqual({
    index: 5,
    line: 'lan',
    kind: 'request',
    direction: 'in',
    unit: 1,
    fc: 6,
    address: 11,
    count: 1,
    data: '00 01 00 00 00 06 01 06 00 0b 00 07',
    text: 'unit 1 write single register 11: 7',
  });
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
  expect(log_rows[0]).toMatchObject({ unit: null, fc: null, address: null, count: null, data: '' });
});

test.each([
  [{ line: 'lan', unit: 1, function: 6 }, [5, 6]],
  [{ line: '', unit: '', function: '3', direction: '' }, [3, 4]],
  [{ range_start: 11 }, [5, 6]],
  [{ range_start: 1, range_stop: 10 }, []],
  [{ range_stop: 10 }, [3, 4]],
  [{ direction: 'out' }, [4, 6]],
  [{ since: '2001-01-01T00:00:00Z', kind: 'ignored' }, [1, 2, 3, 4, 5, 6]],
  [{ since: '2100-01-01T00:00:00Z' }, []],
  [{ since: '5m', unit: 1, function: 3 }, [3, 4]],
])('%j selects rows', async (filter, expected) => {
  expect(indices(await log('Download', filter))).toEqual(expected);
});

test('Monitor lists what passes from now on, the newest first, until Stop', async () => {
  expect(await log('Stop')).toEqual({ result: 'ok', footer: 'Stopped monitoring', log_rows: [] });
  expect(await log('Monitor', { function: 3 })).toEqual({
    result: 'ok',
    footer: 'Monitoring active',
    log_rows: [],
  });
  await master.askAll('0300000001', '06000b0007');
  expect(indices(await log('Monitor', { function: 3 }))).toEqual([8, 7]);
  expect(indices(await log('Monitor'))).toEqual([10, 9, 8, 7]);
  expect(indices(await log('Stop'))).toEqual([10, 9, 8, 7]);
  await master.askAll('0300000001');
  expect(indices(await log('Stop'))).toEqual([10, 9, 8, 7]);
  expect(indices(await log('Monitor'))).toEqual([]);
});

test('Clear forgets all rows', async () => {
  expect(await log('Clear')).toEqual({ result: 'ok', footer: 'Log cleared', log_rows: [] });
  expect(indices(await log('Download'))).toEqual([]);
});

describe('wrong requests', () => {
  test.each([
    ['Erase', {}, /^submit: .*Download/],
    ['Download', { unit: 'x' }, /^unit: expected a whole number, 0 or more, got "x"$/],
    ['Monitor', { line: 'lam' }, /^line: unknown line "lam", did you mean "lan"\?/],
    ['Download', { direction: 'up' }, /^direction: /],
    ['Download', { since: 'yesterday' }, /^since: expected a time such as .*, got "yesterday"$/],
    ['Download', { range_start: 5, range_stop: 4 }, /^range_stop: expected range_start or more$/],
  ])('%s %j are answered with what is wrong', async (submit, fields, error) => {
    expect(await log(submit, fields)).toEqual({ result: 'error', error: expect.stringMatching(error) });
  });
});
