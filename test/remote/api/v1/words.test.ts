import { beforeEach, describe, expect, it } from 'vitest';
import type { ErrorBody } from '../../../../src/remote/api/error-answer.js';
import type { SignalKindView, Words } from '../../../../src/simulator/commands/schemas/value.js';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = {
  devices: {
    meter: {
      clock: { paused: true },
      registers: {
        coils: [{ address: 0, value: [1, 0], write: true }],
        holding: [
          { address: 0, value: [7, 8], write: true },
          { address: 3, type: 'float32', value: 1, name: 'limit', write: true },
          { address: 5, name: 'level', signal: { ramp: { from: 3, to: 100, over: '10s' } } },
          { address: 6, type: 'uint32', name: 'total', signal: { counter: { integral: 'limit' } } },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

let rest: Rest;
beforeEach(() => {
  rest = new Rest(nativeSetup(SETUP));
});

const words = async (query: string) =>
  (await rest.send<Words>('GET', `/api/v1/devices/meter/words?${query}`)).body;
const patch = (change: object) =>
  rest.send<ErrorBody>('PATCH', '/api/v1/devices/meter/registers', { changes: [change] });

describe('GET /api/v1/devices/NAME/words', () => {
  it('shows registers as clients see them, with what is known of named ones', async () => {
    const answer = await words('table=holding&from=0&to=5');
    expect(answer).toMatchObject({ table: 'holding', from: 0, bits: 16, access: 'ww-wwr' });
    expect(answer.words).toEqual([7, 8, null, 0x3f80, 0, 3]);
    expect(answer.values.map(({ name }) => name)).toEqual(['limit', 'level']);
    expect(answer.values[0]).toMatchObject({ value: 1, address: 3, registers: 2 });
  });

  it('ends where the table ends, and begins in the midst of a value', async () => {
    expect(await words('table=holding&from=4&to=500')).toMatchObject({ from: 4, words: [0, 3, 0, 0] });
    expect(await words('table=coils')).toMatchObject({ bits: 1, words: [1, 0] });
    expect(await words('table=input')).toMatchObject({ words: [], values: [] });
  });

  it('refuses a range that is longer than 512', async () => {
    const { status, body } = await rest.send<ErrorBody>('GET', '/api/v1/devices/meter/words?to=512');
    expect(status).toBe(400);
    expect(body.problems).toMatchObject([{ path: 'to', message: 'expected at most 512 addresses' }]);
  });
});

describe('PATCH with words', () => {
  it('writes a part of a value, as clients do', async () => {
    expect((await patch({ table: 'holding', address: 4, words: [0x8000] })).status).toBe(200);
    expect((await words('from=3&to=4')).values[0]).toMatchObject({
      value: Math.fround(1 + 2 ** -8),
      lastWriter: { by: 'REST' },
    });
  });

  it('writes several values', async () => {
    await patch({ table: 'holding', address: 0, words: [1, 2] });
    expect((await words('from=0&to=1')).words).toEqual([1, 2]);
  });

  it('presets a counter', async () => {
    await patch({ table: 'holding', address: 6, words: [0, 99] });
    expect((await words('from=6&to=7')).words).toEqual([0, 99]);
  });

  it.each([
    [{ table: 'holding', address: 1, words: [1, 2] }, 'changes[0].address', 'holding 2 is not defined'],
    [{ table: 'holding', address: 5, words: [1] }, 'changes[0].address', 'is computed by its signal'],
    [{ table: 'coils', address: 0, words: [1, 2] }, 'changes[0].words', 'expected 0 or 1 for coils 1'],
    [{ table: 'holding', address: 0, words: [65536] }, 'changes[0].words[0]', 'a register from 0 to 65535'],
    [{ table: 'holding', address: 0, words: [] }, 'changes[0].words', 'at least one register'],
    [{ table: 'holding', address: 0, words: [1], value: 1 }, 'changes[0]', 'words with a table and an addr'],
    [{ name: 'limit', words: [1, 2] }, 'changes[0]', 'words with a table and an address'],
  ])('refuses %j, and changes nothing', async (change, path, message) => {
    const { status, body } = await patch(change);
    expect(status).toBe(400);
    expect(body.problems).toMatchObject([{ path, message: expect.stringContaining(message) as string }]);
    expect((await words('from=0&to=3')).words).toEqual([7, 8, null, 0x3f80]);
  });
});

describe('GET /api/v1/signals', () => {
  it('describes the parameters of each kind', async () => {
    const { kinds } = (await rest.send<{ kinds: SignalKindView[] }>('GET', '/api/v1/signals')).body;
    expect(kinds).toHaveLength(14);
    expect(kinds.find(({ name }) => name === 'square')?.schema).toMatchObject({
      properties: { duty: { type: 'number', minimum: 0, maximum: 1, default: 0.5 }, offset: { default: 0 } },
      required: ['period', 'amplitude'],
    });
  });
});
