import { pino } from 'pino';
import { expect, it } from 'vitest';
import { ruleSchema } from '../../src/faults/rule.js';
import { FaultRules } from '../../src/faults/rules.js';
import type { PlayReport, StepReport } from '../../src/protocol/play-report.js';
import { encodeRtu } from '../../src/protocol/rtu.js';
import { Line } from '../../src/simulator/line.js';
import { Ledger } from '../../src/traffic/ledger.js';
import type { LineRequest } from '../../src/transport/transport.js';
import { deviceOf } from '../device/build.js';
import { nativeSetup } from '../support/configuration.js';

/** A line that is not open: the test plays its transport. */
function newLine() {
  const { lines } = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0, value: 7 }] } } },
    lines: { lan: { tcp: {}, framing: 'rtu', units: { 1: 'meter' } } },
  });
  const [definition] = lines;
  if (!definition) throw new Error('no line');
  const faults = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const ledger = new Ledger();
  const units = new Map([[1, deviceOf({ holding: [{ address: 0, value: 7 }] }, { size: 2 })]]);
  const line = new Line(definition, units, { faults, ledger, log: pino({ level: 'silent' }) });
  return { line, faults, ledger };
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
  const { line, ledger } = newLine();
  const request = read(1);
  line.request(request);
  line.played(request, report);
  expect(line.counters).toMatchObject({ requests: 1, replies });
  expect(ledger.latest(1)).toMatchObject([{ report }]);
});

it('a reply comes late to the client that asked for it, and to nobody after that client', () => {
  const { line, faults, ledger } = newLine();
  const acted = () => ledger.latest(1)[0]?.acted;
  const none = [{ rule: 'late', kind: 'stale', notAchieved: 'no earlier reply to this client' }];
  const [first, second] = [line.newClientId(), line.newClientId()];
  line.request(read(first));
  faults.set(ruleSchema.parse({ name: 'late', do: [{ stale: true }] }));
  line.request(read(second));
  expect(acted()).toEqual(none);
  line.request(read(second));
  expect(acted()).toEqual([{ rule: 'late', kind: 'stale' }]);
  line.event({ kind: 'client-gone', client: '127.0.0.1:40112', clientId: first, text: 'gone' });
  line.request(read(second));
  expect(acted()).toEqual([{ rule: 'late', kind: 'stale' }]);
  line.event({ kind: 'client-gone', client: '127.0.0.1:40113', clientId: second, text: 'gone' });
  line.request(read(second));
  expect(acted()).toEqual(none);
  expect([first, second]).not.toContain(line.newClientId());
});
