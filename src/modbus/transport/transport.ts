import type { Framing } from '../protocol/framing.js';
import type { PlayReport, ReplyPlan } from '../protocol/reply-plan.js';
import type { Adapter } from './port/adapter.js';
import type { BytePort } from './port/port.js';
import type { SerialSettings } from './settings.js';

/** Bytes, and the arrival times of the chunks with the first and the last byte, in ms. */
export interface TimedBytes {
  readonly bytes: Uint8Array;
  readonly startedAt: number;
  readonly receivedAt: number;
}

/** A complete request from any transport. */
export interface LineRequest {
  readonly unitId: number;
  /** The request PDU of 1 to 253 bytes, a copy. */
  readonly pdu: Uint8Array;
  /**
   * The request ADU. It may be a view of everything that arrived with it (up to 64 KiB): copy it before you
   * keep it for long.
   */
  readonly adu: Uint8Array;
  /** The transaction identifier; 0 if the framing has none. */
  readonly transactionId: number;
  /** When the first byte arrived, as far as the adapter shows it; `performance.now()` ms. */
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

/** Maximum plan steps per turn of the event loop. A step takes up to 20 µs, during which nothing else runs. */
export const STEPS_PER_TURN = 64;

/** The response of a line to a request. */
export interface LineReply {
  /**
   * The plan, whose bytes are complete ADUs or what a fault made of them. Undefined until a real device has
   * answered.
   */
  readonly plan: ReplyPlan | undefined;
  /**
   * Calls back once, in a later turn, when the plan exists. Only for replies without a plan; others lack this
   * function.
   */
  whenPlanned?(callback: () => void): void;
  /** Reports what was actually done. Call this once, when the plan has ended. */
  played(report: PlayReport): void;
}

/** What a transport needs from the rest of the simulator. None of these functions may throw. */
export interface LineHandler {
  /** Returns a number for a new client. Numbers start at 1, and the line never reuses one. */
  newClientId(): number;
  /** Reports whether one of our devices answers for this unit identifier. */
  owns(unitId: number): boolean;
  /**
   * Decides how to respond to a request, in order of arrival.
   * @param begin called once, within this call, with the reply: sends it, or lets it wait. The line reports
   * the request only afterwards, because reporting takes longer than answering.
   */
  request(request: LineRequest, begin: (reply: LineReply) => void): void;
  event(event: LineEvent): void;
}

/** Why a socket turned a client away. */
export type Rejection =
  /** The client does not speak Modbus TCP: it sent a length that no frame has. */
  | 'protocol'
  /** No complete request arrived within the idle timeout. A client that stops after half a header is idle too. */
  | 'idle'
  /** The client sends requests but does not read the replies. */
  | 'slow'
  /** The client was closed to make room for a newer one, or there was no room for it. */
  | 'limit'
  /** The TLS handshake failed: no certificate, an unknown one, or an old version of the protocol. */
  | 'tls';

interface OfClient {
  readonly client: string;
  readonly clientId: number;
  /** The local address that the client connected to, on a line with several. */
  readonly host?: string | undefined;
}

/** The client that sent a frame; absent on a serial line, and if the address is not a client. */
type FromClient = Partial<OfClient>;

/** An event on a line other than a request. */
export type LineEvent =
  | { readonly kind: 'open'; readonly endpoint: string; readonly notes: readonly string[] }
  /** The port was lost; the line waits for it. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** The port is still missing. */
  | { readonly kind: 'retry'; readonly error: string }
  /**
   * The listening socket failed after it was opened; it accepts no new clients. Or a serial port is present
   * but can't do what was configured; the line waits for another one.
   */
  | { readonly kind: 'failed'; readonly text: string }
  /** A frame between other stations on the bus. */
  | ({
      readonly kind: 'foreign';
      readonly role: 'request' | 'response';
      readonly frame: TimedBytes;
    } & FromClient)
  /** Bytes that belong to no valid frame. `isRest` is true if damage to the same message was reported before. */
  | ({ readonly kind: 'noise'; readonly noise: TimedBytes; readonly isRest?: boolean } & FromClient)
  /** A reply came back because the adapter hears what it sends. The echo was removed. */
  | { readonly kind: 'echo' }
  /** Many copies of our replies arrived in a row, so the next ones are treated as echoes. */
  | { readonly kind: 'loop' }
  /** Another station sent while a reply was on the wire. */
  | { readonly kind: 'collision' }
  /** Another device answered a request to one of our units. */
  | ({ readonly kind: 'duplicate'; readonly frame: TimedBytes } & FromClient)
  /** Unsolicited bytes were sent; on a socket, once for each client. */
  | ({ readonly kind: 'unsolicited'; readonly frame: TimedBytes } & FromClient)
  /** The UART lost characters since the last request. */
  | { readonly kind: 'overrun'; readonly count: number }
  /**
   * Characters arrived that the port marked as damaged: wrong parity, missing stop bit, or a break. `isRest`
   * is true if damage to the same message was reported before.
   */
  | { readonly kind: 'damaged'; readonly count: number; readonly isRest: boolean }
  /**
   * A request arrived while too many replies were pending; on a line that drops requests, while any reply was
   * pending.
   */
  | ({ readonly kind: 'dropped'; readonly frame: TimedBytes } & FromClient)
  /** A client connected. `role` is the role in the client's certificate (Modbus/TCP Security). */
  | ({ readonly kind: 'client'; readonly role?: string } & OfClient)
  /** A client disconnected. Every `client` is followed by exactly one of these. */
  | ({ readonly kind: 'client-gone'; readonly text: string } & OfClient)
  /** A client was turned away. This precedes `client-gone`, or comes alone if a new client was refused. */
  | ({ readonly kind: 'rejected'; readonly reason: Rejection; readonly text: string } & OfClient);

export type LineState =
  /**
   * `endpoint` in the usual notation: a port's path, or `127.0.0.1:502`. `port` is the actual port number of
   * a socket.
   */
  | { readonly kind: 'open'; readonly endpoint: string; readonly port?: number }
  /** The port vanished or can't be opened. The line keeps trying. */
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'stopped' }
  /** The line does not work and does not retry, unless another serial port replaces this one. */
  | { readonly kind: 'failed'; readonly reason: string };

export type TransportStart =
  | { readonly ok: true; readonly endpoint: string; readonly port?: number }
  /**
   * The error is one sentence that names the endpoint, what is wrong and what to do. `inUse`: another program
   * listens on the port.
   */
  | { readonly ok: false; readonly error: string; readonly inUse?: boolean };

/** What only a serial line has, for its status and its measurement. */
export interface SerialSide {
  /** The port, while it is open. */
  readonly port: BytePort | undefined;
  /** The adapter found last. An unplugged adapter can't be identified. */
  readonly adapter: Adapter | undefined;
  /** How many reads returned each number of bytes, and the longest pause between the reads of one frame, in ms. */
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
  /** How many clients are connected now; undefined if that can't be known. */
  readonly clients: number | undefined;
  /** The serial side; absent on a socket. */
  readonly serial?: SerialSide;
  /**
   * Starts the line; may be called again after `stop`. With `waits`, the line waits for a port that can't be
   * opened now; otherwise that is an error.
   */
  start(how?: { readonly waits: boolean }): Promise<TransportStart>;
  /** Stops the line without waiting for plans to end. Calling it twice is harmless. */
  stop(): Promise<void>;
  /** Makes the line send and receive in this framing from now on: the current framing with another delimiter. */
  reframe(framing: Framing): void;
  /**
   * Sends unsolicited bytes, if the line is free now: no reply is pending, and a serial line has been silent
   * for t3.5. Bytes that have left are reported as an event `unsolicited`. Absent if there is no peer to send
   * to.
   * @param how with `waits`, a client on a socket that waits for replies gets the bytes after them; otherwise
   * it gets none
   * @returns how many ms later to try again, if the line is not free; undefined if the bytes were sent or
   * there is no client
   */
  sendUnsolicited?(bytes: Uint8Array, how: { readonly waits: boolean }): number | undefined;
}
