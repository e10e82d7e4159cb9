import { describe, expect, it } from 'vitest';
import { signalSchema } from '../../../src/device/signals/kinds.js';
import { mistakesOf, started } from './start.js';

const topic = 'plant/power';

function pathOf(json: string) {
  return started({ mqtt: { topic, json } }).inlet?.source.path;
}

describe('a value that comes by MQTT', () => {
  it('is what it starts with until something comes, and then the newest number times its scale', () => {
    const signal = started({ mqtt: { topic, scale: 0.1, start: 7 } });
    expect(signal.valueAt(0)).toBe(7);
    expect(signal.trouble?.()).toBe('nothing has arrived on the topic plant/power');
    signal.inlet?.take(250, 1000);
    expect(signal.valueAt(0)).toBe(25);
    expect(signal.trouble?.()).toBeUndefined();
    signal.inlet?.take(-30, 900);
    expect(signal.valueAt(5000)).toBe(-3);
  });

  it('is 0 at first and not scaled, if nothing else is said', () => {
    const signal = started({ mqtt: { topic } });
    expect(signal.valueAt(0)).toBe(0);
    signal.inlet?.take(12.5, 0);
    expect(signal.valueAt(0)).toBe(12.5);
    expect(signal.inlet?.source).toEqual({ topic, path: [] });
  });

  it('has the integral of its present value', () => {
    const signal = started({ mqtt: { topic, start: 4 } });
    expect(signal.integral?.(1000, 3500)).toBe(10);
  });

  it('is stale until something came, and as soon as nothing came for the time', () => {
    const { inlet } = started({ mqtt: { topic, stale: '2s' } });
    expect(inlet?.isStale?.(0)).toBe(true);
    inlet?.take(1, 10_000);
    expect([10_000, 11_999, 12_000, 99_999].map((now) => inlet?.isStale?.(now))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    inlet?.take(1, 99_999);
    expect(inlet?.isStale?.(99_999)).toBe(false);
  });

  it('never is stale without a time for that', () => {
    expect(started({ mqtt: { topic } }).inlet?.isStale).toBeUndefined();
    expect(signalSchema.parse({ mqtt: { topic } }).goesStale).toBe(false);
    expect(signalSchema.parse({ mqtt: { topic, stale: 1 } }).goesStale).toBe(true);
    expect(signalSchema.parse({ noise: { around: 0, amplitude: 1 } }).goesStale).toBe(false);
  });

  it.each([
    ['$', []],
    ['$.value', ['value']],
    ['$.sensors[0].power', ['sensors', 0, 'power']],
    ['$[12][3]', [12, 3]],
    ['$[999999]', [999_999]],
    [`$['a b']["c'd"]['e"f']`, ['a b', "c'd", 'e"f']],
    [`$['0'].x-1_y`, ['0', 'x-1_y']],
    [`$['']`, ['']],
    [`$[""].a`, ['', 'a']],
    [`$['.b[0]']`, ['.b[0]']],
    ['$._größe', ['_größe']],
  ])('is found in JSON at %s', (json, path) => {
    expect(pathOf(json)).toEqual(path);
  });

  it.each([
    '',
    'value',
    '.value',
    'x$.value',
    '$value',
    '$.',
    '$..value',
    '$.*',
    '$[*]',
    '$.1a',
    '$.a.',
    '$[]',
    '$[-1]',
    '$[1234567]',
    '$[0',
    "$['a]",
    `$['a"]`,
    '$.a b',
    '$.a\n',
    `$.${'a'.repeat(1023)}`,
  ])('is not found in JSON at %j', (json) => {
    expect(mistakesOf({ mqtt: { topic, json } })).toEqual([
      expect.stringMatching(/^mqtt\.json: expected a path into JSON such as \$\.value/),
    ]);
  });

  it('takes a path of at most 1024 characters', () => {
    expect(pathOf(`$.${'a'.repeat(1022)}`)).toEqual(['a'.repeat(1022)]);
    expect(mistakesOf({ mqtt: { topic, json: 5 } })).toEqual([expect.stringContaining('a path into JSON')]);
  });

  it.each(['a', 'a/b c/$', 'ü'.repeat(1024)])('comes on the topic %s', (name) => {
    expect(started({ mqtt: { topic: name } }).inlet?.source.topic).toBe(name);
  });

  it.each(['', 'a+', '#', 'a\u0000b', 'a\n', 'x'.repeat(1025)])('does not come on the topic %j', (name) => {
    expect(mistakesOf({ mqtt: { topic: name } })).toEqual([
      expect.stringMatching(
        /^mqtt\.topic: expected the name of a topic of 1 to 1024 characters, without \+ and #/,
      ),
    ]);
  });

  it('needs the name of a topic, and a time of at least 1 ms to be stale', () => {
    expect(mistakesOf({ mqtt: {} })).toEqual([expect.stringMatching(/^mqtt\.topic: .*the name of a topic/)]);
    expect(mistakesOf({ mqtt: { topic, stale: 0 } })).toEqual([expect.stringMatching(/^mqtt\.stale: /)]);
  });
});
