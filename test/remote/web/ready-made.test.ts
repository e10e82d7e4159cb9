import { describe, expect, test } from 'vitest';
import { FAULT_KINDS } from '../../../src/device/faults/kinds.js';
import type { ServedSchema } from '../../../src/remote/api/v1/schemas.js';
import { draftOf, readDraft, shapeOf } from '../../../src/remote/web/ui/schema-form/draft.js';
import { aimed, freeName, READY_MADE } from '../../../src/remote/web/views/faults/texts.js';
import { READY_SCENARIOS } from '../../../src/remote/web/views/tests/scenarios.js';
import type { FaultPreviewView } from '../../../src/simulator/commands/schemas/fault-preview.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

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
      const preview = await rest.send<FaultPreviewView>('POST', '/api/v1/faults/preview', { rule });
      expect(preview.body).toMatchObject({
        matches: true,
        faults: [{ kind: Object.keys(ready.do[0] ?? {})[0] }],
      });
      expect((await rest.send('POST', '/api/v1/faults', rule)).status).toBe(201);
    },
  );

  test.each(READY_SCENARIOS)(
    'the scenario "$title" is taken, whatever the line is called',
    async ({ text }) => {
      const { rest } = await startSimulator(SETUP);
      const { statusCode, body } = await rest.app.inject({
        method: 'POST',
        url: '/api/v1/runs?kind=scenario',
        headers: { host: 'localhost', 'content-type': 'application/yaml' },
        payload: text('a "line"'),
      });
      expect([statusCode, body]).toEqual([201, expect.stringContaining('running')]);
    },
  );

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
