import { getSystemErrorName } from 'node:util';
import type { SerialPort } from 'serialport';
import { failure, type Result, success } from '../../../common/result.js';
import type { PortSettings } from '../settings.js';
import { type Adapter, identifyAdapter } from './adapter.js';
import { type Libc, type LibcResult, loadLibc, TIOCEXCL } from './libc.js';
import { consoleHint } from './list-ports.js';
import type { OpenResult, PortFacts, PortListener } from './port.js';
import { checkPath } from './port-path.js';
import { closePort, flush, hasLowLatency, openExclusively, runPort, setLines } from './real-port-run.js';
import { openDirection, type Rs485Direction, rtsWhileListening } from './rs485-direction.js';
import {
  changeTermios2,
  describeSettings,
  hasParityMarks,
  keptLinesTermios2,
  markedTermios2,
  parseTermios2,
  readTermios2,
  settingsDifference,
} from './termios.js';
import { type ErrorCounts, readErrorCounts, setRts } from './uart.js';

/**
 * Opens a serial port for this process alone, with exactly these settings. Refuses, with a sentence that says
 * what to do: a path that is not a serial port, a port in use, and a driver that ignored a setting (a
 * Raspberry Pi's mini UART drops parity without an error) or can't do what was configured.
 * @param load loads the C library; tests pass one that simulates hardware
 */
export async function openRealPort(
  settings: PortSettings,
  listener: PortListener,
  load: () => Promise<LibcResult> = loadLibc,
): Promise<OpenResult> {
  const { path } = settings;
  const device = checkPath(path);
  if (!device.ok) return { ok: false, error: `${path}: ${device.error}` };

  // Opening the port may drive the bus until RTS is set, so anything slow is done first.
  const loaded = await load();
  const listening = rtsWhileListening(settings.rs485, identifyAdapter(path).kind);
  const port = await openExclusively(settings, loaded);
  if (!port.ok) return { ok: false, error: `${path}: ${port.error}` };

  const unkept = loaded.ok ? letGoOfBus(port.value, loaded.libc, settings, listening) : undefined;
  await setLines(port.value, { rts: listening });
  const prepared = await prepare(port.value, loaded, settings, !device.value.isPseudoTerminal);
  if (!prepared.ok) {
    await closePort(port.value);
    return { ok: false, error: `${path}: ${prepared.error}`, unfit: true };
  }
  // Bytes that arrived earlier are the middle of a message. Discarding them never splits a mark, because the
  // line discipline puts whole marks into the buffer.
  await flush(port.value);
  const { facts, direction } = prepared.value;
  const notes = unkept === undefined ? prepared.value.notes : [...prepared.value.notes, unkept];
  return {
    ok: true,
    port: runPort({
      port: port.value,
      loaded,
      device: device.value,
      settings,
      listener,
      facts,
      direction,
      errorCounts: errorCounter(port.value, loaded),
    }),
    notes: notes.map((note) => `${path}: ${note}`),
  };
}

/**
 * Opening raised RTS, which may be the level for sending. So RTS is set to the level for listening at once,
 * before any wait. If that level is high, the kernel is also kept from lowering RTS when the port is closed.
 * @returns what failed, for the log. `openDirection` reports a port without RTS.
 */
function letGoOfBus(
  port: SerialPort,
  libc: Libc,
  { rs485 }: PortSettings,
  listening: 'high' | 'low',
): string | undefined {
  if (rs485 === undefined) return undefined;
  const fd = port.port?.fd ?? -1;
  setRts(libc, fd, listening);
  const unkept = listening === 'high' ? keepLinesOnClose(libc, fd) : undefined;
  return unkept && `RTS switches to its sending level when the port is closed (${unkept})`;
}

interface Prepared {
  readonly facts: PortFacts;
  readonly direction: Rs485Direction;
  readonly notes: readonly string[];
}

/** Sets up an open port. @returns what was found, or what the port can't do */
async function prepare(
  port: SerialPort,
  loaded: LibcResult,
  settings: PortSettings,
  isVerifiable: boolean,
): Promise<Result<Prepared>> {
  const fd = port.port?.fd ?? -1;
  // serialport's own lock is a file lock, which programs such as mbpoll don't check. TIOCEXCL ends with the
  // last close.
  if (loaded.ok) loaded.libc.ioctl(fd, TIOCEXCL, null);

  const applied = applySettings(loaded, fd, settings, isVerifiable);
  if (!applied.ok) return failure(applied.error);
  const opened = openDirection(fd, settings.rs485, loaded);
  if (!opened.ok) return failure(opened.error);

  const lowLatency = await hasLowLatency(port);
  const facts: PortFacts = {
    // Identify the adapter after setting low latency, which reduces the timer of an FTDI adapter to 1 ms.
    adapter: identifyAdapter(settings.path),
    settings: applied.settings,
    lowLatency,
    parityMarks: applied.parityMarks,
    direction: opened.direction.text,
  };
  const notes = [...applied.notes, latencyNote(facts.adapter, lowLatency), consoleHint(settings.path)];
  return success({ facts, direction: opened.direction, notes: notes.filter((note) => note !== undefined) });
}

/**
 * Returns a note if low latency is missing where it matters, on USB. A built-in UART reports its characters
 * within a few character times.
 */
function latencyNote({ kind, latencyMs }: Adapter, lowLatency: boolean | undefined): string | undefined {
  if (lowLatency !== false || (kind !== 'ftdi' && kind !== 'usb')) return undefined;
  return `the driver has no low-latency mode, or refused it; this adapter may hold bytes back for ${latencyMs} ms`;
}

/**
 * Returns the function that reads error counts; undefined if the driver does not count, so that it is not
 * queried on each request.
 */
function errorCounter(port: SerialPort, loaded: LibcResult): (() => ErrorCounts | undefined) | undefined {
  if (!loaded.ok) return undefined;
  const read = (): ErrorCounts | undefined => {
    const fd = port.port?.fd;
    return typeof fd === 'number' ? readErrorCounts(loaded.libc, fd) : undefined;
  };
  return read() && read;
}

type AppliedSettings =
  | {
      readonly ok: true;
      /** The settings as reported by the driver, '19200 8E1'; undefined if unknown. */
      readonly settings: string | undefined;
      readonly parityMarks: boolean;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly error: string };

/**
 * Turns on marks for damaged characters, reads the settings back, and refuses a driver whose settings differ
 * from those requested. Any sentence in the result continues one that begins with the port's path.
 * @param isVerifiable false on a pseudo-terminal, which keeps settings that have no effect
 */
function applySettings(
  loaded: LibcResult,
  fd: number,
  wanted: PortSettings,
  isVerifiable: boolean,
): AppliedSettings {
  const unmarked = wanted.parityMarks === false ? 'not asked for' : whyUnmarked(loaded, fd);
  if (wanted.parityMarks === true && unmarked !== undefined) {
    return { ok: false, error: `parityMarks: true is not possible: ${unmarked}` };
  }
  const parityMarks = unmarked === undefined;
  const unverified = (...notes: string[]) => ({ ok: true, settings: undefined, parityMarks, notes }) as const;
  const isMissed = wanted.parityMarks !== false && !parityMarks;
  if (!loaded.ok) {
    const dropped = isMissed ? ' and damaged characters are dropped, not marked' : '';
    return unverified(`settings are not read back${dropped}: ${loaded.error}`);
  }
  const notes = isMissed ? [`damaged characters are not marked: ${unmarked}`] : [];
  if (!isVerifiable) {
    return unverified(
      ...notes,
      'is a pseudo-terminal: it has no baud rate and no parity, so its settings are not verified',
    );
  }
  const bytes = readTermios2(loaded.libc, fd);
  if (typeof bytes === 'number') {
    return unverified(...notes, `settings can't be read back (TCGETS2: ${getSystemErrorName(bytes)})`);
  }
  const found = parseTermios2(bytes);
  const difference = settingsDifference(wanted, found);
  if (difference !== undefined) {
    const error = `the driver did not accept the settings: wanted ${difference.wanted}, found ${difference.found}`;
    return { ok: false, error };
  }
  return { ok: true, settings: describeSettings(found), parityMarks, notes };
}

/**
 * Keeps RTS and DTR as they are when the port is closed, even if the process dies. serialport's option
 * `hupcl: false` does not do that: it merely does not set a flag (HUPCL) that every serial driver sets
 * initially.
 * @returns why it failed
 */
function keepLinesOnClose(libc: Libc, fd: number): string | undefined {
  return changeTermios2(libc, fd, keptLinesTermios2);
}

/** Turns on marks for damaged characters. @returns why it failed */
function whyUnmarked(loaded: LibcResult, fd: number): string | undefined {
  if (!loaded.ok) return loaded.error;
  const { libc } = loaded;
  const before = readTermios2(libc, fd);
  const failure = changeTermios2(libc, fd, markedTermios2);
  if (failure !== undefined || typeof before === 'number') return failure;
  const after = readTermios2(libc, fd);
  // Half of this setting would be worse than nothing: bytes would be read as marks, or marks as bytes.
  if (typeof after !== 'number' && hasParityMarks(after)) return undefined;
  changeTermios2(libc, fd, () => before);
  return 'the driver did not accept PARMRK and INPCK';
}
