import type { Logger } from 'pino';
import type { Bus } from '../bus/bus.js';
import type { SerialLineDefinition } from '../config/configuration.js';
import { hex } from '../protocol/bytes.js';
import type { PlayReport } from '../protocol/play-report.js';
import { type ReplyPlan, silence } from '../protocol/reply-plan.js';
import { BROADCAST } from '../protocol/rtu.js';
import { characterTime, t15, t35 } from '../protocol/timing.js';
import type { Ledger } from '../traffic/ledger.js';
import { discardGap, identifyAdapter, outputHold, ptyAdapter } from '../transport/serial/adapter.js';
import type { OpenResult, PortListener } from '../transport/serial/port.js';
import { openRealPort } from '../transport/serial/real-port.js';
import {
  SerialLine,
  type SerialLineEvent,
  type SerialLineHandler,
  type SerialRequest,
} from '../transport/serial/serial-line.js';
import { openVirtualPort, type VirtualPort } from '../transport/serial/virtual-port.js';
import { defaultLink, isServed } from './default-link.js';
import type { Line, LineCounters, LineStart } from './line.js';
import { LineRecord } from './line-record.js';

/** A serial line with its bus: turns requests into plans, and what happens into counters and log entries. */
export class SerialBusLine implements Line, SerialLineHandler {
  readonly name: string;
  readonly bus: Bus;
  readonly #definition: SerialLineDefinition;
  readonly #log: Logger;
  readonly #line: SerialLine;
  readonly #record: LineRecord;
  /** The name that stays of a virtual line, while it has one. */
  #link: string | undefined;
  readonly #times: { readonly t15: number; readonly t35: number; readonly gap: number };

  constructor(definition: SerialLineDefinition, bus: Bus, ledger: Ledger, log: Logger) {
    const { name, path, baudRate, timing } = definition;
    this.name = name;
    this.bus = bus;
    this.#definition = definition;
    this.#log = log;
    this.#record = new LineRecord(definition.name, ledger, log);
    const pause = timing.t35 ?? t35(baudRate);
    const isVirtual = path === 'virtual';
    const adapter = isVirtual ? ptyAdapter : identifyAdapter(path);
    const gap = timing.gap ?? discardGap(adapter, baudRate, pause);
    this.#times = { t15: t15(baudRate), t35: pause, gap };
    this.#line = new SerialLine(
      {
        open: (listener) => (isVirtual ? this.#openVirtual(listener) : openRealPort(definition, listener)),
        timing: {
          t35: pause,
          turnaround: turnaround(timing.turnaround, pause),
          // A pseudo-terminal without pacing has no wire: bytes are with the client as soon as they are written.
          wireTime: adapter.kind === 'pty' && !definition.pacing ? 0 : characterTime(baudRate),
          outputHold: outputHold(adapter, baudRate),
        },
        gap,
        whenBusy: definition.whenBusy,
        isPseudoTerminal: adapter.kind === 'pty',
        joinsTraffic: !isVirtual,
      },
      this,
    );
  }

  get counters(): Readonly<LineCounters> {
    return this.#record.counters;
  }

  async start(): Promise<LineStart> {
    const started = await this.#line.start();
    return started.ok ? { ok: true, description: this.#describe(started.path) } : started;
  }

  stop(): Promise<void> {
    return this.#line.stop();
  }

  owns(unitId: number): boolean {
    return this.bus.owns(unitId);
  }

  request(request: SerialRequest): ReplyPlan {
    this.bus.activity.messages++;
    const { unitId, pdu } = request;
    if (unitId === BROADCAST) {
      this.#record.counters.broadcasts++;
      return this.#record.asked(request, this.bus.broadcast(pdu));
    }
    const answer = this.bus.answer({ unitId, pdu, transactionId: 0, clientId: 0 });
    return answer ? this.#record.asked(request, answer) : silence('no such unit');
  }

  played(request: SerialRequest, report: PlayReport): void {
    this.#record.played(request, report);
  }

  event(event: SerialLineEvent): void {
    switch (event.kind) {
      case 'open':
        for (const note of event.notes) this.#log.warn({ path: event.path }, note);
        this.#log.info({ path: event.path }, 'line open');
        break;
      case 'lost':
        this.#log.warn({ reason: event.reason }, 'line lost, waiting for it to come back');
        break;
      case 'retry':
        this.#log.debug({ error: event.error, inMs: event.inMs }, 'line not back yet');
        break;
      case 'foreign':
        this.bus.activity.messages++;
        this.#record.counters.foreignFrames++;
        this.#log.debug({ role: event.role, adu: hex(event.frame.bytes) }, 'frame between others');
        break;
      case 'duplicate':
        this.bus.activity.messages++;
        this.#record.counters.duplicates++;
        this.#log.warn(
          { unitId: event.frame.bytes[0], adu: hex(event.frame.bytes) },
          'another device answers for this unit identifier',
        );
        break;
      case 'overrun':
        this.bus.activity.overruns += event.count;
        this.#log.warn({ count: event.count }, 'the UART has lost characters');
        break;
      case 'echo':
        this.#log.info('the adapter hears what it sends: its echo is taken out');
        break;
      case 'collision':
        this.#record.counters.collisions++;
        this.#log.warn('collision: somebody else spoke while a reply was on the wire');
        break;
      case 'dropped':
        this.#record.counters.dropped++;
        this.#log.debug({ adu: hex(event.frame.bytes) }, 'request dropped, a reply is pending');
        break;
      case 'noise':
        this.bus.activity.errors++;
        this.#record.counters.noiseBytes += event.noise.bytes.length;
        this.#log.debug(
          { bytes: hex(event.noise.bytes.subarray(0, 64)), length: event.noise.bytes.length },
          'noise',
        );
    }
  }

  async #openVirtual(listener: PortListener): Promise<OpenResult> {
    const opened = await openVirtual(this.#definition, listener);
    this.#link = opened.ok ? opened.port.link : undefined;
    return opened;
  }

  #describe(path: string): string {
    const { baudRate, dataBits, parity, stopBits } = this.#definition;
    const { t15, t35, gap } = this.#times;
    const settings = `${baudRate} ${dataBits}${parity.charAt(0).toUpperCase()}${stopBits}`;
    const times = `t1.5 ${t15.toFixed(3)} ms, t3.5 ${t35.toFixed(3)} ms, gap ${gap.toFixed(1)} ms`;
    const units = [...this.#definition.units.keys()].join(', ');
    return `RTU on ${path}${this.#link ? ` (also ${this.#link})` : ''} ${settings}, units ${units}; ${times}`;
  }
}

/** Wait after a request in ms, undefined for none: a number comes on top of t3.5, which no reply may undercut. */
function turnaround(wanted: number | 't3.5' | 'eager', t35: number): number | undefined {
  if (wanted === 'eager') return undefined;
  return wanted === 't3.5' ? t35 : t35 + wanted;
}

async function openVirtual(
  definition: SerialLineDefinition,
  listener: PortListener,
): Promise<OpenResult<VirtualPort>> {
  const { name, link, pacing, baudRate } = definition;
  const options = pacing ? { pacing: { ...pacing, baudRate } } : {};
  const wanted = link ?? defaultLink(name);
  const linked = isServed(wanted)
    ? ({ ok: false, error: `${wanted}: leads to a line of another program, so it is left alone` } as const)
    : await openVirtualPort({ ...options, link: wanted }, listener);
  if (linked.ok || link !== undefined) return linked;
  // Nobody asked for this link: when it can't be had, or another user has the directory, the line works without it.
  const unlinked = await openVirtualPort(options, listener);
  return unlinked.ok ? { ...unlinked, notes: [...unlinked.notes, linked.error] } : unlinked;
}
