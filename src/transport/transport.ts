import type { Framing } from '../protocol/framing.js';
import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { TimedBytes } from './framer/burst.js';

/** A complete request, whatever carried it. */
export interface LineRequest {
  readonly unitId: number;
  /** 1 to 253 bytes, a copy. */
  readonly pdu: Uint8Array;
  /** May be a view of everything that arrived with it (up to 64 KiB): copy it to keep it for long. */
  readonly adu: Uint8Array;
  /** 0 where the framing has none. */
  readonly transactionId: number;
  /** When its last byte was read; `performance.now()` ms. */
  readonly receivedAt: number;
  /** That of `LineHandler.newClientId`; 0 on a serial line, which has one client. */
  readonly clientId: number;
  /** Address of the client, `192.168.0.7:40112` or `[fe80::1]:40112`; a serial line has none. */
  readonly client?: string;
}

/** What a transport needs from the rest of the simulator. Nothing of it may throw. */
export interface LineHandler {
  /** A number for a new client: counts from 1, and no client of the line has had it. */
  newClientId(): number;
  /** Does one of our devices answer for this unit identifier? */
  owns(unitId: number): boolean;
  /**
   * Decides about a request, in the order of arrival. The plan's bytes are complete ADUs, or what a fault made of
   * them.
   */
  request(request: LineRequest): ReplyPlan;
  /** What was really done of a plan, once, when the plan has ended. */
  played(request: LineRequest, report: PlayReport): void;
  event(event: LineEvent): void;
}

/** Why a socket turned a client away. */
export type Rejection =
  /** Not Modbus TCP: protocol identifier or length. */
  | 'protocol'
  /** No complete request within the idle timeout; half a header and silence too. */
  | 'idle'
  /** The client sends requests and does not read the replies. */
  | 'slow'
  /** It had to make room for a newer one, or there was no room for it. */
  | 'limit'
  /** No TLS connection came about: no certificate, an unknown one, an old version of the protocol. */
  | 'tls';

interface OfClient {
  readonly client: string;
  readonly clientId: number;
}

/** What happens on a line besides requests. */
export type LineEvent =
  | { readonly kind: 'open'; readonly place: string; readonly notes: readonly string[] }
  /** The port is gone and is waited for. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** It is still not there. */
  | { readonly kind: 'retry'; readonly error: string; readonly inMs: number }
  /** The listening socket failed after it had opened; it serves no new clients. */
  | { readonly kind: 'failed'; readonly text: string }
  /** A frame between others on the bus. */
  | { readonly kind: 'foreign'; readonly role: 'request' | 'response'; readonly frame: TimedBytes }
  /** Bytes that belong to no valid frame; `isRest` when damage of the same message was reported before. */
  | { readonly kind: 'noise'; readonly noise: TimedBytes; readonly isRest?: boolean }
  /** A reply came back, because the adapter hears what it sends; it was taken out. */
  | { readonly kind: 'echo' }
  /** Copies of our replies came in so often in a row that the next ones are taken for echoes. */
  | { readonly kind: 'loop' }
  /** Somebody else spoke while a reply was on the wire. */
  | { readonly kind: 'collision' }
  /** Another device answered a request to one of our units. */
  | { readonly kind: 'duplicate'; readonly frame: TimedBytes }
  /** The UART has lost characters since the last request. */
  | { readonly kind: 'overrun'; readonly count: number }
  /**
   * Characters arrived that the port marked as damaged: wrong parity, no stop bit, a break. `isRest` when damage of
   * the same message was reported before.
   */
  | { readonly kind: 'damaged'; readonly count: number; readonly isRest: boolean }
  /** A request that came while too many replies were pending, or any on a line that drops those. */
  | { readonly kind: 'dropped'; readonly adu: Uint8Array }
  /** `role` is that of its certificate, as Modbus/TCP Security has it. */
  | ({ readonly kind: 'client'; readonly role?: string } & OfClient)
  /** Follows every `client`, once. */
  | ({ readonly kind: 'client-gone'; readonly text: string } & OfClient)
  /** Comes before `client-gone`; alone when a newcomer was refused. */
  | ({ readonly kind: 'rejected'; readonly reason: Rejection; readonly text: string } & OfClient);

export type LineState =
  /** `place` as people write it: a port's path, `127.0.0.1:502`. `port` is the number of a socket's, the real one. */
  | { readonly kind: 'open'; readonly place: string; readonly port?: number }
  /** The port vanished, or does not open, and is tried again. */
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly reason: string };

export type TransportStart =
  | { readonly ok: true; readonly place: string; readonly port?: number }
  /** One sentence that names the place, what is wrong and what to do. `inUse`: somebody else listens on the port. */
  | { readonly ok: false; readonly error: string; readonly inUse?: boolean };

/** One end of a line: a serial port or a socket with its clients. Makes requests of bytes, and plays reply plans. */
export interface Transport {
  readonly state: LineState;
  /** Clients connected now; undefined where that can't be known. */
  readonly clients: number | undefined;
  /**
   * May be called again after `stop`. With `waits`, a port that can't be opened now is waited for instead of being an
   * error.
   */
  start(how?: { readonly waits: boolean }): Promise<TransportStart>;
  /** Does not wait for plans to end. Twice is harmless. */
  stop(): Promise<void>;
  /** What arrives and leaves from now on is in this framing: the one it had with another delimiter. */
  reframe(framing: Framing): void;
}
