import type { Rs485Settings, RtsSwitching } from '../settings.js';

/**
 * The kernel's `struct serial_rs485` (linux/serial.h), 32 bytes, little-endian: flags, delay before and after sending
 * in ms (u32 each), and 20 bytes for addressing, which is not used here.
 */
export const SERIAL_RS485_BYTES = 32;

const offsets = { flags: 0, delayBefore: 4, delayAfter: 8 };

const ENABLED = 1 << 0;
const RTS_ON_SEND = 1 << 1;
const RTS_AFTER_SEND = 1 << 2;
const RX_DURING_TX = 1 << 4;
/** A terminating resistor that the board can switch: not ours to change. */
const TERMINATE_BUS = 1 << 5;

/** The kernel's RS-485 mode of a port. */
export interface KernelMode {
  readonly enabled: boolean;
  readonly rtsOnSend: 'high' | 'low';
  /** ms */
  readonly delayBeforeSend: number;
  /** ms */
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
 * The structure that asks for a mode.
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
 * What of a wanted mode the driver has not taken; it adjusts what it was given without an error.
 * Only a `receiveWhileSending` that was asked for counts: hearing itself does not hurt a line.
 * @returns undefined when it has taken everything, else both for people: `{wanted: 'RTS high …', found: 'off'}`.
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

/** For people: 'RTS high while sending, 1 ms before and 0 ms after, receiver off meanwhile', or 'off'. */
export function describeKernelMode(mode: KernelMode): string {
  if (!mode.enabled) return 'off';
  return `${describeSwitching(mode)}, receiver ${mode.receiveWhileSending ? 'on' : 'off'} meanwhile`;
}

/** For people: 'RTS high while sending, 1 ms before and 0 ms after'. */
export function describeSwitching({ rtsOnSend, delayBeforeSend, delayAfterSend }: RtsSwitching): string {
  return `RTS ${rtsOnSend} while sending, ${delayBeforeSend} ms before and ${delayAfterSend} ms after`;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
