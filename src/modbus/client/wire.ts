import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { characterTime, t35 } from '../protocol/timing.js';
import { discardGap, ptyAdapter } from '../transport/port/adapter.js';
import { openPort } from '../transport/port/open-port.js';
import type { BytePort } from '../transport/port/port.js';
import type { PortSettings, SerialSettings } from '../transport/settings.js';
import { lookUpName } from '../transport/socket/listen.js';

/** The port or the address of the servers. */
export type ClientTarget =
  | ({ readonly kind: 'serial'; readonly framing: 'rtu' | 'ascii' } & PortSettings)
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** `rtu` and `ascii` are RTU over TCP and ASCII over TCP. */
      readonly framing: 'socket' | 'rtu' | 'ascii';
    };

/** What carries a client's requests: a serial port or a connection. Times are in ms. */
export interface Wire {
  /**
   * Opens the port or the connection unless it is open.
   * @returns one sentence that says why it can't be opened; undefined on success
   */
  open(timeout: number): Promise<string | undefined>;
  /** Sends bytes. @returns why the bytes are lost, if that is known immediately */
  write(bytes: Uint8Array): string | undefined;
  close(): Promise<void>;
  /** Ends the connection with RST; absent on a port. */
  reset?(): void;
  readonly times: WireTimes;
}

export interface WireTimes {
  /** The time of one character; 0 if bytes take no time. */
  readonly character: number;
  /** The silence between two frames. */
  readonly t35: number;
  /** The silence that ends a frame. */
  readonly gap: number;
}

export interface WireListener {
  heard(bytes: Uint8Array): void;
  /** The port or the connection is gone. The reason is a sentence that names it. */
  lost(reason: string): void;
}

/**
 * On a network, only its length marks the end of a frame, so a frame also ends when no read has followed for
 * this many ms.
 */
const NETWORK_GAP_MS = 50;

/** Creates the wire to a port or an address, without opening it. */
export function newWire(target: ClientTarget, listener: WireListener): Wire {
  return target.kind === 'serial' ? new SerialWire(target, listener) : new TcpWire(target, listener);
}

class TcpWire implements Wire {
  readonly times: WireTimes = { character: 0, t35: 0, gap: NETWORK_GAP_MS };
  readonly #to: { readonly host: string; readonly port: number };
  readonly #listener: WireListener;
  #socket: Socket | undefined;
  #opening: AbortController | undefined;

  constructor(to: { readonly host: string; readonly port: number }, listener: WireListener) {
    this.#to = to;
    this.#listener = listener;
  }

  async open(timeout: number): Promise<string | undefined> {
    if (this.#socket) return undefined;
    const { host, port } = this.#to;
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const socket = connect({ host, port, noDelay: true, lookup: lookUpName });
    this.#opening = new AbortController();
    const signal = AbortSignal.any([this.#opening.signal, AbortSignal.timeout(timeout)]);
    try {
      await once(socket, 'connect', { signal });
    } catch (error) {
      socket.on('error', () => {}).destroy();
      const isLate = signal.aborted && !this.#opening.signal.aborted;
      return `${place}: ${isLate ? `no connection within ${timeout} ms` : whyNot(error as Error)}`;
    }
    this.#socket = socket;
    let reason = 'the server closed the connection';
    socket.on('data', (bytes) => this.#listener.heard(bytes));
    socket.on('error', ({ message }) => {
      reason = message;
    });
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#listener.lost(`${place}: ${reason}`);
    });
    return undefined;
  }

  write(bytes: Uint8Array): string | undefined {
    this.#socket?.write(bytes);
    return undefined;
  }

  close(): Promise<void> {
    this.#opening?.abort();
    this.#socket?.destroy();
    this.#socket = undefined;
    return Promise.resolve();
  }

  reset(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.resetAndDestroy();
  }
}

/** Returns a short reason; Node's messages repeat the address. */
function whyNot(error: NodeJS.ErrnoException): string {
  return error.code === undefined ? error.message : `no connection (${error.code})`;
}

class SerialWire implements Wire {
  readonly #settings: PortSettings & { readonly framing: 'rtu' | 'ascii' };
  readonly #listener: WireListener;
  #port: BytePort | undefined;

  constructor(settings: PortSettings & { readonly framing: 'rtu' | 'ascii' }, listener: WireListener) {
    this.#settings = settings;
    this.#listener = listener;
  }

  /** The times of the port. A pseudo-terminal has no wire: written bytes arrive at once. */
  get times(): WireTimes {
    const adapter = this.#port?.facts().adapter ?? ptyAdapter;
    const character = characterTime(this.#settings);
    const pause = t35(this.#settings.baudRate);
    return {
      character: adapter.kind === 'pty' ? 0 : character,
      t35: pause,
      gap: discardGap(adapter, character, pause),
    };
  }

  async open(): Promise<string | undefined> {
    if (this.#port) return undefined;
    const { framing, ...port } = this.#settings;
    const settings: SerialSettings = {
      kind: 'serial',
      name: port.path,
      framing,
      mode: 'server',
      timing: { turnaround: 't3.5' },
      whenBusy: 'replace',
      echo: 'auto',
      ...port,
    };
    const opened = await openPort(settings, {
      onData: (bytes) => this.#listener.heard(bytes),
      // A damaged byte can't be part of a valid reply, so it is passed on inverted.
      onDamaged: (bytes) => this.#listener.heard(bytes.map((byte) => byte ^ 0xff)),
      onClose: (reason) => {
        this.#port = undefined;
        this.#listener.lost(`${port.path}: ${reason}`);
      },
    });
    if (!opened.ok) return opened.error;
    this.#port = opened.port;
    return undefined;
  }

  write(bytes: Uint8Array): string | undefined {
    return this.#port?.write(bytes);
  }

  async close(): Promise<void> {
    const port = this.#port;
    this.#port = undefined;
    await port?.close();
  }
}
