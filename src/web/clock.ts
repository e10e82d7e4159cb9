import { signal } from '@preact/signals';

/** The server's clock minus that of this browser, in ms. */
const offset = signal(0);

/** Sets the clock by a time that the server has just told. @param iso ISO 8601 */
export function setClock(iso: string): void {
  const ms = Date.parse(iso) - Date.now();
  // Less is the way of the message.
  if (Math.abs(ms - offset.peek()) > 500) offset.value = ms;
}

/** The time on the server in ms since 1970. Times that the console shows come from there. */
export function serverNow(): number {
  return Date.now() + offset.value;
}
