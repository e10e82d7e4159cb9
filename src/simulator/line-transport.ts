import type { Bus, BusLine, Units } from '../bus/bus.js';
import type { LineDefinition } from '../config/configuration.js';
import { faultLine } from '../config/fault-line.js';
import type { Framing } from '../protocol/framing.js';
import { characterTime } from '../protocol/timing.js';
import type { LineState, Transport, TransportStart } from '../transport/transport.js';
import { contend } from './contention.js';
import type { LineRequests } from './line-requests.js';
import { isSameTransport, newFraming, newTransport } from './new-transport.js';
import { SerialTransport } from './serial-transport.js';
import { Turns } from './turns.js';

/** Whether a line is as it was asked to be; `error` is one sentence that names the place. */
export type LineOutcome = { readonly ok: true } | { readonly ok: false; readonly error: string };

const OK: LineOutcome = { ok: true };

/** More clients than a transport sees in its life. */
const CLIENTS_OF_A_TRANSPORT = 2 ** 32;

export interface LineTransportContext {
  readonly bus: Bus;
  /** What a new transport tells its requests to; its client ids come after `firstClientId`. */
  readonly newRequests: (firstClientId: number) => LineRequests;
}

/** A transport and what it tells its requests to. */
interface End {
  readonly transport: Transport;
  readonly requests: LineRequests;
}

/** How a line is defined, and the transport that makes it so: started, stopped, changed, and exchanged for another. */
export class LineTransport {
  readonly #context: LineTransportContext;
  #definition: LineDefinition;
  #framing: Framing;
  #end: End;
  /** Ends that were made so far. */
  #ends = 0;
  /** Why the last start failed. */
  #failure: string | undefined;
  /** Starts, stops and changes wait for each other. */
  readonly #turns = new Turns();

  constructor(definition: LineDefinition, framing: Framing, context: LineTransportContext) {
    this.#context = context;
    this.#definition = definition;
    this.#framing = framing;
    this.#end = this.#newEnd(definition, framing);
  }

  get definition(): LineDefinition {
    return this.#definition;
  }

  get state(): LineState {
    return this.#failure === undefined ? this.#transport.state : { kind: 'failed', reason: this.#failure };
  }

  /** Clients connected now; undefined where that can't be known. */
  get clients(): number | undefined {
    return this.#transport.clients;
  }

  /** When it was opened, in ms of `performance.now()`; undefined while it isn't open. */
  get openSince(): number | undefined {
    return this.state.kind === 'open' ? this.#end.requests.openedAt : undefined;
  }

  get serial(): SerialTransport | undefined {
    return this.#transport instanceof SerialTransport ? this.#transport : undefined;
  }

  start(): Promise<LineOutcome> {
    return this.#turns.take(() => this.#start());
  }

  stop(): Promise<void> {
    return this.#turns.take(() => this.#stop());
  }

  /**
   * A line that waits for its port goes on waiting when the port is still not there; a socket that can't be opened
   * anew, because a certificate is wrong by now, is left as it was.
   */
  restart(): Promise<LineOutcome> {
    return this.#turns.take(async () => {
      const { kind } = this.state;
      if (kind === 'open' && this.#definition.kind !== 'serial') return this.#reopen();
      const waits = kind === 'waiting';
      await this.#stop();
      return this.#start({ waits });
    });
  }

  /** What the port or the system refuses leaves everything as it was. */
  change(definition: LineDefinition, units: Units): Promise<LineOutcome> {
    return this.#turns.take(() => {
      const framing = definition.framing === this.#framing.name ? this.#framing : newFraming(definition);
      return this.#change(definition, framing, (end) => {
        if (end !== this.#end) this.#context.bus.reopened();
        this.#context.bus.change(busLine(definition, framing), units);
        this.#definition = definition;
        this.#framing = framing;
        this.#end = end;
      });
    });
  }

  get #transport(): Transport {
    return this.#end.transport;
  }

  #newEnd(definition: LineDefinition, framing: Framing): End {
    const requests = this.#context.newRequests(CLIENTS_OF_A_TRANSPORT * this.#ends++);
    return { transport: newTransport(definition, framing, requests), requests };
  }

  async #start({ waits = false } = {}): Promise<LineOutcome> {
    const { kind } = this.state;
    if (kind === 'open' || kind === 'waiting') return OK;
    await this.#transport.stop();
    this.#context.bus.reopened();
    return this.#noted(await this.#transport.start({ waits }));
  }

  /** A port that is waited for is not given up. */
  #noted(started: TransportStart): LineOutcome {
    const failed = !started.ok && this.#transport.state.kind !== 'waiting';
    this.#failure = failed ? started.error : undefined;
    return failed ? started : OK;
  }

  async #stop(): Promise<void> {
    this.#failure = undefined;
    await this.#transport.stop();
  }

  /**
   * `adopt` is called once the line can be as the definition wants it, and before anything arrives there. What needs
   * another port is opened beside what is open, so that clients of a line that can't be changed notice nothing.
   */
  async #change(
    definition: LineDefinition,
    framing: Framing,
    adopt: (end: End) => void,
  ): Promise<LineOutcome> {
    if (this.#takes(definition, framing)) {
      adopt(this.#end);
      return OK;
    }
    const { state } = this;
    const next = this.#newEnd(definition, framing);
    if (state.kind === 'stopped') {
      adopt(next);
      return OK;
    }
    // Nobody is served who could lose anything: it waits for the port as it is wanted now.
    if (state.kind === 'waiting' && definition.kind === 'serial') {
      await this.#stop();
      adopt(next);
      return this.#noted(await next.transport.start({ waits: true }));
    }
    return this.#exchange(next, definition, () => adopt(next));
  }

  /** Can the transport be as the definition wants it without being closed? Then it is so from now on. */
  #takes(definition: LineDefinition, framing: Framing): boolean {
    if (isSameTransport(this.#definition, definition)) return true;
    return definition.kind === 'serial' && this.serial?.change(definition, framing) === true;
  }

  #reopen(): Promise<LineOutcome> {
    const next = this.#newEnd(this.#definition, this.#framing);
    return this.#exchange(next, this.#definition, () => {
      this.#context.bus.reopened();
      this.#end = next;
    });
  }

  /** Opens `next` beside what is open, or instead of it where both need the same port. */
  async #exchange(next: End, definition: LineDefinition, adopt: () => void): Promise<LineOutcome> {
    const { state } = this;
    const before = this.#transport;
    const contends = contend(this.#definition, state.kind === 'open' ? state.port : undefined, definition);
    // Of sockets the system knows best whether both can be open.
    const beside = contends && definition.kind === 'serial' ? undefined : await next.transport.start();
    const collides = beside === undefined || (contends && !beside.ok && beside.inUse === true);
    const started = collides ? await this.#replace(next) : beside;
    if (!started.ok) return started;
    adopt();
    this.#failure = undefined;
    await before.stop();
    return OK;
  }

  /** Closes what is open and opens `next`; when that can't be, opens again what was open. */
  async #replace(next: End): Promise<TransportStart> {
    const { kind } = this.state;
    await this.#transport.stop();
    const started = await next.transport.start();
    // A line that had failed stays so, with its reason.
    if (started.ok || kind === 'failed') return started;
    this.#context.bus.reopened();
    this.#noted(await this.#transport.start({ waits: true }));
    return started;
  }
}

/** The line as its bus sees it. */
export function busLine(definition: LineDefinition, framing: Framing): BusLine {
  const time = definition.kind === 'serial' ? characterTime(definition) : 0;
  return { ...faultLine(definition), framing, characterTime: time };
}
