import { sentFrames } from '../modbus/protocol/reply-plan.js';
import { characterTime, t15, t35 } from '../modbus/protocol/timing.js';
import type { Clock } from '../modbus/transport/clock.js';
import type { Line } from '../simulator/line.js';
import type { Simulator } from '../simulator/simulator.js';
import type { FrameEvent, LineStateEvent, ReplyEvent, TrafficEvent } from '../simulator/traffic/event.js';

/** How long to wait for the replies to the last requests, which are part of the evidence, in ms. */
const LAST_REPLIES_MS = 100;

const REQUESTS: ReadonlySet<string> = new Set(['request', 'broadcast', 'dropped', 'foreign request']);

/** True for a request from a client, whether to our devices or to others on the line. */
export function isRequest(event: TrafficEvent): event is FrameEvent {
  return REQUESTS.has(event.kind);
}

/** The PDU of the first frame sent as a reply; undefined if none was sent, or the frame is invalid. */
export function pduOf({ plan, report, framing }: ReplyEvent): Uint8Array | undefined {
  const [frame] = sentFrames(plan, report);
  return frame && framing.decode(frame)?.pdu;
}

const CLOSED: ReadonlySet<LineStateEvent['state']> = new Set(['lost', 'failed', 'not opened', 'stopped']);

/** Says that an event has closed its line, as a sentence; undefined for any other event. */
export function closedText(event: TrafficEvent): string | undefined {
  const isClosed = event.kind === 'line' && CLOSED.has(event.state);
  return isClosed ? `line ${event.line} was closed: ${event.text}` : undefined;
}

export function lastReplies(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.callAfter(LAST_REPLIES_MS, resolve));
}

/**
 * Closes a line for some time, as if its server were gone. A caller that begins an outage must make sure that
 * it ends.
 */
export class Outage {
  readonly line: Line;
  readonly #simulator: Simulator;
  readonly #failed: (problem: string) => void;
  #isOn = false;
  #ended: Promise<string | undefined> = Promise.resolve(undefined);

  /** @param failed called with a sentence if the line can't be reopened */
  constructor(line: Line, simulator: Simulator, failed: (problem: string) => void = () => {}) {
    this.line = line;
    this.#simulator = simulator;
    this.#failed = failed;
  }

  /** True from before the line is closed until it should be open again. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Closes the line and all its connections. */
  async begin(): Promise<void> {
    this.#isOn = true;
    await this.line.stop();
  }

  /**
   * Reopens the line, even one that is still being closed. Does nothing without an outage.
   * @returns why the line could not be opened, as a sentence; undefined on success
   */
  end(): Promise<string | undefined> {
    if (this.#isOn) {
      this.#isOn = false;
      this.#ended = this.#open();
    }
    return this.#ended;
  }

  async #open(): Promise<string | undefined> {
    const reason = await this.#whyNotOpen();
    if (reason === undefined) return undefined;
    const { name } = this.line;
    const problem = `line ${name} could not be opened again: ${reason}`;
    this.#failed(problem);
    return problem;
  }
  async #whyNotOpen(): Promise<string | undefined> {
    const { line } = this;
    // A line that was removed in the meantime could never be closed.
    if (this.#simulator.lines.get(line.name) !== line) return 'it was removed';
    const started = await line.start();
    if (!started.ok) return started.error;
    return line.state.kind === 'open' ? undefined : `it is ${line.state.kind}`;
  }
}

/** The properties of a line that checks need. Times are in ms. */
export interface PolledLine {
  readonly name: string;
  readonly kind: 'serial' | 'tcp' | 'tls' | 'udp';
  readonly framing: 'rtu' | 'ascii' | 'socket';
  /** Duration of a character on the wire; 0 if characters take no time. */
  readonly characterTime: number;
  /** The silence between two frames; 0 if there is none. */
  readonly t35: number;
  readonly t15: number;
}

export function polledLine(line: Line): PolledLine {
  const { name, definition } = line;
  const { kind, framing } = definition;
  if (kind !== 'serial') {
    return { name, kind, framing, characterTime: 0, t35: 0, t15: 0 };
  }
  const { baudRate, timing } = definition;
  return {
    name,
    kind,
    framing,
    characterTime: characterTime(definition),
    t35: timing.t35 ?? t35(baudRate),
    t15: t15(baudRate),
  };
}
