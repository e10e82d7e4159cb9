import { getSystemErrorName } from 'node:util';
import { type Clock, systemClock } from '../clock.js';
import type { Rs485Settings, RtsSwitching } from '../settings.js';
import type { Adapter } from './adapter.js';
import { type Libc, type LibcResult, TIOCGRS485, TIOCMGET, TIOCSRS485 } from './libc.js';
import type { TransmitterState } from './uart.js';

/** What switching by RTS needs from a port and a clock. */
interface RtsOptions {
  readonly switching: RtsSwitching;
  /** Time of one character on the wire, in ms. */
  readonly characterTime: number;
  /** How long a byte may wait in the adapter before it is on the wire, in ms. */
  readonly outputHold: number;
  setRts(level: 'high' | 'low'): void;
  /** Hands bytes to the driver. */
  write(bytes: Uint8Array): void;
  /** Says how far the driver has got with the bytes that were handed to it. */
  transmitter(): TransmitterState;
  /** The clock; the system's when absent. */
  readonly clock?: Clock;
}

/** Sends with RTS at its sending level, and sets RTS back as soon as the last character has left. */
export interface RtsSwitch {
  /**
   * Sends bytes. Bytes that come while others are sent follow them directly; bytes that come during a `hold`
   * wait.
   */
  write(bytes: Uint8Array): void;
  /** Reserves the line for a break. Resolves when the break may begin. */
  hold(): Promise<void>;
  /** Ends `hold`. */
  release(): void;
  /** Lets go of the line at once. */
  stop(): void;
}

/** How often to ask whether the transmitter is empty, in ms: at first, and when it stays busy. */
const POLL = 0.25;
const SLOW_POLL = 5;
/** When a transmitter is later than expected by this many ms, something holds it up. */
const STUCK_AFTER = 20;

/**
 * Starts the switch with the line listening. The order is: RTS up, `delayBeforeSend`, the bytes, until the
 * computed end of their last character and until the driver says that its transmitter is empty (where it does
 * not know, one `outputHold` more), `delayAfterSend`, RTS down.
 */
export function startRtsSwitch(options: RtsOptions): RtsSwitch {
  const { characterTime, outputHold, transmitter, clock = systemClock } = options;
  const { rtsOnSend, delayBeforeSend, delayAfterSend } = options.switching;
  const rtsOnListen = rtsOnSend === 'high' ? 'low' : 'high';
  let isOurs = false;
  let isHeld = false;
  let mayStartAt = 0;
  let waiting: Uint8Array[] = [];
  let endsAt = Number.NEGATIVE_INFINITY;
  let callOff = (): void => {};

  const next = (at: number, step: () => void): void => {
    callOff();
    callOff = clock.callAt(at, step);
  };
  const takeLine = (): void => {
    if (isOurs) return;
    isOurs = true;
    options.setRts(rtsOnSend);
    mayStartAt = clock.now() + delayBeforeSend;
  };
  const letGo = (): void => {
    callOff();
    if (!isOurs) return;
    isOurs = false;
    options.setRts(rtsOnListen);
  };
  const send = (): void => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    const start = Math.max(clock.now(), endsAt);
    options.write(bytes);
    endsAt = start + bytes.length * characterTime;
    next(endsAt, awaitEnd);
  };
  const awaitEnd = (): void => {
    const now = clock.now();
    const state = transmitter();
    if (state === 'sending') {
      next(now + (now - endsAt > STUCK_AFTER ? SLOW_POLL : POLL), awaitEnd);
      return;
    }
    if (isHeld) return;
    const leftAt = state === 'empty' ? now : Math.max(now, endsAt + outputHold);
    const at = leftAt + delayAfterSend;
    if (at > now) next(at, letGo);
    else letGo();
  };

  return {
    write(bytes) {
      takeLine();
      waiting.push(bytes);
      // Setting RTS may have failed, and that ends everything.
      if (isHeld || !isOurs) return;
      if (clock.now() >= mayStartAt) send();
      else next(mayStartAt, send);
    },
    hold: () => {
      isHeld = true;
      callOff();
      takeLine();
      return new Promise((resolve) => {
        if (clock.now() >= mayStartAt) resolve();
        else clock.callAt(mayStartAt, resolve);
      });
    },
    release() {
      isHeld = false;
      endsAt = clock.now();
      if (waiting.length > 0) send();
      else awaitEnd();
    },
    stop() {
      waiting = [];
      letGo();
    },
  };
}

/**
 * The kernel's `struct serial_rs485` (linux/serial.h), 32 bytes, little-endian: flags, delay before and after
 * sending in ms (u32 each), and 20 bytes for addressing, which is not used here.
 */
const SERIAL_RS485_BYTES = 32;

const offsets = { flags: 0, delayBefore: 4, delayAfter: 8 };

const ENABLED = 1 << 0;
const RTS_ON_SEND = 1 << 1;
const RTS_AFTER_SEND = 1 << 2;
const RX_DURING_TX = 1 << 4;
/** The flag of a terminating resistor that the board can switch. This program does not change it. */
const TERMINATE_BUS = 1 << 5;

/** The kernel's RS-485 mode of a port. */
interface KernelMode {
  readonly enabled: boolean;
  readonly rtsOnSend: 'high' | 'low';
  /** How long the driver waits before sending, in ms. */
  readonly delayBeforeSend: number;
  /** How long the driver waits after sending, in ms. */
  readonly delayAfterSend: number;
  readonly receiveWhileSending: boolean;
}

/** Reads a `serial_rs485` structure of at least 32 bytes. */
export function parseRs485(struct: Uint8Array): KernelMode {
  const view = viewOf(struct);
  const flags = view.getUint32(offsets.flags, true);
  return {
    enabled: (flags & ENABLED) !== 0,
    rtsOnSend: flags & RTS_ON_SEND ? 'high' : 'low',
    delayBeforeSend: view.getUint32(offsets.delayBefore, true),
    delayAfterSend: view.getUint32(offsets.delayAfter, true),
    receiveWhileSending: (flags & RX_DURING_TX) !== 0,
  };
}

/**
 * Returns the structure that asks for a mode.
 * @param found the structure as the driver has it now; a bus termination in it is kept
 */
export function packRs485(wanted: Rs485Settings, found: Uint8Array): Uint8Array {
  const struct = new Uint8Array(SERIAL_RS485_BYTES);
  const view = viewOf(struct);
  const { rtsOnSend, delayBeforeSend, delayAfterSend } = wanted;
  const termination = viewOf(found).getUint32(offsets.flags, true) & TERMINATE_BUS;
  const level = rtsOnSend === 'high' ? RTS_ON_SEND : RTS_AFTER_SEND;
  const receiving = wanted.receiveWhileSending ? RX_DURING_TX : 0;
  view.setUint32(offsets.flags, ENABLED | level | receiving | termination, true);
  // Rounded up: too short a delay would cut off a bit.
  view.setUint32(offsets.delayBefore, Math.ceil(delayBeforeSend), true);
  view.setUint32(offsets.delayAfter, Math.ceil(delayAfterSend), true);
  return struct;
}

/**
 * Compares a wanted mode with the mode that the driver has, because drivers adjust a mode without an error.
 * `receiveWhileSending` counts only if it was asked for: hearing itself does not hurt a line.
 * @returns undefined when the driver has taken everything, else both for people:
 * `{wanted: 'RTS high …', found: 'off'}`
 */
export function rs485Difference(
  wanted: Rs485Settings,
  found: KernelMode,
): { readonly wanted: string; readonly found: string } | undefined {
  const full: KernelMode = {
    ...wanted,
    enabled: true,
    receiveWhileSending: wanted.receiveWhileSending ?? found.receiveWhileSending,
  };
  const same =
    found.enabled &&
    full.rtsOnSend === found.rtsOnSend &&
    full.delayBeforeSend === found.delayBeforeSend &&
    full.delayAfterSend === found.delayAfterSend &&
    full.receiveWhileSending === found.receiveWhileSending;
  return same ? undefined : { wanted: describeKernelMode(full), found: describeKernelMode(found) };
}

/**
 * Describes a mode for people: 'RTS high while sending, 1 ms before and 0 ms after, receiver off meanwhile',
 * or 'off'.
 */
export function describeKernelMode(mode: KernelMode): string {
  if (!mode.enabled) return 'off';
  return `${describeSwitching(mode)}, receiver ${mode.receiveWhileSending ? 'on' : 'off'} meanwhile`;
}

/** Describes switching for people: 'RTS high while sending, 1 ms before and 0 ms after'. */
function describeSwitching({ rtsOnSend, delayBeforeSend, delayAfterSend }: RtsSwitching): string {
  return `RTS ${rtsOnSend} while sending, ${delayBeforeSend} ms before and ${delayAfterSend} ms after`;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads the kernel's RS-485 mode as it is now; undefined where the driver has none. */
function readKernelMode(libc: Libc, fd: number): KernelMode | undefined {
  const struct = readStruct(libc, fd);
  return typeof struct === 'number' ? undefined : parseRs485(struct);
}

/**
 * Switches the kernel's RS-485 mode on, and reads back what the driver made of it. A failure leaves the mode
 * as it was found. `restore` does so before the port is closed.
 */
function enableKernelMode(
  libc: Libc,
  fd: number,
  wanted: Rs485Settings,
): { readonly ok: true; readonly mode: KernelMode; readonly restore: () => void } | DirectionRefusal {
  const before = readStruct(libc, fd);
  if (typeof before === 'number') return { ok: false, error: explain(before) };
  const written = libc.ioctl(fd, TIOCSRS485, packRs485(wanted, before));
  if (written < 0) return { ok: false, error: explain(written) };

  const restore = (): void => void libc.ioctl(fd, TIOCSRS485, Uint8Array.from(before));
  const after = readStruct(libc, fd);
  const mode = typeof after === 'number' ? undefined : parseRs485(after);
  const difference = mode && rs485Difference(wanted, mode);
  if (mode !== undefined && difference === undefined) return { ok: true, mode, restore };
  restore();
  const { wanted: asked, found } = difference ?? { wanted: 'it', found: "nothing (it can't be read back)" };
  return {
    ok: false,
    error: `the driver did not accept the RS-485 mode: wanted ${asked}, found ${found}; configure what it supports, or rs485: {mode: rts}`,
  };
}

/** Reads the structure. @returns the structure, or the negative errno */
function readStruct(libc: Libc, fd: number): Uint8Array | number {
  const struct = new Uint8Array(SERIAL_RS485_BYTES);
  const result = libc.ioctl(fd, TIOCGRS485, struct);
  return result < 0 ? result : struct;
}

function explain(negativeErrno: number): string {
  const name = getSystemErrorName(negativeErrno);
  const why =
    name === 'ENOTTY'
      ? 'this driver has no RS-485 mode'
      : `this driver refuses the requested RS-485 mode (${name})`;
  return `${why}; use an adapter that switches direction on its own (rs485: {mode: auto}), or rs485: {mode: rts}`;
}

/** Returns the fact about a port on which the kernel switches. */
function describeKernelSwitching(mode: KernelMode): string {
  return `the kernel switches: ${describeKernelMode(mode)} (read back)`;
}

/** Says who switches an open port between sending and listening. */
export interface Rs485Direction {
  /** A text for people that includes what was read back. */
  readonly text: string;
  /** How to switch by RTS; present where this program has to switch. */
  readonly rts?: RtsSwitching;
  /** Why a break would not reach the bus; undefined where a break does reach it. */
  readonly noBreak: string | undefined;
  /** True when closing takes the switch away, and so must wait for bytes that are being sent. */
  readonly mustDrain: boolean;
  /** Puts back the mode that was found at opening; absent where nothing was changed. */
  restore?(): void;
}

type DirectionResult = { readonly ok: true; readonly direction: Rs485Direction } | DirectionRefusal;

/** The reason is the end of a sentence that begins with the port's path. */
interface DirectionRefusal {
  readonly ok: false;
  readonly error: string;
}

/** Sets a port up for the direction settings, and verifies that it can do what they ask for. */
export function openDirection(
  fd: number,
  settings: Rs485Settings | undefined,
  loaded: LibcResult,
): DirectionResult {
  if (!loaded.ok) {
    if (settings === undefined)
      return { ok: true, direction: byItself('unknown whether the kernel switches') };
    return {
      ok: false,
      error: `rs485: {mode: ${settings.mode}} is not possible: ${loaded.error}; use an adapter that switches direction on its own (rs485: {mode: auto})`,
    };
  }
  const { libc } = loaded;
  if (settings?.mode === 'kernel') {
    const enabled = enableKernelMode(libc, fd, settings);
    if (!enabled.ok) return enabled;
    const { mode, restore } = enabled;
    const direction = { ...byKernel(describeKernelSwitching(mode)), mustDrain: true, restore };
    return { ok: true, direction };
  }
  const found = readKernelMode(libc, fd);
  if (settings === undefined) {
    return {
      ok: true,
      direction: found?.enabled
        ? byKernel(`${describeKernelSwitching(found)}, as set before this program started`)
        : byItself('the RS-485 mode of the kernel is off'),
    };
  }
  if (found?.enabled) {
    const error = `rs485: {mode: rts} is not possible: the kernel already switches (${describeKernelSwitching(found)}); use rs485: {mode: kernel} or {mode: auto}`;
    return { ok: false, error };
  }
  const lines = libc.ioctl(fd, TIOCMGET, new Uint8Array(4));
  if (lines < 0) {
    const error = `rs485: {mode: rts} is not possible: this port has no modem lines (TIOCMGET: ${getSystemErrorName(lines)}); use an adapter that switches direction on its own (rs485: {mode: auto})`;
    return { ok: false, error };
  }
  return { ok: true, direction: byRts(settings) };
}

/**
 * The drivers whose kernel mode takes rtsOnSend for the voltage of the pin (amba-pl011.c, 8250_bcm2835aux.c).
 * Others, above all 8250, take it for the modem signal; a high (asserted) signal is a pin at 0 V.
 */
const pinLevelKinds: readonly Adapter['kind'][] = ['pl011', 'mini-uart'];

/**
 * Returns the level of the modem signal RTS on a port that is listening. serialport needs it whenever it sets
 * anything. With the kernel's mode, this level counts before that mode is on and after it is off.
 */
export function rtsWhileListening(
  settings: Rs485Settings | undefined,
  adapter: Adapter['kind'],
): 'high' | 'low' {
  if (settings === undefined) return 'high';
  const { mode, rtsOnSend } = settings;
  if (mode === 'kernel' && pinLevelKinds.includes(adapter)) return rtsOnSend;
  return rtsOnSend === 'high' ? 'low' : 'high';
}

function byItself(known: string): Rs485Direction {
  return {
    text: `the adapter itself, if the bus needs switching (${known})`,
    noBreak: undefined,
    mustDrain: false,
  };
}

function byKernel(text: string): Rs485Direction {
  return {
    text,
    noBreak:
      'in its RS-485 mode the kernel drives the bus only while it sends characters, so a break never reaches the bus',
    mustDrain: false,
  };
}

function byRts(settings: RtsSwitching): Rs485Direction {
  return {
    text: `this program switches: ${describeSwitching(settings)}. It releases the bus milliseconds late when the machine is busy, so use it only as a last resort`,
    rts: settings,
    noBreak: undefined,
    mustDrain: true,
  };
}
