import { getSystemErrorName } from 'node:util';
import type { PortSettings } from '../settings.js';
import type { Libc, LibcResult } from './libc.js';
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

export type AppliedSettings =
  | {
      readonly ok: true;
      /** The settings as the driver has them, '19200 8E1'; undefined where they are not known. */
      readonly settings: string | undefined;
      readonly parityMarks: boolean;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly error: string };

/**
 * Has damaged characters marked, reads the settings back, and refuses a driver that has other settings than
 * asked for. A sentence of the result is the end of one that begins with the port's path.
 * @param isVerifiable false on a pseudo-terminal, which keeps settings that mean nothing
 */
export function applySettings(
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
    const dropped = isMissed ? ' and damaged characters are dropped unmarked' : '';
    return unverified(`settings are not read back${dropped}: ${loaded.reason}`);
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
    const error = `the driver did not take the settings: wanted ${difference.wanted}, found ${difference.found}`;
    return { ok: false, error };
  }
  return { ok: true, settings: describeSettings(found), parityMarks, notes };
}

/**
 * Makes RTS and DTR stay as they are when the port is closed, even by the end of the process. serialport's
 * option `hupcl: false` does not do that: it only refrains from setting a flag (HUPCL) that every serial
 * driver begins with.
 * @returns why it did not work
 */
export function keepLinesOnClose(libc: Libc, fd: number): string | undefined {
  return changeTermios2(libc, fd, keptLinesTermios2);
}

/** Has damaged characters marked. @returns why it did not work. */
function whyUnmarked(loaded: LibcResult, fd: number): string | undefined {
  if (!loaded.ok) return loaded.reason;
  const { libc } = loaded;
  const before = readTermios2(libc, fd);
  const failure = changeTermios2(libc, fd, markedTermios2);
  if (failure !== undefined || typeof before === 'number') return failure;
  const after = readTermios2(libc, fd);
  // Half of this setting would be worse than nothing: bytes would be taken for marks, or marks for bytes.
  if (typeof after !== 'number' && hasParityMarks(after)) return undefined;
  changeTermios2(libc, fd, () => before);
  return 'the driver did not take PARMRK and INPCK';
}
