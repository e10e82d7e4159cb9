import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { FailedAttempts } from '../../../../src/remote/api/access/access.js';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const TOKEN = '6b6e0c2f9ad94b7c8d3f1d5ab7e4f210';

describe('wrong tokens of an address', () => {
  /** A REST interface, what it logs, and how it answers a token that comes from an address. */
  function withLog() {
    const logged: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
    const rest = new Rest(SETUP, { host: '127.0.0.1', token: TOKEN }, log);
    const send = (token: string, remoteAddress: string) =>
      rest.app.inject({
        url: '/api/v1/lines',
        headers: { host: 'localhost', authorization: `Bearer ${token}` },
        remoteAddress,
      });
    return { rest, logged, send };
  }

  test('get status 401 ten times a minute, and 429 from then on, which is logged once', async () => {
    const { logged, send } = withLog();
    for (let i = 0; i < 10; i++) expect((await send(`wrong-${i}`, '192.0.2.7')).statusCode).toBe(401);
    expect(logged).toEqual([]);
    for (let i = 0; i < 100; i++) {
      const { statusCode, headers, body } = await send(`wrong-${i}`, '192.0.2.7');
      expect(statusCode).toBe(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(body)).toMatchObject({
        title: 'Too Many Requests',
        detail: 'Authorization: more than 10 wrong tokens within 60 s from this address',
      });
    }
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] as string)).toMatchObject({
      address: '192.0.2.7',
      msg: 'more than 10 wrong tokens within 60 s',
    });
    expect(logged[0]).not.toContain('wrong-');
  });

  test('keep nobody out who has the right one, there or elsewhere', async () => {
    const { send } = withLog();
    for (let i = 0; i < 20; i++) await send('wrong', '192.0.2.7');
    expect((await send(TOKEN, '192.0.2.7')).statusCode).toBe(200);
    expect((await send(TOKEN, '192.0.2.8')).statusCode).toBe(200);
    expect((await send('wrong', '192.0.2.8')).statusCode).toBe(401);
    expect((await send('wrong', '192.0.2.7')).statusCode).toBe(429);
  });

  test('are counted when logging in too', async () => {
    const { rest } = withLog();
    const statuses = [];
    for (let i = 0; i < 12; i++) {
      statuses.push((await rest.send('POST', '/api/v1/session', { token: `wrong-${i}` })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await rest.send('POST', '/api/v1/session', { token: TOKEN })).status).toBe(200);
  });

  test('are not those of a client that sends none', async () => {
    const { rest } = withLog();
    for (let i = 0; i < 20; i++) expect((await rest.send('GET', '/api/v1/lines')).status).toBe(401);
  });

  test('by the thousand, from thousands of addresses, leave the registers and the right token alone', async () => {
    const { rest, send } = withLog();
    for (let i = 0; i < 5000; i++) await send(`wrong-${i}`, `2001:db8:${(i % 2500).toString(16)}::1`);
    expect((await send(TOKEN, '2001:db8::1')).statusCode).toBe(200);
    const body = { submit: 'Register' };
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await rest.send('POST', '/restapi/registers', body, headers);
    expect(answer.body).toMatchObject({ register_rows: [{ value: '1', count_read: '0' }] });
  });
});

describe('the memory of wrong tokens', () => {
  test('begins anew a minute after the first one', () => {
    let now = 0;
    const failures = new FailedAttempts(() => now);
    expect(failures.add('a')).toEqual({ count: 1, secondsLeft: 60 });
    now = 59_999;
    expect(failures.add('a')).toEqual({ count: 2, secondsLeft: 1 });
    now = 60_000;
    expect(failures.add('a')).toEqual({ count: 1, secondsLeft: 60 });
  });

  test('has room for 1,000 addresses, and forgets the one that began first', () => {
    const failures = new FailedAttempts(() => 0);
    for (let i = 0; i < 1000; i++) failures.add(`address ${i}`);
    expect(failures.add('address 999').count).toBe(2);
    failures.add('one more');
    expect(failures.add('address 1').count).toBe(2);
    expect(failures.add('address 0').count).toBe(1);
  });

  test.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::1'],
    ['2001:DB8::1', '2001:db8::2'],
    ['fe80::1:2:3:4', 'fe80::'],
    ['::1', '::2'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('takes %s and %s for one client', (one, other) => {
    const failures = new FailedAttempts(() => 0);
    failures.add(one);
    expect(failures.add(other).count).toBe(2);
  });

  test.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:db8:1::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
  ])('tells %s from %s', (one, other) => {
    const failures = new FailedAttempts(() => 0);
    failures.add(one);
    expect(failures.add(other).count).toBe(1);
  });
});
