import { beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { csvOf } from '../../../../src/remote/api/v1/traffic.js';
import { trafficViewSchema } from '../../../../src/simulator/traffic/view-schema.js';
import type { RawClient } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import type { Rest } from '../rest.js';

type View = z.infer<typeof trafficViewSchema>;

interface Page {
  readonly events: readonly View[];
  readonly next: number;
  readonly first: number;
  readonly last: number;
  readonly missed: number;
}

const meter = {
  registers: {
    holding: [
      { address: 0, value: [1, 2, 3], write: true },
      { address: 10, type: 'uint32', value: 230, name: 'voltage', unit: 'V' },
    ],
  },
};

const SETUP = {
  ...nativeSetup({
    devices: { meter },
    lines: {
      lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
      'second, line': { tcp: { port: 0 }, units: { 2: 'meter' } },
    },
  }),
  traffic: { events: 50, bytes: 64 * 1024 * 1024 },
};

let rest: Rest;
let master: RawClient;

stopAfterEach();

beforeEach(async () => {
  const served = await startSimulator(SETUP);
  rest = served.rest;
  master = served.client();
});

async function page(query = ''): Promise<Page> {
  const { status, body } = await rest.send<Page>('GET', `/api/v1/traffic${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  for (const event of body.events) expect(trafficViewSchema.strict().parse(event)).toEqual(event);
  return body;
}

const kinds = ({ events }: Page) => events.map(({ kind }) => kind);
const texts = ({ events }: Page) => events.map(({ text }) => text);

const READ_0 = '0300000001';
const READ_10 = '03000a0002';
const READ_99 = '0300630001';
const WRITE_1 = '0600010007';

describe('the traffic', () => {
  test('has on request only what went wrong', async () => {
    await rest.send('POST', '/api/v1/faults', {
      name: 'mute',
      when: { address: 10 },
      do: [{ silence: true }],
    });
    await rest.send('POST', '/api/v1/faults', { name: 'late', when: { address: 2 }, do: [{ delay: 1 }] });
    await master.askAll('0300000001', READ_99, '0300020001');
    master.send(Buffer.from(`00010000000601${READ_10}`, 'hex'));
    await expect.poll(async () => (await page('?problems=true')).events.length).toBe(3);
    expect(texts(await page('?problems=true'))).toEqual([
      'unit 1 read holding registers 99: exception 02 illegal data address (99 not defined)',
      'unit 1 read holding registers 2: 3',
      expect.stringContaining('no reply'),
    ]);
    expect((await page('?problems=false')).events.length).toBeGreaterThan(3);
    expect((await rest.send('GET', '/api/v1/traffic?problems=yes')).status).toBe(400);
  });

  test('has everything that passed the lines, the oldest first', async () => {
    await master.askAll(READ_10, READ_99, WRITE_1);
    const { events, ...rest } = await page();
    expect(
      events.map(({ seq, kind, direction, text }) => [seq, kind, direction, text.replace(/:\d{4,5}$/, '')]),
    ).toEqual([
      [1, 'line', 'none', 'line open: 127.0.0.1'],
      [2, 'line', 'none', 'line open: 127.0.0.1'],
      [3, 'client', 'none', 'client'],
      [4, 'request', 'in', 'unit 1 read holding registers 10–11'],
      [5, 'reply', 'out', 'unit 1 read holding registers 10–11: voltage 230 V'],
      [6, 'request', 'in', 'unit 1 read holding registers 99'],
      [
        7,
        'reply',
        'out',
        'unit 1 read holding registers 99: exception 02 illegal data address (99 not defined)',
      ],
      [8, 'request', 'in', 'unit 1 write single register 1: 7'],
      [9, 'reply', 'out', 'unit 1 write single register 1: 7'],
    ]);
    expect(rest).toEqual({ next: 9, first: 1, last: 9, missed: 0 });
  });

  test('tells of a request when it came, what it asks, and by which name; of the reply what became of it', async () => {
    expect((await rest.send('PUT', '/api/v1/faults/slow', { do: [{ delay: 5 }] })).status).toBe(200);
    await master.askAll(READ_10);
    const [request, reply] = (await page('?function=3')).events as [View, View];
    const common = {
      line: 'lan',
      unit: 1,
      function: 3,
      name: 'read holding registers',
      address: 10,
      quantity: 2,
    };
    expect(request).toMatchObject({
      ...common,
      seq: 4,
      kind: 'request',
      direction: 'in',
      names: ['meter.voltage'],
    });
    expect(request.bytes).toBe('00 01 00 00 00 06 01 03 00 0a 00 02');
    expect(request.client).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(request.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Number.isInteger(request.monotonicUs)).toBe(true);
    // Nothing was on the line before, and characters take no time on a socket.
    expect(request.pauseUs).toBeNull();
    expect(request).not.toHaveProperty('pauseCharacters');
    expect(reply).toMatchObject({
      ...common,
      kind: 'reply',
      direction: 'out',
      request: 4,
      values: [0, 230],
      text: 'unit 1 read holding registers 10–11: voltage 230 V',
      faults: [{ rule: 'slow', kind: 'delay', outcome: 'applied' }],
      ended: 'complete',
      steps: [{ plannedUs: 5000, outcome: 'achieved' }],
    });
    expect(reply.responseTimeUs).toBeGreaterThanOrEqual(5000);
    // Each of the three is rounded to a µs of its own.
    const elapsed = reply.monotonicUs - request.monotonicUs;
    expect(Math.abs((reply.responseTimeUs ?? 0) - elapsed)).toBeLessThanOrEqual(1);
  });

  test('a confirmed write is told as such, a refused one is not', async () => {
    await master.askAll(WRITE_1, '0600630001', '17000000010001000102' + '0009');
    const { events } = await page('?kind=reply');
    expect(events.map(({ written }) => written)).toEqual([
      { table: 'holding', address: 1, values: [7] },
      undefined,
      { table: 'holding', address: 1, values: [9] },
    ]);
  });
});

describe('filters', () => {
  beforeEach(() => master.askAll(READ_0, READ_10, WRITE_1));

  test.each([
    ['line=lan', 8],
    ['line=second,+line', 1],
    ['line=lan&line=second,+line', 9],
    ['unit=1', 6],
    ['unit=2,3', 0],
    ['unit=0-5', 6],
    ['function=6', 2],
    ['function=3,6', 6],
    ['function=1-3', 4],
    ['address=11', 2],
    ['address=2-9', 0],
    ['address=0,1', 4],
    ['direction=in', 3],
    ['direction=in,out', 6],
    ['kind=line', 2],
    ['kind=request,client', 4],
    ['kind=request&kind=reply', 6],
    ['kind=foreign+request', 0],
    ['rule=none', 0],
    ['rule=none,other', 0],
    ['since=1m', 9],
    ['since=2100-01-01', 0],
    ['until=2001-01-01T00:00:00Z', 0],
    ['direction=in&function=3&address=10', 1],
  ])('?%s finds %i', async (query, count) => {
    expect((await page(`?${query}`)).events).toHaveLength(count);
  });

  test('several rules, separated by commas, are any of these', async () => {
    await rest.send('POST', '/api/v1/faults', { name: 'r1', do: { delay: 1 } });
    await master.askAll(READ_0);
    for (const query of ['rule=r1', 'rule=r1,r2', 'rule=r2&rule=r1', 'filter=rule%3Dr1,r2'])
      expect((await page(`?${query}`)).events).toHaveLength(1);
  });

  test('the time of an event as `since` and `until` finds that event, to the µs', async () => {
    const { events } = await page();
    const { time, seq } = events[5] as View;
    const found = (await page(`?since=${time}&until=${time}`)).events;
    expect(found.map((each) => each.seq)).toContain(seq);
  });

  test.each([
    ['unit=1 addr=10', ['request', 'reply']],
    ['value voltage>200', ['reply']],
    ['value meter.voltage=230', ['reply']],
    ['value voltage>230', []],
    ['value holding>1', []],
    ['name=voltage,other not kind=request', ['reply']],
    ['device=meter direction=in fc=3 not addr=0-9,99', ['request']],
    ['exception=address', ['reply']],
    ['line="second, line"', ['line']],
    ['kind=reply late<1h not problem addr=0', ['reply']],
  ])('one text: %s', async (text, expected) => {
    await master.askAll(READ_99);
    const query = new URLSearchParams({ filter: text });
    expect(kinds(await page(`?${query}`))).toEqual(expected);
    const found = await rest.send<{ readonly exchanges: readonly object[] }>(
      'GET',
      `/api/v1/exchanges?${query}`,
    );
    expect(found.body.exchanges.length).toBe(expected.filter((kind) => kind === 'reply').length);
  });

  test('a text and other parameters have to match, all of them', async () => {
    expect(kinds(await page('?filter=fc%3D3&address=10&direction=in'))).toEqual(['request']);
  });

  test.each([
    ['lines=lan', 'lines', /^unknown key "lines", did you mean "line"\?/],
    ['line=lam', 'line', /^unknown line "lam", did you mean "lan"\?/],
    ['unit=256', 'unit', /^expected a unit identifier from 0 to 255, or a range such as 1-9, got "256"$/],
    ['unit=9-1', 'unit', /^expected a unit identifier/],
    ['unit=', 'unit', /got ""$/],
    ['function=reed', 'function', /^expected a function code from 0 to 127/],
    ['address=65536', 'address', /^expected an address from 0 to 65535/],
    ['direction=up', 'direction', /^unknown direction "up"/],
    ['kind=requests', 'kind', /^unknown kind "requests", did you mean "request"\?/],
    [
      'filter=unt%3D1',
      'filter',
      /^expected a field: line, unit, .*, got "unt=1" \(at character 1 of the filter\)$/,
    ],
    [
      'filter=fc%3D3 line%3Dlam',
      'filter',
      /^unknown line "lam", did you mean "lan"\?.* \(at character 11 of the filter\)$/,
    ],
    ['filter=late%3E', 'filter', /^expected a comparison with a time, such as >50ms, got the end/],
    [`filter=${'x'.repeat(1001)}`, 'filter', /^expected a filter of at most 1000 characters/],
    ['since=yesterday', 'since', /^expected a time such as .*, got "yesterday"$/],
    ['until=2026-13-99', 'until', /^expected a time/],
    ['limit=0', 'limit', /^expected a whole number from 1 to 100000, got 0$/],
    ['after=-1', 'after', /^expected a sequence number, 0 or more, got -1$/],
    ['format=xml', 'format', /xml/],
  ])('?%s gets status 400, which names it', async (query, path, message) => {
    const { status, body } = await rest.send('GET', `/api/v1/traffic?${query}`);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { problems: [{ path, message: expect.stringMatching(message) }] },
    });
  });
});

describe('paging', () => {
  test('the newest ones without `after`, as many as `limit`', async () => {
    await master.askAll(READ_0, READ_10);
    expect(texts(await page('?limit=1'))).toEqual(['unit 1 read holding registers 10–11: voltage 230 V']);
    expect(kinds(await page('?limit=2&kind=line,client'))).toEqual(['line', 'client']);
    expect(await page('?kind=collision')).toEqual({ events: [], next: 7, first: 1, last: 7, missed: 0 });
  });

  test('forward while traffic flows: nothing is skipped or told twice', async () => {
    const told: number[] = [];
    let after = 0;
    for (let i = 0; i < 8; i++) {
      await master.askAll(READ_0, READ_10);
      const { events, next, missed } = await page(`?limit=3&after=${after}`);
      expect(missed).toBe(0);
      told.push(...events.map(({ seq }) => seq));
      after = next;
    }
    expect(told).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
  });

  test('`next` passes over what a filter does not want', async () => {
    await master.askAll(READ_0, READ_10);
    const { next } = await page('?after=0&kind=line');
    expect(next).toBe(7);
  });

  test('what was given up before it could be read is counted', async () => {
    for (let i = 0; i < 40; i++) await master.askAll(READ_0);
    const { first, last, missed, events } = await page('?after=10');
    expect([first, last]).toEqual([34, 83]);
    expect(missed).toBe(23);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => 34 + i));
    expect((await page('')).missed).toBe(0);
  });

  test('an `after` that is not reached yet begins after the newest one', async () => {
    expect(await page('?after=1000')).toMatchObject({ events: [], missed: 0 });
    expect((await page('?after=1000')).next).toBe((await page()).last);
  });
});

test('DELETE forgets everything, and the numbers go on', async () => {
  await master.askAll(READ_0);
  expect((await rest.send('DELETE', '/api/v1/traffic')).status).toBe(204);
  expect(await page()).toEqual({ events: [], next: 5, first: 6, last: 5, missed: 0 });
  await master.askAll(READ_0);
  expect((await page('?after=0')).missed).toBe(5);
  expect((await page()).events.map(({ seq }) => seq)).toEqual([6, 7]);
});

describe('formats', () => {
  const get = (query: string, accept = '*/*') =>
    rest.app.inject({
      method: 'GET',
      url: `/api/v1/traffic${query}`,
      headers: { host: 'localhost', accept },
    });

  test.each([
    ['?format=ndjson', '*/*'],
    ['', 'application/x-ndjson'],
    ['', 'text/html, application/x-ndjson;q=0.9'],
  ])('NDJSON is asked for by %s, Accept: %s', async (query, accept) => {
    await master.askAll(READ_0);
    const { headers, body } = await get(query, accept);
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as View);
    expect(lines).toEqual((await page()).events);
  });

  test('NDJSON tells where events are missing', async () => {
    for (let i = 0; i < 40; i++) await master.askAll(READ_0);
    const { body } = await get('?format=ndjson&after=10&limit=1');
    const [gap, event] = body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(gap).toEqual({ kind: 'left out', count: 23, text: '23 left out' });
    expect(event).toMatchObject({ seq: 34 });
  });

  test('CSV has a header, and quotes what needs it', async () => {
    expect((await rest.send('PUT', '/api/v1/faults/slow', { do: [{ delay: 1 }] })).status).toBe(200);
    await master.askAll(READ_0);
    const { headers, body } = await get('', 'text/csv');
    expect(headers['content-type']).toMatch(/^text\/csv/);
    const [header, , second, , request, reply] = body.split('\r\n');
    expect(header).toMatch(/^seq,line,kind,direction,time,.*,text,host$/);
    expect(second).toMatch(/^2,"second, line",line,none,/);
    expect(request).toMatch(/^4,lan,request,in,.*,unit 1 read holding registers 0,$/);
    expect(reply).toContain(',slow: delay,complete,');
    expect(csvOf([{ text: 'said "no"' }])).toMatch(/,"said ""no""",\r\n$/);
  });
});
