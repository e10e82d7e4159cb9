import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Framing } from '../../protocol/framing.js';
import { BROADCAST } from '../../protocol/rtu.js';
import type { LineHandler, LineState, Transport, TransportStart } from '../transport.js';
import { hostPort } from './address.js';
import { ALREADY_OPEN, cannotListen, isPort, NO_PORT, STOPPED } from './listen.js';
import { UdpClients } from './udp-clients.js';
import { listenUdp, lookupNames } from './udp-listen.js';

export interface UdpLineSettings {
  /** An IP address or a name, which is looked up for IPv4; `::` is all addresses of both families. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly framing: Framing;
  /** Addresses remembered at one time; default 256. */
  readonly maxClients?: number;
  /** An address without a request and without a pending reply for so long is forgotten; default 60 s. */
  readonly idleTimeoutMs?: number;
}

const DEFAULTS = { maxClients: 256, idleTimeoutMs: 60_000 };

/**
 * Datagrams that come while this program is busy with others wait there, and what does not fit is lost. Linux gives
 * no more than net.core.rmem_max, which is still twice what it gives unasked.
 */
const RECEIVE_BUFFER_SIZE = 1024 * 1024;

/** What the network said about one datagram that was sent before; the socket goes on working. */
const OF_ONE_DATAGRAM: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'EMSGSIZE',
  'ENETUNREACH',
]);

/**
 * A UDP socket that answers Modbus requests: every datagram is one ADU, and so is every reply that no fault has
 * split. No specification has Modbus over UDP; this is what its implementations agree on. Datagrams that are no ADU
 * are told as noise and not answered.
 *
 * On `0.0.0.0` or `::` a machine with several addresses may reply from another one than was asked: the system chooses.
 */
export class UdpLine implements Transport {
  readonly #settings: Required<UdpLineSettings>;
  readonly #handler: LineHandler;
  readonly #clients: UdpClients;
  #socket: Socket | undefined;
  #state: LineState = { kind: 'stopped' };

  constructor(settings: UdpLineSettings, handler: LineHandler) {
    this.#settings = { ...DEFAULTS, ...settings };
    this.#handler = handler;
    this.#clients = new UdpClients(this.#settings, handler);
  }

  get state(): LineState {
    return this.#state;
  }

  /** Addresses that have sent a request in the last minute, or wait for a reply. */
  get clients(): number {
    return this.#clients.count;
  }

  async start(): Promise<TransportStart> {
    const { host, port } = this.#settings;
    if (!isPort(port)) return cannotListen(host, port, NO_PORT);
    if (this.#socket !== undefined) return cannotListen(host, port, ALREADY_OPEN);
    const type = host.includes(':') ? 'udp6' : 'udp4';
    const socket = createSocket({
      type,
      reuseAddr: false,
      lookup: lookupNames,
      recvBufferSize: RECEIVE_BUFFER_SIZE,
    });
    this.#socket = socket;
    socket.on('message', (bytes, remote) => this.#receive(bytes, remote, socket));
    socket.on('error', (error) => this.#fail(socket, error));
    const listening = await listenUdp(socket, host, port);
    if (this.#socket !== socket) return cannotListen(host, port, STOPPED);
    if (!listening.ok) {
      this.#socket = undefined;
      this.#state = { kind: 'failed', reason: listening.error };
      return listening;
    }
    const place = hostPort(listening.address, listening.port);
    this.#state = { kind: 'open', place };
    this.#handler.event({ kind: 'open', place, notes: [] });
    return { ok: true, place };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    await this.#close('the line was stopped');
  }

  async #close(text: string): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    this.#clients.forgetAll(text);
    await new Promise<void>((resolve) => socket.close(resolve));
  }

  /** An error of the open socket; those before are told by `start`. */
  #fail(socket: Socket, error: NodeJS.ErrnoException): void {
    if (this.#socket !== socket || this.#state.kind !== 'open' || OF_ONE_DATAGRAM.has(error.code ?? ''))
      return;
    const reason = `${this.#state.place}: ${error.message}`;
    this.#state = { kind: 'failed', reason };
    void this.#close(reason);
    this.#handler.event({ kind: 'failed', text: reason });
  }

  #receive(datagram: Buffer, remote: RemoteInfo, socket: Socket): void {
    if (this.#socket !== socket) return;
    const receivedAt = performance.now();
    // Not a Buffer: its slice() is a view.
    const adu = new Uint8Array(datagram.buffer, datagram.byteOffset, datagram.length);
    const timed = { bytes: adu, startedAt: receivedAt, receivedAt };
    const content = this.#settings.framing.decode(adu);
    if (content === undefined) this.#handler.event({ kind: 'noise', noise: timed });
    else if (!this.#concerns(content.unitId)) {
      this.#handler.event({ kind: 'foreign', role: 'request', frame: timed });
    } else this.#clients.at(remote, socket)?.receive(content, adu, receivedAt);
  }

  /** As on the serial line that these framings are made for, requests to other units are not ours to answer. */
  #concerns(unitId: number): boolean {
    return !this.#settings.framing.broadcasts || unitId === BROADCAST || this.#handler.owns(unitId);
  }
}
