import { setTimeout as delay } from 'node:timers/promises';
import type { SerialPort } from 'serialport';
import { failure, type Result, success } from '../../../common/result.js';
import { characterTime } from '../../protocol/timing.js';
import type { PortSettings, RtsSwitching } from '../settings.js';
import { outputHold } from './adapter.js';
import { type Libc, type LibcResult, POLLHUP } from './libc.js';
import type { BytePort, PortFacts, PortListener } from './port.js';
import { startBindingReader, startBindingWriter, startReader, startWriter } from './port-io.js';
import { lockHolder, lockPort, type PortDevice } from './port-path.js';
import { type Rs485Direction, type RtsSwitch, startRtsSwitch } from './rs485-direction.js';
import { setRts, type TransmitterState, transmitterState } from './uart.js';

/**
 * Part of what a port with parity marks received, in the order of the wire: good characters or damaged ones,
 * at least one.
 */
interface ReceivedCharacters {
  readonly kind: 'bytes' | 'damaged';
  readonly bytes: Uint8Array;
}

/** Removes the marks from the bytes that a port delivers. A mark may be split anywhere. */
interface MarkDecoder {
  /** Adds the next bytes. @param chunk is not kept, but the returned bytes may be views of it */
  push(chunk: Uint8Array): readonly ReceivedCharacters[];
}

/**
 * termios(3), PARMRK: a character with a parity or framing error X is read as the three bytes \377 \0 X, a
 * break as \377 \0 \0, and a good \377 as \377 \377.
 */
const MARK = 0xff;
const DAMAGED = 0x00;

/** Creates a decoder that expects the start of a character. */
export function createMarkDecoder(): MarkDecoder {
  let state: 'character' | 'marked' | 'damaged' = 'character';

  return {
    push(chunk) {
      if (state === 'character' && !chunk.includes(MARK)) {
        return chunk.length === 0 ? [] : [{ kind: 'bytes', bytes: chunk }];
      }
      const found = new Pieces(chunk.length + 1);
      for (const byte of chunk) {
        if (state === 'damaged') {
          found.add('damaged', byte);
          state = 'character';
        } else if (state === 'character') {
          if (byte === MARK) state = 'marked';
          else found.add('bytes', byte);
        } else if (byte === DAMAGED) {
          state = 'damaged';
        } else {
          // A mark is followed by another one, unless another program has switched the marks off. Then this
          // was a character.
          found.add('bytes', MARK);
          if (byte !== MARK) found.add('bytes', byte);
          state = 'character';
        }
      }
      return found.end();
    },
  };
}

/** Collects good and damaged characters into as few pieces as possible. */
class Pieces {
  readonly #bytes: Uint8Array;
  readonly #pieces: ReceivedCharacters[] = [];
  #kind: ReceivedCharacters['kind'] = 'bytes';
  #start = 0;
  #end = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  add(kind: ReceivedCharacters['kind'], character: number): void {
    if (kind !== this.#kind) this.end();
    this.#kind = kind;
    this.#bytes[this.#end++] = character;
  }

  end(): ReceivedCharacters[] {
    if (this.#end > this.#start) {
      this.#pieces.push({ kind: this.#kind, bytes: this.#bytes.subarray(this.#start, this.#end) });
      this.#start = this.#end;
    }
    return this.#pieces;
  }
}

/**
 * Opens the port for this process alone. serialport changes the settings before it tries its own lock, so a
 * failed attempt would disturb the program that uses the port. Therefore the port is locked before serialport
 * opens it, if the C library can be called.
 * @returns the open port, or why it did not open
 */
export async function openExclusively(
  settings: PortSettings,
  loaded: LibcResult,
): Promise<Result<SerialPort>> {
  const { path, baudRate, dataBits, parity, stopBits } = settings;
  const holder = lockHolder(path);
  if (holder?.pid === process.pid) return failure('is in use by another line of this program');
  if (holder) return failure(`is in use by ${holder.name} (process ${holder.pid}); stop it first`);
  let module: { SerialPort: typeof SerialPort };
  try {
    ({ default: module } = await import('serialport'));
  } catch (error) {
    return failure(`serialport did not load: ${(error as Error).message}`);
  }
  const locked = loaded.ok ? lockPort(path, loaded.libc) : undefined;
  if (locked && !locked.ok) return failure(explainOpenError(locked.error));
  // Always create a new object, because a disconnected one can't be reopened reliably.
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

/** Explains an error of serialport, which passes on only the text of strerror(3). */
export function explainOpenError(text: string): string {
  const message = text.replace(/^Error: /, '');
  const explanations: [RegExp, string][] = [
    [/permission denied/i, 'permission denied; add the user to the group dialout and log in again'],
    [
      /operation not permitted/i,
      "forbidden by the service's device policy, regardless of the port's file mode. systemd allows only devices named by DeviceAllow= whose driver was loaded when the service started: restart the service after plugging the adapter in for the first time",
    ],
    // serialport's error texts on Windows.
    [/access denied/i, 'is in use by another program; stop it first'],
    [/file not found/i, 'does not exist; modbus-sim ports lists the serial ports'],
    [/parameter is incorrect|error code 87$/i, 'has a driver that does not accept these settings'],
    [
      /error code (31|121|433|1167)$/i,
      'has an adapter that does not respond; unplug it and plug it in again',
    ],
    [/cannot lock|resource busy|temporarily unavailable/i, 'is in use by another program; stop it first'],
    [/inappropriate ioctl/i, 'is not a terminal device, so it is not a serial port'],
    [/input\/output error|no such device/i, 'has no UART or adapter'],
  ];
  const known = explanations.find(([pattern]) => pattern.test(message));
  return known ? `${known[1]} (${message})` : `can't be opened: ${message}`;
}

interface OutputLines {
  readonly rts: 'high' | 'low';
  /** Holds the line in the break state; false if absent. */
  readonly brk?: boolean;
}

/**
 * Sets all output lines. serialport sets all of them in each call: DTR and RTS to high unless given, and the
 * low-latency mode off unless given. It does not report a failure of that mode: see `hasLowLatency`.
 * @returns false if the lines were not set; a pseudo-terminal has none
 */
export function setLines(port: SerialPort, { rts, brk = false }: OutputLines): Promise<boolean> {
  // serialport's types omit lowLatency, which its Linux binding has.
  const all: object = { brk, rts: rts === 'high', lowLatency: true };
  return new Promise((resolve) => port.set(all, (error) => resolve(error === null)));
}

/** Reports whether the driver is in its low-latency mode; undefined if the driver can't be asked. */
export function hasLowLatency(port: SerialPort): Promise<boolean | undefined> {
  return new Promise((resolve) =>
    port.get((error, status) => {
      // As with `set`, the types omit it.
      const isKnown = !error && status !== undefined && 'lowLatency' in status;
      resolve(isKnown ? status.lowLatency === true : undefined);
    }),
  );
}

/** Discards the bytes that were received and not read, and those that were written and not sent. */
export function flush(port: SerialPort): Promise<void> {
  return new Promise((resolve) => port.flush(() => resolve()));
}

export function closePort(port: SerialPort): Promise<void> {
  return new Promise((resolve) => {
    if (port.isOpen) port.close(() => resolve());
    else if (port.closing) port.once('close', () => resolve());
    else resolve();
  });
}

/**
 * How often an open port is checked, in ms. A path that vanished or leads to another device makes nothing
 * readable, and some drivers do not hang up, so a failing read is not enough to detect an unplugged adapter.
 */
const WATCHDOG_INTERVAL = 500;

/** Returns why the device behind an open descriptor is dead; undefined while it is alive. */
function hangUpOf(libc: Libc, fd: number): string | undefined {
  const events = libc.pollNow(fd);
  // A negative result is an errno of poll(2), none of which means that the device is gone.
  return events >= 0 && (events & POLLHUP) !== 0 ? 'hung up (POLLHUP)' : undefined;
}

/** An open port, set up and verified. */
interface OpenedPort {
  readonly port: SerialPort;
  readonly loaded: LibcResult;
  readonly device: PortDevice;
  readonly settings: PortSettings;
  readonly listener: PortListener;
  readonly facts: PortFacts;
  readonly direction: Rs485Direction;
  readonly errorCounts: BytePort['errorCounts'];
}

/** How long closing waits for bytes that are being sent before it turns off direction switching, in ms. */
const DRAIN_LIMIT = 500;

/** Runs an open port: passes on received bytes, writes, monitors the port and closes it. */
export function runPort(opened: OpenedPort): BytePort {
  const { port, loaded, device, settings, listener, facts, direction, errorCounts } = opened;
  const { path } = settings;
  let isOpen = true;
  let closed: Promise<void> | undefined;
  let goneBecause = 'the port is closed';
  const shutting = new AbortController();
  let breaking: Promise<string | undefined> | undefined;

  const gone = (reason: string): void => {
    if (!isOpen) return;
    goneBecause = reason;
    closed = shut(false);
    listener.onClose(`${path}: ${reason}`);
  };
  const fd = (): number | undefined => port.port?.fd ?? undefined;
  const openedFd = fd();
  const hasPoller = port.port !== undefined && 'poller' in port.port;
  const writer = (hasPoller ? startWriter : startBindingWriter)(port, gone);
  const transmitter = (): TransmitterState => {
    if (writer.pending() > 0) return 'sending';
    const open = fd();
    return loaded.ok && open !== undefined ? transmitterState(loaded.libc, open) : 'empty';
  };
  const rts = direction.rts && switchByRts(direction.rts);
  const hangUp = (open: number): string | undefined => (loaded.ok ? hangUpOf(loaded.libc, open) : undefined);
  const look = (): string | undefined => {
    const problem = device.whyGone();
    if (problem !== undefined) return problem;
    const open = fd();
    // The path may exist (again) while the device behind the descriptor is dead.
    return open === undefined ? 'closed' : hangUp(open);
  };
  const watchdog = setInterval(() => {
    const problem = look();
    if (problem !== undefined) gone(problem);
  }, WATCHDOG_INTERVAL).unref();
  const stopReading = (hasPoller ? startReader : startBindingReader)({
    port,
    heard: receiver(facts.parityMarks, listener, () => isOpen),
    hangUp() {
      const open = fd();
      return loaded.ok && open !== undefined ? hangUp(open) : 'hung up (end of file)';
    },
    gone,
  });

  function switchByRts(switching: RtsSwitching): RtsSwitch {
    const time = characterTime(settings);
    return startRtsSwitch({
      switching,
      characterTime: time,
      outputHold: outputHold(facts.adapter, time),
      setRts(level) {
        const open = fd();
        if (!loaded.ok) return;
        const problem = open === undefined ? 'closed' : setRts(loaded.libc, open, level);
        if (problem !== undefined) gone(problem);
      },
      write: (bytes) => void writer.write(bytes),
      transmitter,
    });
  }

  async function shut(isThere: boolean): Promise<void> {
    isOpen = false;
    clearInterval(watchdog);
    stopReading();
    shutting.abort();
    // End the break first: drivers differ in what closing does to a break.
    if (isThere) await breaking;
    if (isThere && direction.mustDrain) await drained(transmitter);
    writer.stop();
    rts?.stop();
    // If serialport has already closed the descriptor, its number may now belong to another file.
    if (openedFd !== undefined && fd() === openedFd) direction.restore?.();
    await closePort(port);
  }

  port.on('close', (error: Error | null) => gone(`hung up (${error?.message ?? 'closed'})`));
  port.on('error', (error: Error) => gone(error.message));

  const holdBreak = async (ms: number): Promise<string | undefined> => {
    if (direction.noBreak !== undefined) return direction.noBreak;
    const level = rts ? (direction.rts?.rtsOnSend ?? 'high') : 'high';
    await rts?.hold();
    if (!isOpen) return goneBecause;
    const isSet = await setLines(port, { rts: level, brk: true });
    const isWhole = isSet && (await delay(ms, true, { signal: shutting.signal }).catch(() => false));
    const isEnded = isSet && (await setLines(port, { rts: level }));
    if (isOpen) rts?.release();
    if (isWhole) return isEnded ? undefined : 'the driver did not end the break';
    return isOpen ? 'the driver refused a break' : goneBecause;
  };
  return {
    path,
    write: (bytes) => {
      if (isOpen) (rts ?? writer).write(bytes);
      return isOpen ? undefined : goneBecause;
    },
    ...(!device.isPseudoTerminal && {
      sendBreak: (ms) => {
        breaking = holdBreak(ms);
        return breaking;
      },
    }),
    ...(!rts && { isSending: () => transmitter() === 'sending' }),
    ...(errorCounts && { errorCounts }),
    facts: () => facts,
    close: () => {
      closed ??= shut(true);
      return closed;
    },
  };
}

/**
 * Returns the function that accepts received bytes: it removes any marks, and reports characters in order of
 * arrival.
 */
function receiver(
  parityMarks: boolean,
  listener: PortListener,
  isOpen: () => boolean,
): (chunk: Uint8Array) => void {
  if (!parityMarks) return (chunk) => listener.onData(chunk);
  const decoder = createMarkDecoder();
  return (chunk) => {
    for (const received of decoder.push(chunk)) {
      if (!isOpen()) return;
      if (received.kind === 'bytes') listener.onData(received.bytes);
      else listener.onDamaged(received.bytes);
    }
  };
}

async function drained(transmitter: () => TransmitterState): Promise<void> {
  const until = performance.now() + DRAIN_LIMIT;
  while (transmitter() === 'sending' && performance.now() < until) await delay(5);
}
