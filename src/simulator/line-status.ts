import type { SerialLineDefinition } from '../config/configuration.js';
import { type Adapter, identifyAdapter, ptyAdapter } from '../transport/port/adapter.js';
import type { PortFacts } from '../transport/port/port.js';
import type { ErrorCounts } from '../transport/port/uart.js';
import { type SerialTimes, serialTimes } from '../transport/serial/serial-times.js';
import { hostPort } from '../transport/socket/listen.js';
import type { Line } from './line.js';

/** The status of a line, for people and programs. */
export interface LineStatus {
  readonly state: 'open' | 'waiting' | 'stopped' | 'failed';
  /** Why the line is not open, as a sentence. */
  readonly reason: string | undefined;
  /** Where clients find the line: the path of the port, or address and port. */
  readonly place: string;
  /** The permanent link to the port of a virtual line. */
  readonly link: string | undefined;
  /** How long the line has been open, in seconds. */
  readonly uptime: number | undefined;
  readonly clients: number | undefined;
  /** Serial lines only. */
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
    place: state.kind === 'open' ? state.place : endpointOf(line),
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

/** The times for the adapter that was found. Before one is found, the times follow from the path of the port. */
function timesOf(definition: SerialLineDefinition, found: Adapter | undefined): SerialTimes {
  const { path } = definition;
  return serialTimes(definition, found ?? (path === 'virtual' ? ptyAdapter : identifyAdapter(path)));
}
