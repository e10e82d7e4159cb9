import { createSocket, type Socket } from 'node:dgram';
import { wordAt } from '../../../../src/modbus/protocol/bytes.js';
import { type Framing, SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { type PlayReport, plainReply, type ReplyPlan } from '../../../../src/modbus/protocol/reply-plan.js';
import { SocketLine } from '../../../../src/modbus/transport/socket/socket-line.js';
import type {
  LineEvent,
  LineHandler,
  LineReply,
  LineRequest,
} from '../../../../src/modbus/transport/transport.js';
import { until } from './raw-client.js';
import { socketSettings } from './socket-settings.js';

export interface UdpLineSettings {
  readonly host?: string;
  readonly framing?: Framing;
  readonly maxClients?: number;
  readonly idleTimeoutMs?: number;
}

/** Unit 1, whose holding registers have their address as value. Remembers what happened. */
export class Device implements LineHandler {
  readonly framing: Framing;
  readonly requests: LineRequest[] = [];
  readonly events: LineEvent[] = [];
  readonly reports: { readonly request: LineRequest; readonly report: PlayReport }[] = [];
  /** What a fault would do: changes the plain plan. */
  fault: (plan: ReplyPlan, request: LineRequest) => ReplyPlan = (plan) => plan;
  /** The replies that wait for `release`, from `hold` on. */
  #held: (() => void)[] | undefined;
  #lastClientId = 0;

  constructor(framing: Framing) {
    this.framing = framing;
  }

  newClientId(): number {
    return ++this.#lastClientId;
  }

  owns(unitId: number): boolean {
    return unitId === 1;
  }

  request(request: LineRequest, begin: (reply: LineReply) => void): void {
    this.requests.push(request);
    const values = Array.from({ length: wordAt(request.pdu, 3) }, (_, i) => wordAt(request.pdu, 1) + i);
    const pdu = Uint8Array.of(3, 2 * values.length, ...values.flatMap((value) => [value >> 8, value & 0xff]));
    const plan = this.fault(plainReply(this.framing.encode({ ...request, pdu })), request);
    const played = (report: PlayReport) => void this.reports.push({ request, report });
    const held = this.#held;
    if (!held) begin({ plan, played });
    else {
      const reply: { plan: ReplyPlan | undefined } & LineReply = {
        plan: undefined,
        whenPlanned: (planned) => {
          held.push(() => {
            reply.plan = plan;
            planned();
          });
        },
        played,
      };
      begin(reply);
    }
  }

  /** Lets the replies to further requests wait until `release`, as those of a real device do. */
  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const planned of held) planned();
  }

  event(event: LineEvent): void {
    this.events.push(event);
  }

  count(kind: LineEvent['kind']): number {
    return this.events.filter((event) => event.kind === kind).length;
  }
}

/** A client without manners: sends any datagram and keeps what comes back. */
export class Peer {
  readonly socket: Socket;
  readonly received: Uint8Array[] = [];
  readonly #port: number;
  readonly #host: string;

  constructor(port: number, host = '127.0.0.1') {
    this.#port = port;
    this.#host = host;
    this.socket = createSocket(host.includes(':') ? 'udp6' : 'udp4', (bytes) => {
      this.received.push(new Uint8Array(bytes));
    });
  }

  /** Resolves when the datagram has left. */
  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.send(bytes, this.#port, this.#host, (error) => (error ? reject(error) : resolve()));
    });
  }

  async receivedOf(count: number): Promise<Uint8Array[]> {
    await until(() => this.received.length >= count, `${count} datagrams have come`);
    return this.received;
  }

  /** Transaction identifiers of the responses. */
  get transactions(): number[] {
    return this.received.map((adu) => SOCKET.decode(adu)?.transactionId ?? -1);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.close(resolve);
    });
  }
}

/** A line on a free port of the loopback with a device, closed with its peers when the scope ends. */
export interface TestUdpLine {
  readonly line: SocketLine;
  readonly device: Device;
  readonly port: number;
  peer(host?: string): Peer;
  close(): Promise<void>;
}

export async function openUdpLine({
  host,
  framing = SOCKET,
  maxClients,
  idleTimeoutMs,
}: UdpLineSettings = {}): Promise<TestUdpLine> {
  const device = new Device(framing);
  const settings = socketSettings('udp', {
    framing: framing.name,
    ...(host && { host }),
    ...(maxClients && { maxClients }),
    ...(idleTimeoutMs && { idleTimeout: idleTimeoutMs }),
  });
  const line = new SocketLine(settings, framing, device);
  const started = await line.start();
  if (!started.ok) throw new Error(started.error);
  const port = Number(started.endpoint.replace(/.*:/, ''));
  const peers: Peer[] = [];
  return {
    line,
    device,
    port,
    peer: (host) => {
      const peer = new Peer(port, host);
      peers.push(peer);
      return peer;
    },
    close: async () => {
      await Promise.all(peers.map((peer) => peer.close()));
      await line.stop();
    },
  };
}

export function readRequest(transactionId: number, address = 0, framing: Framing = SOCKET, unitId = 1) {
  const pdu = Uint8Array.of(3, address >> 8, address & 0xff, 0, 1);
  return framing.encode({ transactionId, unitId, pdu });
}

/** The plan with `ms` before its first step. */
export function delayed(plan: ReplyPlan, ms: number): ReplyPlan {
  if (plan.kind === 'silence') return plan;
  return { ...plan, steps: plan.steps.map((step, i) => (i === 0 ? { ...step, waitMs: ms } : step)) };
}
