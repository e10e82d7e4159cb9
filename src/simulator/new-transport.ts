import { isDeepStrictEqual } from 'node:util';
import type { LineDefinition, SerialLineDefinition, SocketLineDefinition } from '../config/configuration.js';
import { AsciiFraming } from '../protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../protocol/framing.js';
import { SocketLine } from '../transport/socket/socket-line.js';
import type { LineHandler, Transport } from '../transport/transport.js';
import { SerialTransport } from './serial-transport.js';

/** The transport that a definition wants, not started. */
export function newTransport(definition: LineDefinition, framing: Framing, handler: LineHandler): Transport {
  switch (definition.kind) {
    case 'serial':
      return new SerialTransport(definition, framing, handler);
    case 'tcp':
    case 'tls':
    case 'udp':
      return new SocketLine(definition, framing, handler);
  }
}

/** The framing of a line: an ASCII line has one of its own, as its delimiter may be changed. */
export function newFraming({ framing }: LineDefinition): Framing {
  switch (framing) {
    case 'rtu':
      return RTU;
    case 'ascii':
      return new AsciiFraming();
    case 'socket':
      return SOCKET;
  }
}

/** Do two definitions differ in nothing that the transport knows? */
export function isSameTransport(one: LineDefinition, other: LineDefinition): boolean {
  return isDeepStrictEqual(transportPart(one), transportPart(other));
}

function transportPart(
  definition: LineDefinition,
): Omit<SerialLineDefinition, 'units'> | Omit<SocketLineDefinition, 'units' | 'missingUnit'> {
  if (definition.kind === 'serial') {
    const { units, ...rest } = definition;
    return rest;
  }
  const { units, missingUnit, ...rest } = definition;
  return rest;
}
