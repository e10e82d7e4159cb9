import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ErrorBody } from '../../../../src/remote/api/error-answer.js';
import type { PastRules } from '../../../../src/simulator/commands/schemas/fault.js';
import type { Words } from '../../../../src/simulator/commands/schemas/value.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { tcpMaster } from '../masters.js';

const SETUP = nativeSetup({
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: [0, 0], write: true }],
        holding: [
          { address: 0, value: [1, 2, 3], write: true },
          { address: 3, type: 'float32', value: 230, name: 'voltage', write: true },
          { address: 5, name: 'wave', signal: { sine: { period: '10s', amplitude: 500, offset: 500 } } },
          { address: 6, name: 'sum', signal: { counter: { integral: 'voltage' } } },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  faults: [{ name: 'slow', do: [{ delay: 1 }] }],
});

const get = async <Body>({ rest }: RunningSimulator, path: string) =>
  (await rest.send<Body>('GET', `/api/v1${path}`)).body;
const wordsAt = (running: RunningSimulator, at: string, range = 'table=holding&from=0&to=6') =>
  get<Words & ErrorBody>(running, `/devices/meter/words?${range}&at=${encodeURIComponent(at)}`);
/** More than the resolution of the times in REST. */
const aLittle = () => setTimeout(20);

describe('the registers of a moment of the past', () => {
  stopAfterEach();

  it('are what clients read then, with what the last write replaced and the times of the writes around it', async () => {
    const running = await startSimulator(SETUP);
    const client = await tcpMaster(running.port('lan'));
    const reads: { readonly at: string; readonly words: readonly number[] }[] = [];
    for (const value of [11, 12, 13]) {
      await aLittle();
      await client.writeRegister(1, value);
      await aLittle();
      const { data } = await client.readHoldingRegisters(0, 5);
      const { events } = await get<{ events: { time: string }[] }>(running, '/traffic?kind=reply&limit=1');
      reads.push({ at: events[0]?.time ?? '', words: data });
    }
    for (const { at, words } of reads) expect((await wordsAt(running, at)).words.slice(0, 5)).toEqual(words);
    const { past } = await wordsAt(running, reads[1]?.at ?? '');
    expect(past).toMatchObject({ at: reads[1]?.at, why: 'made', before: [[1, 11]] });
    // From write to write, as the buttons of the console go.
    const first = await wordsAt(running, past?.previous ?? '');
    expect(first.past).toMatchObject({ changed: past?.changed, before: [[1, 11]] });
    const before = await wordsAt(running, first.past?.previous ?? '');
    expect([before.words[1], before.past?.before, before.past?.previous]).toEqual([11, [[1, 2]], null]);
    expect((await wordsAt(running, before.past?.next ?? '')).words[1]).toBe(12);
    const now = await wordsAt(running, '0s');
    expect([now.words[1], now.past?.next]).toEqual([13, null]);
  });

  it('are not known of a sum from before what it adds up was changed, and of no device from before it was restarted', async () => {
    const running = await startSimulator(SETUP);
    await aLittle();
    await running.rest.send('PUT', '/api/v1/devices/meter/values/voltage', { value: 10 });
    await aLittle();
    const { past } = await wordsAt(running, '0s');
    await aLittle();
    const earlier = await wordsAt(running, new Date(Date.parse(past?.changed ?? '') - 5).toISOString());
    expect([earlier.access, earlier.words[6], earlier.words[3]]).toEqual(['wwwwwr?', null, 0x4366]);
    expect(earlier.values.map(({ name }) => name)).toEqual(['voltage', 'wave']);
    expect((await wordsAt(running, '0s')).access).toBe('wwwwwrr');
    await running.rest.send('POST', '/api/v1/devices/meter/reset');
    const refused = await wordsAt(running, past?.at ?? '');
    expect([refused.status, refused.code]).toEqual([409, 'history.not_kept']);
    expect(refused.detail).toMatch(
      /^at: the registers of meter are known only from .*Z on: it was restarted at that time$/,
    );
    expect((await wordsAt(running, 'yesterday')).problems).toMatchObject([{ path: 'at' }]);
  });

  it('leave the signals, the counters and the registers as they are', async () => {
    const running = await startSimulator(SETUP);
    const look = () => get<{ registers: object[] }>(running, '/devices/meter/registers?table=holding&to=4');
    await running.rest.send('PUT', '/api/v1/devices/meter/values/voltage', { value: 10 });
    const before = await look();
    await aLittle();
    for (const at of ['1ms', '15ms', '0s']) await wordsAt(running, at);
    expect(await look()).toEqual(before);
  });
});

describe('the fault rules of a moment of the past', () => {
  stopAfterEach();

  it('are those that were in force then, as they were', async () => {
    const running = await startSimulator(SETUP);
    const { rest } = running;
    const rulesAt = async (at: string) =>
      (await get<PastRules>(running, `/past/faults?at=${at}`)).faults.map(
        ({ name, enabled, do: [first] }) => `${name} ${enabled} ${JSON.stringify(first)}`,
      );
    const moments: string[] = [];
    const then = async (method: 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => {
      await aLittle();
      moments.push((await get<PastRules>(running, '/past/faults')).at);
      await aLittle();
      await rest.send(method, `/api/v1/faults/${path}`, body);
    };
    await then('PUT', 'broken', { do: [{ delay: 7 }] });
    await then('PATCH', 'slow', { enabled: false });
    await then('PUT', 'slow', { do: [{ delay: 2 }] });
    await then('DELETE', 'broken');
    const shown: string[][] = [];
    for (const at of [...moments, '0s']) shown.push((await rulesAt(at)).toSorted());
    expect(shown).toEqual([
      ['slow true {"delay":1}'],
      ['broken true {"delay":7}', 'slow true {"delay":1}'],
      ['broken true {"delay":7}', 'slow false {"delay":1}'],
      ['broken true {"delay":7}', 'slow true {"delay":2}'],
      ['slow true {"delay":2}'],
    ]);
    for (const at of ['9999999999999999999999h', '1e300h'])
      expect((await wordsAt(running, at)).status).toBeOneOf([400, 409]);
    const refused = await get<ErrorBody>(running, '/past/faults?at=2020-01-01T00:00:00Z');
    expect([refused.status, refused.code]).toEqual([409, 'history.not_kept']);
  });
});
