import { describe, expect, it } from 'vitest';
import { nativeMistakes } from '../helpers.js';

const COIL = 'devices.meter.registers.coils[0]';
const HOLDING = 'devices.meter.registers.holding[0]';

/** The mistakes of a file with this coil and this holding register, beside others that have names. */
function mistakes({ coil = '', holding = '', more = '' }): string[] {
  return nativeMistakes(`
devices:
  meter:
    registers:
      coils:
        - {address: 0, name: command, write: true, ${coil}}
        - {address: 1, name: done}
      holding:
        - {address: 0, name: a, write: true, ${holding}}
        - {address: 1, name: b, write: true}
        - {address: 2, name: wave, signal: {steps: [{value: 1}]}}
        - {address: 3, name: sum, signal: {counter: {perSecond: 1}}}
        - {address: 10, name: label, type: string, value: abc}
${more}
      input: [{address: 0, name: measured}]
      discrete: [{address: 0, name: feedback}]
  other: {registers: {holding: [{address: 0, name: level}]}}
lines:
  lan: {tcp: {port: 0}, units: {1: meter, 2: other}}
`);
}

describe('reactions in a native file', () => {
  it.each([
    { coil: 'pulse: 250ms, busyFor: 1s, password: {register: 1, value: 5}' },
    { coil: 'latch: true' },
    { coil: 'latch: {every: 10}, signal: {expression: other.level > 3}' },
    { holding: 'limits: {min: -1}, allowed: [1, 2], password: {register: b, value: 5}' },
    {
      holding: 'onWrite: [{set: {b: "a * other.level + t", measured: 5, feedback: true, sum: 0}, after: 1s}]',
    },
    { holding: 'follows: {name: b, after: 1s, slew: 0.5}' },
    { holding: 'follows: {name: c}', more: '        - {address: 20, name: c, follows: {name: b}}' },
  ])('%o are taken', (entries) => {
    expect(mistakes(entries)).toEqual([]);
  });

  it.each([
    [{ holding: 'limits: 5' }, `${HOLDING}.limits: expected a mapping, got 5`],
    [{ holding: 'limits: {}' }, `${HOLDING}.limits: expected min, max or both`],
    [{ holding: 'limits: {min: 2, max: 1}' }, `${HOLDING}.limits.max: expected max to be at least min`],
    [{ holding: 'limits: {min: .nan}' }, `${HOLDING}.limits.min: expected a number, got NaN`],
    [{ holding: 'limits: {max: .inf}' }, `${HOLDING}.limits.max: expected a number, got Infinity`],
    [{ holding: 'limits: {min: 1, maximum: 1}' }, `${HOLDING}.limits.maximum: unknown key "maximum"`],
    [{ holding: 'allowed: []' }, `${HOLDING}.allowed: expected at least one number, got an empty list`],
    [{ holding: 'allowed: [x]' }, `${HOLDING}.allowed[0]: expected a number, got "x"`],
    [{ holding: 'allowed: [1, 0.5]' }, `${HOLDING}.allowed: expected numbers that uint16 can hold, got 0.5`],
    [{ holding: 'allowed: [-1]' }, `${HOLDING}.allowed: expected numbers that uint16 can hold, got -1`],
    [{ coil: 'pulse: 0' }, `${COIL}.pulse: expected a number of milliseconds from 1 to 86400000`],
    [
      { coil: 'pulse: -5s' },
      `${COIL}.pulse: expected a number of milliseconds from 1 to 86400000, or a time such`,
    ],
    [{ coil: 'pulse: .nan' }, `${COIL}.pulse: expected a number of milliseconds`],
    [{ coil: 'pulse: 1s, latch: true' }, `${COIL}.latch: can't be used with pulse`],
    [{ holding: 'fallsBack: {to: 6}' }, `${HOLDING}.fallsBack.after: missing`],
    [
      { holding: 'fallsBack: {after: 1s, renewedBy: [nobody]}' },
      `${HOLDING}.fallsBack.renewedBy[0]: unknown name "nobody"`,
    ],
    [
      { holding: 'fallsBack: {after: 1s, enabledBy: other.name}' },
      `${HOLDING}.fallsBack.enabledBy: expected a name in the same device, without a dot`,
    ],
    [{ holding: 'pulse: 1s' }, `${HOLDING}.pulse: expected a coil, got an entry of holding`],
    [
      { coil: 'pulse: 1s, signal: {expression: t > 1}' },
      `${COIL}.pulse: can't be used with signal: a pulse starts with a write`,
    ],
    [
      { coil: 'latch: false' },
      `${COIL}.latch: expected true, or the interval at which the signal is checked`,
    ],
    [{ holding: 'latch: true' }, `${HOLDING}.latch: expected a coil, got an entry of holding`],
    [{ coil: 'latch: true, follows: {name: done}' }, `${COIL}.latch: can't be used with follows`],
    [{ holding: 'busyFor: soon' }, `${HOLDING}.busyFor: expected a number of milliseconds from 1`],
    [{ holding: 'password: {register: b}' }, `${HOLDING}.password.value: missing, expected a whole number`],
    [{ holding: 'password: {register: c, value: 1}' }, `${HOLDING}.password.register: unknown name "c"`],
    [{ holding: 'password: {register: label, value: 1}' }, `${HOLDING}.password.register: label is text`],
    [
      { holding: 'password: {register: 11, value: 1}' },
      `${HOLDING}.password.register: no value begins at holding register 11`,
    ],
    [
      { holding: 'password: {register: 10, value: 1}' },
      `${HOLDING}.password.register: holding register 10 is text`,
    ],
    [
      { holding: 'password: {register: -1, value: 1}' },
      `${HOLDING}.password.register: expected the name of a value`,
    ],
    [{ holding: 'onWrite: {set: {b: 1}}' }, `${HOLDING}.onWrite: expected a list of changes`],
    [
      { holding: 'onWrite: [{after: 1s}]' },
      `${HOLDING}.onWrite[0].set: missing, expected numbers or expressions by name`,
    ],
    [
      { holding: 'onWrite: [{set: [b]}]' },
      `${HOLDING}.onWrite[0].set: expected numbers or expressions by name`,
    ],
    [
      { holding: 'onWrite: [{set: {}}]' },
      `${HOLDING}.onWrite[0].set: expected numbers or expressions by name`,
    ],
    [{ holding: 'onWrite: [{set: {c: 1}}]' }, `${HOLDING}.onWrite[0].set.c: unknown name "c"`],
    [
      { holding: 'onWrite: [{set: {__proto__: 1}}]' },
      `${HOLDING}.onWrite[0].set.__proto__: unknown name "__proto__"`,
    ],
    [{ holding: 'onWrite: [{set: {b: c + 1}}]' }, `${HOLDING}.onWrite[0].set.b: unknown name "c"`],
    [{ holding: 'onWrite: [{set: {b: "1 +"}}]' }, `${HOLDING}.onWrite[0].set.b: not an expression`],
    [
      { holding: 'onWrite: [{set: {b: .nan}}]' },
      `${HOLDING}.onWrite[0].set.b: expected a number, or an expression`,
    ],
    [
      { holding: 'onWrite: [{set: {b: [1]}}]' },
      `${HOLDING}.onWrite[0].set.b: expected a number, or an expression`,
    ],
    [
      { holding: 'onWrite: [{set: {b: 1}, after: -1}]' },
      `${HOLDING}.onWrite[0].after: expected a number of milliseconds`,
    ],
    [{ holding: 'onWrite: [{set: {label: 1}}]' }, `${HOLDING}.onWrite[0].set.label: label is text`],
    [
      { holding: 'onWrite: [{set: {other.level: 1}}]' },
      `${HOLDING}.onWrite[0].set["other.level"]: expected a name in the same`,
    ],
    [
      { holding: 'onWrite: [{set: {wave: 1}}]' },
      `${HOLDING}.onWrite[0].set.wave: the signal of wave would overwrite it`,
    ],
    [{ holding: 'onWrite: [{set: {a: a + 1}}]' }, `${HOLDING}.onWrite: sets itself: a -> a`],
    [
      { holding: 'onWrite: [{set: {command: 1}}]', coil: 'onWrite: [{set: {a: 1}, after: 1s}]' },
      `${COIL}.onWrite: sets itself: command -> a -> command`,
    ],
    [{ holding: 'follows: b' }, `${HOLDING}.follows: expected a mapping, got "b"`],
    [{ holding: 'follows: {name: c}' }, `${HOLDING}.follows: unknown name "c"`],
    [{ holding: 'follows: {name: a}' }, `${HOLDING}.follows: depends on itself: meter.a -> meter.a`],
    [
      { holding: 'follows: {name: c}', more: '        - {address: 20, name: c, follows: {name: a}}' },
      `${HOLDING}.follows: depends on itself: meter.a -> meter.c -> meter.a`,
    ],
    [
      { holding: 'follows: {name: wave}' },
      `${HOLDING}.follows: wave is computed by steps, expected a value that is written`,
    ],
    [{ holding: 'follows: {name: label}' }, `${HOLDING}.follows: label is text, expected a number`],
    [
      { holding: 'follows: {name: other.level}' },
      `${HOLDING}.follows: other.level is a value of another device`,
    ],
    [{ holding: 'follows: {name: b, slew: 0}' }, `${HOLDING}.follows.slew: expected a change per second`],
    [
      { holding: 'follows: {name: b, after: -1s}' },
      `${HOLDING}.follows.after: expected a number of milliseconds`,
    ],
    [
      { holding: 'follows: {name: b}, signal: {expression: b}' },
      `${HOLDING}.signal: a register can have only one of action, signal and follows`,
    ],
  ])('%o are told their mistake', (entries, message) => {
    const found = mistakes(entries);
    expect(found).toHaveLength(1);
    expect(found[0]?.slice(0, message.length)).toBe(message);
  });

  it.each([
    'limits: {max: 1}',
    'allowed: [1]',
    'busyFor: 1s',
    'password: {register: b, value: 1}',
    'onWrite: [{set: {b: 1}}]',
  ])('%s is for entries that clients write', (reaction) => {
    const more = `        - {address: 20, ${reaction}}`;
    const key = reaction.slice(0, reaction.indexOf(':'));
    expect(mistakes({ more })).toEqual([
      `devices.meter.registers.holding[5].${key}: needs write: true in this entry: clients can’t write it otherwise`,
    ]);
    const input = `devices: {m: {registers: {input: [{address: 0, ${reaction}}], holding: [{address: 0, name: b}]}}}`;
    expect(nativeMistakes(`${input}\nlines: {lan: {tcp: {port: 0}, units: {1: m}}}\n`)).toEqual([
      `devices.m.registers.input[0].${key}: expected a coil or a holding register: clients can’t write to the other tables`,
    ]);
  });

  it('let one register renew at most a hundred values', () => {
    const renewed = (count: number, key: string) =>
      Array.from(
        { length: count },
        (_, i) => `        - {address: ${20 + i}, write: true, fallsBack: {after: 1s, ${key}}}`,
      ).join('\n');
    expect(mistakes({ more: renewed(100, 'renewedBy: [b]') })).toEqual([]);
    expect(mistakes({ more: renewed(102, 'renewedBy: [a, b], enabledBy: sum') })).toEqual([
      'devices.meter.registers.holding[105].fallsBack.renewedBy[0]: more than 100 watchdogs (fallsBack) depend on a',
      'devices.meter.registers.holding[105].fallsBack.renewedBy[1]: more than 100 watchdogs (fallsBack) depend on b',
      'devices.meter.registers.holding[105].fallsBack.enabledBy: more than 100 watchdogs (fallsBack) depend on sum',
    ]);
  });

  it('lead to at most a hundred changes', () => {
    const two = (name: string) => `onWrite: [{set: {${name}: 1}}, {set: {${name}: 0}, after: 1s}]`;
    const chain = Array.from({ length: 8 }, (_, i) => {
      const next = i === 7 ? '' : `, ${two(`c${i + 1}`)}`;
      return `        - {address: ${20 + i}, name: c${i}, write: true${next}}`;
    });
    expect(mistakes({ more: chain.join('\n') })).toEqual([
      'devices.meter.registers.holding[6].onWrite: one write leads to 126 changes, expected at most 100',
    ]);
  });
});

describe('a queue that a signal feeds', () => {
  it.each([
    ['{signal: {expression: a}, every: 1s}', undefined],
    ['{signal: {expression: b}, every: 1s}', '.signal.expression: unknown name "b"'],
    ['{signal: {sine: {period: 1s}}, every: 1s}', '.signal.sine.amplitude: missing, expected a number'],
    ['{every: 1s}', '.signal: missing, expected one kind of signal'],
    ['{signal: {expression: a}}', '.every: missing, expected a number of milliseconds'],
    ['{signal: {expression: a}, every: 0}', '.every: expected a number of milliseconds'],
    ['{signal: {expression: a}, every: 1s, values: [1]}', '.values: unknown key "values"'],
  ])('%s', (queue, message) => {
    const found = nativeMistakes(`
devices: {m: {queues: {100: ${queue}}, registers: {holding: [{address: 0, name: a}]}}}
lines: {lan: {tcp: {port: 0}, units: {1: m}}}
`);
    if (message === undefined) expect(found).toEqual([]);
    else
      expect(found.map((each) => each.slice(0, `devices.m.queues.100${message}`.length))).toEqual([
        `devices.m.queues.100${message}`,
      ]);
  });
});
