import { setFlagsFromString } from 'node:v8';

/**
 * An operating system, as far as it makes a difference to this program. Code that differs takes a platform as
 * a parameter, so that its tests run anywhere.
 */
export interface Platform {
  readonly name: string;
  /** True if there are pseudo-terminals, sysfs, and the ioctls, timers and signals of Linux. */
  readonly isLinux: boolean;
  /** True if a serial port is not a file but a name such as COM5, and paths have backslashes. */
  readonly isWindows: boolean;
}

const NAMES: Readonly<Record<string, string>> = { linux: 'Linux', win32: 'Windows', darwin: 'macOS' };

/** Describes a system. @param id a value of `process.platform` */
export function platformOf(id: string): Platform {
  return { name: NAMES[id] ?? id, isLinux: id === 'linux', isWindows: id === 'win32' };
}

/** The system that this process runs on. */
export const HERE = platformOf(process.platform);

/**
 * Keeps the young generations of all heaps at their size. The garbage of a request is small and short-lived,
 * so a generation that does not grow keeps its collections short and saves memory
 * (docs/decisions/0039-measurements.md). V8 lets them grow again when it creates a heap, so this is called
 * again for each new thread.
 */
export function keepYoungGenerations(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Explains why a line can't have `path: virtual` on a system, and what to write instead; undefined if it can. */
export function whyNotVirtual({ name, isLinux, isWindows }: Platform): string | undefined {
  if (isLinux) return undefined;
  const port = isWindows ? 'path: COM5; com0com makes a pair of ports' : 'modbus-sim ports lists them';
  return `virtual lines need Linux, and this is ${name}: name a serial port (${port}), or use RTU over TCP with tcp: {port: 5021} and framing: rtu`;
}

/**
 * Names of serial ports on Windows: COM1, and those that com0com gives to its pairs. serialport adds the
 * prefix that COM10 and above need, and accepts no longer names.
 */
const WINDOWS_NAMES = /^(COM[1-9]\d{0,2}|CNC[AB]\d{1,4})$/;

/** Explains why Windows can't have a serial port of this name; undefined if the name has the right form. */
export function whyNoWindowsName(path: string): string | undefined {
  return WINDOWS_NAMES.test(path)
    ? undefined
    : 'is not the name of a serial port, expected one such as COM5; modbus-sim ports lists them';
}
