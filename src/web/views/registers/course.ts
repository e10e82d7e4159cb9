/** What a value was lately: times in seconds since 1970 and values, the oldest first. */
export interface Course {
  readonly times: number[];
  readonly values: (number | null)[];
}

/** Five minutes are shown, whatever was measured. */
export const WINDOW_S = 300;
/** Four a second is the most that is read. */
const MOST = WINDOW_S * 4;

/** Adds what a value is now; what is older than the window is given up. */
export function extend({ times, values }: Course, time: number, value: number | string): void {
  times.push(time);
  values.push(typeof value === 'number' ? value : null);
  const old = times.findIndex((each) => each >= time - WINDOW_S);
  const drop = Math.max(old, times.length - MOST);
  if (drop > 0) {
    times.splice(0, drop);
    values.splice(0, drop);
  }
}
