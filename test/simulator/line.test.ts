import { pino } from 'pino';
import { expect, it } from 'vitest';
import { ruleSchema } from '../../src/device/faults/rule.js';
import { FaultRules } from '../../src/device/faults/rules.js';
import type { PlayReport, StepReport } from '../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../src/modbus/protocol/rtu.js';
import type { LineReply, LineRequest } from '../../src/modbus/transport/transport.js';
import { Line } from '../../src/simulator/line.js';
import { TrafficStream } from '../../src/simulator/traffic/stream.js';
import { deviceOf } from '../device/build.js';
import { nativeSetup } from '../support/configuration.js';
import { exchangesOf } from '../support/exchanges.js';

/** A line that is not open: the test plays its transport. */
function newLine() {
  const { lines } = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
    lines: { lan: { tcp: {}, framing: 'rtu', units: { 1: 'meter' } } },
  });
  const [definition] = lines;
  if (!definition) throw new Error('no line');
  const faults = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const traffic = new TrafficStream();
  const units = new Map([[1, deviceOf({ holding: [{ address: 0, value: 7 }] }, { size: 2 })]]);
  const line = new Line(definition, { units }, { faults, traffic, log: pino({ level: 'silent' }) });
  return { line, faults, traffic };
}

function read(clientId: number): LineRequest {
  const pdu = Uint8Array.of(3, 0, 0, 0, 1);
  return { unitId: 1, pdu, adu: encodeRtu(1, pdu), transactionId: 0, startedAt: 0, receivedAt: 0, clientId };
}

function requestOf(line: Line, clientId: number): LineReply {
  let begun: LineReply | undefined;
  line.request(read(clientId), (reply) => {
    begun = reply;
  });
  return begun as LineReply;
}

const step = (outcome: StepReport['outcome']): StepReport => ({
  plannedAt: 1,
  achievedAt: 1,
  endedAt: 1,
  uncertainty: 0,
  outcome,
});

it.each<[string, PlayReport, number]>([
  ['that was sent', { steps: [step('achieved')], ended: 'complete' }, 1],
  ['that nobody was there for', { steps: [step('not achieved')], ended: 'disconnected' }, 0],
])('a reply %s counts as it should', (_, report, replies) => {
  const { line, traffic } = newLine();
  const reply = requestOf(line, 1);
  expect(line.oldestPending).toBe(reply);
  reply.played(report);
  expect(line.oldestPending).toBeUndefined();
  expect(line.counters).toMatchObject({ requests: 1, replies });
  expect(exchangesOf({ traffic })).toMatchObject([{ report: { ended: report.ended } }]);
});

it('a silence counts as no reply, and says why', () => {
  const { line, faults, traffic } = newLine();
  faults.set(ruleSchema.parse({ name: 'mute', do: [{ silence: true }] }));
  requestOf(line, 1).played({ steps: [], ended: 'complete' });
  expect(line.counters).toMatchObject({ requests: 1, replies: 0 });
  expect(exchangesOf({ traffic })).toMatchObject([{ plan: { kind: 'silence' } }]);
});

it('a reply comes late to the client that asked for it, and to nobody after that client', () => {
  const { line, faults, traffic } = newLine();
  const ask = (clientId: number) => {
    const reply = requestOf(line, clientId);
    const steps = reply.plan?.kind === 'send' ? reply.plan.steps : [];
    reply.played({ steps: steps.map(() => step('achieved')), ended: 'complete' });
  };
  const acted = () => exchangesOf({ traffic })[0]?.acted;
  const none = [{ rule: 'late', kind: 'stale', notAchieved: 'no earlier reply to this client' }];
  const [first, second] = [line.newClientId(), line.newClientId()];
  ask(first);
  faults.set(ruleSchema.parse({ name: 'late', do: [{ stale: true }] }));
  ask(second);
  expect(acted()).toEqual(none);
  ask(second);
  expect(acted()).toEqual([{ rule: 'late', kind: 'stale' }]);
  line.event({ kind: 'client-gone', client: '127.0.0.1:40112', clientId: first, text: 'gone' });
  ask(second);
  expect(acted()).toEqual([{ rule: 'late', kind: 'stale' }]);
  line.event({ kind: 'client-gone', client: '127.0.0.1:40113', clientId: second, text: 'gone' });
  ask(second);
  expect(acted()).toEqual(none);
  expect([first, second]).not.toContain(line.newClientId());
});
