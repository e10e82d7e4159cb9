import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator } from '../../../support/simulator.js';

export const EVENTS = 2000;
const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    other: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
  traffic: { events: EVENTS, bytes: '1MB' },
});

export const REQUEST = Buffer.from('000100000006010300000001', 'hex');
export const REPLY = Buffer.from('0001000000050103020001', 'hex');

export const SECTION_HEADER = 0x0a0d0d0a;
export const INTERFACE = 1;
export const PACKET = 6;

/** Types of the complete blocks of a file. */
export function blockTypes(file: Buffer): number[] {
  const types = [];
  for (let at = 0; at + 12 <= file.length; at += file.readUInt32LE(at + 4)) types.push(file.readUInt32LE(at));
  return types;
}

/** A simulator with two lines on TCP and REST on a port, and a client of the first line. */
export async function startCapture() {
  const running = await startSimulator(SETUP);
  const master = running.client();
  await running.rest.app.listen({ port: 0, host: '127.0.0.1' });
  /** The ends of HTTP connections in this program. */
  const sockets: Socket[] = [];
  running.rest.app.server.on('connection', (socket) => sockets.push(socket));
  const { port } = running.rest.app.server.address() as AddressInfo;

  const ask = async (count = 1, client = master): Promise<void> => {
    const before = client.received.length;
    for (let i = 0; i < count; i++) client.send(REQUEST);
    await until(() => client.received.length === before + count * REPLY.length, 'all are answered');
  };
  /** A live capture, with what has come of it so far. */
  const follow = async (query = ''): Promise<{ answer: IncomingMessage; body: () => Buffer }> => {
    const path = `/api/v1/capture.pcapng?follow${query}`;
    const answer = await new Promise<IncomingMessage>((resolve) =>
      get({ port, host: '127.0.0.1', agent: false, path }, resolve),
    );
    let body = Buffer.alloc(0);
    answer.on('data', (chunk: Buffer) => {
      body = Buffer.concat([body, chunk]);
    });
    answer.on('error', () => {});
    return { answer, body: () => body };
  };
  return { running, sockets, ask, follow };
}
