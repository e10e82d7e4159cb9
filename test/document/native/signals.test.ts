import { describe, expect, it } from 'vitest';
import { nativeMistakes, scratchFiles } from '../helpers.js';

const write = scratchFiles();

/** The mistakes of a file with these holding registers in a device `meter`, beside a device `other`. */
function mistakes(...entries: string[]): string[] {
  return nativeMistakes(`
devices:
  meter:
    registers:
      coils: [{address: 0, name: relay}, {address: 9, value: 1}]
      holding:
${entries.map((entry) => `        - ${entry}`).join('\n')}
  other:
    registers:
      input:
        - {address: 0, name: level}
        - {address: 1, name: echo, type: float32, signal: {expression: meter.a + 1}}
        - {address: 5, name: label, type: string, value: abc}
lines:
  lan: {tcp: {port: 0}, units: {1: meter, 2: other}}
`);
}

const AT = 'devices.meter.registers.holding[0]';
const a = (signal: string) => `{address: 0, name: a, type: float32, signal: ${signal}}`;

describe('signals in a native file', () => {
  it('may depend on values of the device, its bits, and other devices', () => {
    expect(mistakes(a('{expression: relay * 2 + other.level + b}'), '{address: 4, name: b}')).toEqual([]);
  });

  it.each([
    [[a('{expression: relai}')], `${AT}.signal.expression: unknown name "relai", did you mean "relay"?`],
    [[a('{expression: constructor}')], `${AT}.signal.expression: unknown name "constructor"`],
    [[a('{expression: other.nothing}')], `${AT}.signal.expression: unknown name "other.nothing"`],
    [[a('{expression: nobody.level}')], `${AT}.signal.expression: unknown name "nobody.level"`],
    [[a('{expression: other.label}')], `${AT}.signal.expression: other.label is text, expected a number`],
    [[a('{counter: {integral: nothing}}')], `${AT}.signal.counter: unknown name "nothing"`],
    [[a('{expression: a}')], `${AT}.signal.expression: depends on itself: meter.a -> meter.a`],
    [
      [a('{expression: b}'), '{address: 4, name: b, signal: {counter: {integral: a}}}'],
      `${AT}.signal.expression: depends on itself: meter.a -> meter.b -> meter.a`,
    ],
    [
      [a('{expression: other.echo}')],
      `${AT}.signal.expression: depends on itself: meter.a -> other.echo -> meter.a`,
    ],
    [
      [a('{sine: {period: 0, amplitude: 1}}')],
      `${AT}.signal.sine.period: expected a number of milliseconds, 1 or more`,
    ],
    [[a('{playback: {file: none.csv, column: v}}')], `${AT}.signal.playback: /etc/none.csv: ENOENT`],
    [
      ['{address: 0, name: a}', '{address: 1, name: a}'],
      'devices.meter.registers.holding[1].name: holding 0 already has the name a',
    ],
    [
      ['{address: 0, name: a}', '{address: 1, name: relay}'],
      'devices.meter.registers.holding[1].name: coils 0 already has the name relay',
    ],
    [['{address: 0, name: a.b}'], `${AT}.name: expected a name of letters`],
    [
      ['{address: 0, name: t}', '{address: 1, name: a}'],
      `${AT}.name: expected another name: t is reserved for the time`,
    ],
    [['{address: 0, name: a, quantity: 2}'], `${AT}.name: expected no name for 2 values`],
    [['{address: 0, name: a, scale: 0}'], `${AT}.scale: expected a number other than 0`],
    [['{address: 0, name: a, type: string, value: x, scale: 2}'], `${AT}.scale: text can't have a scale`],
    [
      ['{address: 0, name: a, scale: 0.1, value: 230.1}'],
      `${AT}.value: expected a whole number from 0 to 65535 (uint16), the stored number before the scale of 0.1, got 230.1`,
    ],
    [['{address: 0, name: a, labels: {x: off}}'], `${AT}.labels.x: expected a whole number`],
    [['{address: 0, name: a, labels: {0: 1}}'], `${AT}.labels.0: expected text, got 1`],
    [['{address: 0, name: a, bits: {16: off}}'], `${AT}.bits.16: expected a bit from 0 to 15, got "16"`],
    [['{address: 0, name: a, bits: {0: on off}}'], `${AT}.bits.0: expected a name of letters`],
    [['{address: 0, name: a, bits: {0: x, 3: x}}'], `${AT}.bits.3: bit 0 already has the name x`],
    [
      ['{address: 0, name: a, type: float32, bits: {0: x}}'],
      `${AT}.bits: only types of whole numbers can have bit names, not float32`,
    ],
    [['{address: 0, name: a, seed: -1}'], `${AT}.seed: expected a seed from 0 to 4294967295, got -1`],
    [
      ['{address: 0, name: a, action: random, signal: {steps: [{value: 1}]}}'],
      `${AT}.signal: a register can have only one of action, signal and follows`,
    ],
    [
      ['{address: 0, name: a, type: string, length: 2, signal: {steps: [{value: 1}]}}'],
      `${AT}.signal: text can't have a signal`,
    ],
  ])('%j are told their mistake', (entries, message) => {
    const found = mistakes(...entries);
    expect(found.filter((each) => each.startsWith(message))).toHaveLength(1);
  });

  it('of bits must be such that make sense there', () => {
    const coils = (signal: string) =>
      nativeMistakes(`
devices: {d: {registers: {coils: [{address: 0, signal: ${signal}}]}}}
lines: {lan: {tcp: {port: 0}, units: {1: d}}}
`);
    expect(coils('{square: {period: 1s, amplitude: 0.5, offset: 0.5}}')).toEqual([]);
    expect(coils('{sine: {period: 1s, amplitude: 1}}')).toEqual([
      'devices.d.registers.coils[0].signal.sine: sine is for numbers, not for bits',
    ]);
  });

  it('tell what is wrong with a recording', () => {
    const file = write('bad.csv', 'time,v\n0,1\n1,high\n');
    expect(mistakes(a(`{playback: {file: ${file}, column: v}}`))).toEqual([
      `${AT}.signal.playback: ${file}: line 3: expected a number, got "high"`,
    ]);
  });

  it('of a device have a clock with a speed', () => {
    const clock = (text: string) =>
      nativeMistakes(`
devices: {d: {clock: ${text}, registers: {coils: [{address: 0}]}}}
lines: {lan: {tcp: {port: 0}, units: {1: d}}}
`);
    expect(clock('{speed: 60}')).toEqual([]);
    expect(clock('{speed: -1}')[0]).toMatch(
      /^devices\.d\.clock\.speed: expected a speed from 0 to 100000, got -1/,
    );
  });
});
