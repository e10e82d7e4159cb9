import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseText } from '../../../src/document/text/parse-text.js';
import { COMMANDS } from '../../../src/remote/rpc/declared.js';
import type { CallName } from '../../../src/remote/rpc/rpc.js';
import { filesIn, type KeptSimulator, keep, stateDirectory } from './kept.js';
import { asIs, METER, PLAIN, request, START, written } from './plant.js';

/*
 * Each command that changes a simulator: the text of its state makes a new simulator of the same file the same again.
 * A new command needs a row here, or a reason why a restart takes its change back.
 */

type Change = readonly [name: CallName, input: object];

const METER_LIMIT: Change = ['value.set', { device: 'meter', name: 'limit', value: 6.5 }];
const ARMED: Change = ['misbehaviour.arm', { id: 'few-registers', target: { device: 'meter' } }];
const MINE = { name: 'mine', seed: 3, when: { unit: 1 }, do: [{ delay: 5 }] };

/** What happens before, and the change that the row is about. */
const ROWS: Readonly<Record<string, readonly Change[]>> = {
  'another configuration': [
    [
      'configuration.apply',
      {
        configuration: {
          devices: { meter: { ...METER, seed: 8 }, other: PLAIN },
          lines: { lan: { tcp: { port: 15020 }, units: { 1: 'other', 9: { copyOf: 'meter' } } } },
          faults: [MINE],
        },
      },
    ],
  ],
  'a new line': [
    ['line.add', { name: 'new', udp: { port: 15022 }, units: { 1: 'spare', 5: { copyOf: 'other' } } }],
  ],
  'other units of a line': [
    ['line.change', { line: 'lan', settings: { units: { 1: 'other', 3: { copyOf: 'meter' } } } }],
  ],
  'another transport of a line': [
    ['line.change', { line: 'lan', settings: { serial: { path: 'virtual' } } }],
  ],
  'a line that is gone': [['line.remove', { line: 'other' }]],
  'a new device': [['device.add', { name: 'extra', ...METER, manners: { holes: 'shift' } }]],
  'a device in place of another': [
    ['device.remove', { device: 'spare', force: true }],
    ['device.add', { name: 'spare', registers: { input: [{ address: 7, name: 'only', value: 5 }] } }],
  ],
  'a device that is gone': [['device.remove', { device: 'other', force: true }]],
  'a device that lost its power': [METER_LIMIT, ['device.power', { device: 'meter', state: 'cycle' }]],
  'another speed and time of a device': [['device.clock', { device: 'meter', speed: 60, step: '1h' }]],
  'a clock that stands': [['device.clock', { device: 'meter', pause: true }]],
  'other manners': [['device.manners', { device: 'meter', manners: { most: { registers: 7 } } }]],
  'manners taken away': [['device.manners', { device: 'other', manners: {} }]],
  'a device as configured again': [METER_LIMIT, ['device.reset', { device: 'meter' }]],
  'a value by its name': [METER_LIMIT],
  'a value that is available now': [['value.set', { device: 'meter', name: 'waits', available: true }]],
  'values by their addresses': [
    ['value.change', { device: 'meter', changes: [{ table: 'holding', address: 3, words: [9, 8] }] }],
  ],
  'new registers': [
    ['value.define', { device: 'meter', table: 'holding', address: 300, quantity: 3, write: true }],
  ],
  'another signal': [
    ['signal.set', { device: 'meter', value: 'voltage', signal: { ramp: { from: 1, to: 2, over: '1s' } } }],
  ],
  'a signal taken away': [['signal.remove', { device: 'meter', value: 'level' }]],
  'a cell that clients may write': [
    ['cells.set', { device: 'meter', table: 'input', from: 0, to: 5, register: 0, value: 7, writable: true }],
  ],
  'a new rule': [['rule.add', { rule: MINE }]],
  'a change taken back': [
    ['line.change', { line: 'lan', settings: { units: { 1: 'other' } } }],
    ['configuration.undo', {}],
  ],
  'a rule in place of another': [['rule.replace', { rule: { ...MINE, name: 'slow' } }]],
  'a rule switched off': [['rule.switch', { name: 'slow', enabled: false }]],
  'a rule that is gone': [['rule.remove', { name: 'slow' }]],
  'the rules as configured again': [
    ['rule.remove', { name: 'slow' }],
    ['rule.reset', {}],
  ],
  'a mistake of real devices': [ARMED],
  'a mistake taken back': [ARMED, ['misbehaviour.disarm', { id: 'few-registers' }]],
};

const RUN = 'a run ends with its program';
/** Commands whose change a restart takes back, and why. */
const NOT_KEPT: Partial<Record<keyof typeof COMMANDS, string>> = {
  'traffic.clear': 'the traffic begins with the program',
  'line.start': 'a start opens the lines',
  'line.restart': 'a start opens the lines',
  'line.stop': 'a start opens the lines',
  'inlet.take': 'a value from outside comes again',
  'run.start': RUN,
  'run.stop': RUN,
};

const PLANT = {
  ...START,
  lines: { lan: START.lines.lan, other: { udp: { port: 15021 }, units: { 1: 'spare', 2: 'other' } } },
};

function seen({ simulator }: KeptSimulator) {
  const file = parseText(written(simulator));
  return { ...asIs(simulator), file: file.ok && file.source.value };
}

beforeEach(() => {
  // Nothing moves.
  vi.spyOn(performance, 'now').mockReturnValue(0);
});
afterEach(() => {
  vi.mocked(performance.now).mockRestore();
});

describe('a restart with the state brings back', () => {
  it.each(Object.entries(ROWS))('%s', async (_, changes) => {
    const directory = stateDirectory();
    const first = await keep(PLANT, directory);
    const make = async ([name, input]: Change) =>
      expect(await request(first.simulator, { name, input })).toMatchObject({ ok: true });
    for (const change of changes.slice(0, -1)) await make(change);
    const before = seen(first);
    for (const change of changes.slice(-1)) await make(change);
    const changed = seen(first);
    expect(changed).not.toEqual(before);
    await first.keeper.end();
    const second = await keep(PLANT, directory);
    expect(seen(second)).toEqual(changed);
    expect(second.warnings).toEqual([]);
    await second.keeper.end();
  });
});

it('each command that changes something has a row, or a reason why a restart takes it back', () => {
  const changing = Object.entries(COMMANDS).flatMap(([name, each]) => ('kind' in each ? [] : [name]));
  const tried = Object.values(ROWS).flatMap((changes) => changes.at(-1)?.[0] ?? []);
  expect([...new Set(tried), ...Object.keys(NOT_KEPT)].sort()).toEqual(changing.sort());
});

it('the files of the state are as they were', async () => {
  const directory = stateDirectory();
  const content = {
    devices: { meter: PLAIN, other: PLAIN },
    lines: { lan: { tcp: { port: 15020 }, units: { 1: 'meter', 2: 'other' } } },
    faults: [MINE],
  };
  const kept = await keep(content, directory);
  for (const [name, input] of [
    ['value.change', { device: 'meter', changes: [{ table: 'holding', address: 1, words: [9] }] }],
    ['device.manners', { device: 'meter', manners: { holes: 'shift' } }],
    ['device.add', { name: 'extra', ...PLAIN }],
    ['line.change', { line: 'lan', settings: { units: { 1: 'meter', 2: 'extra' } } }],
    ['rule.switch', { name: 'mine', enabled: false }],
  ] as const satisfies readonly Change[])
    expect(await request(kept.simulator, { name, input })).toMatchObject({ ok: true });
  await kept.keeper.end();
  const files = filesIn(directory).map(
    (name) => `== ${name}\n${readFileSync(join(directory, name), 'utf8')}`,
  );
  await expect(files.join('\n')).toMatchFileSnapshot(resolve('test/goldens/written/state.txt'));
});
