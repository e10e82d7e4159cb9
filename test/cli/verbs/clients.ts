import { connect } from 'node:net';
import { SerialPort } from 'serialport';
import { onTestFinished } from 'vitest';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';

/** A net for what never comes. */
const REPLY_LIMIT_MS = 30_000;

/** Function 3: a request for `quantity` holding registers from `address` on. */
export function readRequest(unitId: number, address: number, quantity = 1): Uint8Array {
  return encodeRtu(unitId, Uint8Array.of(3, address >> 8, address & 0xff, quantity >> 8, quantity & 0xff));
}

/** Function 6: a request, and the same bytes are the reply to it. */
export function writeRequest(unitId: number, address: number, value: number): Uint8Array {
  return encodeRtu(unitId, Uint8Array.of(6, address >> 8, address & 0xff, value >> 8, value & 0xff));
}

/** The reply to {@link readRequest}. */
export function readReply(unitId: number, ...values: number[]): Uint8Array {
  const words = values.flatMap((value) => [value >> 8, value & 0xff]);
  return encodeRtu(unitId, Uint8Array.of(3, words.length, ...words));
}

/** A raw client of a serial line: what it writes is what the line gets, byte by byte. */
export interface RawClient {
  send(bytes: Uint8Array): void;
  /** What has come since the last call. */
  take(): Uint8Array;
  /** Resolves with `length` bytes that came since the last `take`, or with fewer when they never come. */
  receive(length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Opens the client's side of a line for this test. */
export async function openRawClient(path: string): Promise<RawClient> {
  const port = new SerialPort({ path, baudRate: 9600, autoOpen: false });
  await new Promise<void>((resolve, reject) => port.open((error) => (error ? reject(error) : resolve())));
  const received: number[] = [];
  port.on('data', (chunk: Uint8Array) => received.push(...chunk));
  const close = () => new Promise<void>((resolve) => (port.isOpen ? port.close(() => resolve()) : resolve()));
  onTestFinished(close);
  const take = () => Uint8Array.from(received.splice(0));
  return {
    send: (bytes) => void port.write(bytes),
    take,
    async receive(length) {
      const giveUpAt = performance.now() + REPLY_LIMIT_MS;
      while (received.length < length && performance.now() < giveUpAt) await pause(2);
      return take();
    },
    close,
  };
}

/** Connects to a Modbus TCP line for this test, and waits until it is connected. */
export async function openSocket(port: number) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/**
 * A pause in steps: a process that stands still for all of it would send the next bytes before it reads those before, as its
 * timers run first. So at most one step is lost, and a silence of that length is one for both ends.
 */
export async function quiet(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) await pause(Math.min(left, STEP_MS));
}
const STEP_MS = 10;

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
