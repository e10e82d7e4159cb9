import type { PlayReport } from '../../protocol/play-report.js';
import type { ReplyPlan } from '../../protocol/reply-plan.js';

/** One complete MBAP ADU from a client. The byte arrays belong to the receiver of the request. */
export interface TcpRequest {
  readonly transactionId: number;
  readonly unitId: number;
  /** 1 to 253 bytes, a copy. */
  readonly pdu: Uint8Array;
  /** Header and PDU. May be a view of everything that arrived with it (up to 64 KiB): copy it to keep it for long. */
  readonly adu: Uint8Array;
  /** When its last byte was read; `performance.now()` ms. */
  readonly receivedAt: number;
  /** Address of the client, `192.168.0.7:40112` or `[fe80::1]:40112`. */
  readonly client: string;
  /** Counts the connections of this line from 1: never used twice, unlike `client`. */
  readonly clientId: number;
}

/** Why the line closed a connection by itself. */
export type Rejection =
  /** Not Modbus TCP: protocol identifier or length. */
  | 'protocol'
  /** No complete request within the idle timeout; half a header and silence too. */
  | 'idle'
  /** The client sends requests and does not read the replies. */
  | 'slow'
  /** It had to make room for a newer connection, or there was no room for it. */
  | 'limit';

export type TcpLineEvent =
  | { readonly kind: 'client'; readonly client: string; readonly clientId: number }
  /** Follows every `client`, once. */
  | {
      readonly kind: 'client-gone';
      readonly client: string;
      readonly clientId: number;
      readonly text: string;
    }
  /** Comes before `client-gone`; alone when a newcomer was refused. */
  | {
      readonly kind: 'rejected';
      readonly client: string;
      readonly clientId: number;
      readonly reason: Rejection;
      readonly text: string;
    }
  /** The listening socket failed after it had started; it serves no new clients. */
  | { readonly kind: 'failed'; readonly text: string };

/** What a TCP line needs to know from the rest of the simulator. None of these may throw. */
export interface TcpLineHandler {
  /**
   * Decides about a request, in the order of arrival over all connections. The plan's bytes are complete MBAP ADUs
   * (or what a fault made of them).
   */
  request(request: TcpRequest): ReplyPlan;
  /** Clients coming and going, connections closed for a reason. */
  event(event: TcpLineEvent): void;
  /** What was really done of a plan, once, when the plan has ended. Leave it out and no reports are made. */
  played?(request: TcpRequest, report: PlayReport): void;
}
