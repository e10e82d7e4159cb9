import type { Framing } from '../../protocol/framing.js';
import { encodeRtu, mayBeRequest } from '../../protocol/rtu.js';
import { newFramer } from '../framer/new-framer.js';
import { type Adapter, discardGap, inputPause, outputHold } from '../port/adapter.js';
import type { SerialSettings } from '../settings.js';
import type { SerialBehaviour } from './serial-session.js';
import { serialTimes } from './serial-times.js';

/**
 * How a line behaves on the adapter that its port turned out to have.
 * @param owns tells whether a unit identifier is ours
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
  return {
    framing,
    framer: newFramer(framing, owns, {
      t35,
      characterTime: wireTime,
      longestPause: inputPause(adapter, wireTime),
    }),
    mayBeRequest: framing.name === 'rtu' ? mayBeRequest : (adu) => mayBeAsciiRequest(framing, adu),
    timing: {
      t35,
      turnaround,
      wireTime,
      outputHold: outputHold(adapter, characterTime),
      lead: rs485?.delayBeforeSend ?? 0,
    },
    gap,
    inputHold: framing.name === 'ascii' ? hold : Math.max(gap, hold),
    whenBusy,
    echo,
    joinsTraffic: path !== 'virtual',
  };
}

/** Checks the same message in RTU, where the lengths of each function are known. */
function mayBeAsciiRequest(framing: Framing, adu: Uint8Array): boolean {
  const content = framing.fields(adu);
  return content !== undefined && mayBeRequest(encodeRtu(content.unitId, content.pdu));
}
