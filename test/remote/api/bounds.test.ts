import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { At } from '../../../src/common/schema/at.js';
import { Findings } from '../../../src/common/schema/findings.js';
import { bounded } from '../../../src/common/schema/parts.js';
import { conditionSchema } from '../../../src/device/faults/condition.js';
import { nativeSetup } from '../../support/configuration.js';
import { Rest } from './rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const unknownKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, 0]));

let rest: Rest;

beforeEach(() => {
  rest = new Rest(SETUP);
});

interface Refused {
  readonly error: string;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  readonly omittedProblems?: number;
}

describe('of many mistakes the first 20 are told, and how many there are besides', () => {
  test('in a fault rule', async () => {
    const rule = { name: 'n', do: [{ delay: 1 }], ...unknownKeys(1500) };
    const { status, body } = await rest.send<Refused>('POST', '/api/v1/faults', rule);
    expect(status).toBe(400);
    expect(body.problems).toHaveLength(20);
    expect(body.problems[19]).toMatchObject({ path: 'key19' });
    expect(body.omittedProblems).toBe(1480);
  });

  test('in a setting of a line', async () => {
    const { body } = await rest.send<Refused>('PUT', '/api/v1/lines/lan', { tcp: unknownKeys(30) });
    expect(body.problems.map(({ path }) => path)).toEqual(
      Array.from({ length: 20 }, (_, i) => `tcp.key${i}`),
    );
    expect(body.omittedProblems).toBe(10);
  });

  test('in what /restapi is asked', async () => {
    const body = { submit: 'Set', line: 'lan', ...unknownKeys(100) };
    const answer = await rest.send<{ error: string }>('POST', '/restapi/server', body);
    const mistakes = answer.body.error.split('; ');
    expect(mistakes).toHaveLength(21);
    expect(mistakes[0]).toContain('key0: unknown key "key0"');
    expect(mistakes[20]).toBe('and 80 more');
  });

  test('20 are told without such a word', async () => {
    const rule = { name: 'n', do: [{ delay: 1 }], ...unknownKeys(20) };
    const { body } = await rest.send<Refused>('POST', '/api/v1/faults', rule);
    expect(body.problems).toHaveLength(20);
    expect(body).not.toHaveProperty('omittedProblems');
  });
});

describe('a list that is too long is refused before its elements are looked at', () => {
  /** A list that counts how often its elements are looked at. */
  function watchedList(length: number): { list: unknown[]; looks: () => number } {
    let looks = 0;
    const list = new Proxy(new Array<unknown>(length).fill(-1), {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
        return Reflect.get(target, key, receiver);
      },
    });
    return { list, looks: () => looks };
  }

  function mistakes(schema: z.ZodType, value: unknown): string[] {
    const findings = new Findings();
    new At(value, findings).check(schema);
    return findings.listed.map(({ path, message }) => `${path.join('.')}: ${message}`);
  }

  test.each(['line', 'unit', 'function', 'address', 'name', 'quantity'])('%s of a condition', (key) => {
    const { list, looks } = watchedList(257);
    expect(mistakes(conditionSchema, { [key]: list })).toEqual([
      `${key}: expected at most 256 of them, got 257`,
    ]);
    expect(looks()).toBe(0);
  });

  test('any list with a bound; one that is short enough is looked at', () => {
    const schema = bounded(
      z.array(z.number({ error: 'a number' }).min(0, { error: 'a number' })),
      3,
      'numbers',
    );
    const long = watchedList(4);
    expect(mistakes(schema, long.list)).toEqual([': expected at most 3 numbers, got 4']);
    expect(long.looks()).toBe(0);
    const short = watchedList(3);
    expect(mistakes(schema, short.list)).toHaveLength(3);
    expect(short.looks()).toBeGreaterThan(0);
    expect(z.encode(schema, [1])).toEqual([1]);
  });

  test('units of a line, by the number of their entries', async () => {
    const units = unknownKeys(513);
    expect(await rest.send('PUT', '/api/v1/lines/lan', { units })).toMatchObject({
      status: 400,
      body: { error: 'units: expected at most 512 entries, got 513' },
    });
    expect(await rest.send('POST', '/restapi/server', { submit: 'Set', line: 'lan', units })).toMatchObject({
      body: { error: 'units: expected at most 512 entries, got 513' },
    });
  });
});
