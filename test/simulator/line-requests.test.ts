import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Bus } from '../../src/bus/bus.js';
import { abilities } from '../../src/faults/ability.js';
import { ruleSchema } from '../../src/faults/rule.js';
import { FaultRules } from '../../src/faults/rules.js';
import { RTU } from '../../src/protocol/framing.js';
import type { PlayReport, StepReport } from '../../src/protocol/play-report.js';
import { encodeRtu } from '../../src/protocol/rtu.js';
import { LineRecord } from '../../src/simulator/line-record.js';
import { LineRequests } from '../../src/simulator/line-requests.js';
import { Ledger } from '../../src/traffic/ledger.js';
import type { LineRequest } from '../../src/transport/transport.js';
import { deviceOf } from '../device/build.js';
import { nativeSetup } from '../support/configuration.js';

const log = pino({ level: 'silent' });

/** What the transports of a line tell their requests to: the first one, and the one after it. */
function requestsOfTwoTransports() {
  const { lines } = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
    lines: { lan: { tcp: {}, framing: 'rtu', units: { 1: 'meter' } } },
  });
  const [definition] = lines;
  if (!definition) throw new Error('no line');
  const rules = new FaultRules({ now: () => new Date(0), random: () => 0 });
  const device = deviceOf({ holding: [{ address: 0, value: 7 }] }, { size: 2 });
  const bus = new Bus(
    { name: 'lan', abilities: abilities('tcp', 'rtu'), framing: RTU, characterTime: 0 },
    new Map([[1, device]]),
    rules,
  );
  const ledger = new Ledger();
  const record = new LineRecord('lan', ledger, log);
  const newRequests = (firstClientId: number) =>
    new LineRequests({ bus, definition }, record, log, firstClientId);
  return { first: newRequests(0), second: newRequests(2 ** 32), rules, record, ledger };
}

function read(clientId: number): LineRequest {
  const pdu = Uint8Array.of(3, 0, 0, 0, 1);
  return { unitId: 1, pdu, adu: encodeRtu(1, pdu), transactionId: 0, receivedAt: 0, clientId };
}

const step = (outcome: StepReport['outcome']): StepReport => ({
  plannedAt: 1,
  achievedAt: 1,
  uncertainty: 0,
  outcome,
});

it.each<[string, PlayReport, number]>([
  ['that was sent', { steps: [step('achieved')], ended: 'complete' }, 1],
  ['that was cut short', { steps: [step('achieved'), step('not achieved')], ended: 'disconnected' }, 1],
  ['that nobody was there for', { steps: [step('not achieved')], ended: 'disconnected' }, 0],
  ['that is silence', { steps: [], ended: 'complete' }, 0],
])('a reply %s counts as it should', (_, report, replies) => {
  const { first, record, ledger } = requestsOfTwoTransports();
  const request = read(1);
  first.request(request);
  first.played(request, report);
  expect(record.counters).toMatchObject({ requests: 1, replies });
  expect(ledger.latest(1)).toMatchObject([{ report }]);
});

it('a client of the transport before, which has the same number, has no reply that could come late', () => {
  const { first, second, rules, ledger } = requestsOfTwoTransports();
  const acted = () => ledger.latest(1)[0]?.acted;
  const none = [{ rule: 'late', kind: 'stale', notAchieved: 'no earlier reply to this client' }];
  first.request(read(1));
  rules.set(ruleSchema.parse({ name: 'late', do: [{ stale: true }] }));
  second.request(read(1));
  expect(acted()).toEqual(none);
  second.request(read(1));
  expect(acted()).toEqual([{ rule: 'late', kind: 'stale' }]);
  first.event({ kind: 'client-gone', client: '127.0.0.1:40112', clientId: 1, text: 'gone' });
  second.request(read(1));
  expect(acted()).toEqual([{ rule: 'late', kind: 'stale' }]);
  second.event({ kind: 'client-gone', client: '127.0.0.1:40113', clientId: 1, text: 'gone' });
  second.request(read(1));
  expect(acted()).toEqual(none);
});
