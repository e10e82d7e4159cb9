import type { SerialPort } from 'serialport';
import type { PortSettings } from '../settings.js';
import { lockHolder } from './port-path.js';

/** @returns the open port, or why it did not open. */
export async function openExclusively(settings: PortSettings): Promise<SerialPort | string> {
  const { path, baudRate, dataBits, parity, stopBits } = settings;
  // serialport changes the settings before it tries its lock, so whoever has the port would feel a failed attempt.
  const holder = lockHolder(path);
  if (holder !== undefined) return `is in use by ${holder}`;
  let module: typeof import('serialport');
  try {
    module = await import('serialport');
  } catch (error) {
    return `serialport did not load: ${(error as Error).message}`;
  }
  // Always a new object: one that was disconnected does not come back reliably.
  const port = new module.SerialPort({
    path,
    baudRate,
    dataBits,
    parity,
    stopBits,
    lock: true,
    autoOpen: false,
  });
  const error = await new Promise<Error | null>((resolve) => port.open(resolve));
  return error === null ? port : explainOpenError(error.message);
}

/** serialport passes on strerror(3) texts and nothing else to tell errors apart by. */
function explainOpenError(text: string): string {
  const message = text.replace(/^Error: /, '');
  const explanations: [RegExp, string][] = [
    [
      /permission denied|operation not permitted/i,
      'permission denied; add the user to the group dialout and log in again',
    ],
    [/cannot lock|resource busy|temporarily unavailable/i, 'is in use by another program; end it first'],
    [/inappropriate ioctl/i, 'is not a terminal device, so it is no serial port'],
    [/input\/output error|no such device/i, 'has no UART or adapter behind it'],
  ];
  const known = explanations.find(([pattern]) => pattern.test(message));
  return known ? `${known[1]} (${message})` : `can't be opened: ${message}`;
}

export interface OutputLines {
  readonly rts: 'high' | 'low';
  /** Hold the line in the break state; false when not given. */
  readonly brk?: boolean;
}

/**
 * serialport sets all lines at each call, DTR and RTS to high unless told otherwise, and clears the low-latency mode
 * unless told again. It does not say when that mode failed: see `hasLowLatency`.
 * @returns false when the lines were not set; a pseudo-terminal has none.
 */
export function setLines(port: SerialPort, { rts, brk = false }: OutputLines): Promise<boolean> {
  // The types of serialport leave out lowLatency, which its Linux binding has.
  const all: object = { brk, rts: rts === 'high', lowLatency: true };
  return new Promise((resolve) => port.set(all, (error) => resolve(error === null)));
}

/** Whether the driver is in its low-latency mode; undefined where it can't be asked. */
export function hasLowLatency(port: SerialPort): Promise<boolean | undefined> {
  return new Promise((resolve) =>
    port.get((error, status) => {
      // As with `set`, the types leave it out.
      const isKnown = !error && status !== undefined && 'lowLatency' in status;
      resolve(isKnown ? status.lowLatency === true : undefined);
    }),
  );
}

/** Throws away what was received and not read, and what was written and not sent. */
export function flush(port: SerialPort): Promise<void> {
  return new Promise((resolve) => port.flush(() => resolve()));
}

/** Resolves when it is closed. */
export function closePort(port: SerialPort): Promise<void> {
  return new Promise((resolve) => {
    if (port.isOpen) port.close(() => resolve());
    else if (port.closing) port.once('close', () => resolve());
    else resolve();
  });
}
