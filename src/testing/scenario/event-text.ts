import type { Device } from '../../device/device.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { knownValues } from '../../simulator/commands/known-values.js';
import { textWithValues, valuesByTable } from '../../simulator/commands/shown-values.js';
import { decodeEvent, type ReadEvent } from '../../simulator/traffic/decode.js';
import { type Message, requestMessage } from '../../simulator/traffic/decode-request.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';

/** Finds the device that answers for a unit identifier of a line. */
export type DeviceAt = (line: string, unitId: number, host: string | undefined) => Device | undefined;

/**
 * Puts an event into words, with the values of registers: `unit 1 read holding registers 10–11: float32
 * 230.1`.
 */
export function eventText(event: TrafficEvent, read: ReadEvent, deviceAt: DeviceAt): string {
  const { message, text } = decodeEvent(event, read);
  const device = 'unitId' in event ? deviceAt(event.line, event.unitId, event.host) : undefined;
  return message ? withValues(device, { ...message, text }) : text;
}

/** Puts a request for a unit into the words of `eventText`. */
export function requestText(unitId: number, pdu: Uint8Array, device: Device | undefined): string {
  const message = requestMessage(pdu);
  return withValues(device, { ...message, text: `unit ${unitId} ${message.text}` });
}

/**
 * Adds the values of the registers in a message. They are looked up each time, because a step or REST may
 * have changed the device.
 */
function withValues(device: Device | undefined, message: Message): string {
  const { functionCode, values, address = 0, quantity = 0, text } = message;
  const table = functionOf(functionCode)?.table;
  if (!device || !values || !table) return text;
  const known = valuesByTable(knownValues(device, { table, address, quantity })).get(table);
  return known ? textWithValues(message, known) : text;
}
