import { getSystemErrorName } from 'node:util';
import type { Rs485Settings, RtsSwitching } from '../settings.js';
import type { Adapter } from './adapter.js';
import { type LibcResult, TIOCMGET } from './libc.js';
import {
  describeKernelSwitching,
  describeSwitching,
  enableKernelMode,
  readKernelMode,
} from './rs485-kernel.js';

/** Who switches an open port between sending and listening. */
export interface Direction {
  /** A text for people, with what was read back. */
  readonly text: string;
  /** Present where this program has to switch. */
  readonly rts?: RtsSwitching;
  /** Why a break would not reach the bus; undefined where it does. */
  readonly noBreak: string | undefined;
  /** Whether closing takes the switch away, and so must wait for bytes that are being sent. */
  readonly mustDrain: boolean;
  /** Puts back what was found at opening. */
  restore(): void;
}

export type DirectionResult =
  | { readonly ok: true; readonly direction: Direction }
  /** The end of a sentence that begins with the port's path. */
  | { readonly ok: false; readonly error: string };

/** Sets a port up for the direction settings, and verifies that it can do what they ask for. */
export function openDirection(
  fd: number,
  settings: Rs485Settings | undefined,
  loaded: LibcResult,
): DirectionResult {
  if (!loaded.ok) {
    if (settings === undefined)
      return { ok: true, direction: byItself('not known whether the kernel switches') };
    return { ok: false, error: `rs485: {mode: ${settings.mode}} is not possible: ${loaded.reason}` };
  }
  const { libc } = loaded;
  if (settings?.mode === 'kernel') {
    const enabled = enableKernelMode(libc, fd, settings);
    return enabled.ok
      ? {
          ok: true,
          direction: {
            ...byKernel(describeKernelSwitching(enabled.mode)),
            mustDrain: true,
            restore: enabled.restore,
          },
        }
      : enabled;
  }
  const found = readKernelMode(libc, fd);
  if (settings === undefined) {
    return {
      ok: true,
      direction: found?.enabled
        ? byKernel(`${describeKernelSwitching(found)}, as it was set before this program came`)
        : byItself('the RS-485 mode of the kernel is off'),
    };
  }
  if (found?.enabled) {
    const error = `rs485: {mode: rts} is not possible, the kernel switches already (${describeKernelSwitching(found)}); use rs485: {mode: kernel} or {mode: auto}`;
    return { ok: false, error };
  }
  const lines = libc.ioctl(fd, TIOCMGET, new Uint8Array(4));
  if (lines < 0) {
    const error = `rs485: {mode: rts} is not possible, this port has no modem lines (TIOCMGET: ${getSystemErrorName(lines)}); use an adapter that switches by itself (rs485: {mode: auto})`;
    return { ok: false, error };
  }
  return { ok: true, direction: byRts(settings) };
}

/**
 * Drivers whose kernel mode takes rtsOnSend for the voltage of the pin (amba-pl011.c, 8250_bcm2835aux.c). Others, 8250
 * above all, take it for the modem signal; a high (asserted) signal is a pin at 0 V.
 */
const pinLevelKinds: readonly Adapter['kind'][] = ['pl011', 'mini-uart'];

/**
 * The level of the modem signal RTS on a port that is listening. serialport needs it whenever it sets anything. With
 * the kernel's mode, this level counts before that mode is on and after it is off.
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

function byItself(known: string): Direction {
  return {
    text: `the adapter by itself, if there is something to switch (${known})`,
    noBreak: undefined,
    mustDrain: false,
    restore() {},
  };
}

function byKernel(text: string): Direction {
  return {
    text,
    noBreak: 'the RS-485 mode of the kernel lets go of the bus except for characters, so no break reaches it',
    mustDrain: false,
    restore() {},
  };
}

function byRts(settings: RtsSwitching): Direction {
  return {
    text: `this program switches: ${describeSwitching(settings)}; it lets go of the bus late, by milliseconds when the machine is busy, so it is the last resort`,
    rts: settings,
    noBreak: undefined,
    mustDrain: true,
    restore() {},
  };
}
