import type { RealTarget } from '../../document/configuration.js';
import { characterTime, t35 } from '../../modbus/protocol/timing.js';
import type { Asker } from './asker.js';
import type { ClonedDevice } from './survey.js';

/**
 * The device's own part of the reply times: on a serial line, the time of the reply's characters and t3.5 are
 * subtracted.
 */
export function replyTimeOf(
  { times }: Asker,
  { target }: { readonly target: RealTarget },
): ClonedDevice['replyTime'] {
  if (times.length === 0) return undefined;
  const character = target.kind === 'serial' ? characterTime(target) : 0;
  const pause = target.kind === 'serial' ? t35(target.baudRate) : 0;
  const own = times.map(({ ms, bytes }) => Math.max(0, ms - bytes * character - pause)).sort((a, b) => a - b);
  const at = (share: number) => own[Math.floor(share * (own.length - 1))] as number;
  return { median: tenths(at(0.5)), jitter: tenths(Math.min(at(0.5), (at(0.9) - at(0.1)) / 2)) };
}

function tenths(ms: number): number {
  return Math.round(10 * ms) / 10;
}
