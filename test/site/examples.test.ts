import { describe, expect, it } from 'vitest';
import { addressOf, pdusOf, type Shown, shownAt } from '../../site/play/address.js';
import { play } from '../../site/play/bench.js';
import { EXAMPLES, exampleFor } from '../../site/play/examples.js';
import { FAULT_KINDS } from '../../src/device/faults/kinds.js';

const ALL = (['fault', 'entry'] as const).flatMap((kind) =>
  EXAMPLES[kind].map((name) => [kind, name] as const),
);

function played(shown: Shown) {
  const pdus = pdusOf(shown.pdu);
  if (typeof pdus === 'string') throw new Error(pdus);
  return play(shown.file, { ...shown, pdus });
}

describe('the examples of the page to play on', () => {
  it('has one for each kind of fault', () => {
    expect([...EXAMPLES.fault].sort()).toEqual([...FAULT_KINDS].sort());
  });

  it.each(ALL)('plays %s %s without a mistake', (kind, name) => {
    const { problems, traffic } = played(exampleFor(kind, name) as Shown);
    expect(problems).toEqual([]);
    expect(traffic.length).toBeGreaterThan(0);
    if (kind === 'fault')
      expect(
        traffic.flatMap(({ faults = [] }) => faults.map((each) => [each.kind, each.outcome])),
      ).toContainEqual([name, 'applied']);
  });

  it('carries all of it in the address', () => {
    const shown = {
      file: 'devices: {}\n# ä&=#',
      line: 'lan',
      unit: 7,
      pdu: '03 00 00\n06',
      times: 3,
      pauseMs: 5,
    };
    expect(shownAt(`#${addressOf(shown)}`)).toEqual(shown);
  });

  it.each([
    ['', undefined],
    ['#fault=nothing', undefined],
    ['#entry=../../etc/passwd', undefined],
    [`#file=${'x'.repeat(200_001)}`, undefined],
    ['#file=x&times=1e9&pause=-4&unit=NaN', { file: 'x', unit: 1, pdu: '', times: 50, pauseMs: 0 }],
  ])('takes nothing else from %.40s', (hash, shown) => {
    expect(shownAt(hash)).toEqual(shown);
  });

  it.each(['', '3', '03 0', 'zz', '00 '.repeat(254), '03\n'.repeat(21)])(
    'says what is wrong with the request %.20j',
    (text) => {
      expect(pdusOf(text)).toMatch(/^expected 1 to/);
    },
  );
});

describe('what the page plays', () => {
  const file = (rest: string) =>
    `devices: {meter: {registers: {holding: [{address: 0, value: [1, 2]}]}}}\nlines: ${rest}\n`;
  const asked = { unit: 1, pdus: [Uint8Array.of(3, 0, 0, 0, 1)], times: 1, pauseMs: 0 };

  it('says the mistakes of a file at their places, and asks nothing', () => {
    const { problems, traffic } = play(file('{a: {tcp: {port: 70000}, units: {1: meter}}}'), asked);
    expect(problems).toMatchObject([{ path: 'lines.a.tcp.port', line: 2 }]);
    expect(traffic).toEqual([]);
  });

  it('has no files and no real devices', () => {
    const text = 'devices: {meter: {pymodbus: x.json}}\nlines: {a: {tcp: {port: 5020}, units: {1: meter}}}\n';
    expect(play(text, asked).problems).toMatchObject([{ message: 'this page reads no files' }]);
  });

  it('keeps t3.5 and the time of characters', () => {
    const { wire, traffic } = play(
      file('{a: {serial: {path: virtual, baudRate: 9600}, units: {1: meter}}}'),
      asked,
    );
    expect(wire.characterUs).toBeCloseTo(1145.83, 1);
    expect(traffic.map(({ bytes }) => bytes)).toEqual(['01 03 00 00 00 01 84 0a', '01 03 02 00 01 79 84']);
    expect(traffic[1]?.responseTimeUs).toBe(4010);
  });
});
