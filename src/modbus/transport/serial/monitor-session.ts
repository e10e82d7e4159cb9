import type { Framing } from '../../protocol/framing.js';
import type { Clock } from '../clock.js';
import type { FramerEvent } from '../framer/framer.js';
import type { BytePort } from '../port/port.js';
import { Overruns } from '../port/uart.js';
import type { LineHandler } from '../transport.js';
import { asOnWire, type SerialBehaviour } from './behaviour.js';
import type { PortSession } from './serial-session.js';
import { SilenceDetector } from './silence-detector.js';

/**
 * Listens on one open port and reports what others say there. A monitor can neither write to the port nor
 * have a request executed, so nothing that it hears can make the line send.
 */
export class MonitorSession implements PortSession {
  readonly #report: LineHandler['event'];
  readonly #clock: Clock;
  readonly #overruns: Overruns;
  #behaviour: SerialBehaviour;
  #silence: SilenceDetector;

  /** Begins to listen. @param errorCounts as the port has it */
  constructor(
    errorCounts: BytePort['errorCounts'],
    behaviour: SerialBehaviour,
    report: LineHandler['event'],
    clock: Clock,
  ) {
    this.#report = report;
    this.#clock = clock;
    this.#overruns = new Overruns(errorCounts);
    this.#behaviour = behaviour;
    this.#silence = this.#listenForSilence(behaviour);
  }

  change(behaviour: SerialBehaviour): void {
    this.#behaviour = behaviour;
    this.#silence.stop();
    this.#silence = this.#listenForSilence(behaviour);
  }

  reframe(framing: Framing): void {
    this.#behaviour.framer.reframe(framing);
  }

  received(chunk: Uint8Array): void {
    const now = this.#clock.now();
    this.#dispatch(this.#behaviour.framer.push(chunk, now));
    this.#silence.heard(chunk, now);
  }

  damaged(characters: Uint8Array): void {
    const now = this.#clock.now();
    const { isRest, noise } = this.#behaviour.framer.damaged(now);
    this.#report({ kind: 'damaged', count: characters.length, isRest });
    this.#dispatch(noise);
    this.#silence.heard(characters, now);
  }

  end(): void {
    this.#silence.stop();
  }

  #listenForSilence({ gap }: SerialBehaviour): SilenceDetector {
    return new SilenceDetector(gap, this.#clock, () => this.#dispatch(this.#behaviour.framer.silence()));
  }

  #dispatch(events: readonly FramerEvent[]): void {
    for (const event of events) {
      const onWire = asOnWire(event, this.#behaviour.arrival);
      if (event.kind === 'noise') {
        this.#report({ kind: 'noise', noise: onWire, isRest: event.isRest });
        continue;
      }
      const lost = this.#overruns.take();
      if (lost > 0) this.#report({ kind: 'overrun', count: lost });
      // No unit is ours, so a frame that the framer takes for a request to us is a broadcast.
      const role = event.kind === 'foreign' ? event.role : 'request';
      this.#report({ kind: 'foreign', role, frame: onWire });
    }
  }
}
