import { RTU } from '../../../../src/modbus/protocol/framing.js';
import { mayBeRequest } from '../../../../src/modbus/protocol/rtu.js';
import { RtuFramer } from '../../../../src/modbus/transport/framer/rtu-framer.js';
import { type Adapter, ptyAdapter } from '../../../../src/modbus/transport/port/adapter.js';
import type { BytePort } from '../../../../src/modbus/transport/port/port.js';
import type { ChunkStatistics } from '../../../../src/modbus/transport/serial/chunk-statistics.js';
import { SerialSession } from '../../../../src/modbus/transport/serial/serial-session.js';
import type { EchoSetting, WhenBusy } from '../../../../src/modbus/transport/settings.js';
import type { LineHandler } from '../../../../src/modbus/transport/transport.js';
import type { VirtualClock } from '../../../support/virtual-clock.js';

/** A port that the test plays. */
export function playedPort(write: BytePort['write'], adapter: Adapter = ptyAdapter): BytePort {
  return {
    path: '/dev/played',
    write,
    facts: () => ({ adapter, settings: undefined, lowLatency: undefined, parityMarks: false, direction: '' }),
    close: async () => {},
  };
}

/** Times in ms. */
interface PlayedLine {
  readonly t35: number;
  readonly characterTime: number;
  readonly gap: number;
  readonly whenBusy: WhenBusy;
  readonly echo: EchoSetting;
}

/** A server's session in RTU on a port that is open. */
export function rtuSession(
  port: BytePort,
  { t35, characterTime, gap, whenBusy, echo }: PlayedLine,
  handler: Omit<LineHandler, 'newClientId'>,
  { chunks, clock }: { readonly chunks: ChunkStatistics; readonly clock: VirtualClock },
): SerialSession {
  return new SerialSession(
    port,
    {
      framing: RTU,
      framer: new RtuFramer((unitId) => handler.owns(unitId), { t35, characterTime }),
      mayBeRequest,
      timing: { t35, turnaround: t35, wireTime: characterTime, outputHold: 0, lead: 0 },
      gap,
      arrival: { wireTime: characterTime, inputHold: gap },
      whenBusy,
      echo,
    },
    { newClientId: () => 1, ...handler },
    chunks,
    clock,
  );
}
