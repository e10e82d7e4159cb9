import type { LineDefinition, SerialLineDefinition } from '../document/configuration.js';
import { type Adapter, identifyAdapter, ptyAdapter } from '../modbus/transport/port/adapter.js';
import type { PortFacts } from '../modbus/transport/port/port.js';
import { describeSettings } from '../modbus/transport/port/termios.js';
import type { ErrorCounts } from '../modbus/transport/port/uart.js';
import { type SerialTimes, serialTimes } from '../modbus/transport/serial/behaviour.js';
import { hostPort } from '../modbus/transport/socket/listen.js';
import type { Line } from './line.js';
import type { CaptureLine, CaptureLines } from './traffic/capture/packet.js';

export interface LineStatus {
  readonly state: 'open' | 'waiting' | 'stopped' | 'failed';
  /** Why the line is not open, as a sentence. */
  readonly reason: string | undefined;
  /** The address for clients: the path of a port, or host and port. */
  readonly endpoint: string;
  /** Host and port of a socket: the actual port while the line is open, otherwise the configured one. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  /** The permanent link to the port of a virtual line. */
  readonly link: string | undefined;
  /** How long the line has been open, in seconds. */
  readonly uptime: number | undefined;
  readonly clients: number | undefined;
  /** The times of a serial line; undefined for a socket. */
  readonly times: SerialTimes | undefined;
  readonly port: PortFacts | undefined;
  readonly errorCounts: ErrorCounts | undefined;
}

export function lineStatus(line: Line): LineStatus {
  const { state, definition, serial, openSince } = line;
  const port = serial?.port;
  return {
    state: state.kind,
    reason: 'reason' in state ? state.reason : undefined,
    endpoint: state.kind === 'open' ? state.endpoint : endpointOf(line),
    address: addressOf(line),
    link: state.kind === 'open' ? port?.link : undefined,
    uptime: openSince === undefined ? undefined : (performance.now() - openSince) / 1000,
    clients: line.clients,
    times: definition.kind === 'serial' ? timesOf(definition, serial?.adapter) : undefined,
    port: port?.facts(),
    errorCounts: port?.errorCounts?.(),
  };
}

function endpointOf({ definition }: Line): string {
  return definition.kind === 'serial' ? definition.path : hostPort(definition.host, definition.port);
}

function addressOf({ state, definition }: Line): LineStatus['address'] {
  if (definition.kind === 'serial') return undefined;
  const port = (state.kind === 'open' ? state.port : undefined) ?? definition.port;
  return { host: definition.host, port };
}

/** The times for the adapter that was found. Until then, the times are derived from the port's path. */
function timesOf(definition: SerialLineDefinition, found: Adapter | undefined): SerialTimes {
  const { path } = definition;
  return serialTimes(definition, found ?? (path === 'virtual' ? ptyAdapter : identifyAdapter(path)));
}

/** Describes a line in one sentence: `RTU on /dev/ttyUSB0 19200 8E1, units 1-3, 17; t1.5 0.859 ms, …`. */
export function describeLine(line: Line): string {
  const { state, reason } = lineStatus(line);
  if (state === 'failed') return `${description(line)}; failed: ${reason}`;
  return state === 'waiting' ? `${description(line)}; not open yet, waiting: ${reason}` : description(line);
}

function description(line: Line): string {
  const { definition } = line;
  const { endpoint, link, times } = lineStatus(line);
  const units = `units ${unitRanges([...definition.units.keys()])}`;
  if (definition.kind !== 'serial' || !times)
    return `${protocolName(definition)} on ${endpoint}${addresses(definition)}, ${units}`;
  const settings = describeSettings(definition);
  const gap = `gap ${times.gap.toFixed(1)} ms`;
  const pauses = `t1.5 ${times.t15.toFixed(3)} ms, t3.5 ${times.t35.toFixed(3)} ms, ${gap}${turnaround(definition)}`;
  const path = link ? `${endpoint} (also ${link})` : endpoint;
  const role = definition.mode === 'monitor' ? 'listens only' : units;
  return `${protocolName(definition)} on ${path} ${settings}, ${role}; ${pauses}`;
}

/** Describes the turnaround; empty for the default, t3.5, and for a line that never replies. */
function turnaround({ mode, timing: { turnaround } }: SerialLineDefinition): string {
  if (turnaround === 't3.5' || mode === 'monitor') return '';
  return turnaround === 'eager' ? ', replies at once' : `, replies ${turnaround} ms after t3.5`;
}

/** Describes how many addresses a line has; empty for one. */
function addresses(definition: LineDefinition): string {
  const { hosts } = definition.kind === 'serial' ? {} : definition;
  return hosts ? ` (${hosts.length} addresses)` : '';
}

/** The usual name of a framing on a transport. */
function protocolName({ kind, framing }: LineDefinition): string {
  const carrier = { serial: '', tcp: 'TCP', udp: 'UDP', tls: 'TLS' }[kind];
  if (kind === 'serial') return framing.toUpperCase();
  if (framing !== 'socket') return `${framing.toUpperCase()} over ${carrier}`;
  return kind === 'tls' ? 'Modbus/TCP Security' : `Modbus ${carrier}`;
}

/** Unit identifiers such as `1-3, 17, *`. Three or more consecutive ones become a range. */
function unitRanges(units: readonly (number | '*')[]): string {
  const numbers = units.filter((unit) => unit !== '*').sort((a, b) => a - b);
  const runs: [first: number, last: number][] = [];
  for (const unit of numbers) {
    const run = runs.at(-1);
    if (run && run[1] === unit - 1) run[1] = unit;
    else runs.push([unit, unit]);
  }
  const texts = runs.flatMap(([first, last]) => {
    if (last === first) return [`${first}`];
    return last === first + 1 ? [`${first}`, `${last}`] : [`${first}-${last}`];
  });
  return [...texts, ...(units.includes('*') ? ['*'] : [])].join(', ');
}

/** The lines in the form that captures need. */
export function captureLines(lines: ReadonlyMap<string, Line>): CaptureLines {
  return {
    names: () => lines.keys(),
    get: (name) => {
      const line = lines.get(name);
      return line && captureLine(line);
    },
  };
}

function captureLine(line: Line): CaptureLine {
  const { name, definition } = line;
  const address = addressOf(line);
  const describe = () => `${describeLine(line)}${definition.kind === 'tls' ? ' (decrypted)' : ''}`;
  if (definition.kind === 'serial' || !address) return { name, kind: 'serial', describe };
  return { name, kind: definition.kind, ...address, describe };
}
