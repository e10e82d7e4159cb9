import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../../src/testing/scenario/scenario.js';
import { read } from './read.js';

const step = (source: object) => read({ steps: [source] });

describe('a mistake in a step hides no other', () => {
  it('whatever the part is', () => {
    const fault = { when: { units: 1, line: 'buss' }, do: [] };
    const steps = [
      { expects: {}, fault, set: { 'meter.v': 1 }, expect: { unti: 1, line: 'x' } },
      { nam: 'group', steps: [{ wait: 0 }] },
    ];
    expect(read({ steps })).toEqual([
      expect.stringMatching(/^steps\[0\]\.expects: unknown key "expects", did you mean "expect"/),
      expect.stringMatching(/^steps\[0\]\.fault\.when\.units: unknown key "units"/),
      expect.stringMatching(/^steps\[0\]\.fault\.do: /),
      expect.stringMatching(/^steps\[0\]\.fault\.when\.line: unknown line buss/),
      expect.stringMatching(/^steps\[0\]\.set\["meter\.v"\]: unknown/),
      expect.stringMatching(/^steps\[0\]\.expect\.unti: unknown key "unti"/),
      expect.stringMatching(/^steps\[0\]\.expect\.line: unknown line "x"/),
      expect.stringMatching(/^steps\[1\]\.nam: unknown key "nam"/),
      expect.stringMatching(/^steps\[1\]\.steps\[0\]\.wait: /),
    ]);
  });
});

describe('a scenario', () => {
  it('has the keys of the documented example', () => {
    const scenario = read({
      always: [{ never: { unit: 1, function: [5, 6, 15, 16] } }],
      steps: [
        { name: 'polls', expect: { unit: 1, function: 3, address: 0 }, within: '10s' },
        {
          fault: { when: { unit: 1, count: 1 }, do: [{ silence: true }] },
          expect: { same: true },
          within: '2s',
        },
        { set: { 'meter.voltage': 260 }, expect: { write: { 'relay.coil': 1 } } },
        { expect: [{ unit: 1, times: 3 }, { unit: 2 }] },
        { power: { meter: { off: '20s' } } },
        { wait: '25s' },
        { expect: { unit: 1, function: 3, every: '1s', tolerance: '100ms', for: '10s' } },
      ],
    });
    expect(scenario).toMatchObject({
      lines: ['bus'],
      steps: [
        { name: 'polls', goal: { kind: 'order', within: 10_000 } },
        { goal: { kind: 'order', within: 2000, items: [{ same: true }] } },
        {
          goal: {
            items: [{ matcher: { wanted: [{ writes: { table: 'coils', address: 0, words: [1] } }] } }],
          },
        },
        {
          goal: {
            items: [
              { min: 3, max: 3 },
              { min: 1, max: Number.POSITIVE_INFINITY },
            ],
          },
        },
        { goal: { kind: 'wait', ms: 0 }, power: [{ change: { forMs: 20_000 } }] },
        { name: 'wait 25 s', goal: { kind: 'wait', ms: 25_000 } },
        { goal: { kind: 'rhythm', every: 1000, tolerance: 100, for: 10_000 } },
      ],
    });
  });

  it('repeats a step and a group of steps', () => {
    const scenario = read({
      steps: [{ name: 'twice', repeat: 2, steps: [{ wait: 1 }, { name: 'x', wait: 2, repeat: 2 }] }],
    });
    expect(scenario).toMatchObject({
      steps: ['wait 1 ms', 'x (1 of 2)', 'x (2 of 2)']
        .flatMap((name) => [name])
        .concat(['wait 1 ms', 'x (1 of 2)', 'x (2 of 2)'])
        .map((name, i) => ({ name: `twice: ${name} (${i < 3 ? 1 : 2} of 2)` })),
    });
  });

  it('aims faults that name no line at the lines of the scenario', () => {
    const steps = [
      { fault: { do: [{ silence: true }] }, wait: 1 },
      { fault: { when: { line: ['bus'] }, do: [{ silence: true }] }, wait: 1 },
    ];
    expect(read({ line: 'bus', steps })).toMatchObject({
      steps: [{ faults: [{ when: { line: ['bus'] } }] }, { faults: [{ when: { line: ['bus'] } }] }],
    });
    const everywhere = read({ steps: steps.slice(0, 1) }) as Scenario;
    expect(everywhere.steps[0]?.faults[0]?.when).toEqual({});
  });

  it('gives each fault a name and a seed that follow from its own seed', () => {
    const fault = { when: { unit: 1 }, do: [{ silence: true }] };
    const source = { seed: 40, steps: [{ fault, wait: 1, repeat: 2 }] };
    expect(read(source)).toMatchObject({
      seed: 40,
      steps: [{ faults: [{ name: 'test-1', seed: 41 }] }, { faults: [{ name: 'test-2', seed: 42 }] }],
    });
  });
});

describe('a mistake in a scenario', () => {
  it.each<[what: string, source: object, message: string]>([
    ['an unknown key', { expct: { unit: 1 } }, 'steps[0].expct: unknown key "expct", did you mean "expect"?'],
    [
      'an unknown key inside',
      { expect: { unti: 1 } },
      'steps[0].expect.unti: unknown key "unti", did you mean "unit"?',
    ],
    ['a filter that is none', { expect: 'unt=1' }, 'got "unt=1" (at character 1 of the filter)'],
    ['a filter of a name that is nowhere', { never: 'value volts>1' }, 'no device has a value named "volts"'],
    ['a filter of a time', { expect: 'since=5m' }, 'expected another field: a scenario has no since'],
    ['an unknown line in a filter', { expect: 'line=bsu' }, 'unknown line "bsu", did you mean "bus"?'],
    [
      'an unknown line',
      { expect: { line: 'bsu' } },
      'steps[0].expect.line: unknown line "bsu", did you mean "bus"?',
    ],
    ['an unknown value', { set: { 'meter.volt': 1 } }, 'unknown name "volt", did you mean "voltage"?'],
    ['an unknown device', { power: { metre: 'off' } }, 'unknown device "metre", did you mean "meter"?'],
    [
      'a value that does not fit',
      { set: { 'meter.voltage': -1 } },
      'steps[0].set["meter.voltage"]: expected a whole number',
    ],
    [
      'a write of what no client can write',
      { expect: { write: { 'meter.current': 1 } } },
      "which clients can't write",
    ],
    [
      'same without a fault',
      { expect: { same: true } },
      'steps[0].expect.same: expected a fault in this step',
    ],
    ['a fault without an end', { fault: { do: [{ silence: true }] } }, '`fault` ends with its step'],
    ['a wrong fault', { fault: { do: [{ silense: true }] }, wait: 1 }, 'unknown kind of fault "silense"'],
    ['a fault of an impossible kind', { fault: { do: [{ crc: 'invert' }] }, wait: 1 }, 'line bus has no CRC'],
    [
      'wait beside expect',
      { expect: { unit: 1 }, wait: 1 },
      "steps[0].wait: can't be combined with `expect`",
    ],
    ['a wrong duration', { wait: '5 sec' }, 'or a time such as 250ms'],
    ['a program that is not named', { dut: 'stop' }, 'dut: expected `dut` in the scenario'],
    [
      'an unknown device',
      { clock: { mter: '1h' } },
      'clock.mter: unknown device "mter", did you mean "meter"',
    ],
    ['nothing to do', { name: 'x' }, 'expected one of fault, manners, closed, set, power'],
    ['a rhythm in a list', { expect: [{ unit: 1 }, { every: 1 }] }, 'steps[0].expect[1].every: belongs to'],
    [
      'a tolerance as long as the period',
      { expect: { every: 5, tolerance: 5 } },
      'tolerance: expected less than',
    ],
    ['max below min', { expect: { times: { min: 3, max: 2 } } }, 'expected max to be at least min'],
    ['no expectation', { expect: [] }, 'steps[0].expect: expected at least one'],
  ])('is named with its path: %s', (_, source, message) => {
    expect(step(source)).toEqual([expect.stringContaining(message)]);
  });

  it('hides no other mistake', () => {
    const found = read({
      always: [{ nevr: 1 }],
      dut: { command: 'poll {lines.buss.path} {lines.bus.path}' },
      steps: [{ expct: 1 }, { wait: -1 }, { set: {} }],
    });
    expect(found).toEqual([
      expect.stringContaining('dut.command: unknown line "buss"'),
      expect.stringContaining('dut.command: unknown part of {lines.bus} "path" (known: host, port)'),
      expect.stringContaining('always[0].nevr: unknown key'),
      expect.stringContaining('steps[0].expct: unknown key'),
      expect.stringContaining('steps[1].wait: expected'),
      expect.stringContaining('steps[2].set: expected values by name'),
    ]);
  });
});
