import type { SerialLineDefinition } from '../config/configuration.js';
import { ASCII_TIMEOUT_MS, AsciiFraming } from '../protocol/ascii.js';
import type { Framing } from '../protocol/framing.js';
import { encodeRtu, mayBeRequest } from '../protocol/rtu.js';
import { characterTime, t15, t35 } from '../protocol/timing.js';
import { AsciiFramer } from '../transport/framer/ascii-framer.js';
import type { Framer } from '../transport/framer/framer.js';
import { RtuFramer } from '../transport/framer/rtu-framer.js';
import { type Adapter, discardGap, outputHold, realPathOf } from '../transport/port/adapter.js';
import type { BytePort, OpenResult, PortListener } from '../transport/port/port.js';
import { openRealPort } from '../transport/port/real-port.js';
import { isClientSide, openVirtualPort, type VirtualPort } from '../transport/port/virtual-port.js';
import type { ChunkStatistics } from '../transport/serial/chunk-statistics.js';
import { SerialLine, type SerialLineOptions } from '../transport/serial/serial-line.js';
import type { SerialBehaviour } from '../transport/serial/serial-session.js';
import type { LineHandler, LineState, Transport, TransportStart } from '../transport/transport.js';
import { defaultLink, makeDefaultDirectory } from './default-link.js';

/** Times of a serial line in ms, as far as they follow from its definition and its adapter. */
export interface SerialTimes {
  readonly t15: number;
  readonly t35: number;
  /** Silence after which an incomplete frame is thrown away. */
  readonly gap: number;
  /** Wait after a request before a reply; undefined replies as soon as the frame is complete. */
  readonly turnaround: number | undefined;
  /** Of one character on the wire. */
  readonly characterTime: number;
}

/** A serial port, real or virtual, as a definition wants it. */
export class SerialTransport implements Transport {
  readonly clients = undefined;
  #definition: SerialLineDefinition;
  readonly #handler: LineHandler;
  readonly #line: SerialLine;
  #virtual: VirtualPort | undefined;
  #adapter: Adapter | undefined;

  constructor(definition: SerialLineDefinition, framing: Framing, handler: LineHandler) {
    this.#definition = definition;
    this.#handler = handler;
    this.#line = new SerialLine(this.#options(definition, framing), handler);
  }

  get state(): LineState {
    return this.#line.state;
  }

  /** The port, while it is open. */
  get port(): BytePort | undefined {
    return this.#line.port;
  }

  /** The adapter found last: what it is can't be asked while it is unplugged. */
  get adapter(): Adapter | undefined {
    return this.#adapter;
  }

  /** In what portions its bytes came. */
  get chunks(): ChunkStatistics {
    return this.#line.chunks;
  }

  /** The name that stays of a virtual line, while it has one. */
  get link(): string | undefined {
    return this.#virtual?.link;
  }

  start(how?: { readonly waits: boolean }): Promise<TransportStart> {
    return this.#line.start(how);
  }

  stop(): Promise<void> {
    return this.#line.stop();
  }

  /** Takes another definition without closing the port; false where that can't be. */
  change(definition: SerialLineDefinition, framing: Framing): boolean {
    if (!isSamePort(this.#definition, definition)) return false;
    this.#definition = definition;
    this.#virtual?.setPacing(pacingOf(definition));
    this.#line.change(this.#options(definition, framing));
    return true;
  }

  #options(definition: SerialLineDefinition, framing: Framing): SerialLineOptions {
    return {
      open: (listener) =>
        definition.path === 'virtual'
          ? this.#openVirtual(definition, listener)
          : openReal(definition, listener),
      behaviour: (adapter) => {
        this.#adapter = adapter;
        return this.#behaviour(definition, framing, adapter);
      },
    };
  }

  async #openVirtual(definition: SerialLineDefinition, listener: PortListener): Promise<OpenResult> {
    const opened = await openVirtual(definition, listener);
    this.#virtual = opened.ok ? opened.port : undefined;
    return opened;
  }

  #behaviour(definition: SerialLineDefinition, framing: Framing, adapter: Adapter): SerialBehaviour {
    const { path, pacing, whenBusy } = definition;
    const times = serialTimes(definition, adapter);
    // A pseudo-terminal without pacing has no wire: bytes are with the client as soon as they are written.
    const wireTime = adapter.kind === 'pty' && !pacing ? 0 : times.characterTime;
    // What the adapter may do, whatever gap was configured; an ASCII line's gap is no measure of it.
    const hold = discardGap(adapter, times.characterTime, times.t35);
    const owns = (unitId: number) => this.#handler.owns(unitId);
    return {
      framing,
      framer: newFramer(framing, owns, times.t35, wireTime),
      mayBeRequest: framing.name === 'rtu' ? mayBeRequest : (adu) => mayBeAsciiRequest(framing, adu),
      timing: {
        t35: times.t35,
        turnaround: times.turnaround,
        wireTime,
        outputHold: outputHold(adapter, times.characterTime),
        lead: definition.rs485?.delayBeforeSend ?? 0,
      },
      gap: times.gap,
      inputHold: framing.name === 'ascii' ? hold : Math.max(times.gap, hold),
      whenBusy,
      isPseudoTerminal: adapter.kind === 'pty',
      joinsTraffic: path !== 'virtual',
    };
  }
}

/** The times of a line on an adapter, before or after it is open. */
export function serialTimes(definition: SerialLineDefinition, adapter: Adapter): SerialTimes {
  const { framing, baudRate, timing } = definition;
  const pause = timing.t35 ?? t35(baudRate);
  const character = characterTime(definition);
  const usualGap = framing === 'ascii' ? ASCII_TIMEOUT_MS : discardGap(adapter, character, pause);
  return {
    t15: t15(baudRate),
    t35: pause,
    gap: timing.gap ?? usualGap,
    turnaround: turnaround(timing.turnaround, pause),
    characterTime: character,
  };
}

/** Wait after a request in ms, undefined for none: a number comes on top of t3.5, which no reply may undercut. */
function turnaround(wanted: number | 't3.5' | 'eager', t35: number): number | undefined {
  if (wanted === 'eager') return undefined;
  return wanted === 't3.5' ? t35 : t35 + wanted;
}

function newFramer(
  framing: Framing,
  owns: (unitId: number) => boolean,
  t35: number,
  wireTime: number,
): Framer {
  return framing instanceof AsciiFraming
    ? new AsciiFramer(owns, framing)
    : new RtuFramer(owns, t35, wireTime);
}

/** Judged by the same message as RTU has it: what its function says about lengths is known there. */
function mayBeAsciiRequest(framing: Framing, adu: Uint8Array): boolean {
  const content = framing.fields(adu);
  return content !== undefined && mayBeRequest(encodeRtu(content.unitId, content.pdu));
}

/** Do both definitions have the same port with the same settings? A virtual line has no settings but its pacing. */
function isSamePort(one: SerialLineDefinition, other: SerialLineDefinition): boolean {
  if (one.path === 'virtual') return other.path === 'virtual' && one.link === other.link;
  return JSON.stringify(portSettings(one)) === JSON.stringify(portSettings(other));
}

function portSettings({
  path,
  baudRate,
  dataBits,
  parity,
  stopBits,
  rs485,
  parityMarks,
}: SerialLineDefinition) {
  return { path, baudRate, dataBits, parity, stopBits, rs485, parityMarks };
}

function pacingOf({ pacing, baudRate, dataBits, parity, stopBits }: SerialLineDefinition) {
  return pacing && { ...pacing, baudRate, dataBits, parity, stopBits };
}

/** A line of ours on the client's side of another would be two servers on one bus, and on its own side end itself. */
async function openReal(definition: SerialLineDefinition, listener: PortListener): Promise<OpenResult> {
  const { path } = definition;
  return isClientSide(realPathOf(path) ?? path)
    ? { ok: false, error: `${path}: is where clients open a virtual line of this program` }
    : openRealPort(definition, listener);
}

async function openVirtual(
  definition: SerialLineDefinition,
  listener: PortListener,
): Promise<OpenResult<VirtualPort>> {
  const { name, link } = definition;
  const pacing = pacingOf(definition);
  const options = pacing ? { pacing } : {};
  if (link !== undefined) return openVirtualPort({ ...options, link }, listener);
  const problem = makeDefaultDirectory();
  const linked =
    problem === undefined
      ? await openVirtualPort({ ...options, link: defaultLink(name) }, listener)
      : ({ ok: false, error: problem } as const);
  if (linked.ok) return linked;
  // Nobody asked for this link: when it can't be had, or another user has the directory, the line works without it.
  const unlinked = await openVirtualPort(options, listener);
  return unlinked.ok ? { ...unlinked, notes: [...unlinked.notes, linked.error] } : unlinked;
}
