import type { Device } from '../../device/device.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { knownValues, textWithValues, valuesByTable } from '../../simulator/commands/shown-values.js';
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
  if (!values || !table) return text;
  const known = device && valuesByTable(knownValues(device, { table, address, quantity })).get(table);
  return firstValues(known ? textWithValues(message, known) : text, values.length);
}

/** How many values of a frame a message shows; the report shows all. */
const MOST_VALUES = 3;

/** Leaves out all but the first values, which stand behind the first colon. */
function firstValues(text: string, count: number): string {
  const end = text.indexOf(': ');
  if (count <= MOST_VALUES || end < 0) return text;
  const values = text.slice(end + 2);
  const between = values.includes(', ') ? ', ' : ' ';
  const shown = values.split(between);
  if (shown.length <= MOST_VALUES) return text;
  return `${text.slice(0, end)}: ${shown.slice(0, MOST_VALUES).join(between)} … ${shown.length - MOST_VALUES} more`;
}
