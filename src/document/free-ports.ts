import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compact } from '../common/compact.js';
import { HERE } from '../common/platform.js';
import type { Configuration, LineDefinition, LineSource, SerialLineDefinition } from './configuration.js';
import { lineWith } from './native/line.js';

/**
 * Moves the lines of a configuration to free ports, so that simulators never collide: sockets to any free
 * port of this machine, serial lines to pseudo-terminals. On systems without pseudo-terminals, a line that
 * serves is moved to a socket with the same framing.
 * @param linkOf returns the path of the link to a line, by its name; its directory must exist
 */
export function onFreePorts(
  configuration: Configuration,
  linkOf: (line: string) => string = linkOfProcess,
  { isLinux } = HERE,
): Configuration {
  const lines = configuration.lines.map((line) =>
    lineWith(
      line.kind === 'serial' && line.mode === 'server' && !isLinux
        ? onSocket(line)
        : onFreePort(line, linkOf),
      line,
      configuration,
    ),
  );
  return { ...configuration, lines };
}

/** Returns why lines did not open, for a command that has `--free-ports`: mentions that option if a port is in use. */
export function withFreePortsHint({
  error,
  inUse,
}: {
  readonly error: string;
  readonly inUse?: boolean;
}): string {
  return inUse ? `${error} With --free-ports all lines use free ports.` : error;
}

function onFreePort(line: LineDefinition, linkOf: (line: string) => string): LineSource {
  if (line.kind !== 'serial') return { [line.kind]: { ...(!line.hosts && { host: '127.0.0.1' }), port: 0 } };
  // A pseudo-terminal has no driver to switch and no parity errors to mark.
  const link = linkOf(encodeURIComponent(line.name));
  return { serial: { path: 'virtual', link, rs485: null, parityMarks: null } };
}

/** Maximum clients of a line that was serial: one, which a new one replaces. */
const ONE_CLIENT = 1;

function onSocket({ framing, source: { start, unsolicited } }: SerialLineDefinition): LineSource {
  const tcp = { host: '127.0.0.1', port: 0, maxClients: ONE_CLIENT };
  return { tcp, framing, missingUnit: 'silence', ...compact({ start, unsolicited }) };
}

/** Returns the path of the link to a line, for a process with only one configuration. */
function linkOfProcess(line: string): string {
  return join(tmpdir(), `modbus-sim-${process.pid}-${line}`);
}
