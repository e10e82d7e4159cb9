import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type RawClient, until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { exchangesOf, requestsOf } from '../../../support/exchanges.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { tries } from '../../../support/tries.js';
import type { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const REQUEST = '0001000000060103000000' + '01';
const REPLY = '0001000000050103020001';

interface Step {
  readonly kind: string;
  readonly bytes?: string;
  readonly plannedUs: number | null;
  readonly achievedUs: number | null;
  readonly uncertaintyUs: number | null;
  readonly outcome: string;
  readonly reason?: string;
}

interface Exchange {
  readonly id: number;
  readonly steps: readonly Step[];
  readonly [key: string]: unknown;
}

let rest: Rest;
let master: RawClient;

stopAfterEach();

beforeEach(async () => {
  const served = await startSimulator(SETUP);
  rest = served.rest;
  master = served.client();
});

async function exchanges(query = ''): Promise<readonly Exchange[]> {
  const answer = await rest.send<{ exchanges: readonly Exchange[] }>('GET', `/api/v1/exchanges${query}`);
  expect(answer.status).toBe(200);
  return answer.body.exchanges;
}

async function rule(...faults: object[]): Promise<void> {
  expect((await rest.send('PUT', '/api/v1/faults/rule', { do: faults })).status).toBe(200);
}

async function ask(count = 1): Promise<void> {
  const before = master.received.length;
  master.send(Buffer.from(REQUEST.repeat(count), 'hex'));
  await until(() => master.received.length === before + (count * REPLY.length) / 2, 'all are answered');
}

function plain(hex: unknown): string {
  return String(hex).replaceAll(' ', '').toLowerCase();
}

describe('the exchanges', () => {
  test('is empty at first', async () => {
    expect(await exchanges()).toEqual([]);
  });

  test('tells of a request, its reply and when that left', async () => {
    await ask();
    const [exchange] = await exchanges();
    expect(exchange).toEqual({
      id: 4,
      requestId: 3,
      time: expect.any(String),
      line: 'lan',
      client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      unit: 1,
      function: 3,
      unitId: 1,
      request: expect.any(String),
      silence: null,
      faults: [],
      omittedFaults: 0,
      steps: [
        {
          kind: 'bytes',
          bytes: expect.any(String),
          plannedUs: 0,
          achievedUs: expect.any(Number),
          endedUs: expect.any(Number),
          // What happens beyond the system call is not known.
          uncertaintyUs: null,
          outcome: 'achieved',
        },
      ],
      omittedSteps: 0,
      omittedBytes: 0,
      ended: 'complete',
    });
    expect(plain(exchange?.request)).toBe(REQUEST);
    expect(plain(exchange?.steps[0]?.bytes)).toBe(REPLY);
    expect(Number.isInteger(exchange?.steps[0]?.achievedUs)).toBe(true);
  });

  test('times are whole µs since the request: planned, and achieved not before', async () => {
    await rule({ delay: 40 }, { split: { at: 'middle', gap: 30 } });
    await ask();
    const [exchange] = await exchanges();
    expect(exchange?.faults).toEqual([
      { rule: 'rule', kind: 'delay', outcome: 'applied' },
      { rule: 'rule', kind: 'split', outcome: 'applied' },
    ]);
    const [first, second] = exchange?.steps ?? [];
    expect(first?.plannedUs).toBe(40_000);
    expect(first?.achievedUs).toBeGreaterThanOrEqual(40_000);
    expect(second?.plannedUs).toBe((first?.achievedUs ?? 0) + 30_000);
    expect(second?.achievedUs).toBeGreaterThanOrEqual(second?.plannedUs ?? Number.POSITIVE_INFINITY);
    expect(plain(first?.bytes) + plain(second?.bytes)).toBe(REPLY);
  });

  test('a reply still to come is not listed before it has ended', async () => {
    await rule({ delay: 60_000 });
    master.send(Buffer.from(REQUEST, 'hex'));
    await until(() => requestsOf(rest.simulator) === 1, 'the request has come');
    expect(await exchanges()).toEqual([]);
    await master.end();
    await until(() => exchangesOf(rest.simulator).length > 0, 'the reply has ended');
    expect(await exchanges()).toMatchObject([
      {
        ended: 'disconnected',
        steps: [
          {
            plannedUs: 60_000_000,
            achievedUs: null,
            uncertaintyUs: null,
            outcome: 'not achieved',
            reason: expect.any(String),
          },
        ],
      },
    ]);
  });

  test('a reply that nobody was there to receive was not sent', async () => {
    const { rest, path } = await startSimulator(
      nativeSetup({
        devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
        lines: { bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } } },
        faults: [{ name: 'late', do: [{ delay: 200 }] }],
      }),
    );
    const client = openSync(path('bench'), constants.O_RDWR | constants.O_NOCTTY);
    writeSync(client, Buffer.from('010300000001840a', 'hex'));
    await until(() => requestsOf(rest.simulator) === 1, 'the request has come');
    closeSync(client);
    await until(() => exchangesOf(rest.simulator).length > 0, 'the reply has ended');
    const { body } = await rest.send('GET', '/api/v1/exchanges');
    expect(body).toMatchObject({
      exchanges: [
        { ended: 'not sent', steps: [{ outcome: 'not achieved', reason: 'no client has the line open' }] },
      ],
    });
  });

  test('a silence says why, and a fault that could not act says so', async () => {
    await rule({ silence: true }, { delay: 10 });
    master.send(Buffer.from(REQUEST, 'hex'));
    await until(() => requestsOf(rest.simulator) === 1, 'the request has come');
    expect(await exchanges()).toMatchObject([
      {
        silence: expect.stringMatching(/./),
        steps: [],
        ended: 'complete',
        faults: [
          { rule: 'rule', kind: 'silence', outcome: 'applied' },
          {
            rule: 'rule',
            kind: 'delay',
            outcome: 'not achieved',
            reason: expect.stringMatching(/no reply to delay/),
          },
        ],
      },
    ]);
  });

  test('rules whose copies would multiply to more than 64 KiB: those that go too far do not act, and say so', async () => {
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) {
      const { status } = await rest.send('PUT', `/api/v1/faults/${name}`, {
        do: [{ duplicate: { times: 125 } }],
      });
      expect(status).toBe(200);
    }
    master.send(Buffer.from(REQUEST, 'hex'));
    await until(() => master.received.length === 126 * (REPLY.length / 2), 'the copies have come');
    const [exchange] = await exchanges();
    const tooLong = { outcome: 'not achieved', reason: 'the reply would be longer than 64 KiB' };
    expect(exchange?.faults).toEqual([
      { rule: 'a', kind: 'duplicate', outcome: 'applied' },
      ...names.slice(1).map((rule) => ({ rule, kind: 'duplicate', ...tooLong })),
    ]);
  });

  const each = { split: { at: 'each', gap: 0 } };

  test('a rule that would keep every line waiting is refused; what several rules would do stops at the limit', async () => {
    const unit = Array(62).fill({ unit: 5 });
    const freezing = [{ extend: 65_000 }, each, ...unit];
    expect(await rest.send('PUT', '/api/v1/faults/rule', { do: freezing })).toMatchObject({
      status: 400,
      body: {
        error: 'do: expected at most 4096 pieces per reply, got up to 65513',
        problems: [{ path: 'do', message: 'expected at most 4096 pieces per reply, got up to 65513' }],
      },
    });
    // So many pieces are made on any computer, before a clock is looked at.
    for (const [name, faults] of Object.entries({ a: [{ extend: 500 }], b: [each], c: unit, d: unit })) {
      expect((await rest.send('PUT', `/api/v1/faults/${name}`, { do: faults })).status).toBe(200);
    }
    master.send(Buffer.from(REQUEST, 'hex'));
    const length = REPLY.length / 2 + 500;
    await until(() => master.received.length === length, 'the pieces have come');
    expect((await rest.send('GET', '/healthz')).status).toBe(200);
    await until(() => exchangesOf(rest.simulator).length > 0, 'the reply has ended');
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({ ended: 'complete', omittedSteps: length - 64 });
    const faults = exchange?.faults as { readonly outcome: string; readonly reason?: string }[];
    expect(faults.slice(0, 2).map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
    const applied = faults.length - 1;
    expect(faults.at(-1)).toEqual({
      rule: 'c',
      kind: 'unit',
      outcome: 'not achieved',
      reason: `too much work for one reply: faults that did not act, counted from this one: ${2 + 2 * 62 - applied}`,
    });
  });

  test('four heavy rules: REST answers meanwhile, and what did not act is counted', async () => {
    const faults = [{ extend: 500 }, each, { unit: 5 }, { unit: 6 }];
    for (const name of ['a', 'b', 'c', 'd']) {
      expect((await rest.send('PUT', `/api/v1/faults/${name}`, { do: faults })).status).toBe(200);
    }
    const url = await rest.app.listen({ host: '127.0.0.1', port: 0 });
    master.send(Buffer.from(REQUEST, 'hex'));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await until(() => exchangesOf(rest.simulator).length > 0, 'the reply has ended');
    const [exchange] = await exchanges();
    const noted = exchange?.faults as { readonly outcome: string; readonly reason?: string }[];
    expect(noted.slice(0, 2).map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
    // How many act depends on the computer. There is no time for all of them on any.
    const untried = 4 * faults.length + 1 - noted.length;
    expect(noted.at(-1)).toMatchObject({
      outcome: 'not achieved',
      reason: `too much work for one reply: faults that did not act, counted from this one: ${untried}`,
    });
  });

  test('256 rules of 64 faults fill neither the memory nor the answer', async () => {
    for (let i = 0; i < 256; i++) {
      const made = await rest.send('PUT', `/api/v1/faults/rule-${i}`, { do: Array(64).fill({ delay: 0 }) });
      expect(made.status).toBe(200);
    }
    const count = tries(300);
    for (let i = 0; i < count; i += 10) await ask(10);
    await until(() => exchangesOf(rest.simulator).length === count, 'all have ended');
    // The first 64 faults of each would take 1.5 MB if all that did not act were noted.
    expect(rest.simulator.traffic.size).toBeLessThanOrEqual(4 * 1024 * 1024);
    const all = await exchanges('?limit=1000');
    expect(all).toHaveLength(count);
    expect(all[0]?.faults).toHaveLength(64);
    // At least 80 act, also where a computer takes long for them.
    expect(all[0]?.omittedFaults).toBeGreaterThan(0);
    const shown = all[0]?.faults as readonly { readonly reason?: string }[];
    expect(shown.at(-1)?.reason).toMatch(
      /^too much work for one reply: faults that did not act, counted from this one: \d+$/,
    );
    expect(JSON.stringify(all).length).toBeLessThan(4_000_000);
  });

  test('64 steps are shown, of the others the number', async () => {
    await rule({ extend: 100 }, { split: { at: 'each', gap: 0 } });
    master.send(Buffer.from(REQUEST, 'hex'));
    const length = REPLY.length / 2 + 100;
    await until(() => master.received.length === length, 'all has come');
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({ omittedSteps: length - 64, ended: 'complete' });
    expect(exchange?.steps).toHaveLength(64);
    expect(plain(exchange?.steps.map(({ bytes }) => bytes).join(''))).toBe(
      master.received.subarray(0, 64).toString('hex'),
    );
  });

  test('1024 bytes are shown, of the others the number', async () => {
    await rule({ junk: 3000 }, { split: { at: 1000, gap: 0 } });
    master.send(Buffer.from(REQUEST, 'hex'));
    await until(() => master.received.length === 3000, 'all has come');
    const [exchange] = await exchanges();
    expect(exchange).toMatchObject({ omittedSteps: 0, omittedBytes: 3000 - 1024 });
    expect(exchange?.steps.map(({ bytes }) => plain(bytes).length / 2)).toEqual([1000, 24]);
    expect(plain(exchange?.steps.map(({ bytes }) => bytes).join(''))).toBe(
      master.received.subarray(0, 1024).toString('hex'),
    );
  });

  test('a close is a step of its own', async () => {
    await rule({ close: { how: 'end', after: 4 } });
    master.send(Buffer.from(REQUEST, 'hex'));
    await until(() => master.closed, 'the connection is closed');
    const [exchange] = await exchanges();
    expect(exchange?.steps.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['bytes', 'achieved'],
      ['close', 'achieved'],
    ]);
    expect(plain(exchange?.steps[0]?.bytes)).toBe(REPLY.slice(0, 8));
  });
});

describe('which exchanges are told', () => {
  const ids = async (query: string) => (await exchanges(query)).map(({ id }) => id);

  interface Page {
    readonly exchanges: readonly Exchange[];
    readonly next: number;
    readonly first: number;
    readonly last: number;
    readonly missed: number;
  }

  const page = async (query: string) => (await rest.send<Page>('GET', `/api/v1/exchanges${query}`)).body;

  test('the newest ones, the oldest of them first; with `after` those that follow it', async () => {
    await ask(5);
    const all = await ids('');
    expect(all).toHaveLength(5);
    expect(all).toEqual([...all].sort((a, b) => a - b));
    expect(await ids('?limit=2')).toEqual(all.slice(3));
    expect(await ids(`?after=${all[2]}`)).toEqual(all.slice(3));
    expect(await ids(`?after=${all[0]}&limit=1`)).toEqual([all[1]]);
    expect(await ids(`?after=${all[4]}`)).toEqual([]);
    expect(await ids('?after=999999999')).toEqual([]);
  });

  test('`next` leads from page to page, and none is skipped or told twice', async () => {
    await ask(5);
    const told: number[] = [];
    let after = 0;
    for (let i = 0; i < 3; i++) {
      const { exchanges, next, missed } = await page(`?limit=2&after=${after}`);
      expect(missed).toBe(0);
      told.push(...exchanges.map(({ id }) => id));
      after = next;
      await ask();
    }
    expect(told).toEqual((await ids('?after=0')).slice(0, 6));
  });

  test('100 unless more are asked for, at most 1000', async () => {
    for (let i = 0; i < 21; i++) await ask(50);
    expect(await ids('')).toHaveLength(100);
    const all = await ids('?limit=1000');
    expect(all).toHaveLength(1000);
    expect(await ids('?limit=1000&after=0')).toHaveLength(1000);
    expect((await page('?limit=1')).last).toBe(all.at(-1));
  });

  test('those of a unit, of a function, and those on which a rule acted', async () => {
    await ask();
    await rule({ delay: 1 });
    await ask();
    const [, second] = await ids('');
    expect(await ids('?rule=rule')).toEqual([second]);
    expect(await ids('?unit=1&function=3')).toHaveLength(2);
    expect(await ids('?unit=2')).toEqual([]);
  });

  const LIMIT = 'a whole number from 1 to 1000';
  const AFTER = 'the identifier of an exchange, 0 or more';

  test.each([
    ['limit=0', 'limit', `${LIMIT}, got 0`],
    ['limit=1001', 'limit', `${LIMIT}, got 1001`],
    ['limit=1.5', 'limit', `${LIMIT}, got 1.5`],
    ['limit=all', 'limit', `${LIMIT}, got "all"`],
    ['limit=', 'limit', `${LIMIT}, got ""`],
    ['limit=1&limit=2', 'limit', `${LIMIT}, got a list`],
    ['after=-1', 'after', `${AFTER}, got -1`],
    ['after=x', 'after', `${AFTER}, got "x"`],
    ['after=', 'after', `${AFTER}, got ""`],
    ['after=1e400', 'after', `${AFTER}, got "1e400"`],
  ])('?%s gets status 400', async (query, path, expected) => {
    expect(await rest.send('GET', `/api/v1/exchanges?${query}`)).toMatchObject({
      status: 400,
      body: {
        error: `${path}: expected ${expected}`,
        problems: [{ path, message: `expected ${expected}` }],
      },
    });
  });
});

describe('a request that waits', () => {
  const WRITE = '000200000006010600000007';
  const READ_COIL = '000300000006010100000001';
  const waiting = (query: string) => exchanges(`?wait=20s&${query}`);

  test('is answered by the exchange that it waits for, and not by another', async () => {
    const written = waiting('function=6');
    const read = waiting('function=3');
    await ask();
    expect(await Promise.race([read, written])).toMatchObject([{ function: 3 }]);
    master.send(Buffer.from(WRITE, 'hex'));
    expect(await written).toMatchObject([{ function: 6 }]);
  });

  test('is answered at once when there is one already, and waits for another one after it', async () => {
    await ask();
    const [first] = await waiting('function=3');
    const second = waiting(`function=3&after=${first?.id}`);
    await ask();
    const found = await second;
    expect(found).toHaveLength(1);
    expect(found[0]?.id).toBeGreaterThan(first?.id ?? 0);
  });

  test('does not miss what comes after a number that is not reached yet', async () => {
    const found = waiting('after=1000000');
    await ask();
    expect(await found).toMatchObject([{ function: 3 }]);
  });

  test('is answered with nothing when its time is over, and not before', async () => {
    const begin = performance.now();
    expect(await exchanges('?wait=60ms')).toEqual([]);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(59);
  });

  test('waits for events of the traffic, too', async () => {
    const found = rest.send<{ events: readonly object[] }>('GET', '/api/v1/traffic?wait=20s&kind=reply');
    await ask();
    expect((await found).body.events).toMatchObject([{ kind: 'reply' }]);
  });

  test('waits no longer than a connection without an answer lasts', async () => {
    const { status, body } = await rest.send('GET', '/api/v1/exchanges?wait=21s');
    expect(status).toBe(400);
    expect(body).toMatchObject({ problems: [{ path: 'wait' }] });
  });

  test('is one of sixteen at most, all of which ask the side of the lines once', async () => {
    const { traffic } = rest.local.desk;
    const next = vi.spyOn(traffic, 'next');
    const before = traffic.last;
    const all = Array.from({ length: 16 }, () => waiting('function=1'));
    await expect.poll(() => next.mock.calls.length).toBeGreaterThan(0);
    const { status, body } = await rest.send('GET', '/api/v1/exchanges?wait=20s&function=1');
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'readers.too_many' });
    // Those who do not wait are answered all the same.
    expect(await exchanges('?function=1')).toEqual([]);
    master.send(Buffer.from(READ_COIL, 'hex'));
    expect((await Promise.all(all)).flat()).toHaveLength(16);
    expect(next.mock.calls.length).toBeLessThanOrEqual(1 + traffic.last - before);
    expect(await waiting('function=1')).toHaveLength(1);
  });
});
