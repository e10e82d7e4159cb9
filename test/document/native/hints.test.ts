import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkFile, loadNative } from '../../../src/document/load.js';

/** What is told about a file with these holding registers and fault rules. */
function told(holding: object[], faults: object[] = []) {
  const result = loadNative(
    {
      devices: { meter: { registers: { holding } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      faults,
    },
    '.',
  );
  const texts = (list: readonly { path: string; message: string }[]) =>
    list.map(({ path, message }) => `${path.replace('devices.meter.registers.', '')}: ${message}`);
  return { mistakes: result.ok ? [] : texts(result.problems), hints: texts(result.warnings) };
}

const rule = (name: string, when: object) => ({ name, when, do: [{ delay: 5 }] });

describe('a hint', () => {
  it('says that a list of two quantities is no range', () => {
    const { hints } = told(
      [{ address: 0 }],
      [rule('a', { quantity: [11, 125] }), rule('b', { quantity: [1, 2] })],
    );
    expect(hints).toEqual([
      'faults[0].when.quantity: means 11 or 125 and nothing in between; write a range as "11-125"',
    ]);
  });

  it('says that a value is outside of its own limits, in its unit', () => {
    const limits = { min: 10, max: 20 };
    const { hints } = told([
      { address: 0, value: 5, write: true, limits },
      { address: 1, value: 150, scale: 0.1, write: true, limits },
      { address: 2, write: true, limits },
      { address: 3, value: [10, 21], write: true, limits: { max: 20 } },
    ]);
    expect(hints).toEqual([
      'holding[0].value: 5 is outside the limits, 10 to 20',
      'holding[3].value: 21 is outside the limits, at most 20',
    ]);
  });

  it('says that a value beside a signal has no effect', () => {
    const signal = { ramp: { from: 0, to: 1, over: '1s' } };
    expect(
      told([
        { address: 0, value: 5, signal },
        { address: 1, signal },
      ]).hints,
    ).toEqual(['holding[0].value: has no effect, because a signal sets the value']);
  });

  it('says that addresses may be numbers of a manual, where all of a table look so', () => {
    const numbers = [{ address: 40_101 }, { address: 40_102, value: 3 }];
    expect(told(numbers).hints).toEqual([
      'holding[0].address: if 40101 is the number of a holding register in a manual, its address on the wire is 100',
    ]);
    // SunSpec's registers really begin at 40000.
    expect(told([{ address: 40_000, value: 0x5375 }, ...numbers]).hints).toEqual([]);
    expect(told([{ address: 100 }, ...numbers]).hints).toEqual([]);
    // One of many was forgotten.
    expect(told([{ address: 22 }, { address: 23 }, { address: 40_025 }]).hints).toEqual([
      'holding[2].address: if 40025 is the number of a holding register in a manual, its address on the wire is 24',
    ]);
  });

  it('says that a type can not hold a limit', () => {
    const { hints } = told([
      { address: 0, write: true, limits: { min: -1, max: 65_535 } },
      { address: 1, type: 'int16', scale: 0.1, write: true, limits: { min: -20, max: 4000 } },
      { address: 2, type: 'float32', write: true, limits: { max: 1e30 } },
    ]);
    expect(hints).toEqual([
      'holding[0].limits.min: -1 is outside the range of uint16, 0 to 65535',
      'holding[1].limits.max: 4000 is outside the range of int16, -3276.8 to 3276.7',
    ]);
  });

  it('names the type that was probably meant', () => {
    expect(told([{ address: 0, type: 'float', value: 1.5 }]).mistakes).toEqual([
      expect.stringMatching(/^holding\[0\]\.type: expected bits, .*, got "float", did you mean "float32"\?$/),
    ]);
  });

  it('says that a decimal comma makes text of a number', () => {
    const limits = { max: '48,25' };
    expect(told([{ address: 0, write: true, limits, scale: '0,1' }]).mistakes).toEqual([
      expect.stringMatching(/^holding\[0\]\.scale: .*, got "0,1": write it with a decimal point, 0\.1$/),
      expect.stringMatching(
        /^holding\[0\]\.limits\.max: .*, got "48,25": write it with a decimal point, 48\.25$/,
      ),
    ]);
  });

  it('says that a scenario is run by test', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'hints-')), 's.yaml');
    writeFileSync(file, 'name: a\ndevices: {}\nsteps: [{wait: 1}]\n');
    expect(checkFile(file)).toMatchObject({
      ok: false,
      problems: [{ path: '', message: 'this is a scenario: run it with modbus-sim test' }],
    });
  });
});

describe('a mistake hides no other', () => {
  it('in the conditions of a rule', () => {
    const wrong = { quantity: -1, line: 'lann' };
    const names = { units: 1, name: 'meter.x', line: ['lan', 'lann'] };
    expect(told([{ address: 0, name: 'a' }], [rule('a', wrong), rule('b', names)]).mistakes).toEqual([
      'faults[0].when.quantity: expected a quantity from 0 to 65535, got -1',
      'faults[0].when.line: unknown line lann, expected one of lan',
      expect.stringMatching(/^faults\[1\]\.when\.units: unknown key "units", did you mean "unit"/),
      'faults[1].when.line: unknown line lann, expected one of lan',
      expect.stringMatching(/^faults\[1\]\.when\.name: unknown name "x"/),
    ]);
  });

  it('in an entry of registers', () => {
    expect(told([{ address: 0, vlaue: 1, value: 70_000, labels: 5 }]).mistakes).toEqual([
      expect.stringMatching(/^holding\[0\]\.vlaue: unknown key/),
      expect.stringMatching(/^holding\[0\]\.value: expected a whole number from 0 to 65535/),
      expect.stringMatching(/^holding\[0\]\.labels: expected labels/),
    ]);
  });
});
