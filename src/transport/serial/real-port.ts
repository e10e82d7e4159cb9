import type { Stats } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { SerialPort } from 'serialport';
import { readErrorCounts } from './error-counts.js';
import { loadLibc, TCGETS2, TIOCEXCL } from './libc.js';
import type { BytePort, OpenResult, PortListener, SerialSettings } from './port.js';
import { checkPath, isPseudoTerminal, lockHolder, statOf } from './port-path.js';
import { startWriter } from './port-writer.js';
import { parseTermios2, settingsDifference, TERMIOS2_BYTES } from './termios.js';

/**
 * How often the path is looked at, in ms. A hang-up between two reads can leave serialport's binding spinning with
 * no event (serialport/bindings-cpp issue 162), so its own notice of an unplugged adapter is not enough.
 */
const WATCHDOG_INTERVAL = 500;

/**
 * Opens a serial port for this process alone, with exactly these settings.
 * Refuses, with a sentence that says what to do, a path that is no serial port, a port in use, and a driver that
 * did not take a setting (a Raspberry Pi's mini UART drops parity without an error).
 */
export async function openRealPort(settings: SerialSettings, listener: PortListener): Promise<OpenResult> {
  const { path } = settings;
  const checked = checkPath(path);
  if (typeof checked === 'string') return { ok: false, error: `${path}: ${checked}` };

  const opened = await openExclusively(settings);
  if (typeof opened === 'string') return { ok: false, error: `${path}: ${opened}` };

  await setLines(opened, {});
  await setExclusive(opened);
  const readBack = isPseudoTerminal(checked)
    ? {
        note: `${path} is a pseudo-terminal: it has no baud rate and no parity, so its settings are not verified`,
      }
    : await readSettingsBack(opened, settings);
  if (readBack.error !== undefined) {
    await closePort(opened);
    return { ok: false, error: `${path}: ${readBack.error}` };
  }
  // What arrived before is the middle of something.
  await new Promise<void>((resolve) => opened.flush(() => resolve()));
  return {
    ok: true,
    port: runPort(opened, await errorCounter(opened), checked, settings, listener),
    notes: readBack.note === undefined ? [] : [readBack.note],
  };
}

/** @returns the open port, or why it did not open. */
async function openExclusively(settings: SerialSettings): Promise<SerialPort | string> {
  // serialport changes the settings before it tries its lock, so whoever has the port would feel a failed attempt.
  const holder = lockHolder(settings.path);
  if (holder !== undefined) return `is in use by ${holder}`;
  let module: typeof import('serialport');
  try {
    module = await import('serialport');
  } catch (error) {
    return `serialport did not load: ${(error as Error).message}`;
  }
  // Always a new object: one that was disconnected does not come back reliably.
  const port = new module.SerialPort({ ...settings, lock: true, autoOpen: false });
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

/** serialport sets all lines at each call and forgets low latency unless told again. @returns false when it failed. */
function setLines(port: SerialPort, lines: { brk?: boolean }): Promise<boolean> {
  // The types of serialport leave out lowLatency, which its Linux binding has. Not every driver has it: no matter.
  const all: object = { ...lines, lowLatency: true };
  return new Promise((resolve) => port.set(all, (error) => resolve(error === null)));
}

/** @returns an error when the driver has other settings, or a note when that can't be known. */
async function readSettingsBack(
  port: SerialPort,
  settings: SerialSettings,
): Promise<{ error?: string; note?: string }> {
  const loaded = await loadLibc();
  if (!loaded.ok) return { note: `${settings.path}: settings not read back: ${loaded.reason}` };
  const bytes = Buffer.alloc(TERMIOS2_BYTES);
  const fd = port.port?.fd ?? -1;
  if (loaded.libc.ioctl(fd, TCGETS2, bytes) < 0)
    return { note: `${settings.path}: settings can't be read back` };
  const difference = settingsDifference(settings, parseTermios2(bytes));
  if (difference === undefined) return {};
  const { wanted, found } = difference;
  return { error: `the driver did not take the settings: wanted ${wanted}, found ${found}` };
}

/** serialport's own lock is a file lock, which programs such as mbpoll don't ask for. Ends with the last close. */
async function setExclusive(port: SerialPort): Promise<void> {
  const loaded = await loadLibc();
  const fd = port.port?.fd;
  if (loaded.ok && typeof fd === 'number') loaded.libc.ioctl(fd, TIOCEXCL, null);
}

/** How to ask for error counts; undefined when there are none, so that nobody asks in vain for each request. */
async function errorCounter(port: SerialPort): Promise<BytePort['errorCounts']> {
  const loaded = await loadLibc();
  if (!loaded.ok) return undefined;
  const read = () => {
    const fd = port.port?.fd;
    return typeof fd === 'number' ? readErrorCounts(loaded.libc, fd) : undefined;
  };
  return read() && read;
}

function runPort(
  port: SerialPort,
  errorCounts: BytePort['errorCounts'],
  device: Stats,
  settings: SerialSettings,
  listener: PortListener,
): BytePort {
  const { path } = settings;
  let closed: Promise<void> | undefined;

  const close = (): Promise<void> => {
    clearInterval(watchdog);
    writer.stop();
    closed ??= closePort(port);
    return closed;
  };
  const gone = (reason: string): void => {
    if (closed !== undefined) return;
    void close();
    listener.onClose(`${path}: ${reason}`);
  };
  const writer = startWriter(port, gone);
  const watchdog = setInterval(() => {
    const stats = statOf(path);
    if (typeof stats === 'string') gone('vanished');
    else if (stats.rdev !== device.rdev || stats.ino !== device.ino) gone('is another device now');
  }, WATCHDOG_INTERVAL).unref();

  port.on('data', (chunk: Uint8Array) => listener.onData(chunk));
  port.on('close', (error: Error | null) => gone(`hung up (${error?.message ?? 'closed'})`));
  port.on('end', () => gone('hung up (end of file)'));
  port.on('error', (error: Error) => gone(error.message));

  const sendBreak = async (ms: number): Promise<string | undefined> => {
    if (!(await setLines(port, { brk: true }))) return 'the driver refused a break';
    await delay(ms);
    return (await setLines(port, { brk: false })) ? undefined : 'the driver did not end the break';
  };
  return {
    path,
    write: (bytes) => {
      if (closed !== undefined) return 'the port is closed';
      writer.write(bytes);
      return undefined;
    },
    ...(!isPseudoTerminal(device) && { sendBreak }),
    ...(errorCounts && { errorCounts }),
    close,
  };
}

function closePort(port: SerialPort): Promise<void> {
  return new Promise((resolve) => {
    if (port.isOpen) port.close(() => resolve());
    else if (port.closing) port.once('close', () => resolve());
    else resolve();
  });
}
