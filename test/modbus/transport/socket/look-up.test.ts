import type { LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { boundedLookup } from '../../../../src/modbus/transport/socket/listen.js';

type Found = Parameters<LookupFunction>[2];

/** Name servers that answer when the test says so. */
function newNameServers() {
  const asked: { readonly name: string; readonly found: Found }[] = [];
  const find: LookupFunction = (name, _, found) => void asked.push({ name, found });
  return { asked, find };
}

function lookUpWith(lookup: LookupFunction) {
  return promisify<string, string>((name, done) =>
    lookup(name, {}, (error, address) => done(error, String(address))),
  );
}

test('a name that is not found in time is given up', async () => {
  const { find } = newNameServers();
  const hung = lookUpWith(boundedLookup(find, 10))('plc.example');
  await expect(hung).rejects.toMatchObject({
    code: 'ETIMEOUT',
    message: 'plc.example could not be looked up within 0.01 s',
  });
});

test('however often a name is asked for that hangs, the system looks it up once', async () => {
  const { asked, find } = newNameServers();
  const lookUp = lookUpWith(boundedLookup(find, 10));
  for (let i = 0; i < 5; i++) await expect(lookUp('plc.example')).rejects.toThrow();
  const last = lookUp('plc.example');
  expect(asked).toHaveLength(1);
  asked[0]?.found(null, '192.0.2.1', 4);
  expect(await last).toBe('192.0.2.1');
  lookUp('plc.example').catch(() => {});
  expect(asked).toHaveLength(2);
});

test('at most 16 names are looked up at the same time, and more are refused at once', async () => {
  const { asked, find } = newNameServers();
  const lookUp = lookUpWith(boundedLookup(find));
  const under = Array.from({ length: 16 }, (_, i) => lookUp(`plc${i}.example`));
  await expect(lookUp('one-more.example')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  for (const { found } of asked) found(null, '192.0.2.1', 4);
  await Promise.all(under);
});

test('an IP address does not wait for names that hang', () => {
  const { asked, find } = newNameServers();
  const lookup = boundedLookup(find);
  const found: unknown[] = [];
  lookup('192.0.2.7', {}, (...result) => found.push(result));
  lookup('::1', { all: true }, (...result) => found.push(result));
  expect(found).toEqual([
    [null, '192.0.2.7', 4],
    [null, [{ address: '::1', family: 6 }]],
  ]);
  expect(asked).toEqual([]);
});
