import type { ClientTarget, Wire, WireListener } from '../../../src/modbus/client/wire.js';
import { FRAMINGS } from '../../../src/modbus/protocol/framings.js';
import type { ServerTestOrder } from '../../../src/testing/server/bench.js';
import type { ServerCheck } from '../../../src/testing/server/check.js';
import { type ServerTest, ServerTestRun } from '../../../src/testing/server/server-test.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { untilOver } from '../client/virtual-bench.js';
import { answering, modelDevice } from './model-device.js';
import type { Answer } from './model-servers.js';
import { ORDER } from './virtual-server.js';

/*
 * Servers byte by byte: what one does with a connection, with what comes in pieces, and with time. For models whose
 * mistakes are not in a PDU alone.
 */

/** A connection, or a serial line, as a server sees it. */
export interface Peer {
  readonly clock: VirtualClock;
  /** Sends bytes after `afterMs` ms; on a serial line they arrive one character after the other. */
  send(bytes: Uint8Array, afterMs?: number): void;
  close(afterMs?: number): void;
}

export interface Asked {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Uint8Array;
}

/** Hears bytes as they come; `gone` when the client has closed. */
interface Ears {
  heard(bytes: Uint8Array): void;
  gone?(): void;
}

/** Takes a connection, or refuses it. */
export type PlantedServer = (peer: Peer) => Ears | undefined;

/** Answers a request. The usual one sends what the device says, in the frame of the request. */
export type Respond = (asked: Asked, peer: Peer, device: Answer) => void;

export const device = (): Answer => answering(modelDevice());

/** How long the servers here take, in ms. */
export const DELAY_MS = 5;

/** What the usual server does. */
export const reply = (asked: Asked, peer: Peer, pdu: readonly number[] | undefined, afterMs = DELAY_MS) => {
  if (pdu) peer.send(FRAMINGS.socket.encode({ ...asked, pdu: Uint8Array.from(pdu) }), afterMs);
};
const usual: Respond = (asked, peer, answer) => reply(asked, peer, answer(asked.pdu));

/** A server on Modbus TCP that takes its bytes as a stream. All connections have the same registers. */
export function tcp(respond: Respond = usual, answer = device()): PlantedServer {
  return (peer) => {
    let rest = Buffer.alloc(0);
    return {
      heard: (bytes) => {
        rest = Buffer.concat([rest, bytes]);
        while (rest.length >= 7) {
          const length = rest.readUInt16BE(4);
          if (rest.readUInt16BE(2) !== 0 || length < 2 || length > 254) {
            rest = Buffer.alloc(0);
            return peer.close();
          }
          if (rest.length < 6 + length) return;
          const adu = rest.subarray(0, 6 + length);
          rest = rest.subarray(6 + length);
          respond(
            {
              transactionId: adu.readUInt16BE(0),
              unitId: adu[6] ?? 0,
              pdu: Uint8Array.from(adu.subarray(7)),
            },
            peer,
            answer,
          );
        }
      },
    };
  };
}

const CHARACTER_MS = 11_000 / 19_200;
export const T35_MS = 3.5 * CHARACTER_MS;

/** The content of a frame whatever its CRC is. */
export const uncheckedRtu = (frame: Uint8Array): Asked => ({
  ...{ transactionId: 0, unitId: frame[0] ?? 0 },
  pdu: frame.slice(1, -2),
});
export const checkedRtu = (frame: Uint8Array): Asked | undefined => {
  const content = FRAMINGS.rtu.decode(frame);
  return content && { ...content, transactionId: 0 };
};
export const rtuFrame = (unitId: number, pdu: readonly number[]): Uint8Array =>
  FRAMINGS.rtu.encode({ transactionId: 0, unitId, pdu: Uint8Array.from(pdu) });

export interface RtuWays {
  readonly unitId?: number;
  readonly answer?: Answer;
  /** Finds the request in the bytes between two silences. */
  readonly decode?: (frame: Uint8Array) => Asked | undefined;
  readonly respond?: (asked: Asked, peer: Peer, pdu: readonly number[]) => void;
  /** Whether a request is one for this server. */
  readonly isOwn?: (unitId: number) => boolean;
  /** The silence that ends a frame, in ms. */
  readonly silenceMs?: number;
  /** Listens only when this says so. */
  readonly listens?: () => boolean;
}

/** A server on a serial line that ends a frame at a silence of t3.5. */
export function rtu(ways: RtuWays = {}): PlantedServer {
  const { unitId = 1, answer = device(), decode = checkedRtu, silenceMs = T35_MS } = ways;
  const { isOwn = (unit) => unit === unitId, listens = () => true } = ways;
  const respond = ways.respond ?? ((asked, peer, pdu) => peer.send(rtuFrame(asked.unitId, pdu), DELAY_MS));
  return (peer) => {
    let rest: number[] = [];
    let callOff = (): void => {};
    const over = () => {
      const frame = Uint8Array.from(rest);
      rest = [];
      if (!listens()) return;
      const asked = decode(frame);
      if (!asked) return;
      if (asked.unitId === 0) return void answer(asked.pdu);
      if (!isOwn(asked.unitId)) return;
      const pdu = answer(asked.pdu);
      if (pdu) respond(asked, peer, pdu);
    };
    return {
      heard: (bytes) => {
        callOff();
        rest.push(...bytes);
        callOff = peer.clock.callAfter(silenceMs, over);
      },
    };
  };
}

const TARGETS = {
  tcp: { kind: 'tcp', host: '127.0.0.1', port: 502, framing: 'socket' },
  rtu: {
    ...{ kind: 'serial', path: '/dev/pts/1', framing: 'rtu', baudRate: 19200 },
    ...{ dataBits: 8, parity: 'even', stopBits: 1 },
  },
} as const satisfies Record<string, ClientTarget>;

/** Tests a server in virtual time. */
export function testPlanted(
  on: 'tcp' | 'rtu',
  server: PlantedServer,
  order: Partial<ServerTestOrder> = {},
  { clock = new VirtualClock(), checks }: { clock?: VirtualClock; checks?: readonly ServerCheck[] } = {},
): Promise<ServerTest> {
  const character = on === 'rtu' ? CHARACTER_MS : 0;
  // All connections of a serial line are one for its server.
  let line: { ears: Ears | undefined; to: WireListener } | undefined;
  const wireTo = (to: ClientTarget, listener: WireListener): Wire => {
    let isOpen = false;
    let ears: Ears | undefined;
    const leave = () => {
      if (!isOpen) return;
      isOpen = false;
      if (on === 'tcp') ears?.gone?.();
    };
    const peerOf = (to: () => WireListener, isThere: () => boolean): Peer => ({
      clock,
      send: (bytes, afterMs = 0) => {
        // A port hands over the first byte, and what has come by the end.
        for (const [from, end] of on === 'rtu'
          ? ([
              [0, 1],
              [1, bytes.length],
            ] as const)
          : ([[0, bytes.length]] as const))
          if (end > from)
            clock.callAfter(afterMs + end * character, () => isThere() && to().heard(bytes.slice(from, end)));
      },
      close: (afterMs = 0) =>
        void clock.callAfter(afterMs, () => {
          if (!isThere()) return;
          leave();
          to().lost('the server closed the connection');
        }),
    });
    return {
      times: on === 'rtu' ? { character, t35: T35_MS, gap: 20 } : { character: 0, t35: 0, gap: 50 },
      open: async () => {
        if (on === 'tcp') {
          ears = server(
            peerOf(
              () => listener,
              () => isOpen,
            ),
          );
          isOpen = ears !== undefined;
          return isOpen ? undefined : 'connect ECONNREFUSED 127.0.0.1:502';
        }
        isOpen = true;
        line ??= { ears: undefined, to: listener };
        line.to = listener;
        line.ears ??= server(
          peerOf(
            () => line?.to as WireListener,
            () => true,
          ),
        );
        ears = line.ears;
        return undefined;
      },
      write: (bytes) => {
        const piece = Uint8Array.from(bytes);
        // With another parity, nothing is understood.
        if (to.kind === 'serial' && to.parity !== TARGETS.rtu.parity) return undefined;
        if (on === 'tcp') clock.callAfter(0.1, () => isOpen && ears?.heard(piece));
        else clock.callAfter(piece.length * character, () => ears?.heard(piece));
        return undefined;
      },
      close: async () => leave(),
      ...(on === 'tcp' && { reset: leave }),
    };
  };
  const run = new ServerTestRun({ target: TARGETS[on], clock, wireTo }, { ...ORDER, ...order }, {}, checks);
  return untilOver(clock, run.run());
}
