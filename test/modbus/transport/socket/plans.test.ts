import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import { type ReplyPlan, silence } from '../../../../src/modbus/protocol/reply-plan.js';
import { delayed, readRequest } from './holding-registers.js';
import { openLine, type TestLine } from './line.js';
import { RawClient, until } from './raw-client.js';

let line: TestLine;

beforeEach(async () => {
  line = await openLine();
});

afterEach(() => line.close());

const delayTransaction = (transactionId: number, ms: number) => {
  line.device.fault = (plan, request) => (request.transactionId === transactionId ? delayed(plan, ms) : plan);
};

test('a delayed reply is never early', async () => {
  const client = line.client();
  for (const ms of [0.5, 1, 1.75, 5.3, 20, 100.9]) {
    line.device.fault = (plan) => delayed(plan, ms);
    client.send(readRequest(1, 0));
    const count = line.device.reports.length + 1;
    await until(() => line.device.reports.length === count, 'played');
    const { request, report } = line.device.reports[count - 1] ?? expect.fail('no report');
    expect(report.ended).toBe('complete');
    expect(report.steps).toMatchObject([{ plannedAt: request.receivedAt + ms, outcome: 'achieved' }]);
    expect(report.steps[0]?.achievedAt).toBeGreaterThanOrEqual(request.receivedAt + ms);
  }
  expect(await client.responsesOf(6)).toHaveLength(6);
});

test('a delayed reply holds back later replies of its connection', async () => {
  delayTransaction(1, 150);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  client.send(readRequest(3, 0));
  const started = performance.now();
  const responses = await client.responsesOf(3);
  expect(responses.map(({ transactionId }) => transactionId)).toEqual([1, 2, 3]);
  expect(performance.now() - started).toBeGreaterThan(100);
});

test('a delayed reply does not hold back other connections', async () => {
  delayTransaction(1, 60_000);
  const slow = line.client();
  slow.send(readRequest(1, 0));
  await until(() => line.device.requests.length === 1, 'the slow request has come');
  const fast = line.client();
  fast.send(readRequest(2, 0));
  await fast.responsesOf(1);
  expect(slow.received.length).toBe(0);
});

test('two delayed requests sent together are both answered after their delay, not one after the other', async () => {
  line.device.fault = (plan) => delayed(plan, 300);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  await client.responsesOf(2);
  const planned = line.device.reports.map(
    ({ request, report }) => (report.steps[0]?.plannedAt ?? 0) - request.receivedAt,
  );
  expect(planned).toEqual([expect.closeTo(300, 6), expect.closeTo(300, 6)]);
});

test('a silent plan sends nothing and lets the next reply pass', async () => {
  line.device.fault = (plan, { transactionId }) => (transactionId === 1 ? silence('dropped') : plan);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  expect((await client.responsesOf(1)).map(({ transactionId }) => transactionId)).toEqual([2]);
  expect(line.device.reports.map(({ report }) => report)).toMatchObject([
    { steps: [], ended: 'complete' },
    {},
  ]);
});

test('the pieces of a reply come apart, each at its time', async () => {
  line.device.fault = (plan) => pieces(plan, 40);
  const client = line.client();
  client.send(readRequest(1, 0, 3));
  // A busy machine may hand several pieces to the client in one read; that they left apart is in the report.
  await client.responsesOf(1);
  const { report } = line.device.reports[0] ?? expect.fail('no report');
  expect(report.steps).toHaveLength(15);
  let previous = line.device.requests[0]?.receivedAt ?? 0;
  for (const { plannedAt, achievedAt, outcome } of report.steps) {
    expect(outcome).toBe('achieved');
    expect(achievedAt).toBeGreaterThanOrEqual(plannedAt);
    expect(plannedAt - previous).toBeGreaterThanOrEqual(
      previous === line.device.requests[0]?.receivedAt ? 0 : 39.9,
    );
    previous = achievedAt;
  }
});

test('a reply in pieces keeps its place between its neighbours', async () => {
  line.device.fault = (plan, { transactionId }) => (transactionId === 2 ? pieces(plan, 0) : plan);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0), readRequest(3, 0)));
  expect((await client.responsesOf(3)).map(({ transactionId }) => transactionId)).toEqual([1, 2, 3]);
});

test('what could not be played because the client went away is reported', async () => {
  delayTransaction(1, 60_000);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  await until(() => line.device.requests.length === 2, 'both requests have come');
  await client.end();
  await until(() => line.device.reports.length === 2, 'reported');
  for (const { report } of line.device.reports) {
    expect(report.ended).toBe('disconnected');
    expect(report.steps).toMatchObject([{ outcome: 'not achieved', reason: 'closed by the client' }]);
  }
  await until(() => line.line.clients === 0, 'the connection is gone');
});

test('all requests of a client that then closes its side are executed, though a reply waits', async () => {
  delayTransaction(1, 60_000);
  const client = line.client();
  client.send(concatBytes(...Array.from({ length: 60 }, (_, i) => readRequest(i + 1, 0))));
  client.socket.end();
  await until(() => line.device.reports.length === 60, 'all 60 are executed');
  for (const { report } of line.device.reports) expect(report.ended).toBe('disconnected');
});

test('reads no more than about 64 requests ahead of a delayed reply, and goes on afterwards', async () => {
  delayTransaction(0, 400);
  const client = line.client();
  client.send(concatBytes(...Array.from({ length: 5000 }, (_, i) => readRequest(i, 0))));
  await until(() => line.device.requests.length > 0, 'the first request has come');
  await sleep(100);
  expect(line.device.requests.length).toBeLessThanOrEqual(65);
  const responses = await client.responsesOf(5000);
  expect(responses.map(({ transactionId }) => transactionId)).toEqual(
    Array.from({ length: 5000 }, (_, i) => i),
  );
});

test.each(['end', 'reset'] as const)(
  'a client that leaves (%s) while more than 64 replies wait is noticed at once, and asks nothing more',
  async (how) => {
    delayTransaction(0, 3_600_000);
    const client = line.client();
    const requests = Array.from({ length: 200 }, (_, i) => readRequest(i, 0));
    client.send(concatBytes(...requests.slice(0, 100)));
    await until(() => line.device.requests.length >= 65, 'the line waits');
    // These come while the line waits, in a read of their own.
    client.send(concatBytes(...requests.slice(100)));
    await sleep(20);
    if (how === 'end') client.socket.end();
    else client.socket.resetAndDestroy();
    await until(() => line.line.clients === 0, 'the connection is gone', 30_000);
    const { length } = line.device.requests;
    expect(length).toBeLessThanOrEqual(65);
    expect(line.device.reports.map(({ report }) => report.ended)).toEqual(
      Array.from({ length }, () => 'disconnected'),
    );
  },
);

test('what comes in small pieces while replies wait is answered after them, in order', async () => {
  delayTransaction(0, 400);
  const client = line.client();
  const sent = Array.from({ length: 3000 }, (_, i) => readRequest(i, 0));
  client.send(concatBytes(...sent.slice(0, 100)));
  await until(() => line.device.requests.length >= 65, 'the line waits');
  const rest = concatBytes(...sent.slice(100));
  for (let at = 0; at < rest.length; at += 1009) {
    client.send(rest.subarray(at, at + 1009));
    await sleep(1);
  }
  const responses = await client.responsesOf(3000);
  expect(responses.map(({ transactionId }) => transactionId)).toEqual(
    Array.from({ length: 3000 }, (_, i) => i),
  );
});

test('an idle timeout counts from the end of a reply that was delayed for longer', async () => {
  await line.close();
  line = await openLine({ idleTimeoutMs: 400 });
  delayTransaction(1, 800);
  const client = line.client();
  client.send(readRequest(1, 0));
  expect(await client.responsesOf(1)).toHaveLength(1);
  await until(() => client.closed, 'closed by the line');
  expect(performance.now() - client.lastAt).toBeGreaterThan(200);
  expect(line.device.rejections).toEqual(['idle']);
});

test.each(['end', 'reset'] as const)(
  'a plan that says close (%s) closes, after the replies before it',
  async (how) => {
    line.device.fault = (plan, { transactionId }) => (transactionId === 3 ? close(how) : plan);
    const client = line.client();
    const errors: string[] = [];
    client.socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? ''));
    client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
    // Node reports a reset that comes together with data as an orderly end, so the data has to come first.
    await client.responsesOf(2);
    client.send(concatBytes(readRequest(3, 0), readRequest(4, 0)));
    await until(() => client.closed, 'closed by the line');
    expect(client.responses.map(({ transactionId }) => transactionId)).toEqual([1, 2]);
    expect(errors).toEqual(how === 'end' ? [] : ['ECONNRESET']);
    expect(line.device.requests).toHaveLength(3);
    await until(() => line.line.clients === 0, 'the connection is gone');
    expect(line.device.reports[2]?.report).toMatchObject({
      steps: [{ outcome: 'achieved' }],
      ended: 'complete',
    });
    expect(line.device.events.at(-1)).toMatchObject({
      kind: 'client-gone',
      text: 'closed by the reply plan',
    });
  },
);

test('an orderly close sends first what was answered in the same read', async () => {
  line.device.fault = (plan, { transactionId }) => (transactionId === 3 ? close('end') : plan);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0), readRequest(3, 0)));
  await until(() => client.closed, 'closed by the line');
  expect(client.responses.map(({ transactionId }) => transactionId)).toEqual([1, 2]);
});

test('what waited behind a plan that closes is reported as not achieved', async () => {
  line.device.fault = (plan, { transactionId }) =>
    transactionId === 1 ? delayed(close('end'), 50) : delayed(plan, 60_000);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  await until(() => client.closed, 'closed by the line');
  expect(line.device.reports.map(({ report }) => report)).toMatchObject([
    { steps: [{ outcome: 'achieved' }], ended: 'complete' },
    { steps: [{ outcome: 'not achieved', reason: 'the connection is closed' }], ended: 'disconnected' },
  ]);
});

test('every step has its entry in the report, those behind a close too', async () => {
  line.device.fault = () => ({
    kind: 'send',
    early: false,
    steps: [
      bytesStep(Uint8Array.of(1, 2, 3)),
      { kind: 'close', waitMs: 0, how: 'end' },
      bytesStep(Uint8Array.of(4)),
      { kind: 'break', waitMs: 5, ms: 1 },
    ],
  });
  const client = line.client();
  client.send(readRequest(1, 0));
  await until(() => client.closed, 'closed by the line');
  expect([...client.received]).toEqual([1, 2, 3]);
  const behind = { outcome: 'not achieved', reason: 'the connection is closed' };
  expect(line.device.reports.map(({ report }) => report)).toMatchObject([
    { steps: [{ outcome: 'achieved' }, { outcome: 'achieved' }, behind, behind], ended: 'disconnected' },
  ]);
});

test('every step has its entry in the report when the line is stopped', async () => {
  line.device.fault = (plan) => pieces(plan, 60_000);
  const client = line.client();
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  await until(() => client.received.length === 1 && line.device.requests.length === 2, 'both have come');
  await line.line.stop();
  const left = { outcome: 'not achieved', reason: 'the line was stopped' };
  const others = Array(10).fill(left);
  expect(line.device.reports.map(({ report }) => report)).toMatchObject([
    { steps: [{ outcome: 'achieved' }, ...others], ended: 'disconnected' },
    { steps: [left, ...others], ended: 'disconnected' },
  ]);
});

test('a client that goes on after the line has closed gets a reset, as from a real device', async () => {
  line.device.fault = () => close('end');
  const client = new RawClient(line.port, '127.0.0.1', { allowHalfOpen: true });
  let ended = false;
  client.socket.on('end', () => {
    ended = true;
  });
  client.send(readRequest(1, 0));
  await until(() => ended, 'the line has closed');
  expect(client.closed).toBe(false);
  for (let i = 0; i < 100 && !client.closed; i++) {
    client.send(readRequest(2, 0));
    await sleep(10);
  }
  expect(client.closed).toBe(true);
  expect(line.device.requests).toHaveLength(1);
});

test('a break is reported as something TCP does not have, the rest of the plan is played', async () => {
  line.device.fault = (plan) =>
    plan.kind === 'silence'
      ? plan
      : { ...plan, steps: [{ kind: 'break', waitMs: 0, ms: 10 }, ...plan.steps] };
  const client = line.client();
  client.send(readRequest(1, 0));
  expect(await client.responsesOf(1)).toHaveLength(1);
  expect(line.device.reports[0]?.report).toMatchObject({
    steps: [
      { outcome: 'not achieved', reason: 'a TCP connection has no break state' },
      { outcome: 'achieved' },
    ],
    ended: 'complete',
  });
});

function close(how: 'end' | 'reset'): ReplyPlan {
  return { kind: 'send', early: false, steps: [{ kind: 'close', waitMs: 0, how }] };
}

/** The reply byte by byte, with `ms` between the bytes. */
function pieces(plan: ReplyPlan, ms: number): ReplyPlan {
  if (plan.kind === 'silence') return plan;
  const bytes = plan.steps.flatMap((step) => (step.kind === 'bytes' ? [...step.bytes] : []));
  const steps = bytes.map((byte, i) => ({
    kind: 'bytes' as const,
    waitMs: i === 0 ? 0 : ms,
    bytes: Uint8Array.of(byte),
    continues: i > 0,
  }));
  return { ...plan, steps };
}

function bytesStep(bytes: Uint8Array) {
  return { kind: 'bytes' as const, waitMs: 0, bytes, continues: false };
}
