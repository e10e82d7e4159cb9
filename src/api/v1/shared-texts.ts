import type { TrafficEvent } from '../../traffic/event.js';
import type { EventText } from './event-messages.js';

/** Readers are seldom further apart than two of their messages: 100 ms. */
const MOST_EVENTS = 512;
/** An event has 0.5 to 1 thousand characters, and seldom many more. One that is longer is not kept. */
const LONGEST = 4096;

/**
 * Writes events as JSON for readers that follow the traffic. Decoding and writing an event costs tens of µs, so the text
 * is kept for the readers that come to the same event a little later, with another filter. At most 512 texts are kept, by the last digits of
 * their sequence numbers.
 */
export function sharedTexts(view: (event: TrafficEvent) => object): EventText {
  const seqs = new Float64Array(MOST_EVENTS);
  const texts: string[] = new Array(MOST_EVENTS).fill('');
  return (event) => {
    const place = event.seq % MOST_EVENTS;
    if (seqs[place] === event.seq) return texts[place] as string;
    const text = JSON.stringify(view(event));
    if (text.length <= LONGEST) {
      seqs[place] = event.seq;
      texts[place] = text;
    }
    return text;
  };
}
