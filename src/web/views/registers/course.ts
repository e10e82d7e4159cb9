import type { Course } from '../../ui/plot-layout.js';

/** Five minutes are shown, whatever was measured. */
export const WINDOW_S = 300;
/** Four a second is the most that is read. */
const MOST = WINDOW_S * 4;

/** A course with what a value is now. What is older than the window is given up. @param time in seconds since 1970 */
export function extended({ times, values }: Course, time: number, value: number | string): Course {
  const old = times.findIndex((each) => each >= time - WINDOW_S);
  const from = Math.max(old < 0 ? times.length : old, times.length + 1 - MOST);
  return {
    times: [...times.slice(from), time],
    values: [...values.slice(from), typeof value === 'number' ? value : null],
  };
}
