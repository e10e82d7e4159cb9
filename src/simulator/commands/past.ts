import type { Device } from '../../device/device.js';
import type { Since } from '../../device/registers/history.js';
import type { TableWindow } from '../../device/registers/table.js';
import type { Simulator } from '../simulator.js';
import { isoTime, LAST_MOMENT } from '../traffic/words.js';
import { done, type Outcome, refusal } from './refusal.js';
import type { Words } from './schemas/value.js';

/** A time from which a device's registers are still stored. */
interface PastMoment {
  /** The time on the devices' clock, in ms. */
  readonly real: number;
  /** What REST says about that time, and about the writes around it in some cells. */
  readonly past: (window: TableWindow, from: number, to: number) => NonNullable<Words['past']>;
}

/** Writing a time loses up to half a µs, and so does reading it. */
const ROUNDING_MS = 0.001;

const WHY: Readonly<Record<Since['why'], string>> = {
  made: 'the device was added at that time',
  restarted: 'it was restarted at that time',
  clock: 'its clock was set at that time',
  defined: 'registers were defined at that time',
  full: 'earlier changes are no longer kept',
};

/** Converts a time to the monotonic clock, and formats times of that clock. @param wall in ms since 1970 */
export function momentIn({ traffic }: Simulator, wall: number) {
  const now = performance.now();
  const asked = Math.max(-LAST_MOMENT, Math.min(LAST_MOMENT, wall));
  const offset = traffic.offsetAt(now);
  return {
    real: Math.min(now, asked - offset + ROUNDING_MS),
    shown: isoTime(Math.min(now + offset, asked)),
    time: (ms: number) => isoTime(ms + offset),
  };
}

/** Finds a time from which a device's registers are still stored. @param wall in ms since 1970 */
export function momentOf(simulator: Simulator, device: Device, wall: number): Outcome<PastMoment> {
  const { history, points, images } = device;
  const { real, shown, time } = momentIn(simulator, wall);
  const { at, why } = history.since(points);
  if (real < at) {
    const message = `the registers of ${device.name} are known only from ${time(at)} on: ${WHY[why]}`;
    return refusal('history.not_kept', 'at', message);
  }
  // A restart undid what was written before it.
  const timeOf = (ms: number | undefined) => (ms === undefined || ms < at ? null : time(ms));
  const past: PastMoment['past'] = ({ image, base }, from, to) => {
    const { last, previous, next } = history.around(real, images, image);
    const changed = timeOf(last?.at);
    const before = Array.from(last?.before ?? [], ([cell, word]): [number, number] => [cell - base, word]);
    return {
      at: shown,
      ...{ since: time(at), why, changed },
      before: changed === null ? [] : before.filter(([address]) => address >= from && address <= to),
      ...{ previous: timeOf(previous), next: timeOf(next) },
    };
  };
  return done({ real, past });
}
