import type { Socket } from 'node:dgram';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { until } from './raw-client.js';
import { delayed, openUdpLine, Peer, readRequest, type TestUdpLine } from './udp-peers.js';

/** Every socket made: what a network card that goes away does to one can't be had on the loopback. */
const sockets = vi.hoisted((): Socket[] => []);

vi.mock('node:dgram', async (importOriginal) => {
  const dgram = await importOriginal<typeof import('node:dgram')>();
  return {
    ...dgram,
    createSocket: (...options: Parameters<typeof dgram.createSocket>) => {
      const socket = dgram.createSocket(...options);
      sockets.push(socket);
      return socket;
    },
  };
});

let line: TestUdpLine;

beforeEach(async () => {
  sockets.length = 0;
  line = await openUdpLine();
});

afterEach(() => line.close());

function emitError(code: string): void {
  sockets[0]?.emit('error', Object.assign(new Error(`recvmsg ${code}`), { code }));
}

test('an error of the socket ends the line, with a reason, and it can be started again', async () => {
  line.device.fault = (plan) => delayed(plan, 60_000);
  const peer = line.peer();
  await peer.send(readRequest(1));
  await until(() => line.device.requests.length === 1, 'the request has come');
  emitError('ENOBUFS');
  const reason = `127.0.0.1:${line.port}: recvmsg ENOBUFS`;
  expect(line.line.state).toEqual({ kind: 'failed', reason });
  expect(line.device.events.at(-1)).toEqual({ kind: 'failed', text: reason });
  expect(line.device.reports).toMatchObject([
    { report: { steps: [{ outcome: 'not achieved', reason }], ended: 'disconnected' } },
  ]);
  expect(line.line.clients).toBe(0);
  // A second one, on the socket that closes already, changes nothing.
  emitError('EIO');
  expect(line.device.count('failed')).toBe(1);
  const restarted = await line.line.start();
  if (!restarted.ok) expect.fail(restarted.error);
  line.device.fault = (plan) => plan;
  const next = new Peer(Number(restarted.endpoint.replace(/.*:/, '')));
  await next.send(readRequest(2));
  await next.receivedOf(1);
  expect(next.transactions).toEqual([2]);
  await next.close();
});

test.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'EMSGSIZE', 'ENETUNREACH'])(
  '%s, which is about one datagram, does not end the line',
  async (code) => {
    emitError(code);
    const peer = line.peer();
    await peer.send(readRequest(1));
    await peer.receivedOf(1);
    expect(line.line.state.kind).toBe('open');
    expect(line.device.count('failed')).toBe(0);
  },
);
