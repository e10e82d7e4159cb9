import { describe, expect, it } from 'vitest';
import { fileSections, nativeTraffic } from '../../../src/document/native/schema.js';
import { cursor, mistakesOf } from '../helpers.js';

function read(value: unknown) {
  const at = cursor({ traffic: value });
  const { traffic } = at.parts(fileSections);
  const definition = traffic && nativeTraffic(traffic, at.key('traffic'), '/etc/sim');
  return { definition, messages: mistakesOf(at) };
}

const MB = 2 ** 20;

describe('the traffic of a native file', () => {
  it('is kept as usual when nothing is said', () => {
    expect(read(undefined)).toEqual({ definition: undefined, messages: [] });
    expect(read({}).definition).toEqual({ events: 100_000, bytes: 64 * MB });
  });

  it.each([
    ['1MB', MB],
    ['1.5MB', 1.5 * MB],
    ['2048KB', 2 * MB],
    ['1GB', 1024 * MB],
    [3_000_000, 3_000_000],
  ])('takes %s of memory', (bytes, expected) => {
    expect(read({ bytes }).definition?.bytes).toBe(expected);
  });

  it.each(['1023KB', 1000, '5GB', 'much', '64 MB', -1])('refuses %s of memory', (bytes) => {
    expect(read({ bytes }).messages[0]).toContain('traffic.bytes: expected a size from 1MB to 4096MB');
  });

  it('is written to a directory beside the file', () => {
    expect(read({ file: 'out' }).definition?.file).toEqual({
      directory: '/etc/sim/out',
      format: 'ndjson',
      size: 16 * MB,
      files: 10,
    });
    const file = { file: '/var/lib/out', format: 'pcapng', rotate: { size: '1MB', files: 2 } };
    expect(read(file).definition?.file).toEqual({
      directory: '/var/lib/out',
      format: 'pcapng',
      size: MB,
      files: 2,
    });
  });

  it.each([
    [{ format: 'pcapng' }, 'traffic.format: needs file, which is missing'],
    [{ rotate: { files: 2 } }, 'traffic.rotate: needs file, which is missing'],
    [{ file: 'x', format: 'csv' }, 'traffic.format: expected ndjson or pcapng, got "csv"'],
    [
      { file: 'x', rotate: { files: 0 } },
      'traffic.rotate.files: expected a whole number from 1 to 1000, got 0',
    ],
    [{ events: -1 }, 'traffic.events: expected a whole number from 0 to 100000000, got -1'],
  ])('%j is a mistake', (value, message) => {
    expect(read(value).messages).toEqual([message]);
  });
});
