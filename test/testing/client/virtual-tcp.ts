import { type Random, seededRandom } from '../../../src/common/random.js';
import { SOCKET } from '../../../src/modbus/protocol/framing.js';
import {
  notReached,
  type PlayReport,
  plainReply,
  type StepReport,
} from '../../../src/modbus/protocol/reply-plan.js';
import type { Clock } from '../../../src/modbus/transport/clock.js';
import type {
  LineHandler,
  LineReply,
  LineState,
  Transport,
  TransportStart,
} from '../../../src/modbus/transport/transport.js';
import type { Wire } from './model-client.js';
import type { Lateness } from './virtual-port.js';

const ON_THE_WAY_MS = 0.05;

const HEADER = 6;
/** The lengths of an ADU, in bytes. */
const LIMITS = { shortest: 8, longest: 260 };
const BY_CLIENT = 'closed by the client';

/** A Modbus TCP line in virtual time, with connections in place of sockets. Replies leave in the order of requests. */
export class VirtualTcp implements Transport {
  readonly #clock: Clock;
  readonly #handler: LineHandler;
  readonly #lateness: Lateness;
  readonly #random: Random;
  readonly #connections = new Set<Connection>();
  #state: LineState = { kind: 'stopped' };
  /** Nobody listens for a while: the program of the server has ended. */
  isListening = true;

  /**
   * @param lateness of bytes on each way
   * @param seed of the lateness
   */
  constructor(handler: LineHandler, clock: Clock, lateness: Lateness = () => 0, seed = 1) {
    this.#random = seededRandom(seed, 2);
    this.#handler = handler;
    this.#clock = clock;
    this.#lateness = lateness;
  }

  get state(): LineState {
    return this.#state;
  }

  get clients(): number {
    return this.#connections.size;
  }

  async start(): Promise<TransportStart> {
    this.#state = { kind: 'open', endpoint: '127.0.0.1:502', port: 502 };
    this.#handler.event({ kind: 'open', endpoint: '127.0.0.1:502', notes: [] });
    return { ok: true, endpoint: '127.0.0.1:502', port: 502 };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    for (const each of this.#connections) each.end('stopped');
  }

  reframe(): void {}

  sendUnsolicited(bytes: Uint8Array): undefined {
    for (const each of this.#connections) each.sendUnsolicited(bytes);
  }

  /** A wire that can be opened and closed again and again. */
  wire(client: { received: (bytes: Uint8Array) => void; closed: (isOurs: boolean) => void }): Wire {
    let connection: Connection | undefined;
    const isOpen = () => connection?.isOpen === true;
    return {
      framing: 'socket',
      get isOpen() {
        return isOpen();
      },
      send: (bytes) => connection?.send(bytes),
      open: async () => {
        if (this.#state.kind !== 'open' || !this.isListening) return false;
        const added: Connection = new Connection(this.#handler, this.#clock, {
          received: client.received,
          onTheWayMs: () => ON_THE_WAY_MS + this.#lateness(this.#random),
          closed: (text) => {
            this.#connections.delete(added);
            this.#handler.event({ kind: 'client-gone', text, ...added.identity });
            this.#clock.callAfter(ON_THE_WAY_MS, () => client.closed(text === BY_CLIENT));
          },
        });
        this.#connections.add(added);
        this.#handler.event({ kind: 'client', ...added.identity });
        connection = added;
        return true;
      },
      close: () => connection?.end(BY_CLIENT),
    };
  }
}

interface Playing {
  readonly reply: LineReply;
  since: number;
  readonly reports: StepReport[];
}

interface ConnectionEvents {
  received: (bytes: Uint8Array) => void;
  closed: (text: string) => void;
  /** How long bytes take, in ms; those that are sent together stay in their order. */
  onTheWayMs: () => number;
}

class Connection {
  readonly identity: { readonly client: string; readonly clientId: number };
  readonly #handler: LineHandler;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  readonly #queue: Playing[] = [];
  readonly #latest = { in: 0, out: 0 };
  #input = new Uint8Array();
  #callOff = () => {};
  isOpen = true;

  constructor(handler: LineHandler, clock: Clock, events: ConnectionEvents) {
    const clientId = handler.newClientId();
    this.identity = { client: `127.0.0.1:${40_000 + clientId}`, clientId };
    this.#handler = handler;
    this.#clock = clock;
    this.#events = events;
  }

  send(bytes: Uint8Array): void {
    this.#clock.callAt(this.#arrivesAt('in'), () => {
      if (!this.isOpen) return;
      this.#input = Uint8Array.of(...this.#input, ...bytes);
      this.#answer();
    });
  }

  sendUnsolicited(bytes: Uint8Array): void {
    const played = ({ steps: [step] }: PlayReport) => {
      if (step?.outcome !== 'achieved') return;
      const frame = { bytes, startedAt: step.achievedAt, receivedAt: step.endedAt };
      this.#handler.event({ kind: 'unsolicited', frame, ...this.identity });
    };
    this.#queue.push({ reply: { plan: plainReply(bytes), played }, since: this.#clock.now(), reports: [] });
    if (this.#queue.length === 1) this.#play();
  }

  #arrivesAt(way: 'in' | 'out'): number {
    this.#latest[way] = Math.max(this.#latest[way], this.#clock.now() + this.#events.onTheWayMs());
    return this.#latest[way];
  }

  end(text: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#callOff();
    for (const { reply, since, reports } of this.#queue.splice(0)) {
      const steps = reply.plan?.kind === 'send' ? reply.plan.steps.slice(reports.length) : [];
      const rest = notReached(steps, since, this.#clock.now(), text);
      reply.played({ steps: [...reports, ...rest], ended: 'disconnected' });
    }
    this.#events.closed(text);
  }

  #answer(): void {
    while (this.#input.length >= HEADER) {
      const size = HEADER + (((this.#input[4] as number) << 8) | (this.#input[5] as number));
      if (size < LIMITS.shortest || size > LIMITS.longest) {
        const text = `not Modbus TCP: ${size - HEADER} bytes`;
        this.#handler.event({ kind: 'rejected', reason: 'protocol', text, ...this.identity });
        this.end(text);
        return;
      }
      if (this.#input.length < size) return;
      const adu = this.#input.slice(0, size);
      this.#input = this.#input.slice(size);
      const content = SOCKET.decode(adu);
      if (!content) {
        this.end('no Modbus');
        return;
      }
      const now = this.#clock.now();
      const request = { ...content, adu, startedAt: now, receivedAt: now, ...this.identity };
      this.#handler.request(request, (reply) => {
        this.#queue.push({ reply, since: now, reports: [] });
        if (this.#queue.length === 1) this.#play();
      });
    }
  }

  #play(): void {
    for (let playing = this.#queue[0]; playing; playing = this.#queue[0]) {
      const { reply, reports } = playing;
      const step = reply.plan?.kind === 'send' ? reply.plan.steps[reports.length] : undefined;
      if (!step) {
        this.#queue.shift();
        reply.played({ steps: reports, ended: 'complete' });
        continue;
      }
      const plannedAt = playing.since + step.waitMs;
      const now = this.#clock.now();
      if (plannedAt > now) {
        this.#callOff = this.#clock.callAt(plannedAt, () => this.#play());
        return;
      }
      playing.since = now;
      reports.push({ plannedAt, achievedAt: now, endedAt: now, uncertainty: undefined, outcome: 'achieved' });
      if (step.kind === 'close') {
        this.end('closed by the reply plan');
        return;
      }
      if (step.kind !== 'bytes') continue;
      const { bytes } = step;
      this.#clock.callAt(this.#arrivesAt('out'), () => this.#events.received(bytes));
    }
  }
}
