import type { SerialPort } from 'serialport';
import { failure, type Result, success } from '../../../common/result.js';
import type { PortSettings } from '../settings.js';
import type { LibcResult } from './libc.js';
import { lockHolder, lockPort } from './port-path.js';

/**
 * Opens the port for this process alone. serialport changes the settings before it tries its own lock, so a
 * failed attempt would disturb the program that has the port. So the port is locked before serialport opens
 * it, if the C library can be called.
 * @returns the open port, or why it did not open
 */
export async function openExclusively(
  settings: PortSettings,
  loaded: LibcResult,
): Promise<Result<SerialPort>> {
  const { path, baudRate, dataBits, parity, stopBits } = settings;
  const holder = lockHolder(path);
  if (holder?.pid === process.pid) return failure('is in use by another line of this program');
  if (holder) return failure(`is in use by ${holder.name} (process ${holder.pid}); end it first`);
  let module: typeof import('serialport');
  try {
    module = await import('serialport');
  } catch (error) {
    return failure(`serialport did not load: ${(error as Error).message}`);
  }
  const locked = loaded.ok ? lockPort(path, loaded.libc) : undefined;
  if (locked && !locked.ok) return failure(explainOpenError(locked.error));
  // Always a new object, because a disconnected one does not come back reliably.
  const port = new module.SerialPort({
    path,
    baudRate,
    dataBits,
    parity,
    stopBits,
    lock: locked === undefined,
    autoOpen: false,
  });
  const error = await new Promise<Error | null>((resolve) => port.open(resolve));
  if (error !== null) {
    locked?.value.release();
    return failure(explainOpenError(error.message));
  }
  port.once('close', () => locked?.value.release());
  return success(port);
}

/** Explains an error of serialport, which passes on nothing but the text of strerror(3). */
export function explainOpenError(text: string): string {
  const message = text.replace(/^Error: /, '');
  const explanations: [RegExp, string][] = [
    [/permission denied/i, 'permission denied; add the user to the group dialout and log in again'],
    [
      /operation not permitted/i,
      'forbidden by the device policy of the service, whatever the mode of the port; systemd allows what DeviceAllow= names, and only drivers that were loaded when the service started, so restart the service after the first plug',
    ],
    // The texts of serialport for Windows.
    [/access denied/i, 'is in use by another program; end it first'],
    [/file not found/i, 'does not exist; modbus-sim ports lists the serial ports'],
    [/parameter is incorrect|error code 87$/i, 'has a driver that does not take these settings'],
    [/error code (31|121|433|1167)$/i, 'has an adapter that does not answer; plug it in again'],
    [/cannot lock|resource busy|temporarily unavailable/i, 'is in use by another program; end it first'],
    [/inappropriate ioctl/i, 'is not a terminal device, so it is no serial port'],
    [/input\/output error|no such device/i, 'has no UART or adapter behind it'],
  ];
  const known = explanations.find(([pattern]) => pattern.test(message));
  return known ? `${known[1]} (${message})` : `can't be opened: ${message}`;
}

export interface OutputLines {
  readonly rts: 'high' | 'low';
  /** Holds the line in the break state; false when absent. */
  readonly brk?: boolean;
}

/**
 * Sets all output lines. serialport sets all of them at each call: DTR and RTS to high unless given, and the
 * low-latency mode off unless given. It does not report when that mode failed: see `hasLowLatency`.
 * @returns false when the lines were not set; a pseudo-terminal has none
 */
export function setLines(port: SerialPort, { rts, brk = false }: OutputLines): Promise<boolean> {
  // The types of serialport leave out lowLatency, which its Linux binding has.
  const all: object = { brk, rts: rts === 'high', lowLatency: true };
  return new Promise((resolve) => port.set(all, (error) => resolve(error === null)));
}

/** Tells whether the driver is in its low-latency mode; undefined where the driver can't be asked. */
export function hasLowLatency(port: SerialPort): Promise<boolean | undefined> {
  return new Promise((resolve) =>
    port.get((error, status) => {
      // As with `set`, the types leave it out.
      const isKnown = !error && status !== undefined && 'lowLatency' in status;
      resolve(isKnown ? status.lowLatency === true : undefined);
    }),
  );
}

/** Throws away the bytes that were received and not read, and those that were written and not sent. */
export function flush(port: SerialPort): Promise<void> {
  return new Promise((resolve) => port.flush(() => resolve()));
}

/** Closes the port, and resolves when it is closed. */
export function closePort(port: SerialPort): Promise<void> {
  return new Promise((resolve) => {
    if (port.isOpen) port.close(() => resolve());
    else if (port.closing) port.once('close', () => resolve());
    else resolve();
  });
}
