import { setFlagsFromString } from 'node:v8';

/**
 * An operating system, as far as this program differs on it. What differs takes a platform, so that its tests
 * run anywhere.
 */
export interface Platform {
  /** The name of the system in messages. */
  readonly name: string;
  /** True where there are pseudo-terminals, sysfs, and the ioctls, timers and signals of Linux. */
  readonly isLinux: boolean;
  /** True where a serial port is no file but a name such as COM5, and paths have backslashes. */
  readonly isWindows: boolean;
}

const NAMES: Readonly<Record<string, string>> = { linux: 'Linux', win32: 'Windows', darwin: 'macOS' };

/** Describes a system. @param id as `process.platform` has it */
export function platformOf(id: string): Platform {
  return { name: NAMES[id] ?? id, isLinux: id === 'linux', isWindows: id === 'win32' };
}

/** The system that this process runs on. */
export const HERE = platformOf(process.platform);

/**
 * Keeps the young generations of all heaps as they are. The garbage of a request is small and dies at once,
 * so a generation that does not grow keeps its collections short and saves memory (docs/decisions/0039-measurements.md). V8
 * lets them grow again when it makes a heap, so this is called again for each new thread.
 */
export function keepYoungGenerations(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Says why a line can't have `path: virtual` on a system, and what to write instead; undefined where it can.
 */
export function whyNotVirtual({ name, isLinux, isWindows }: Platform): string | undefined {
  if (isLinux) return undefined;
  const port = isWindows ? 'path: COM5; com0com makes a pair of ports' : 'modbus-sim ports lists them';
  return `virtual lines need Linux, and this is ${name}: name a serial port (${port}), or use RTU over TCP with tcp: {port: 5021} and framing: rtu`;
}

/**
 * The names of serial ports of Windows: COM1, and those that com0com gives to its pairs. serialport adds the
 * prefix that COM10 and above need, and takes no longer names.
 */
const WINDOWS_NAMES = /^(COM[1-9]\d{0,2}|CNC[AB]\d{1,4})$/;

/** Says why Windows has no serial port of this name; undefined where the name has the right form. */
export function whyNoWindowsName(path: string): string | undefined {
  return WINDOWS_NAMES.test(path)
    ? undefined
    : 'is not the name of a serial port, expected one such as COM5; modbus-sim ports lists them';
}
