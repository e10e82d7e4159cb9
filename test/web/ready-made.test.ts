import { describe, expect, test } from 'vitest';
import type { ServedSchema } from '../../src/api/v1/program.js';
import { FAULT_KINDS } from '../../src/faults/kinds.js';
import { draftOf, readDraft } from '../../src/web/ui/schema-form/draft.js';
import { shapeOf } from '../../src/web/ui/schema-form/shape.js';
import {
  atDefined,
  isLike,
  madeUpLike,
  previewPieces,
  requestsLike,
  whenOf,
} from '../../src/web/views/faults/preview-pieces.js';
import { aimed, freeName, READY_MADE } from '../../src/web/views/faults/ready-made.js';
import { READY_SCENARIOS } from '../../src/web/views/tests/scenarios.js';
import { nativeSetup } from '../support/configuration.js';
import { startSimulator, stopAfterEach } from '../support/simulator.js';

stopAfterEach();

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2] }] } } },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    'a "line"': { serial: { path: 'virtual' }, units: { 1: 'meter' } },
  },
});

describe('what the console has ready', () => {
  test.each(READY_MADE)(
    'the rule "$title" is taken, as the form writes it, and can be previewed',
    async (ready) => {
      const { rest } = await startSimulator(SETUP);
      const told = (await rest.send<ServedSchema>('GET', '/api/v1/schemas/fault-rule')).body;
      const shape = shapeOf(told);
      const rule = aimed(ready, { line: 'a "line"', count: 9 }, []);
      expect(readDraft(shape, draftOf(shape, rule))).toEqual(rule);
      const { body, status } = await rest.send<never>('POST', '/api/v1/faults/preview', {
        rule,
        like: madeUpLike(whenOf(rule)),
      });
      expect(status).toBe(200);
      expect(previewPieces(body).map(({ lane }) => lane)).toContain('notes');
      expect((await rest.send('POST', '/api/v1/faults', rule)).status).toBe(201);
    },
  );

  test.each(READY_SCENARIOS)(
    'the scenario "$title" is taken, whatever the line is called',
    async ({ text }) => {
      const { rest } = await startSimulator(SETUP);
      const { statusCode, body } = await rest.app.inject({
        method: 'POST',
        url: '/api/v1/tests',
        headers: { host: 'localhost', 'content-type': 'application/yaml' },
        payload: text('a "line"'),
      });
      expect([statusCode, body]).toEqual([201, expect.stringContaining('running')]);
    },
  );

  test.each([
    [{}, 'kind=request&limit=100'],
    [{ line: 'a', unit: [1, 2] }, 'kind=request&limit=100&line=a&unit=1%2C2'],
    [{ address: 7 }, 'kind=request&limit=100&address=7'],
    [{ address: [0, 9] }, 'kind=request&limit=100&address=0-9'],
    [
      {
        address: [
          [0, 9],
          [20, 21],
        ],
      },
      'kind=request&limit=100&address=0-9%2C20-21',
    ],
  ])('finds requests for the preview of a rule with %j', (when, query) => {
    expect(requestsLike(when).toString()).toBe(query);
  });

  test('previews a rule with a request that meets its conditions', () => {
    const request = { quantity: 2, names: ['meter.voltage'] };
    expect(
      [{}, { quantity: [2, 3] }, { name: 'meter.voltage' }].map((when) => isLike(when, request)),
    ).toEqual([true, true, true]);
    expect([{ quantity: 3 }, { name: 'meter.current' }].map((when) => isLike(when, request))).toEqual([
      false,
      false,
    ]);
  });

  test('previews a rule, without traffic, with a register that is defined', () => {
    const defined = {
      holding: { registers: 0, ranges: [] },
      input: { registers: 2, ranges: [[30, 31]] as [number, number][] },
    };
    expect(atDefined({}, defined)).toEqual({ function: 4, address: 30 });
    expect(atDefined({ address: 5 }, defined)).toEqual({ address: 5 });
    expect(atDefined({ function: 6 }, defined)).toEqual({ function: 6 });
  });

  test('gives each rule a name of its own', () => {
    expect(freeName('slow', ['slow', 'slow-2'])).toBe('slow-3');
  });
});

describe('a form made of the schema of a rule', () => {
  const written = {
    name: 'a',
    enabled: false,
    when: {
      line: ['lan', 'b'],
      unit: [1, 2],
      address: [
        [0, 9],
        [20, 21],
      ],
      probability: 0.5,
      for: '20s',
    },
    schedule: [{ from: 0, for: '5s', every: 60000 }],
    do: [
      { delay: 250 },
      { close: { how: 'end', after: 3 } },
      { silence: true },
      { values: [1] },
      { values: 'swapped' },
      { crc: 'swap' },
    ],
    seed: 7,
  };

  test('reads back what it was filled with', async () => {
    const { rest } = await startSimulator(SETUP);
    const shape = shapeOf((await rest.send<ServedSchema>('GET', '/api/v1/schemas/fault-rule')).body);
    expect(readDraft(shape, draftOf(shape, written))).toEqual(written);
  });

  test('leaves what can not be read to the server', async () => {
    const { rest } = await startSimulator(SETUP);
    const shape = shapeOf((await rest.send<ServedSchema>('GET', '/api/v1/schemas/fault-rule')).body);
    const rule = { name: '7', when: { unit: 'x, 1' }, do: [{ delay: 'soon' }] };
    expect(readDraft(shape, draftOf(shape, rule))).toEqual({ ...rule, when: { unit: ['x', 1] } });
  });

  test('has a sentence for every kind of fault', async () => {
    const { rest } = await startSimulator(SETUP);
    const shape = shapeOf((await rest.send<ServedSchema>('GET', '/api/v1/schemas/fault-rule')).body);
    const faults = shape.kind === 'object' && shape.fields.find(({ key }) => key === 'do')?.shape;
    const options =
      faults && faults.kind === 'list' && faults.item.kind === 'choice' ? faults.item.options : [];
    expect(options).toHaveLength(FAULT_KINDS.length);
    for (const { about } of options) expect(about).toMatch(/\.$|\)\.$/);
  });
});
