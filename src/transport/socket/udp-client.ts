import type { RemoteInfo, Socket } from 'node:dgram';
import type { AduContent } from '../../protocol/framing.js';
import type { LineHandler } from '../transport.js';
import { clientName } from './address.js';
import { ReplyQueue } from './reply-queue.js';
import { UdpOutlet } from './udp-outlet.js';

/** More requests than this waiting for their replies, and further ones are not executed. */
const MAX_PENDING = 64;

/** One address and port that sends requests: asks the handler and has the plans played in order. */
export class UdpClient {
  readonly id: number;
  readonly client: string;
  /** When the last request came in or a reply that had to wait was sent; `performance.now()` ms. */
  activeAt: number;
  readonly #handler: LineHandler;
  readonly #outlet: UdpOutlet;
  readonly #replies: ReplyQueue;

  constructor(socket: Socket, remote: RemoteInfo, id: number, handler: LineHandler) {
    this.id = id;
    this.client = clientName(remote.address, remote.port);
    this.activeAt = performance.now();
    this.#handler = handler;
    const outlet = new UdpOutlet(socket, remote.address, remote.port);
    this.#outlet = outlet;
    this.#replies = new ReplyQueue({
      outlet,
      played: (request, report) => outlet.complete(report, (known) => handler.played(request, known)),
      advanced: () => {
        this.activeAt = performance.now();
      },
    });
  }

  /** Whether replies are still to be played, or to be sent. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  /** Has the request answered, unless too many replies are pending: then it is told as dropped. */
  receive({ transactionId, unitId, pdu }: AduContent, adu: Uint8Array, receivedAt: number): void {
    this.activeAt = receivedAt;
    if (this.#pending >= MAX_PENDING) {
      this.#handler.event({ kind: 'dropped', adu });
      return;
    }
    const { client, id: clientId } = this;
    // A copy: the PDU of an RTU frame is a view of it.
    const request = { transactionId, unitId, pdu: pdu.slice(), adu, receivedAt, client, clientId };
    this.#replies.add(request, this.#handler.request(request));
  }

  /** Plays nothing more; what was not played is reported, with the reason. */
  abandon(reason: string): void {
    this.#replies.abandon(reason);
  }

  get #pending(): number {
    return this.#replies.length + this.#outlet.unsent;
  }
}
