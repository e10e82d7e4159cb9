import type { Framing } from '../../protocol/framing.js';
import { type Clock, systemClock } from '../clock.js';
import type { Adapter } from '../port/adapter.js';
import { openPort, pacingOf } from '../port/open-port.js';
import type { BytePort, OpenResult, PortListener } from '../port/port.js';
import { identityOf } from '../port/port-path.js';
import { Reopening } from '../reopening.js';
import type { SerialSettings } from '../settings.js';
import type { LineHandler, LineState, SerialSide, Transport, TransportStart } from '../transport.js';
import { type SerialBehaviour, serialBehaviour } from './behaviour.js';
import { ChunkStatistics } from './chunk-statistics.js';
import { MonitorSession, type PortSession, SerialSession } from './serial-session.js';

interface SerialLineTools {
  readonly open?: (settings: SerialSettings, listener: PortListener) => Promise<OpenResult>;
  readonly clock?: Clock;
}

/**
 * Pauses between attempts. They are short, because users wait for the port, and checking for a missing port
 * costs next to nothing.
 */
const RETRY_TIMES = { firstMs: 250, lastMs: 1000 };

/**
 * One end of a serial line that serves or only listens. Opens the port, keeps it open, and waits for it if it
 * vanishes.
 */
export class SerialLine implements Transport, SerialSide, PortListener {
  readonly clients = undefined;
  readonly serial = this;
  readonly chunks = new ChunkStatistics();
  readonly #handler: LineHandler;
  readonly #open: NonNullable<SerialLineTools['open']>;
  readonly #clock: Clock;
  #settings: SerialSettings;
  #framing: Framing;
  #state: LineState = { kind: 'stopped' };
  #port: BytePort | undefined;
  #adapter: Adapter | undefined;
  #session: PortSession | undefined;
  /** The identity of the port that can't do what was configured; undefined if no port was found unfit. */
  #unfit: string | undefined;
  readonly #retries: Reopening;

  /** Creates the line. Tests pass their own port and clock. */
  constructor(
    settings: SerialSettings,
    framing: Framing,
    handler: LineHandler,
    { open = openPort, clock = systemClock }: SerialLineTools = {},
  ) {
    this.#settings = settings;
    this.#framing = framing;
    this.#handler = handler;
    this.#open = open;
    this.#clock = clock;
    this.#retries = new Reopening(clock, RETRY_TIMES, {
      attempt: (isCalledOff) => this.#reopen(isCalledOff),
      failed: (error, isNew) => {
        if (this.#unfit !== undefined) return;
        this.#state = { kind: 'waiting', reason: error };
        if (isNew) this.#handler.event({ kind: 'retry', error });
      },
    });
  }

  get state(): LineState {
    return this.#state;
  }

  get port(): BytePort | undefined {
    return this.#port;
  }

  get adapter(): Adapter | undefined {
    return this.#adapter;
  }

  async start({ waits = false } = {}): Promise<TransportStart> {
    if (this.#state.kind !== 'stopped') return { ok: false, error: 'this line has already been started' };
    const opened = await this.#open(this.#settings, this);
    if (!opened.ok) {
      if (waits) {
        this.#note(opened);
        this.#retries.begin(opened.error);
      }
      return opened;
    }
    this.#attach(opened.port, opened.notes);
    return { ok: true, endpoint: opened.port.path };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    // An attempt may have the port open now, and the next start of the line would find it in use.
    const ended = this.#retries.end();
    const port = this.#port;
    this.#detach();
    await port?.close();
    await ended;
  }

  /**
   * Changes the behaviour of the line. An open port stays open, so `settings` must name the same port,
   * character format and mode. Pending replies are given up.
   */
  change(settings: SerialSettings, framing: Framing): void {
    this.#settings = settings;
    this.#framing = framing;
    this.#port?.setPacing?.(pacingOf(settings));
    if (this.#port !== undefined) this.#session?.change(this.#behaviour(this.#port.facts().adapter));
  }

  reframe(framing: Framing): void {
    this.#framing = framing;
    this.#session?.reframe(framing);
  }

  sendUnsolicited(bytes: Uint8Array): number | undefined {
    return this.#session?.sendUnsolicited?.(bytes);
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
    this.#note({ error: reason });
    this.#retries.begin();
  }

  /**
   * Returns the behaviour on an adapter. The adapter is identified each time the port is opened, because
   * another one may have been plugged in.
   */
  #behaviour(adapter: Adapter) {
    const isServer = this.#settings.mode === 'server';
    const owns = (unitId: number) => isServer && this.#handler.owns(unitId);
    return serialBehaviour(this.#settings, this.#framing, adapter, owns);
  }

  #attach(port: BytePort, notes: readonly string[]): void {
    const { adapter } = port.facts();
    this.#port = port;
    this.#adapter = adapter;
    this.#session = this.#newSession(port, this.#behaviour(adapter));
    this.#state = { kind: 'open', endpoint: port.path };
    this.#handler.event({ kind: 'open', endpoint: port.path, notes });
  }

  #newSession(port: BytePort, behaviour: SerialBehaviour): PortSession {
    const handler = this.#handler;
    return this.#settings.mode === 'monitor'
      ? new MonitorSession(port.errorCounts, behaviour, (event) => handler.event(event), this.#clock)
      : new SerialSession(port, behaviour, handler, this.chunks, this.#clock);
  }

  #detach(): void {
    this.#port = undefined;
    this.#session?.end();
    this.#session = undefined;
  }

  /** Remembers an unfit port. Opening it changes the modem lines, so the port is left alone until it is replaced. */
  #note({ error, unfit }: { readonly error: string; readonly unfit?: true }): void {
    this.#unfit = unfit && identityOf(this.#settings.path);
    if (unfit) this.#handler.event({ kind: 'failed', text: error });
    this.#state = { kind: unfit ? 'failed' : 'waiting', reason: error };
  }

  async #reopen(isCalledOff: () => boolean): Promise<string | undefined> {
    if (this.#unfit !== undefined && this.#unfit === identityOf(this.#settings.path))
      return 'unfit as before';
    const opened = await this.#open(this.#settings, this);
    if (!opened.ok) {
      if (!isCalledOff()) this.#note(opened);
      return opened.error;
    }
    this.#unfit = undefined;
    if (isCalledOff()) await opened.port.close();
    else this.#attach(opened.port, opened.notes);
    return undefined;
  }
}
