import type { Framing } from '../protocol/framing.js';
import type { PlayReport, ReplyPlan } from '../protocol/reply-plan.js';
import type { Adapter } from './port/adapter.js';
import type { BytePort } from './port/port.js';
import type { SerialSettings } from './settings.js';

/**
 * Bytes and when they came: the arrival times of the chunks that brought the first and the last byte, in ms.
 */
export interface TimedBytes {
  readonly bytes: Uint8Array;
  readonly startedAt: number;
  readonly receivedAt: number;
}

/** A complete request, whatever carried it. */
export interface LineRequest {
  readonly unitId: number;
  /** The request PDU of 1 to 253 bytes, a copy. */
  readonly pdu: Uint8Array;
  /**
   * The request ADU. It may be a view of everything that arrived with it (up to 64 KiB): copy it to keep it
   * for long.
   */
  readonly adu: Uint8Array;
  /** The transaction identifier; 0 where the framing has none. */
  readonly transactionId: number;
  /** When the first byte came, as far as the adapter shows it; `performance.now()` ms. */
  readonly startedAt: number;
  /** When the last byte was read; `performance.now()` ms. */
  readonly receivedAt: number;
  /** The number from `LineHandler.newClientId`; 0 on a serial line, which has one client. */
  readonly clientId: number;
  /** The address of the client, `192.168.0.7:40112` or `[fe80::1]:40112`; a serial line has none. */
  readonly client?: string;
  /** The local address that the client connected to, on a line with several. */
  readonly host?: string | undefined;
}

/**
 * How many steps of plans are played in one turn. A step takes up to 20 µs, and nothing else runs meanwhile;
 * then others have their turn.
 */
export const STEPS_PER_TURN = 64;

/** What a line is to do about a request. */
export interface LineReply {
  /**
   * The plan, whose bytes are complete ADUs or what a fault made of them. Undefined while a real device has
   * not answered.
   */
  readonly plan: ReplyPlan | undefined;
  /**
   * Calls back once, in a later turn, when the plan is there. Call this only while there is no plan; other
   * replies lack it.
   */
  whenPlanned?(callback: () => void): void;
  /** Reports what was really done of the plan. Call this once, when the plan has ended. */
  played(report: PlayReport): void;
}

/** What a transport needs from the rest of the simulator. None of these functions may throw. */
export interface LineHandler {
  /** Returns a number for a new client. Numbers count from 1, and the line never uses a number twice. */
  newClientId(): number;
  /** Tells whether one of our devices answers for this unit identifier. */
  owns(unitId: number): boolean;
  /**
   * Decides about a request, in the order of arrival.
   * @param begin is called once, within this call, with the reply: writes the reply, or lets it wait. The
   * line reports the request only after that, because reporting takes longer than answering
   */
  request(request: LineRequest, begin: (reply: LineReply) => void): void;
  event(event: LineEvent): void;
}

/** Why a socket turned a client away. */
export type Rejection =
  /** The client does not speak Modbus TCP: it sent a length that no frame has. */
  | 'protocol'
  /**
   * There was no complete request within the idle timeout. A client that sends half a header and stops is
   * idle, too.
   */
  | 'idle'
  /** The client sends requests and does not read the replies. */
  | 'slow'
  /** The client had to make room for a newer one, or there was no room for it. */
  | 'limit'
  /** No TLS connection came about: no certificate, an unknown one, an old version of the protocol. */
  | 'tls';

interface OfClient {
  readonly client: string;
  readonly clientId: number;
  /** The local address that the client connected to, on a line with several. */
  readonly host?: string | undefined;
}

/** The client that sent a frame; absent on a serial line, and where an address is no client. */
type FromClient = Partial<OfClient>;

/** An event on a line other than a request. */
export type LineEvent =
  | { readonly kind: 'open'; readonly endpoint: string; readonly notes: readonly string[] }
  /** The port is gone, and the line waits for it. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** The port is still gone. */
  | { readonly kind: 'retry'; readonly error: string }
  /**
   * The listening socket failed after it had opened; it serves no new clients. Or a serial port is there that
   * can't do what was asked for; the line waits for another one.
   */
  | { readonly kind: 'failed'; readonly text: string }
  /** A frame between other stations on the bus. */
  | ({
      readonly kind: 'foreign';
      readonly role: 'request' | 'response';
      readonly frame: TimedBytes;
    } & FromClient)
  /**
   * Bytes that belong to no valid frame. `isRest` is true when damage of the same message was reported
   * before.
   */
  | ({ readonly kind: 'noise'; readonly noise: TimedBytes; readonly isRest?: boolean } & FromClient)
  /** A reply came back because the adapter hears what it sends. The echo was removed. */
  | { readonly kind: 'echo' }
  /** Many copies of our replies came in a row, so that the next ones are taken for echoes. */
  | { readonly kind: 'loop' }
  /** Somebody else spoke while a reply was on the wire. */
  | { readonly kind: 'collision' }
  /** Another device answered a request to one of our units. */
  | ({ readonly kind: 'duplicate'; readonly frame: TimedBytes } & FromClient)
  /** Bytes of ours that nobody had asked for have left; on a socket, once for each client. */
  | ({ readonly kind: 'unsolicited'; readonly frame: TimedBytes } & FromClient)
  /** The UART has lost characters since the last request. */
  | { readonly kind: 'overrun'; readonly count: number }
  /**
   * Characters arrived that the port marked as damaged: wrong parity, no stop bit, a break. `isRest` is true
   * when damage of the same message was reported before.
   */
  | { readonly kind: 'damaged'; readonly count: number; readonly isRest: boolean }
  /**
   * A request came while too many replies were pending; on a line that drops requests, while any reply was.
   */
  | ({ readonly kind: 'dropped'; readonly frame: TimedBytes } & FromClient)
  /** A client came. `role` is the role in the client's certificate (Modbus/TCP Security). */
  | ({ readonly kind: 'client'; readonly role?: string } & OfClient)
  /** A client is gone. This follows every `client`, once. */
  | ({ readonly kind: 'client-gone'; readonly text: string } & OfClient)
  /** A client was turned away. This comes before `client-gone`, or alone when a newcomer was refused. */
  | ({ readonly kind: 'rejected'; readonly reason: Rejection; readonly text: string } & OfClient);

export type LineState =
  /**
   * `endpoint` in the usual notation: a port's path, or `127.0.0.1:502`. `port` is the real port number of a
   * socket.
   */
  | { readonly kind: 'open'; readonly endpoint: string; readonly port?: number }
  /** The port vanished or does not open. The line keeps trying. */
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'stopped' }
  /**
   * The line does not work, and does not try again, unless another serial port takes the place of this one.
   */
  | { readonly kind: 'failed'; readonly reason: string };

export type TransportStart =
  | { readonly ok: true; readonly endpoint: string; readonly port?: number }
  /**
   * The error is one sentence that names the endpoint, what is wrong and what to do. `inUse`: somebody else
   * listens on the port.
   */
  | { readonly ok: false; readonly error: string; readonly inUse?: boolean };

/** The parts that only a serial line has, for its status and its measurement. */
export interface SerialSide {
  /** The port, while it is open. */
  readonly port: BytePort | undefined;
  /** The adapter found last. While it is unplugged it can't be identified. */
  readonly adapter: Adapter | undefined;
  /** How many reads had each number of bytes, and the longest pause between the reads of one frame, in ms. */
  readonly chunks: {
    readonly sizes: readonly (readonly [size: number, count: number])[];
    readonly longestPause: number;
  };
  /** Changes the settings without closing the port. */
  change(settings: SerialSettings, framing: Framing): void;
}

/**
 * One end of a line: a serial port, or a socket with its clients. Turns bytes into requests, and plays reply
 * plans.
 */
export interface Transport {
  readonly state: LineState;
  /** How many clients are connected now; undefined where that can't be known. */
  readonly clients: number | undefined;
  /** The serial side; absent on a socket. */
  readonly serial?: SerialSide;
  /**
   * Starts the line, and may be called again after `stop`. With `waits`, the line waits for a port that can't
   * be opened now; otherwise that is an error.
   */
  start(how?: { readonly waits: boolean }): Promise<TransportStart>;
  /** Stops the line without waiting for plans to end. Calling it twice is harmless. */
  stop(): Promise<void>;
  /**
   * Makes the line send and receive in this framing from now on: the same framing as before, with another
   * delimiter.
   */
  reframe(framing: Framing): void;
  /**
   * Sends bytes that nobody asked for, if the line is free now: no reply is pending, and a serial line has
   * been silent for t3.5. Bytes that have left are reported as an event `unsolicited`. Absent where there is
   * nobody to send to.
   * @param how with `waits`, a client on a socket that waits for replies gets the bytes after them; otherwise
   *   it gets none
   * @returns in how many ms to ask again, because the line is not free; undefined when the bytes were sent,
   * or nobody is there
   */
  sendUnsolicited?(bytes: Uint8Array, how: { readonly waits: boolean }): number | undefined;
}
