import { Reader, sizeOfText, Writer } from './bytes.js';
import type { TrafficEvent } from './event.js';
import { readEvent, sizeOf, writeEvent } from './event-record.js';

/** The bytes before each record: sequence number, wall-clock time, name of the line. */
const HEAD_SIZE = 8 + 8;

/** Events as bytes, for another thread. An event has functions, which can't be passed there. */
export function packEvents(events: readonly TrafficEvent[]): Uint8Array {
  let size = 0;
  for (const event of events) size += HEAD_SIZE + sizeOfText(event.line) + sizeOf(event);
  const writer = new Writer(new Uint8Array(size));
  for (const event of events) {
    writer.number(event.seq);
    writer.number(event.time);
    writer.text(event.line);
    writeEvent(writer, event, event.seq, undefined);
  }
  return writer.written();
}

export function unpackEvents(bytes: Uint8Array): TrafficEvent[] {
  const reader = new Reader(bytes);
  const events: TrafficEvent[] = [];
  while (reader.at < bytes.length) {
    const [seq, time] = [reader.number() ?? 0, reader.number() ?? 0];
    // A record that refers to the one before it is never written here.
    events.push(readEvent(reader, { seq, time, line: reader.text() }, () => events.at(-1) as TrafficEvent));
  }
  return events;
}
