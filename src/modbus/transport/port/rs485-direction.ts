import { getSystemErrorName } from 'node:util';
import { type Clock, systemClock } from '../clock.js';
import type { Rs485Settings, RtsSwitching } from '../settings.js';
import type { Adapter } from './adapter.js';
import { type Libc, type LibcResult, TIOCGRS485, TIOCMGET, TIOCSRS485 } from './libc.js';
import type { TransmitterState } from './uart.js';

/** What RTS switching needs from a port and a clock. */
interface RtsOptions {
  readonly switching: RtsSwitching;
  /** Time of one character on the wire, in ms. */
  readonly characterTime: number;
  /** How long a byte may wait in the adapter before it is on the wire, in ms. */
  readonly outputHold: number;
  setRts(level: 'high' | 'low'): void;
  write(bytes: Uint8Array): void;
  /** Reports how far the driver has got with the bytes passed to it. */
  transmitter(): TransmitterState;
  /** The clock; the system's if absent. */
  readonly clock?: Clock;
}

/** Sends with RTS at its sending level, and switches it back as soon as the last character has left. */
export interface RtsSwitch {
  /**
   * Sends bytes. Bytes written while others are being sent follow them directly; bytes written during a
   * `hold` wait.
   */
  write(bytes: Uint8Array): void;
  /** Reserves the line for a break. Resolves when the break may begin. */
  hold(): Promise<void>;
  /** Ends `hold`. */
  release(): void;
  /** Releases the line at once. */
  stop(): void;
}

/** How often to ask whether the transmitter is empty, in ms: initially, and when it stays busy. */
const POLL = 0.25;
const SLOW_POLL = 5;
/** If a transmitter is late by this many ms, something is holding it up. */
const STUCK_AFTER = 20;

/**
 * Starts the switch with the line listening. The sequence is: RTS up, `delayBeforeSend`, the bytes, a wait
 * for the computed end of their last character and for the driver to report an empty transmitter (or for one
 * `outputHold` more, if it can't report that), `delayAfterSend`, RTS down.
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
      // Setting RTS may have failed, which ends everything.
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
/** The flag for a terminating resistor that the board can switch. This program does not change it. */
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
 * Returns the structure that requests a mode.
 * @param found the driver's current structure; its bus termination is kept
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
 * Compares a requested mode with the driver's mode, because drivers adjust modes without an error.
 * `receiveWhileSending` counts only if it was requested: a line that hears itself does no harm.
 * @returns undefined if the driver accepted everything, otherwise both as text: `{wanted: 'RTS high …',
 * found: 'off'}`
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

/** Describes a mode: 'RTS high while sending, 1 ms before and 0 ms after, receiver off meanwhile', or 'off'. */
export function describeKernelMode(mode: KernelMode): string {
  if (!mode.enabled) return 'off';
  return `${describeSwitching(mode)}, receiver ${mode.receiveWhileSending ? 'on' : 'off'} meanwhile`;
}

/** Describes switching: 'RTS high while sending, 1 ms before and 0 ms after'. */
function describeSwitching({ rtsOnSend, delayBeforeSend, delayAfterSend }: RtsSwitching): string {
  return `RTS ${rtsOnSend} while sending, ${delayBeforeSend} ms before and ${delayAfterSend} ms after`;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads the kernel's current RS-485 mode; undefined if the driver has none. */
function readKernelMode(libc: Libc, fd: number): KernelMode | undefined {
  const struct = readStruct(libc, fd);
  return typeof struct === 'number' ? undefined : parseRs485(struct);
}

/**
 * Turns on the kernel's RS-485 mode, and reads back what the driver made of it. A failure leaves the mode as
 * it was. `restore` restores it before the port is closed.
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

function describeKernelSwitching(mode: KernelMode): string {
  return `the kernel switches: ${describeKernelMode(mode)} (read back)`;
}

/** What switches an open port between sending and listening. */
export interface Rs485Direction {
  /** A description that includes what was read back. */
  readonly text: string;
  /** How to switch RTS; present if this program has to do it. */
  readonly rts?: RtsSwitching;
  /** Why a break would not reach the bus; undefined if it would. */
  readonly noBreak: string | undefined;
  /** True if closing turns off the switching, and so must wait for bytes that are being sent. */
  readonly mustDrain: boolean;
  /** Restores the mode found when the port was opened; absent if nothing was changed. */
  restore?(): void;
}

type DirectionResult = { readonly ok: true; readonly direction: Rs485Direction } | DirectionRefusal;

/** The reason continues a sentence that begins with the port's path. */
interface DirectionRefusal {
  readonly ok: false;
  readonly error: string;
}

/** Sets up a port for its direction settings, and verifies that it supports them. */
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
 * The drivers whose kernel mode interprets `rtsOnSend` as the voltage of the pin (amba-pl011.c,
 * 8250_bcm2835aux.c). Others, above all 8250, interpret it as the modem signal; a high (asserted) signal is 0
 * V at the pin.
 */
const pinLevelKinds: readonly Adapter['kind'][] = ['pl011', 'mini-uart'];

/**
 * Returns the level of the modem signal RTS on a port that is listening. serialport needs it whenever it sets
 * anything. In kernel mode, this level applies before the mode is turned on and after it is turned off.
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
