import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Framing } from '../../protocol/framing.js';
import { systemClock } from '../clock.js';
import { Reopening } from '../reopening.js';
import type { SocketSettings } from '../settings.js';
import type { LineHandler, LineState, Transport, TransportStart } from '../transport.js';
import { ClientList, type DescriptorState, descriptorStates } from './client-list.js';
import {
  ALREADY_OPEN,
  type Binding,
  type BindingContext,
  cannotListen,
  hostPort,
  isPort,
  type Listening,
  NO_PORT,
  type NotListening,
  STOPPED,
} from './listen.js';
import { TcpBinding } from './tcp-binding.js';
import { UdpBinding } from './udp-binding.js';

/** Limits that users can't set. */
export interface SocketLimits {
  /** A client that leaves too many replies unread for this long is dropped. */
  readonly slowTimeoutMs: number;
  /** How long a TLS handshake may take. */
  readonly handshakeTimeoutMs: number;
  /** How many file descriptors the process may have; absent for the system's limit. */
  readonly descriptors?: number;
}

const LIMITS: SocketLimits = { slowTimeoutMs: 10_000, handshakeTimeoutMs: 10_000 };

/**
 * The idle timeout if none is set, in ms. Only UDP lines have none, and their clients lose nothing by being
 * forgotten.
 */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * Pauses between attempts. An address may appear within seconds of a boot; another program may hold a port
 * for days.
 */
const RETRY_TIMES = { firstMs: 250, lastMs: 5000 };

/** A listening socket with its clients, on TCP, TLS or UDP. */
export class SocketLine implements Transport {
  readonly #settings: SocketSettings;
  readonly #handler: LineHandler;
  readonly #limits: SocketLimits;
  readonly #clients: ClientList;
  readonly #descriptors: () => DescriptorState;
  #framing: Framing;
  /** The binding; absent while the line is neither open nor opening. */
  #binding: Binding | undefined;
  #state: LineState = { kind: 'stopped' };
  /** The port chosen by the system, if any free one was requested. It is used again when the line reopens. */
  #chosenPort: number | undefined;
  /** True if a socket that can't be opened, or fails later, is retried. */
  #waits = false;
  readonly #retries = new Reopening(systemClock, RETRY_TIMES, {
    attempt: async () => {
      const opened = await this.#open();
      return opened.ok ? undefined : opened.error;
    },
    failed: (error, isNew) => {
      this.#state = { kind: 'waiting', reason: error };
      if (isNew) this.#handler.event({ kind: 'retry', error });
    },
  });

  constructor(
    settings: SocketSettings,
    framing: Framing,
    handler: LineHandler,
    limits: Partial<SocketLimits> = {},
  ) {
    this.#settings = settings;
    this.#framing = framing;
    this.#handler = handler;
    this.#limits = { ...LIMITS, ...limits };
    const { kind, maxClients, whenFull = 'evict', idleTimeout = FORGOTTEN_AFTER_MS } = settings;
    const { slowTimeoutMs, descriptors } = this.#limits;
    this.#descriptors = descriptorStates(descriptors);
    const areConnections = kind !== 'udp';
    this.#clients = new ClientList(
      { maxClients, whenFull, idleTimeoutMs: idleTimeout, slowTimeoutMs, areConnections },
      handler,
    );
  }

  get state(): LineState {
    return this.#state;
  }

  /** How many connections can send requests; on UDP, how many addresses are still remembered. */
  get clients(): number {
    return this.#clients.count;
  }

  /** Changes the framing. The new framing applies to bytes that arrive from now on, and to incomplete frames. */
  reframe(framing: Framing): void {
    this.#framing = framing;
  }

  /** Sends bytes to each client; with `waits`, clients that wait for a reply get them after it. */
  sendUnsolicited(bytes: Uint8Array, how: { readonly waits: boolean }): undefined {
    this.#clients.sendUnsolicited(bytes, how);
  }

  async start({ waits = false } = {}): Promise<TransportStart> {
    const { host, port } = this.#settings;
    if (this.#binding !== undefined || this.#state.kind === 'waiting') {
      return cannotListen(host, port, ALREADY_OPEN);
    }
    this.#waits = waits;
    const opened = await this.#open();
    // A line that was stopped in the meantime does not wait for the port.
    if (!opened.ok && waits && this.#state.kind === 'failed') this.#wait(opened.error);
    return opened;
  }

  async #open(): Promise<TransportStart> {
    const { host, port } = this.#settings;
    if (!isPort(port)) return this.#notOpened(cannotListen(host, port, NO_PORT));
    const settings = { ...this.#settings, port: port || (this.#chosenPort ?? 0) };
    const context = {
      settings,
      handler: this.#handler,
      clients: this.#clients,
      descriptors: this.#descriptors,
      framing: () => this.#framing,
      failed: (error: Error) => this.#fail(error),
    };
    const newBinding = (of: BindingContext) => bindingOf(of, this.#limits);
    const { hosts } = settings;
    const binding = hosts ? new HostsBinding(context, hosts, newBinding) : newBinding(context);
    this.#binding = binding;
    const bound = await binding.open();
    if (this.#binding !== binding) return cannotListen(host, port, STOPPED);
    if (!bound.ok && bound.inUse && port === 0 && this.#chosenPort !== undefined) {
      // Another program took it while the line was closed. Any free port will do.
      this.#chosenPort = undefined;
      return this.#open();
    }
    if (!bound.ok) return this.#notOpened(bound);
    this.#chosenPort = bound.port;
    const endpoint = hostPort(bound.address, bound.port);
    this.#state = { kind: 'open', endpoint, port: bound.port };
    this.#handler.event({ kind: 'open', endpoint, notes: bound.notes ?? [] });
    return { ok: true, endpoint, port: bound.port };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    const ended = this.#retries.end();
    await this.#close('the line was stopped');
    await ended;
  }

  #notOpened(failure: NotListening): NotListening {
    this.#binding = undefined;
    this.#state = { kind: 'failed', reason: failure.error };
    return failure;
  }

  #wait(reason: string): void {
    this.#state = { kind: 'waiting', reason };
    this.#retries.begin(reason);
  }

  /** Records that the listening socket failed after it was opened. */
  #fail({ message }: Error): void {
    const reason = this.#state.kind === 'open' ? `${this.#state.endpoint}: ${message}` : message;
    this.#state = { kind: 'failed', reason };
    void this.#close(reason);
    this.#handler.event({ kind: 'failed', text: reason });
    if (this.#waits) this.#wait(reason);
  }

  async #close(text: string): Promise<void> {
    const binding = this.#binding;
    if (binding === undefined) return;
    this.#binding = undefined;
    const closed = binding.close();
    this.#clients.endAll(text);
    await closed;
  }
}

function bindingOf(context: BindingContext, { handshakeTimeoutMs }: SocketLimits): Binding {
  return context.settings.kind === 'udp'
    ? new UdpBinding(context)
    : new TcpBinding(context, handshakeTimeoutMs);
}

/** The longest time to spend opening sockets before other lines get their turn of the event loop, in ms. */
const OPENING_SLICE_MS = 0.5;

/**
 * The sockets of a line with several addresses: one socket for each, with the same port, for the clients of
 * one list.
 */
class HostsBinding implements Binding {
  readonly #context: BindingContext;
  readonly #hosts: readonly string[];
  readonly #newBinding: (context: BindingContext) => Binding;
  readonly #bindings: Binding[] = [];
  #isClosed = false;

  /** Creates the binding. @param newBinding creates the binding of one address */
  constructor(
    context: BindingContext,
    hosts: readonly string[],
    newBinding: (context: BindingContext) => Binding,
  ) {
    this.#context = context;
    this.#hosts = hosts;
    this.#newBinding = newBinding;
  }

  /** Opens the sockets one after another. The first address that can't be opened ends this; the error names it. */
  async open(): Promise<Listening> {
    const { settings } = this.#context;
    let { port } = settings;
    let sliceEndsAt = performance.now() + OPENING_SLICE_MS;
    for (const host of this.#hosts) {
      if (performance.now() > sliceEndsAt) {
        await nextTurn();
        sliceEndsAt = performance.now() + OPENING_SLICE_MS;
      }
      if (this.#isClosed) return cannotListen(host, port, STOPPED);
      const binding = this.#newBinding({ ...this.#context, host, settings: { ...settings, host, port } });
      this.#bindings.push(binding);
      const bound = await binding.open();
      if (!bound.ok) {
        // The binding has left nothing open, unless all were closed in the meantime.
        this.#bindings.pop();
        const closed = this.#closeAll();
        // A socket closes when its last client has gone, and the first addresses may already have clients.
        this.#context.clients.endAll(bound.error, new Set(this.#hosts));
        await closed;
        return bound;
      }
      port = bound.port;
    }
    return { ok: true, address: settings.host, port, notes: [] };
  }

  /** Ends an `open` in progress before its next address. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#bindings.splice(0).map((binding) => binding.close()));
  }
}
