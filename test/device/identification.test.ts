import { describe, expect, it } from 'vitest';
import { type IdentityObjects, identityObjects } from '../../src/device/identification.js';
import { bytesOf } from '../modbus/protocol/hex.js';
import { ask, deviceOf, respond } from './build.js';

interface Identification {
  readonly access: number;
  readonly level: number;
  readonly next: number | undefined;
  readonly objects: readonly (readonly [id: number, text: string])[];
}

/** Asks a device with these objects; a number is an exception. */
function read(identity: IdentityObjects, access: number, objectId: number): Identification | number {
  const device = deviceOf({}, { size: 1, identity });
  const response = respond(device, Uint8Array.of(43, 14, access, objectId));
  if (response[0] !== 43) return response[1] as number;
  expect(response.length).toBeLessThanOrEqual(253);
  const [, type, echoed = 0, level = 0, more, next = 0, count] = response;
  expect(type).toBe(14);
  const objects: [number, string][] = [];
  for (let at = 7; at < response.length; ) {
    const [id = 0, length = 0] = response.slice(at, at + 2);
    objects.push([id, Buffer.from(response.slice(at + 2, at + 2 + length)).toString('latin1')]);
    at += 2 + length;
  }
  expect(count).toBe(objects.length);
  if (more === 0) expect(next).toBe(0);
  return { access: echoed, level, next: more === 0xff ? next : undefined, objects };
}

/** What a client gets that asks until nothing more follows; how many responses it took. */
function readAll(identity: IdentityObjects, access: number) {
  const objects: (readonly [number, string])[] = [];
  let requests = 0;
  for (let from: number | undefined = 0; from !== undefined; requests++) {
    if (requests > 300) throw new Error('it never ends');
    const part: Identification | number = read(identity, access, from);
    if (typeof part === 'number') throw new Error(`exception ${part}`);
    objects.push(...part.objects);
    from = part.next;
  }
  return { requests, objects };
}

const ids = (found: Identification | number) =>
  typeof found === 'number' ? found : found.objects.map(([id]) => id);

const basic = identityObjects();
const regular = identityObjects({ vendorUrl: 'url', modelName: 'model' });
const extended = identityObjects(
  { productName: 'product' },
  new Map([
    [0x90, 'second'],
    [0x80, 'first'],
    [0xff, 'last'],
  ]),
);

describe('device identification (6.21)', () => {
  it('has basic objects, whatever the device says of itself', () => {
    expect(ids(read(basic, 1, 0))).toEqual([0, 1, 2]);
    expect(ids(read(identityObjects({ productCode: '' }), 1, 0))).toEqual([0, 1, 2]);
  });

  it('streams the objects of the category that is asked for, in the order of their identifiers', () => {
    expect(ids(read(extended, 1, 0))).toEqual([0, 1, 2]);
    expect(ids(read(extended, 2, 0))).toEqual([0, 1, 2, 4]);
    expect(ids(read(extended, 3, 0))).toEqual([0, 1, 2, 4, 0x80, 0x90, 0xff]);
  });

  it('says how far its categories go, and that objects can be read one by one', () => {
    for (const access of [1, 2, 3, 4]) {
      expect(read(basic, access, 0)).toMatchObject({ access, level: 0x81 });
      expect(read(regular, access, 0)).toMatchObject({ access, level: 0x82 });
      expect(read(extended, access, 0)).toMatchObject({ access, level: 0x83 });
    }
  });

  it('answers with what it has when a higher category is asked for', () => {
    expect(ids(read(basic, 3, 0))).toEqual([0, 1, 2]);
    expect(ids(read(regular, 3, 0))).toEqual([0, 1, 2, 3, 5]);
  });

  it('streams from the object that is asked for', () => {
    expect(ids(read(extended, 3, 2))).toEqual([2, 4, 0x80, 0x90, 0xff]);
    expect(ids(read(extended, 3, 0xff))).toEqual([0xff]);
    expect(ids(read(extended, 1, 2))).toEqual([2]);
  });

  it('begins at object 0 when there is no such object, or none of that category', () => {
    expect(ids(read(extended, 3, 3))).toEqual([0, 1, 2, 4, 0x80, 0x90, 0xff]);
    expect(ids(read(extended, 2, 0x7f))).toEqual([0, 1, 2, 4]);
    expect(ids(read(extended, 1, 4))).toEqual([0, 1, 2]);
    expect(ids(read(extended, 2, 0x80))).toEqual([0, 1, 2, 4]);
  });

  it('reads one object of any category, and answers 02 when it is not there', () => {
    expect(read(extended, 4, 0x90)).toEqual({
      access: 4,
      level: 0x83,
      next: undefined,
      objects: [[0x90, 'second']],
    });
    expect(read(extended, 4, 1)).toMatchObject({ objects: [[1, 'simulator']] });
    for (const objectId of [3, 5, 0x7f, 0x81, 0xfe]) expect(read(extended, 4, objectId)).toBe(2);
  });

  it('goes over two responses as in the example of the specification, when the objects are that long', () => {
    const long = identityObjects({
      vendorName: 'Company identification'.padEnd(120),
      productCode: 'Product code XXXXXXXXXXXXXXXX'.padEnd(120),
      majorMinorRevision: 'V2.11',
    });
    expect(read(long, 1, 0)).toMatchObject({ next: 2, objects: [{ 0: 0 }, { 0: 1 }] });
    expect(read(long, 1, 2)).toEqual({ access: 1, level: 0x81, next: undefined, objects: [[2, 'V2.11']] });
  });

  it('is whole after as many requests as it takes, each object once and in one piece', () => {
    const objects = new Map(
      Array.from({ length: 128 }, (_, i) => [0x80 + i, `${i}`.padEnd((i * 37) % 245, '.')]),
    );
    const identity = identityObjects({ vendorUrl: 'u'.repeat(244), productName: 'n'.repeat(244) }, objects);
    const { requests, objects: found } = readAll(identity, 3);
    expect(requests).toBeGreaterThan(50);
    expect(found).toEqual([...identity].sort(([a], [b]) => a - b));
    expect(readAll(identity, 2).objects).toHaveLength(5);
  });

  it('fills a response to the last byte, and not beyond', () => {
    // 7 bytes before the objects, 2 before each text
    const filling = (length: number) =>
      identityObjects({
        vendorName: 'v'.repeat(100),
        productCode: 'p',
        majorMinorRevision: 'r'.repeat(length),
      });
    const room = 253 - 7 - 3 * 2 - 100 - 1;
    expect(read(filling(room), 1, 0)).toMatchObject({ next: undefined });
    expect(read(filling(room + 1), 1, 0)).toMatchObject({ next: 2 });
  });

  it('has room for one object of 244 bytes, by stream and alone', () => {
    const identity = identityObjects({ vendorName: 'v'.repeat(244) });
    expect(read(identity, 1, 0)).toMatchObject({ next: 1, objects: [[0, 'v'.repeat(244)]] });
    expect(read(identity, 4, 0)).toMatchObject({ objects: [[0, 'v'.repeat(244)]] });
  });

  it('is no answer to bytes that are no request for it', () => {
    const device = deviceOf({}, { size: 1 });
    for (const [request, response] of [
      ['2B', [0xab, 3]],
      ['2B 0E', [0xab, 3]],
      ['2B 0E 00 00', [0xab, 3]],
      ['2B 0E 05 00', [0xab, 3]],
      ['2B 0E 01 00 00', [0xab, 3]],
      ['2B 0D', [0xab, 1]],
      ['2B 0D 01 00', [0xab, 1]],
    ] as const) {
      expect([...respond(device, bytesOf(request))], request).toEqual(response);
    }
  });
});

it('an identifier below those of the vendor makes no extended conformity, and text is Latin-1', () => {
  const identity = identityObjects({ vendorName: 'Müller' }, new Map([[0x7f, 'x']]));
  const device = deviceOf({}, { size: 1, identity });
  expect(ask(device, '2B 0E 04 00')).toBe('2b0e048200000100064dfc6c6c6572');
});
