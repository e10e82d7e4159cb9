import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Summary } from '../../../../src/simulator/commands/schemas/program.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { EventSource } from './event-source.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, write: true }] } } },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    other: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
});
const READ = Buffer.from('000100000006010300000001', 'hex');
const READ_LENGTH = 11;

let served: RunningSimulator;
let url: string;
let source: EventSource | undefined;

stopAfterEach();

beforeEach(async () => {
  served = await startSimulator(SETUP);
  url = await served.rest.app.listen({ port: 0, host: '127.0.0.1' });
});

afterEach(async () => {
  await source?.close();
});

async function follow(query: string): Promise<EventSource> {
  source = new EventSource(`${url}/api/v1/events${query}`);
  return source.connected();
}

/** The summaries that have come, the newest last. */
function summaries({ messages }: EventSource): Summary[] {
  return messages
    .filter(({ event }) => event === 'summary')
    .map(({ data = '' }) => JSON.parse(data) as Summary);
}

async function nextSummary(reader: EventSource): Promise<Summary> {
  const before = summaries(reader).length;
  // One may be on its way already.
  await until(() => summaries(reader).length > before + 1, 'a summary comes');
  return summaries(reader).at(-1) as Summary;
}

async function ask(count: number): Promise<void> {
  const master = served.client();
  master.send(Buffer.concat(Array.from({ length: count }, () => READ)));
  await until(() => master.received.length === count * READ_LENGTH, 'all are answered');
}

test('a reader of summaries is told at once how everything is, and no traffic', async () => {
  await ask(3);
  const reader = await follow('?tell=summary');
  await until(() => summaries(reader).length > 0, 'the first comes');
  await ask(2);
  const { lines, monotonicUs, lastSeq, program } = await nextSummary(reader);
  expect(lines.map(({ name, state }) => [name, state])).toEqual([
    ['lan', 'open'],
    ['other', 'open'],
  ]);
  expect(lines[0]).toMatchObject({ counters: { requests: 5, replies: 5 }, turnaround: { count: 5 } });
  expect(lines[0]?.turnaround.sumMs).toBeGreaterThan(0);
  expect(monotonicUs).toBeGreaterThan((summaries(reader)[0] as Summary).monotonicUs);
  expect(lastSeq).toBe(served.simulator.traffic.last);
  expect(program.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(reader.messages.filter(({ event }) => event === 'traffic')).toEqual([]);
});

test('a reader of both is told both', async () => {
  const reader = await follow('?tell=traffic,summary&line=lan');
  await ask(2);
  await nextSummary(reader);
  const told = reader.messages.filter(({ event }) => event === 'traffic').map(({ data = '' }) => data);
  expect(told.join()).toContain('"kind":"reply"');
});

test('the edition of a line differs after a change of that line alone', async () => {
  const reader = await follow('?tell=summary');
  const before = (await nextSummary(reader)).lines.map(({ edition }) => edition);
  await served.rest.send('PUT', '/api/v1/lines/other', { missingUnit: 'silence' });
  const after = (await nextSummary(reader)).lines.map(({ edition }) => edition);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});

test('a message that there is not is refused in words', async () => {
  const { status, body } = await served.rest.send<{ detail: string }>('GET', '/api/v1/events?tell=summery');
  expect(status).toBe(400);
  expect(body.detail).toContain('did you mean "summary"');
});
