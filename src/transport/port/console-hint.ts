import { basename, join } from 'node:path';
import { realPathOf, smallText } from './adapter.js';

/**
 * Finds out whether the kernel writes its messages to a serial port, and may read commands from it: then a bus there
 * hears the boot messages.
 * @param path the port's path or a link to it
 * @param root directory in which dev/, sys/ and proc/ are looked up; tests pass a tree of their own
 * @returns what to do about it; undefined when there is no such console
 */
export function consoleHint(path: string, root = '/'): string | undefined {
  const name = basename(realPathOf(join(root, path)) ?? path);
  const active = (smallText(join(root, 'sys/class/tty/console/active')) ?? '').split(/\s+/);
  const configured = consolesOf(smallText(join(root, 'proc/cmdline')) ?? '');
  const parameter = configured.find((device) => device === name || basename(alias(device, root)) === name);
  if (!active.includes(name) && parameter === undefined) return undefined;
  return `the kernel console is on this port; take console=${parameter ?? name} off the kernel command line, and see that no login waits there`;
}

/** Documentation/admin-guide/serial-console.rst: `console=device,options`, any number of times. */
function consolesOf(commandLine: string): string[] {
  return commandLine
    .split(/\s+/)
    .filter((word) => word.startsWith('console='))
    .map((word) => (word.slice('console='.length).split(',')[0] ?? '').replace(/^\/dev\//, ''));
}

/** A Raspberry Pi's command line says serial0, which is a link. */
function alias(device: string, root: string): string {
  return realPathOf(join(root, 'dev', device)) ?? device;
}
