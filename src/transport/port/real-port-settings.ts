import { getSystemErrorName } from 'node:util';
import type { PortSettings } from '../settings.js';
import type { Libc } from './libc.js';
import {
  describeSettings,
  hasParityMarks,
  keptLinesTermios2,
  markedTermios2,
  parseTermios2,
  settingsDifference,
} from './termios.js';
import { changeTermios2, readTermios2 } from './uart.js';

export type AppliedSettings =
  | {
      readonly ok: true;
      /** As the driver has them, '19200 8E1'; undefined where that is not known. */
      readonly settings: string | undefined;
      readonly parityMarks: boolean;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly error: string };

/**
 * Has damaged characters marked and reads the settings back; refuses a driver that has other settings than asked for.
 * Sentences are the end of one that begins with the port's path.
 * @param isVerifiable false on a pseudo-terminal, which keeps settings that mean nothing
 */
export function applySettings(
  libc: Libc,
  fd: number,
  wanted: PortSettings,
  isVerifiable: boolean,
): AppliedSettings {
  const unmarked = wanted.parityMarks === false ? 'not asked for' : setParityMarks(libc, fd);
  if (wanted.parityMarks === true && unmarked !== undefined) {
    return { ok: false, error: `parityMarks: true is not possible: ${unmarked}` };
  }
  const notes: string[] = [];
  if (wanted.parityMarks !== false && unmarked !== undefined) {
    notes.push(`damaged characters are not marked: ${unmarked}`);
  }
  const parityMarks = unmarked === undefined;
  if (!isVerifiable) {
    notes.push('is a pseudo-terminal: it has no baud rate and no parity, so its settings are not verified');
    return { ok: true, settings: undefined, parityMarks, notes };
  }
  const bytes = readTermios2(libc, fd);
  if (typeof bytes === 'number') {
    notes.push(`settings can't be read back (TCGETS2: ${getSystemErrorName(bytes)})`);
    return { ok: true, settings: undefined, parityMarks, notes };
  }
  const found = parseTermios2(bytes);
  const difference = settingsDifference(wanted, found);
  if (difference !== undefined) {
    const error = `the driver did not take the settings: wanted ${difference.wanted}, found ${difference.found}`;
    return { ok: false, error };
  }
  return { ok: true, settings: describeSettings(found), parityMarks, notes };
}

/** The same where the C library can't be called. */
export function unverifiedSettings(wanted: PortSettings, reason: string): AppliedSettings {
  if (wanted.parityMarks === true) {
    return { ok: false, error: `parityMarks: true is not possible: ${reason}` };
  }
  const what =
    wanted.parityMarks === false
      ? 'settings are not read back'
      : 'settings are not read back and damaged characters are dropped unmarked';
  return { ok: true, settings: undefined, parityMarks: false, notes: [`${what}: ${reason}`] };
}

/**
 * Leaves RTS and DTR as they are when the port is closed, by whatever end of the process. serialport's option
 * `hupcl: false` does not do that: it only refrains from setting a flag (HUPCL) that every serial driver begins with.
 * @returns why it did not work.
 */
export function keepLinesOnClose(libc: Libc, fd: number): string | undefined {
  return changeTermios2(libc, fd, keptLinesTermios2);
}

/** @returns why it did not work. */
function setParityMarks(libc: Libc, fd: number): string | undefined {
  const before = readTermios2(libc, fd);
  const failure = changeTermios2(libc, fd, markedTermios2);
  if (failure !== undefined || typeof before === 'number') return failure;
  const after = readTermios2(libc, fd);
  // Half of it would be worse than nothing: bytes would be taken for marks, or marks for bytes.
  if (typeof after !== 'number' && hasParityMarks(after)) return undefined;
  changeTermios2(libc, fd, () => before);
  return 'the driver did not take PARMRK and INPCK';
}
