import type { Framing } from '../../protocol/framing.js';
import { encodeRtu, mayBeRequest } from '../../protocol/rtu.js';
import type { Framer } from '../framer/framer.js';
import { newFramer } from '../framer/new-framer.js';
import { type Adapter, discardGap, inputPause, outputHold } from '../port/adapter.js';
import type { EchoSetting, SerialSettings, WhenBusy } from '../settings.js';
import type { ReplyTiming } from './reply-player.js';
import { type Arrival, serialTimes } from './serial-times.js';

/** How a line behaves on an open port. Times in ms. */
export interface SerialBehaviour {
  readonly framing: Framing;
  /** A new one, because a framer keeps pending bytes. */
  readonly framer: Framer;
  /** Could these bytes, sent by us, be a client's request as well? */
  readonly mayBeRequest: (adu: Uint8Array) => boolean;
  readonly timing: ReplyTiming;
  readonly arrival: Arrival;
  /** Silence after which pending bytes are discarded. */
  readonly gap: number;
  readonly whenBusy: WhenBusy;
  /** Does the adapter hear what it sends? */
  readonly echo: EchoSetting;
}

/**
 * How a line behaves on the adapter that its port turned out to have.
 * @param owns whether a unit identifier is ours
 */
export function serialBehaviour(
  settings: SerialSettings,
  framing: Framing,
  adapter: Adapter,
  owns: (unitId: number) => boolean,
): SerialBehaviour {
  const { path, pacing, whenBusy, echo, rs485 } = settings;
  const { t35, gap, turnaround, characterTime } = serialTimes(settings, adapter);
  // A pseudo-terminal without pacing has no wire: bytes are with the client as soon as they are written.
  const wireTime = adapter.kind === 'pty' && !pacing ? 0 : characterTime;
  // How long the adapter may hold bytes, whatever gap was configured. An ASCII line's gap does not show that.
  const hold = discardGap(adapter, characterTime, t35);
  const longestPause = inputPause(adapter, wireTime);
  const framer = newFramer(framing, owns, { t35, characterTime: wireTime, longestPause });
  // Others may be speaking on a real line, so its first bytes may come from the middle of a frame.
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

/** Checks the same message in RTU, where the lengths of each function are known. */
function mayBeAsciiRequest(framing: Framing, adu: Uint8Array): boolean {
  const content = framing.fields(adu);
  return content !== undefined && mayBeRequest(encodeRtu(content.unitId, content.pdu));
}
