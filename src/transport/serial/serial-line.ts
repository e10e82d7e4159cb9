import { type Clock, systemClock } from '../clock.js';
import type { Adapter } from '../port/adapter.js';
import type { BytePort, OpenResult, PortListener } from '../port/port.js';
import type { LineHandler, LineState, Transport, TransportStart } from '../transport.js';
import { ChunkStatistics } from './chunk-statistics.js';
import { type SerialBehaviour, SerialSession } from './serial-session.js';

export interface SerialLineOptions {
  readonly open: (listener: PortListener) => Promise<OpenResult>;
  /** Asked at each opening: after an adapter was plugged in again it may be another one. */
  readonly behaviour: (adapter: Adapter) => SerialBehaviour;
}

const FIRST_RETRY_MS = 250;
/** Looking for a port that is not there costs next to nothing, and its users wait for it. */
const LAST_RETRY_MS = 1000;

/** A Modbus server's end of a serial line: opens the port, keeps it open, and waits for one that vanished. */
export class SerialLine implements Transport, PortListener {
  readonly clients = undefined;
  readonly chunks = new ChunkStatistics();
  #options: SerialLineOptions;
  readonly #handler: LineHandler;
  readonly #clock: Clock;
  #state: LineState = { kind: 'stopped' };
  #port: BytePort | undefined;
  #session: SerialSession | undefined;
  #callOffRetry = (): void => {};
  /** The last attempt to reopen, under way or over. */
  #attempt: Promise<void> | undefined;
  /** Counts the stops: an attempt to reopen that began before one comes too late. */
  #stops = 0;

  constructor(options: SerialLineOptions, handler: LineHandler, clock: Clock = systemClock) {
    this.#options = options;
    this.#handler = handler;
    this.#clock = clock;
  }

  get state(): LineState {
    return this.#state;
  }

  /** The port, while it is open. */
  get port(): BytePort | undefined {
    return this.#port;
  }

  async start({ waits = false } = {}): Promise<TransportStart> {
    if (this.#state.kind !== 'stopped') return { ok: false, error: 'this line is started already' };
    const opened = await this.#options.open(this);
    if (!opened.ok) {
      if (waits) this.#wait(opened.error, FIRST_RETRY_MS);
      return opened;
    }
    this.#attach(opened.port, opened.notes);
    return { ok: true, place: opened.port.path };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    this.#stops++;
    this.#callOffRetry();
    const port = this.#port;
    this.#detach();
    await port?.close();
    // It may have the port open at this moment: whoever starts the line again would find it in use.
    await this.#attempt;
  }

  /** From now on the line opens and behaves like this; an open port stays open, what was pending is given up. */
  change(options: SerialLineOptions): void {
    this.#options = options;
    if (this.#port !== undefined) this.#session?.change(options.behaviour(this.#port.facts().adapter));
  }

  onData(chunk: Uint8Array): void {
    this.#session?.received(chunk);
  }

  onDamaged(characters: Uint8Array): void {
    this.#session?.damaged(characters);
  }

  onClose(reason: string): void {
    this.#detach();
    if (this.#state.kind === 'stopped') return;
    this.#handler.event({ kind: 'lost', reason });
    this.#wait(reason, FIRST_RETRY_MS);
  }

  #attach(port: BytePort, notes: readonly string[]): void {
    this.#port = port;
    const behaviour = this.#options.behaviour(port.facts().adapter);
    this.#session = new SerialSession(port, behaviour, this.#handler, this.chunks, this.#clock);
    this.#state = { kind: 'open', place: port.path };
    this.#handler.event({ kind: 'open', place: port.path, notes });
  }

  #detach(): void {
    this.#port = undefined;
    this.#session?.end();
    this.#session = undefined;
  }

  #wait(reason: string, delay: number): void {
    this.#state = { kind: 'waiting', reason };
    this.#callOffRetry = this.#clock.callAfter(delay, () => {
      this.#attempt = this.#reopen(delay);
    });
  }

  async #reopen(delay: number): Promise<void> {
    const stops = this.#stops;
    const opened = await this.#options.open(this);
    if (this.#stops !== stops) {
      if (opened.ok) await opened.port.close();
      return;
    }
    if (opened.ok) {
      this.#attach(opened.port, opened.notes);
      return;
    }
    const inMs = Math.min(2 * delay, LAST_RETRY_MS);
    this.#handler.event({ kind: 'retry', error: opened.error, inMs });
    this.#wait(opened.error, inMs);
  }
}
