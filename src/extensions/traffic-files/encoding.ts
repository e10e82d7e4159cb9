import { NO_BYTES } from '../../modbus/protocol/bytes.js';
import { Capture } from '../../simulator/traffic/capture/capture.js';
import type { CaptureLines } from '../../simulator/traffic/capture/packet.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import { trafficView } from '../../simulator/traffic/view.js';

/** The format in which events are written to a file. */
export interface Encoding {
  /** The first bytes of a file. */
  header(): Uint8Array;
  encode(event: TrafficEvent): Uint8Array;
  /** A record of this many missing events before the next one. */
  missed(count: number): Uint8Array;
}

/** Encodes events as JSON, one per line, in the same form as REST. */
export function ndjson(stream: KeptEvents): Encoding {
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);
  return {
    header: () => NO_BYTES,
    encode: (event) => line(trafficView(event, (seq) => stream.read(seq))),
    missed: (count) => line({ kind: 'left out', count, text: `${count.toLocaleString('en')} left out` }),
  };
}

/** Encodes the frames on the wire as a capture. */
export function pcapng(lines: CaptureLines): Encoding {
  const capture = new Capture('wire', lines);
  let missed = 0;
  return {
    header: () => Buffer.concat(capture.header()),
    encode: (event) => Buffer.concat(capture.blocksOf(event)),
    missed: (count) => {
      missed += count;
      capture.missed(missed);
      return NO_BYTES;
    },
  };
}
