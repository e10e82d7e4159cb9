import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { FRAMINGS } from '../../src/modbus/protocol/framings.js';
import { bytesOf } from '../modbus/protocol/hex.js';
import { until } from '../modbus/transport/socket/raw-client.js';
import { nativeSetup } from './configuration.js';
import { exchangesOf } from './exchanges.js';
import { type RunningSimulator, startSimulator } from './simulator.js';

/** A request for each of the nineteen functions, which the meter of `CAPTURE_SETUP` answers without an exception. */
export const NINETEEN = [
  '01 0000 0008',
  '02 0000 0008',
  '03 0000 0002',
  '04 0000 0002',
  '05 0001 ff00',
  '06 0001 0007',
  '07',
  '08 0000 a5a5',
  '0b',
  '0c',
  '0f 0000 0008 01 05',
  '10 0000 0002 04 00010002',
  '11',
  '14 07 06 0001 0000 0002',
  '15 09 06 0001 0000 0001 1234',
  '16 0001 00f2 0025',
  '17 0000 0002 0000 0001 02 00ff',
  '18 04de',
  '2b 0e 01 00',
].map((pdu) => bytesOf(pdu.replaceAll(' ', '')));

const meter = {
  registers: {
    coils: [{ address: 0, quantity: 16, write: true }],
    discrete: [{ address: 0, quantity: 16 }],
    holding: [{ address: 0, quantity: 16, write: true }],
    input: [{ address: 0, quantity: 16 }],
  },
  exceptionStatus: [0, 1],
  serverId: { id: 17, running: true },
  files: { 1: { records: 100, write: true } },
  queues: { 1246: [440, 4740] },
};
const units = { 1: 'meter' };

/** One line for each framing and transport. */
const CAPTURE_SETUP = nativeSetup({
  devices: { meter },
  lines: {
    bench: { serial: { path: 'virtual', baudRate: 115_200, parity: 'none' }, units },
    text: { serial: { path: 'virtual', baudRate: 115_200, parity: 'none' }, framing: 'ascii', units },
    lan: { tcp: { port: 0 }, units },
    gateway: { tcp: { port: 0 }, framing: 'rtu', units },
  },
});

/** Sends requests to a line and waits until each is answered. */
export async function askAll(running: RunningSimulator, lineName: string, pdus: readonly Uint8Array[]) {
  const { simulator } = running;
  const line = simulator.lines.get(lineName);
  if (!line) throw new Error(`no line ${lineName}`);
  const { kind, framing } = line.definition;
  const send = kind === 'serial' ? serialSender(running.path(lineName)) : running.client(lineName);
  const answered = () => exchangesOf(simulator).filter((each) => each.line === lineName).length;
  for (const [i, pdu] of pdus.entries()) {
    const before = answered();
    send.send(FRAMINGS[framing].encode({ transactionId: i + 1, unitId: 1, pdu }));
    await until(() => answered() > before, 'the request is answered');
  }
  if ('close' in send) send.close();
  else await send.end();
}

/** Writes bytes to a serial line, and reads nothing. */
function serialSender(path: string) {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  return {
    send: (bytes: Uint8Array) => void writeSync(descriptor, bytes),
    close: () => closeSync(descriptor),
  };
}

/** A running simulator with the whole `CAPTURE_SETUP`. */
export function startCapturePlant(): Promise<RunningSimulator> {
  return startSimulator(CAPTURE_SETUP);
}
