import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/**
 * A made-up machine for each test of a file: a directory with a dev/, a sys/ and a proc/ of its own. Paths are given
 * from there, without a slash in front.
 */
export function useMachine() {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'machine-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const at = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  const file = (path: string, text: string): void => writeFileSync(at(path), text);
  /** A symbolic link; what it leads to need not be there. */
  const link = (path: string, target: string): void =>
    symlinkSync(relative(dirname(join(root, path)), join(root, target)), at(path));
  /** Gives a device in sys/devices its driver. */
  const driver = (hardware: string, name: string): void => {
    mkdirSync(join(root, `sys/bus/some/drivers/${name}`), { recursive: true });
    link(`sys/devices/${hardware}/driver`, `sys/bus/some/drivers/${name}`);
  };
  /** A serial port as sysfs shows it: its hardware's directory, the driver, and files of the tty. */
  const port = (name: string, hardware: string, by: string, files: Record<string, string> = {}): void => {
    const tty = `sys/devices/${hardware}/tty/${name}`;
    file(`dev/${name}`, '');
    driver(hardware, by);
    link(`${tty}/device`, `sys/devices/${hardware}`);
    link(`sys/class/tty/${name}`, tty);
    for (const [key, text] of Object.entries(files)) file(`${tty}/${key}`, text);
  };
  return { root: () => root, file, link, driver, port };
}
