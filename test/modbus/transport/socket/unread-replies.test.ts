import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ReplyPlan } from '../../../../src/modbus/protocol/reply-plan.js';
import { readRequest } from './holding-registers.js';
import { openLine, type TestLine } from './line.js';
import { type RawClient, until } from './raw-client.js';

/** More than the system buffers for a connection of the loopback. */
const HUGE = 32 * 1024 * 1024;

let line: TestLine;
let client: RawClient;

async function open(slowTimeoutMs: number): Promise<void> {
  line = await openLine({ slowTimeoutMs });
  client = line.client();
}

/** Longer than a busy machine keeps a client from reading. */
beforeEach(() => open(60_000));
afterEach(() => line.close());

const reports = () => line.device.reports.map(({ report }) => report);

function bytes(length: number) {
  return { kind: 'bytes' as const, waitMs: 0, bytes: new Uint8Array(length), continues: false };
}

function answerWith(...lengths: number[]): void {
  line.device.fault = (): ReplyPlan => ({ kind: 'send', early: false, steps: lengths.map(bytes) });
}

test('a reply to a client that does not read is not achieved, as far as the system did not take it', async () => {
  await line.close();
  await open(500);
  answerWith(10, HUGE, 20);
  client.socket.pause();
  client.send(readRequest(1, 0));
  await until(() => line.device.rejections.length === 1, 'dropped');
  const reason = 'the client did not read its replies for 500 ms';
  const lost = { outcome: 'not achieved', reason };
  expect(reports()).toMatchObject([{ steps: [{ outcome: 'achieved' }, lost, lost], ended: 'disconnected' }]);
});

test('a reply is reported when the system has taken all of it, and those behind it after it', async () => {
  answerWith(HUGE);
  client.socket.pause();
  client.send(readRequest(1, 0));
  await until(() => line.device.requests.length === 1, 'the request has come');
  await sleep(100);
  expect(reports()).toEqual([]);
  let received = 0;
  client.socket.removeAllListeners('data').on('data', (chunk) => {
    received += chunk.length;
  });
  client.socket.resume();
  await until(() => reports().length === 1, 'reported');
  expect(reports()).toMatchObject([{ steps: [{ outcome: 'achieved' }], ended: 'complete' }]);
  await until(() => received === HUGE, 'all has come');
});

test('a client that goes away before it has read leaves a report that says so', async () => {
  answerWith(10, HUGE);
  client.socket.pause();
  client.send(readRequest(1, 0));
  await until(() => line.device.requests.length === 1, 'the request has come');
  await sleep(50);
  client.socket.resetAndDestroy();
  await until(() => reports().length === 1, 'reported');
  expect(reports()).toMatchObject([
    { steps: [{ outcome: 'achieved' }, { outcome: 'not achieved' }], ended: 'disconnected' },
  ]);
});
