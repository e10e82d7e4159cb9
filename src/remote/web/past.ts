import { computed, signal } from '@preact/signals';
import { recorded } from './recorded.js';
import { addressNow, go, route } from './route.js';

/** The key in the address for the time shown. */
export const MOMENT_KEY = 'then';

/** The past time that the page shows, in ISO 8601; undefined for now. */
export const past = computed(() => {
  const then = route.value.query.get(MOMENT_KEY);
  return then === null || Number.isNaN(Date.parse(then)) ? undefined : then;
});

/** When registers were written before and after that time, as far as a view knows. */
export const writes = signal<{ readonly previous: string | null; readonly next: string | null } | undefined>(
  undefined,
);

/** Shows this view at another time; without a time, at the present. */
export function showThen(moment: string | undefined): void {
  const [path = '', search] = addressNow().split('?');
  const query = new URLSearchParams(search);
  if (moment === undefined) query.delete(MOMENT_KEY);
  else query.set(MOMENT_KEY, moment);
  const address = `${recorded ? '#' : ''}${path}${query.size > 0 ? `?${query}` : ''}`;
  go(address, past.peek() === undefined ? 'push' : 'replace');
}

/** An ISO 8601 time shifted by some µs. Fractions of a second may have three or six digits. */
export function shifted(time: string, us: number): string {
  const [, second = '', fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(time) ?? [];
  const all = Date.parse(`${second}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6)) + us;
  const micros = String(all % 1000).padStart(3, '0');
  return `${new Date(Math.floor(all / 1000)).toISOString().slice(0, -1)}${micros}Z`;
}
