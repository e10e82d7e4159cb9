import type { RemoteInfo, Socket } from 'node:dgram';
import type { AduContent } from '../../protocol/framing.js';
import type { LineHandler, LineReply } from '../transport.js';
import type { Client, ClientIdentity } from './client-list.js';
import { ReplyQueue } from './reply-queue.js';
import { UdpWriter } from './udp-writer.js';

/** While more requests than this wait for their replies, further ones are not executed. */
const MAX_PENDING = 64;

export interface UdpClientOptions {
  readonly identity: ClientIdentity;
  /** Bound, and open for as long as the client is there. */
  readonly socket: Socket;
  readonly remote: RemoteInfo;
  readonly handler: LineHandler;
  /** Called once, when the client has ended. */
  readonly gone: (text: string) => void;
}

/** One address and port that sends requests: asks the handler and has the plans played in order. */
export class UdpClient implements Client {
  readonly client: string;
  readonly clientId: number;
  activeAt: number;
  /** An address becomes a client by its first request. */
  readonly spoke = true;
  readonly #handler: LineHandler;
  readonly #writer: UdpWriter;
  readonly #replies: ReplyQueue;
  /** One function for all requests. */
  readonly #begin = (reply: LineReply) => this.#replies.add(reply, this.activeAt);
  readonly #gone: (text: string) => void;
  #isGone = false;

  constructor({ identity, socket, remote, handler, gone }: UdpClientOptions) {
    this.client = identity.client;
    this.clientId = identity.clientId;
    this.activeAt = performance.now();
    this.#handler = handler;
    this.#gone = gone;
    this.#writer = new UdpWriter(socket, remote.address, remote.port);
    this.#replies = new ReplyQueue(this.#writer, () => {
      this.activeAt = performance.now();
    });
  }

  /** Whether replies are still to be played, or to be sent. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  /** It can't be known whether a client reads its datagrams. */
  slowFor(): boolean {
    return false;
  }

  /** Has the request answered. If too many replies are pending, the request is reported as dropped. */
  receive({ transactionId, unitId, pdu }: AduContent, adu: Uint8Array, receivedAt: number): void {
    const { client, clientId } = this;
    this.activeAt = receivedAt;
    if (this.#pending >= MAX_PENDING) {
      const frame = { bytes: adu, startedAt: receivedAt, receivedAt };
      this.#handler.event({ kind: 'dropped', frame, client, clientId });
      return;
    }
    // A copy, because the PDU of an RTU frame is a view of the datagram.
    const times = { startedAt: receivedAt, receivedAt };
    const request = { transactionId, unitId, pdu: pdu.slice(), adu, ...times, client, clientId };
    this.#handler.request(request, this.#begin);
  }

  end(text: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#replies.abandon(text);
    this.#gone(text);
  }

  get #pending(): number {
    return this.#replies.length + this.#writer.unsent;
  }
}
