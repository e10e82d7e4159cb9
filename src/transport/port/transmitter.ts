import { type Libc, TIOCOUTQ, TIOCSER_TEMT, TIOCSERGETLSR } from './libc.js';

/**
 * How far a driver has got with what was written to it.
 * 'handed over': its buffer is empty, but a FIFO behind it may not be, and it does not tell.
 */
export type TransmitterState = 'sending' | 'handed over' | 'empty';

/** Asks the driver. One that is gone sends nothing more, and is 'empty'. */
export function transmitterState(libc: Libc, fd: number): TransmitterState {
  const word = new Uint8Array(4);
  const view = new DataView(word.buffer);
  if (libc.ioctl(fd, TIOCOUTQ, word) < 0) return 'empty';
  if (view.getInt32(0, true) > 0) return 'sending';
  if (libc.ioctl(fd, TIOCSERGETLSR, word) < 0) return 'handed over';
  return view.getInt32(0, true) & TIOCSER_TEMT ? 'empty' : 'sending';
}
