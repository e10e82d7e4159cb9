import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { ClientTarget, Wire } from '../../../src/modbus/client/wire.js';
import type { AduContent } from '../../../src/modbus/protocol/framing.js';
import { FRAMINGS } from '../../../src/modbus/protocol/framings.js';
import { systemClock } from '../../../src/modbus/transport/clock.js';
import type { ServerTestOrder } from '../../../src/testing/server/bench.js';
import { type ServerTest, ServerTestRun } from '../../../src/testing/server/server-test.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { untilOver } from '../client/virtual-bench.js';
import { ORDER } from './virtual-server.js';

/* Servers on real sockets that simulators are not: written for one mistake each. */

export type Answer = (pdu: Uint8Array) => readonly number[] | undefined;
const refuse = (code: number, exception: number) => [code | 0x80, exception];
const word = (pdu: Uint8Array, at: number) => ((pdu[at] ?? 0) << 8) | (pdu[at + 1] ?? 0);

/** A server with registers, at which each request of a PDU gets what `answer` says. */
export async function modelServer(answer: Answer, onConnection: (socket: Socket) => void = () => {}) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onConnection(socket);
    let heard = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      heard = Buffer.concat([heard, bytes]);
      while (heard.length >= 8 && heard.length >= 6 + heard.readUInt16BE(4)) {
        const length = 6 + heard.readUInt16BE(4);
        const adu = heard.subarray(0, length);
        heard = heard.subarray(length);
        const reply = answer(adu.subarray(7));
        if (reply)
          socket.write(
            FRAMINGS.socket.encode({
              ...{ transactionId: adu.readUInt16BE(0), unitId: adu[6] ?? 0 },
              pdu: Uint8Array.from(reply),
            }),
          );
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface Registers {
  readonly values: number[];
  /** Registers behind the last one that take writes and refuse reads. */
  readonly hidden?: Map<number, number>;
  /** What function 16 stores in place of the value. */
  readonly stored?: (value: number) => number;
}

/** Functions 3, 6 and 16 on holding registers. */
export function registers({ values, hidden = new Map(), stored = (value) => value }: Registers): Answer {
  const isThere = (first: number, many: number, isWrite: boolean) =>
    Array.from({ length: many }, (_, i) => first + i).every(
      (address) => address < values.length || (isWrite && hidden.has(address)),
    );
  const put = (address: number, value: number) => {
    if (address < values.length) values[address] = value;
    else hidden.set(address, value);
  };
  return (pdu) => {
    const [code = 0] = pdu;
    const [first, many] = [word(pdu, 1), word(pdu, 3)];
    switch (code) {
      case 3:
        if (many < 1 || many > 125) return refuse(code, 3);
        return isThere(first, many, false)
          ? [3, 2 * many, ...values.slice(first, first + many).flatMap((value) => [value >> 8, value & 0xff])]
          : refuse(code, 2);
      case 6:
        if (!isThere(first, 1, true)) return refuse(code, 2);
        put(first, many);
        return [...pdu];
      case 16:
        if (many < 1 || many > 123 || pdu[5] !== 2 * many || pdu.length !== 6 + 2 * many)
          return refuse(code, 3);
        if (!isThere(first, many, true)) return refuse(code, 2);
        for (let i = 0; i < many; i++) put(first + i, stored(word(pdu, 6 + 2 * i)));
        return [...pdu.subarray(0, 5)];
      default:
        return refuse(code, 1);
    }
  };
}

const TCP = { kind: 'tcp', host: '127.0.0.1', port: 502, framing: 'socket' } as const;

/** Tests a server on a real socket. */
export function serverTestAt(port: number, order: Partial<ServerTestOrder>): ServerTestRun {
  return new ServerTestRun(
    { target: { ...TCP, port }, clock: systemClock },
    { ...ORDER, pauseMs: 0, ...order },
  );
}

/** What is heard beside replies from the moment on in which a connection is open; returns what ends it. */
type Beside = (heard: (bytes: Uint8Array) => void, clock: VirtualClock) => () => void;

/** Tests a server in virtual time, and stops that after `stopAt` ms. */
export function testModel(
  answer: Answer,
  {
    target = TCP,
    beside,
    stopAt,
    delayMs = 5,
    decode,
    neighbours = [],
    ...order
  }: Partial<ServerTestOrder> & ModelWanted = {},
): Promise<ServerTest> {
  const clock = new VirtualClock();
  const framing = FRAMINGS[target.framing];
  const wireTo = (_: ClientTarget, { heard }: { heard(bytes: Uint8Array): void }): Wire => {
    let end = (): void => {};
    let isOpen = false;
    let rest: Uint8Array = new Uint8Array();
    /** The frames that are whole by now: on a network as long as their headers say, at least two bytes. */
    const framesIn = (bytes: Uint8Array): Uint8Array[] => {
      if (framing.name !== 'socket') return [bytes];
      rest = Buffer.concat([rest, bytes]);
      const found: Uint8Array[] = [];
      while (rest.length >= 6 && rest.length >= 6 + word(rest, 4)) {
        const length = word(rest, 4) < 2 ? rest.length : 6 + word(rest, 4);
        found.push(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
      return found;
    };
    const hear = (bytes: Uint8Array) => {
      if (isOpen) heard(bytes);
    };
    const close = () => {
      isOpen = false;
      end();
    };
    return {
      times:
        target.kind === 'serial' ? { character: 0.57, t35: 2, gap: 20 } : { character: 0, t35: 0, gap: 50 },
      open: async () => {
        isOpen = true;
        rest = new Uint8Array();
        end = beside?.(hear, clock) ?? end;
        return undefined;
      },
      write: (bytes) => {
        const units = new Map([[1, answer], ...neighbours.map(([unitId, each]) => [unitId, each] as const)]);
        for (const frame of framesIn(bytes)) {
          const asked = decode?.(frame) ?? framing.decode(frame);
          if (asked?.unitId === 0) for (const each of units.values()) each(asked.pdu);
          const pdu = asked && units.get(asked.unitId)?.(asked.pdu);
          if (pdu)
            clock.callAfter(neighbours.find(([unitId]) => unitId === asked.unitId)?.[2] ?? delayMs, () =>
              hear(framing.encode({ ...asked, pdu: Uint8Array.from(pdu) })),
            );
        }
        return undefined;
      },
      close: async () => close(),
      ...(target.kind === 'tcp' && { reset: close }),
    };
  };
  const run = new ServerTestRun(
    { target, clock, wireTo: (to, listener) => wireTo(to, { heard: (bytes) => listener.heard(bytes) }) },
    { ...ORDER, ...order },
  );
  if (stopAt !== undefined) clock.callAt(stopAt, () => run.stop());
  return untilOver(clock, run.run());
}

interface ModelWanted {
  /** Other servers of the bus, by their units. */
  readonly neighbours?: readonly (readonly [unitId: number, answer: Answer, delayMs?: number | undefined])[];
  readonly target?: ClientTarget;
  readonly beside?: Beside;
  readonly stopAt?: number;
  /** How long the server takes, in ms. */
  readonly delayMs?: number;
  /** Takes what is no frame for one. */
  readonly decode?: (bytes: Uint8Array) => AduContent | undefined;
}
