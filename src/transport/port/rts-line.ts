import { getSystemErrorName } from 'node:util';
import { type Libc, TIOCM_RTS, TIOCMBIC, TIOCMBIS } from './libc.js';

/**
 * Sets RTS and leaves the other modem lines as they are, before this call returns.
 * @returns what is wrong; some ports, pseudo-terminals among them, have no modem lines.
 */
export function setRts(libc: Libc, fd: number, level: 'high' | 'low'): string | undefined {
  const lines = new Uint8Array(4);
  new DataView(lines.buffer).setInt32(0, TIOCM_RTS, true);
  const result = libc.ioctl(fd, level === 'high' ? TIOCMBIS : TIOCMBIC, lines);
  return result < 0 ? `RTS can't be set ${level} (${getSystemErrorName(result)})` : undefined;
}
