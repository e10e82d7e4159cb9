import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { sendJson } from '../../../../src/remote/api/answers.js';
import type { KeptSums } from '../../../../src/remote/api/sums.js';
import { pieces, type SumsView, sumsTexts } from '../../../../src/remote/api/v1/sums.js';
import { newRow } from '../../../../src/simulator/traffic/sums.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator } from '../../../support/simulator.js';
import { tcpMaster } from '../masters.js';
import { EventSource } from './event-source.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3], write: true }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  faults: [
    { name: 'odd', when: { address: 2 }, do: [{ exception: 4 }] },
    { name: 'mute', when: { address: 1 }, do: [{ silence: true }] },
  ],
});

test('what passed is added up by outcome, for REST, events and metrics', async () => {
  const running = await startSimulator(SETUP);
  const url = await running.rest.app.listen({ port: 0, host: '127.0.0.1' });
  const stream = await new EventSource(`${url}/api/v1/events?tell=sums`).connected();
  const heard = () =>
    stream.messages.flatMap(({ data }) =>
      data === undefined ? [] : (JSON.parse(data) as { sums: SumsView[] }).sums,
    );
  const master = await tcpMaster(running.port('lan'));
  for (let i = 0; i < 3; i++) await master.readHoldingRegisters(0, 1);
  await master.readHoldingRegisters(99, 1).catch(() => {});
  await master.readHoldingRegisters(2, 1).catch(() => {});
  await master.writeRegister(0, 7);
  const client = running.client();
  client.send(Buffer.from('000100000006010300010001', 'hex'));
  const total = (all: readonly SumsView[], name: keyof SumsView, code: number) =>
    all.filter((each) => each.function === code).reduce((sum, each) => sum + Number(each[name]), 0);
  const get = async (every: string) => {
    const { status, body } = await running.rest.send<{ sums: SumsView[] }>(
      'GET',
      `/api/v1/sums?every=${every}&line=lan`,
    );
    expect(status).toBe(200);
    return body.sums;
  };
  await expect.poll(async () => total(await get('1s'), 'requests', 3)).toBe(6);
  for (const every of ['1s', '10s', '1m']) {
    const sums = await get(every);
    const names = ['good', 'exceptions', 'ordered', 'missing', 'bytesIn'] as const;
    // Two rules acted: one of them kept silent.
    expect(names.map((name) => total(sums, name, 3))).toEqual([3, 1, 2, 0, 6 * 12]);
    expect(names.map((name) => total(sums, name, 6))).toEqual([1, 0, 0, 0, 12]);
    expect(sums[0]).toMatchObject({ line: 'lan', unit: 1, speakingMs: 0 });
    expect(Math.abs(Date.now() - Date.parse(String(sums[0]?.time)))).toBeLessThan(120_000);
  }
  await expect.poll(() => total(heard(), 'requests', 3)).toBe(6);
  const { body: text } = await running.rest.app.inject({ url: '/metrics', headers: { host: 'localhost' } });
  expect(text).toContain('modbus_sim_outcomes_total{line="lan",unit="1",function="3",outcome="ordered"} 2');
  expect(text).toContain('modbus_sim_bytes_total{line="lan",direction="in"} 84');
  expect((await running.rest.send('GET', '/api/v1/sums?every=2s')).status).toBe(400);
  await stream.close();
});

const kept = (from: number): KeptSums => ({ ...newRow(1, 3), line: 'lan', from, seconds: 1 });

test('a slow reader of events gets the last five seconds, and others share a text', () => {
  const sums = {
    last: 10,
    *from(_: number, second: number) {
      for (let each = second; each <= this.last; each++) yield kept(each);
    },
  };
  const texts = sumsTexts({ sums, now: () => 0 } as never);
  const [slow, fast, other] = [texts(), texts(), texts()];
  const secondsOf = (message: string | undefined) =>
    (JSON.parse(message as string) as { sums: SumsView[] }).sums.map(({ monotonicUs }) => monotonicUs / 1e6);
  expect(fast()).toBeUndefined();
  sums.last = 12;
  expect(secondsOf(fast())).toEqual([11, 12]);
  expect(fast()).toBeUndefined();
  sums.last = 500;
  expect(secondsOf(slow())).toEqual([496, 497, 498, 499, 500]);
  expect(fast()).toBe(other());
});

test('others get their turn while the sums of a line without any are looked for', async () => {
  let [now, turns] = [0, 0];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const rows = function* () {
    for (; now < 1000; now += 0.1) yield kept(0);
  };
  const reply = { type: () => ({ send: (body: unknown) => body }) };
  try {
    const body = await sendJson(reply as never, { sums: pieces({ now: () => 0 }, rows(), 'nosuch') });
    expect(await text(body)).toBe('{"sums":[]}');
    // A turn every 20 ms, which is 200 rows.
    expect(turns).toBeGreaterThanOrEqual(45);
  } finally {
    clearImmediate(next);
    clock.mockRestore();
  }
});
