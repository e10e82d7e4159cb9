import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/command-line/command-line.js';
import { ACTION_NAMES } from '../../src/device/registers/actions.js';
import { CELL_TYPES } from '../../src/device/registers/cell-type.js';
import { RegisterImage } from '../../src/device/registers/image.js';
import type { RegisterLayout } from '../../src/device/registers/layout.js';
import { NativeDeviceReader, nativeTable } from '../../src/document/native/device.js';
import { nativeConfiguration } from '../../src/document/native/file.js';
import { pymodbusDevice } from '../../src/document/pymodbus/device.js';
import { checkPymodbus, pymodbusConfiguration } from '../../src/document/pymodbus/file.js';
import { PYMODBUS_TYPES } from '../../src/document/pymodbus/schema.js';
import { recordingsIn } from '../../src/document/recording-file.js';
import { parseText } from '../../src/document/text/parse-text.js';
import { EXTENSIONS } from '../../src/extensions/all.js';
import { tries } from '../support/tries.js';
import { cursor, fixture, mistakesOf, warningsOf } from './helpers.js';

const NOT_HERE = () => ({ ok: false, error: ['not here'], warnings: [] }) as const;
const NONE = {
  devices: new NativeDeviceReader(NOT_HERE, recordingsIn('/etc')),
  api: {},
  directory: '/etc',
};

/** Builds `value` as every kind of file: nothing throws, and what is refused is told. */
function buildAll(value: unknown): void {
  const native = cursor(value);
  nativeConfiguration(native, NONE);
  const pymodbus = cursor(value);
  if (!pymodbusConfiguration(pymodbus, {})) expect(pymodbus.findings.count).toBeGreaterThan(0);
  checkPymodbus(pymodbus);
  const mistakes = [...mistakesOf(native), ...mistakesOf(pymodbus)];
  expect(mistakes).not.toHaveLength(0);
  const warnings = [...warningsOf(native), ...warningsOf(pymodbus)];
  for (const text of [...mistakes, ...warnings]) expect(text).not.toMatch(/\n|undefined|\[object/);
}

const ODD: unknown[] = [
  null,
  -1,
  1e308,
  0.5,
  '',
  'x',
  '__proto__',
  [],
  [[]],
  {},
  true,
  2n ** 70n,
  Number.NaN,
];

/** The data with some of its parts replaced by others, found by walking down at random. */
function mutated(data: unknown, choices: readonly number[]): unknown {
  const copy = structuredClone(data);
  let node = copy;
  for (const [i, choice] of choices.entries()) {
    if (typeof node !== 'object' || node === null) break;
    const keys = Object.keys(node);
    const key = keys[choice % keys.length];
    if (key === undefined) break;
    const container = node as Record<string, unknown>;
    const next = container[key];
    if (i === choices.length - 1 || typeof next !== 'object' || next === null)
      container[key] = ODD[choice % ODD.length];
    node = next;
  }
  return copy;
}

function data(name: string): unknown {
  const parsed = parseText(readFileSync(fixture(name), 'utf8'));
  return parsed.ok ? parsed.source.value : undefined;
}

describe('whatever is in a file', () => {
  it('arbitrary data is refused with paths and messages, never thrown at', () => {
    const keys = fc.constantFrom(
      'devices',
      'lines',
      'api',
      'server_list',
      'device_list',
      '__proto__',
      'constructor',
      'm',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6, depthSize: 'small' },
        fc.jsonValue(),
        fc.dictionary(keys, tie('tree')),
        fc.array(tie('tree'), { maxLength: 4 }),
      ),
    }));
    fc.assert(fc.property(tree, buildAll), { numRuns: tries(500) });
  });

  it.each(['bench.yaml', 'plant.json'])('%s with a part replaced by anything is never thrown at', (name) => {
    const original = data(name);
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), (choices) => {
        buildAll(mutated(original, choices));
      }),
      { numRuns: tries(1000) },
    );
  });

  it('what is accepted can be read, any number of times', () => {
    const bound = fc.option(
      fc.oneof(
        fc.constantFrom(-1.7e308, 1.7e308, 3.4e38, 2 ** 53 - 1, -(2 ** 53), 2 ** 32 - 1, 65536, 65535, 0, -1),
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.integer(),
      ),
      { nil: undefined },
    );
    const share = fc.constantFrom(0, 0.5, 1 - 2 ** -53);
    const pymodbusTypes = fc.constantFrom(...PYMODBUS_TYPES.filter((type) => type !== 'string'));
    const nativeTypes = fc.constantFrom(
      ...CELL_TYPES.filter((type) => !['invalid', 'next', 'string', 'bit'].includes(type)),
    );
    const action = fc.constantFrom(...ACTION_NAMES);
    const readAll = (layout: RegisterLayout | undefined, random: number) => {
      if (!layout) return;
      const image = new RegisterImage(layout, {
        random: () => random,
        now: () => new Date(0),
        uptime: () => 0,
      });
      for (let i = 0; i < 3; i++) image.touch(0, layout.size);
    };
    const setup = { 'co size': 8, 'di size': 0, 'hr size': 0, 'ir size': 0, 'shared blocks': true };
    fc.assert(
      fc.property(
        pymodbusTypes,
        nativeTypes,
        action,
        bound,
        bound,
        share,
        (old, type, action, a, b, random) => {
          const parameters = { ...(a !== undefined && { minval: a }), ...(b !== undefined && { maxval: b }) };
          const device = { setup, [old]: [{ addr: [0, 7], action, parameters }] };
          readAll(pymodbusDevice(cursor(device))?.cells, random);
          const bounds = { ...(a !== undefined && { min: a }), ...(b !== undefined && { max: b }) };
          const at = cursor([{ address: 0, type, action, ...bounds }]);
          readAll(nativeTable('holding', at, recordingsIn('.'))?.layout, random);
        },
      ),
      { numRuns: tries(3000) },
    );
  });

  it('three entries of which the longest takes the addresses of the others are refused, in any order', () => {
    const entries = [{ address: 26, quantity: 10 }, { address: 27 }, { address: 0, quantity: 100 }];
    const at = cursor(entries);
    expect(nativeTable('holding', at, recordingsIn('.'))).toBeUndefined();
    expect(mistakesOf(at)).toEqual([
      '[2]: address 26 is already defined by [0]',
      '[1]: address 27 is already defined by [0]',
    ]);
  });

  it('a table is refused when two of its entries share an address, whatever their order, and only then', () => {
    const entry = fc.record({
      address: fc.nat(30),
      quantity: fc.integer({ min: 1, max: 20 }),
      type: fc.constantFrom('uint16', 'uint32', 'float64'),
    });
    const words = { uint16: 1, uint32: 2, float64: 4 } as const;
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 6 }), (entries) => {
        const cells = entries.flatMap(({ address, quantity, type }) =>
          Array.from({ length: quantity * words[type as keyof typeof words] }, (_, i) => address + i),
        );
        const isShared = new Set(cells).size < cells.length;
        const at = cursor(entries);
        expect(nativeTable('holding', at, recordingsIn('.')) === undefined).toBe(isShared);
        expect(at.findings.count > 0).toBe(isShared);
      }),
      { numRuns: tries(2000) },
    );
  });

  it('arbitrary text is never thrown at, and a mistake in it is one line', () => {
    const scraps = fc.constantFrom(
      'a: ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '&a ',
      '*a',
      '\n',
      '  ',
      '|',
      '!x ',
      '? ',
      '#',
      '\t',
      ',',
    );
    const text = fc.array(fc.oneof(scraps, fc.string()), { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (input) => {
        const parsed = parseText(input);
        if (parsed.ok) buildAll(parsed.source.value);
        else for (const { message } of parsed.problems) expect(message).not.toContain('\n');
      }),
      { numRuns: tries(1000) },
    );
  });

  it('arbitrary arguments are a command or a message', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('--config', '--log', '--', '-', 'check', '--http_port', '-hx', '--help='),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (args) => {
        expect(parseCommandLine(args, {}, EXTENSIONS).kind).toMatch(
          /^(serve|check|ports|help|version|error)$/,
        );
      }),
      { numRuns: tries(500) },
    );
  });
});
