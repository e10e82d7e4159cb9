import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration, LineDefinition } from './configuration.js';

/**
 * Moves the lines of a configuration to free ports, so that simulators never meet: sockets to any free port
 * of this machine, serial lines to pseudo-terminals.
 * @param linkOf the path of the link to a line, by its name; its directory has to exist
 */
export function onFreePorts(
  configuration: Configuration,
  linkOf: (line: string) => string = linkOfProcess,
): Configuration {
  return { ...configuration, lines: configuration.lines.map((line) => onFreePort(line, linkOf)) };
}

/** Why lines did not open, for a command that has `--free-ports`: names that option when a port is taken. */
export function withFreePortsHint({
  error,
  inUse,
}: {
  readonly error: string;
  readonly inUse?: boolean;
}): string {
  return inUse ? `${error} With --free-ports all lines are on free ports.` : error;
}

function onFreePort(line: LineDefinition, linkOf: (line: string) => string): LineDefinition {
  if (line.kind !== 'serial') return { ...line, host: '127.0.0.1', port: 0 };
  // A pseudo-terminal has no driver to switch and no parity errors to mark.
  const { rs485, parityMarks, ...rest } = line;
  return { ...rest, path: 'virtual', link: linkOf(encodeURIComponent(line.name)) };
}

/** The path of the link to a line, for a process that has only one configuration. */
function linkOfProcess(line: string): string {
  return join(tmpdir(), `modbus-sim-${process.pid}-${line}`);
}
