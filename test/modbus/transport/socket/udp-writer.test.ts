import type { Socket } from 'node:dgram';
import { expect, test } from 'vitest';
import type { PlayReport, Step } from '../../../../src/modbus/protocol/reply-plan.js';
import { UdpWriter } from '../../../../src/modbus/transport/socket/udp-binding.js';

type Sent = (error: Error | null) => void;

/** A network card whose queue is full: nothing leaves until the test says so. */
function fullSocket(): { socket: Socket; sending: Sent[] } {
  const sending: Sent[] = [];
  const send = (_bytes: Uint8Array, _port: number, _address: string, sent: Sent) => sending.push(sent);
  return { socket: { send } as unknown as Socket, sending };
}

const step: Step = { kind: 'bytes', waitMs: 0, bytes: Uint8Array.of(1), continues: false };
const achieved = {
  plannedAt: 1,
  achievedAt: 2,
  endedAt: 2,
  uncertainty: undefined,
  outcome: 'achieved',
} as const;

function reportOf(steps: number): PlayReport {
  return { steps: Array.from({ length: steps }, () => achieved), ended: 'complete' };
}

test('a plan is reported once every datagram of it has left or failed, and each step by what became of it', () => {
  const { socket, sending } = fullSocket();
  const writer = new UdpWriter(socket, '192.0.2.1', 502);
  const told: PlayReport[] = [];
  expect([writer.play(step), writer.play(step)]).toEqual([undefined, undefined]);
  writer.complete(reportOf(2), (report) => told.push(report));
  writer.play(step);
  writer.complete(reportOf(1), (report) => told.push(report));
  expect(writer.unsent).toBe(3);
  sending[1]?.(new Error('send ENETUNREACH 192.0.2.1:502'));
  expect(told).toEqual([]);
  sending[0]?.(null);
  const failed = { ...achieved, outcome: 'not achieved', reason: 'not sent: send ENETUNREACH 192.0.2.1:502' };
  expect(told).toEqual([{ steps: [achieved, failed], ended: 'complete' }]);
  sending[2]?.(null);
  expect(told[1]).toEqual(reportOf(1));
  expect(writer.unsent).toBe(0);
});

test('a request from port 0 can not be answered', () => {
  const { socket, sending } = fullSocket();
  const writer = new UdpWriter(socket, '192.0.2.1', 0);
  expect(writer.play(step)).toBe("the client's port is 0, so nothing can be sent to it");
  expect(sending).toEqual([]);
});

test('a step without bytes is done by sending nothing', () => {
  const { socket, sending } = fullSocket();
  expect(new UdpWriter(socket, '192.0.2.1', 502).play({ ...step, bytes: new Uint8Array(0) })).toBeUndefined();
  expect(sending).toEqual([]);
});
