import { ASCII_TIMEOUT_MS } from '../../protocol/ascii.js';
import type { Framing } from '../../protocol/framing.js';
import { encodeRtu, mayBeRequest } from '../../protocol/rtu.js';
import { characterTime, t15, t35 } from '../../protocol/timing.js';
import type { Framer } from '../framer/framer.js';
import { newFramer } from '../framer/new-framer.js';
import { type Adapter, discardGap, inputPause, outputHold } from '../port/adapter.js';
import type { EchoSetting, SerialSettings, WhenBusy } from '../settings.js';
import type { TimedBytes } from '../transport.js';

/** The times of a serial line that follow from its settings and its adapter, in ms. */
export interface SerialTimes {
  readonly t15: number;
  readonly t35: number;
  /** The silence after which an incomplete frame is discarded. */
  readonly gap: number;
  /** The wait between a request and its reply; if undefined, the reply leaves as soon as the frame is complete. */
  readonly turnaround: number | undefined;
  readonly characterTime: number;
}

/** Returns the times of a line on an adapter. The line need not be open. */
export function serialTimes(settings: SerialSettings, adapter: Adapter): SerialTimes {
  const { framing, baudRate, timing } = settings;
  const pause = timing.t35 ?? t35(baudRate);
  const character = characterTime(settings);
  const usualGap = framing === 'ascii' ? ASCII_TIMEOUT_MS : discardGap(adapter, character, pause);
  return {
    t15: t15(baudRate),
    t35: pause,
    gap: timing.gap ?? usualGap,
    turnaround: turnaround(timing.turnaround, pause),
    characterTime: character,
  };
}

/** How bytes reach this program from the wire. */
export interface Arrival {
  /** How long one character is on the wire, in ms; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the adapter may hold received bytes back, in ms. */
  readonly inputHold: number;
}

/**
 * Returns the received bytes with the time when the first one began on the wire. A FIFO delivers 8 or 16
 * characters at once, so they arrive late. The correction is limited to the delay of the adapter
 * (`inputHold`), because a port without a wire may deliver much longer pieces at once.
 */
export function asOnWire({ bytes, startedAt, receivedAt }: TimedBytes, arrival: Arrival): TimedBytes {
  const began = receivedAt - bytes.length * arrival.wireTime;
  const earliest = Math.max(began, startedAt - arrival.inputHold);
  return { bytes, startedAt: Math.min(startedAt, earliest), receivedAt };
}

/**
 * Returns the wait after a request in ms; undefined for none. A number is added to t3.5, before which no
 * reply may begin.
 */
function turnaround(wanted: number | 't3.5' | 'eager', t35: number): number | undefined {
  if (wanted === 'eager') return undefined;
  return wanted === 't3.5' ? t35 : t35 + wanted;
}

/** How a port sends. Times are in ms. */
export interface SendTiming {
  /** How long one character occupies the wire after it was written; 0 on a line without a wire. */
  readonly wireTime: number;
  /** How long the port may hold a byte back before it is on the wire. */
  readonly outputHold: number;
  /** How long the port waits before it sends on a free line, until its driver is on. */
  readonly lead: number;
}

/** When a line may send. Times are in ms. */
export interface ReplyTiming extends SendTiming {
  readonly t35: number;
  /** The wait between a request and its reply; if undefined, the reply leaves as soon as the frame is complete. */
  readonly turnaround: number | undefined;
}

/** How a line behaves on an open port. Times are in ms. */
export interface SerialBehaviour {
  readonly framing: Framing;
  /** Not shared, because a framer keeps pending bytes. */
  readonly framer: Framer;
  /** Reports whether these bytes, sent by us, could also be a client's request. */
  readonly mayBeRequest: (adu: Uint8Array) => boolean;
  readonly timing: ReplyTiming;
  readonly arrival: Arrival;
  /** The silence after which pending bytes are discarded. */
  readonly gap: number;
  readonly whenBusy: WhenBusy;
  /** Whether the adapter hears what it sends. */
  readonly echo: EchoSetting;
}

/**
 * Returns how a line behaves on the adapter that its port was found to have.
 * @param owns reports whether a unit identifier is ours
 */
export function serialBehaviour(
  settings: SerialSettings,
  framing: Framing,
  adapter: Adapter,
  owns: (unitId: number) => boolean,
): SerialBehaviour {
  const { path, pacing, whenBusy, echo, rs485 } = settings;
  const { t35, gap, turnaround, characterTime } = serialTimes(settings, adapter);
  // A pseudo-terminal without pacing has no wire: the client has the bytes as soon as they are written.
  const wireTime = adapter.kind === 'pty' && !pacing ? 0 : characterTime;
  // How long the adapter may hold bytes, whatever gap is configured; the gap of an ASCII line does not show
  // that.
  const hold = discardGap(adapter, characterTime, t35);
  const longestPause = inputPause(adapter, wireTime);
  const framer = newFramer(framing, owns, { t35, characterTime: wireTime, longestPause });
  // Other stations may be sending on a real line, so its first bytes may come from the middle of a frame.
  framer.reset({ aligned: path === 'virtual' });
  return {
    framing,
    framer,
    mayBeRequest: framing.name === 'rtu' ? mayBeRequest : (adu) => mayBeAsciiRequest(framing, adu),
    timing: {
      t35,
      turnaround,
      wireTime,
      outputHold: outputHold(adapter, characterTime),
      lead: rs485?.delayBeforeSend ?? 0,
    },
    arrival: { wireTime, inputHold: framing.name === 'ascii' ? hold : Math.max(gap, hold) },
    gap,
    whenBusy,
    echo,
  };
}

/** Reports whether the same message in RTU may be a request; the length of each function is known there. */
function mayBeAsciiRequest(framing: Framing, adu: Uint8Array): boolean {
  const content = framing.fields(adu);
  return content !== undefined && mayBeRequest(encodeRtu(content.unitId, content.pdu));
}
