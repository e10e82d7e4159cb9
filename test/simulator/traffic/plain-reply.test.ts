import { expect, test } from 'vitest';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import {
  achieved,
  notAchieved,
  type PlayReport,
  plainReply,
  type Step,
  type StepReport,
} from '../../../src/modbus/protocol/reply-plan.js';
import type { FrameEvent, NewEvent, ReplyEvent } from '../../../src/simulator/traffic/event.js';
import { DEFAULT_LIMITS, TrafficStream } from '../../../src/simulator/traffic/stream.js';
import { adu } from './events.js';

const WALL = 1_790_000_000_000;

type New<Event> = Omit<Event, 'seq' | 'line' | 'time'>;

function requestAt(at: number, change: Partial<FrameEvent> = {}): New<FrameEvent> {
  return {
    kind: 'request',
    at,
    client: '127.0.0.1:40112',
    clientId: 3,
    bytes: adu('03 0000 0001', SOCKET),
    framing: SOCKET,
    startedAt: at,
    pause: 5,
    characterTime: 0,
    unitId: 17,
    functionCode: 3,
    answers: undefined,
    ...change,
  };
}

/** What a well-behaved device sends, 0.1 ms after the request. */
function replyTo(request: New<FrameEvent>, seq: number, change: Partial<ReplyEvent> = {}): New<ReplyEvent> {
  const { at: requestedAt, bytes: requestAdu, client, clientId, framing, unitId, functionCode } = request;
  const at = requestedAt + 0.1;
  const steps = [achieved(requestedAt, at, at, undefined)];
  return {
    kind: 'reply',
    at,
    client,
    clientId,
    framing,
    request: seq,
    requestAdu,
    requestedAt,
    unitId,
    functionCode,
    plan: plainReply(adu('03 02 002a', SOCKET)),
    report: { steps, ended: 'complete' },
    acted: [],
    omittedFaults: 0,
    ...change,
  };
}

function streamOf(limits = DEFAULT_LIMITS) {
  const stream = new TrafficStream(limits, () => WALL);
  const line = stream.lineNumber('bench');
  return { stream, add: (event: New<FrameEvent> | New<ReplyEvent>) => stream.add(line, event as NewEvent) };
}

const kept = (event: object & { at: number }, seq: number) => ({
  ...event,
  seq,
  line: 'bench',
  time: WALL + event.at,
});

const request = requestAt(1000);
const plain = replyTo(request, 1);
const bytes: Step = { kind: 'bytes', waitMs: 0, bytes: Uint8Array.of(1, 2), continues: false };
const planOf = (...steps: Step[]) => ({ kind: 'send', early: false, steps }) as const;
const achievedStep = achieved(1000, plain.at, plain.at, undefined);
const reportOf = (change: Partial<StepReport>): PlayReport => ({
  ended: 'complete',
  steps: [{ ...achievedStep, ...change }],
});

/** Replies that differ from a plain one in one thing. */
const OTHERS: Readonly<Record<string, Partial<ReplyEvent>>> = {
  nothing: {},
  'another number of the request': { request: 4711 },
  'another request': { requestAdu: adu('03 0005 0001', SOCKET) },
  'another time of the request': { requestedAt: 999 },
  'another client': { client: '127.0.0.1:1' },
  'another number of the client': { clientId: 4 },
  'another framing': { framing: RTU },
  'another unit': { unitId: 18 },
  'another function': { functionCode: 4 },
  silence: { plan: { kind: 'silence', reason: 'dropped' }, report: { steps: [], ended: 'complete' } },
  'an early plan': { plan: { kind: 'send', early: true, steps: [bytes] } },
  'a wait': { plan: planOf({ ...bytes, waitMs: 5 }) },
  'a piece that continues another': { plan: planOf({ ...bytes, continues: true }) },
  'a break': { plan: planOf({ kind: 'break', waitMs: 0, ms: 3 }) },
  'two pieces': {
    plan: planOf(bytes, bytes),
    report: { steps: [achieved(1, 2, 3, 4), achieved(5, 6, 7, 8)], ended: 'complete' },
  },
  'a plan without steps': { plan: planOf(), report: { steps: [], ended: 'complete' } },
  'another end': { report: { ...plain.report, ended: 'disconnected' } },
  'a step that was not achieved': {
    report: { steps: [notAchieved(1000, 1000.1, 'gone')], ended: 'complete' },
  },
  'a later plan': { report: reportOf({ plannedAt: 1000.05 }) },
  'a later achievement': { report: reportOf({ achievedAt: 1000.2 }) },
  'a later end of the step': { report: reportOf({ endedAt: 1000.2 }) },
  'an uncertainty': { report: reportOf({ uncertainty: 0 }) },
  'a fault': { acted: [{ rule: 'late', kind: 'delay' }] },
  'omitted faults': { omittedFaults: 1 },
  'refused addresses': { refused: { address: 65_536, quantity: 2, why: 'read only' } },
};

test.each(Object.entries(OTHERS))(
  'a reply that differs from a plain one by %s is read as it was',
  (_, change) => {
    const { stream, add } = streamOf();
    add(request);
    const reply = { ...plain, ...change };
    add(reply);
    expect(stream.read(2)).toEqual(kept(reply, 2));
  },
);

test('a plain reply behind something else than its request is read as it was', () => {
  const { stream, add } = streamOf();
  add(request);
  add(requestAt(1000, { kind: 'broadcast' }));
  add(replyTo(request, 1));
  expect(stream.read(3)).toEqual(kept(plain, 3));
  add(requestAt(1001));
  stream.clear();
  const later = replyTo(requestAt(1001), 4);
  add(later);
  expect(stream.read(5)).toEqual(kept(later, 5));
});

test('a plain reply can be read when its request has been given up', () => {
  const { stream, add } = streamOf({ ...DEFAULT_LIMITS, events: 1 });
  add(request);
  add(plain);
  expect(stream.first).toBe(2);
  expect(stream.read(1)).toBeUndefined();
  expect(stream.read(2)).toEqual(kept(plain, 2));
});

test('of two megabytes of requests and replies each is read as it was', () => {
  const { stream, add } = streamOf();
  const events: (New<FrameEvent> | New<ReplyEvent>)[] = [];
  for (let seq = 1; stream.size < 2e6; seq += 2) {
    const asked = requestAt(seq, { clientId: seq });
    events.push(asked, replyTo(asked, seq));
    for (const event of events.slice(-2)) add(event);
  }
  events.forEach((event, i) => {
    const read = stream.read(i + 1);
    expect(read).toMatchObject({ kind: event.kind, at: event.at, clientId: event.clientId });
  });
});
