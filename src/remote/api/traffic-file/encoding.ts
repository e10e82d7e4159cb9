import { Capture } from '../../../simulator/traffic/capture/capture.js';
import type { CaptureLines } from '../../../simulator/traffic/capture/packet.js';
import type { TrafficEvent } from '../../../simulator/traffic/event.js';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import { trafficView } from '../../../simulator/traffic/view.js';

/** How the events of one file become bytes. */
export interface Encoding {
  /** The beginning of the file. */
  header(): Uint8Array;
  encode(event: TrafficEvent): Uint8Array;
  /** Says that so many events before the next one are missing. */
  missed(count: number): Uint8Array;
}

/** An event as JSON on each line, as REST shows it. */
export function ndjson(stream: KeptEvents): Encoding {
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);
  return {
    header: () => NOTHING,
    encode: (event) => line(trafficView(event, (seq) => stream.read(seq))),
    missed: (count) => line({ kind: 'left out', count, text: `${count.toLocaleString('en')} left out` }),
  };
}

/** A capture in the wire form. */
export function pcapng(lines: CaptureLines): Encoding {
  const capture = new Capture('wire', lines);
  let missed = 0;
  return {
    header: () => Buffer.concat(capture.header()),
    encode: (event) => Buffer.concat(capture.blocksOf(event)),
    missed: (count) => {
      missed += count;
      capture.missed(missed);
      return NOTHING;
    },
  };
}

const NOTHING = new Uint8Array();
