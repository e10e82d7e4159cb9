import { InterByteTimeoutParser } from '@serialport/parser-inter-byte-timeout';
import type { Framing } from '../../protocol/framing.js';
import { BROADCAST } from '../../protocol/rtu.js';
import type { Clock } from '../clock.js';
import type { Framer, FramerEvent, Noise } from '../framer/framer.js';
import type { BytePort } from '../port/port.js';
import { Overruns } from '../port/uart.js';
import type { LineHandler, TimedBytes } from '../transport.js';
import { asOnWire, type SerialBehaviour } from './behaviour.js';
import type { ChunkStatistics } from './chunk-statistics.js';
import { EchoFilter, type EchoFilterOptions, type Filtered, type SentPiece } from './echo-filter.js';
import { ReplyPlayer, type ReplyPlayerOptions } from './reply-player.js';

/** The parser keeps a burst until its end. A longer burst is passed on in pieces of this many bytes. */
const LONGEST_PIECE = 1024;

/**
 * Reports when nothing has been received for the discard gap: once after each burst of bytes, and once after
 * the start.
 *
 * The bytes of the port go through serialport's parser, which finds the ends of bursts. It does not notice a
 * stalled process, and passes on the pieces of a long burst before its end. So its report is checked: the
 * line was silent if nothing more is received until the gap is over and everything that has arrived has been
 * read.
 */
export class SilenceDetector {
  readonly #parser: InterByteTimeoutParser;
  readonly #gap: number;
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #lastAt: number;
  /** True if the silence after the last bytes was reported. */
  #isTold = false;
  #callOff = (): void => {};

  /**
   * Creates the detector.
   * @param gap in ms
   * @param onSilence must not throw
   */
  constructor(gap: number, clock: Clock, onSilence: () => void) {
    this.#gap = gap;
    this.#clock = clock;
    this.#onSilence = onSilence;
    this.#lastAt = clock.now();
    this.#parser = new InterByteTimeoutParser({ interval: Math.max(1, gap), maxBufferSize: LONGEST_PIECE });
    this.#parser.on('data', () => this.#check());
    this.#check();
  }

  /** Reports that the port received `bytes`, at least one, at `at`. */
  heard(bytes: Uint8Array, at: number): void {
    this.#lastAt = at;
    this.#isTold = false;
    this.#parser.write(bytes);
  }

  stop(): void {
    this.#parser.removeAllListeners();
    this.#parser.destroy();
    this.#callOff();
  }

  #check(): void {
    const heardAt = this.#lastAt;
    const remaining = heardAt + this.#gap - this.#clock.now();
    this.#callOff();
    this.#callOff = this.#clock.callAfter(Math.max(0, remaining), () => {
      if (this.#lastAt !== heardAt || this.#isTold) return;
      this.#isTold = true;
      this.#onSilence();
    });
  }
}

/** How much later than the known delays of its adapter an echo may arrive, in ms. */
const LATE_ECHO_MS = 200;

/** Handles what one open port receives. A session ends with the port. */
export interface PortSession {
  received(chunk: Uint8Array): void;
  /** Handles characters that arrived damaged. @param characters as the port read them */
  damaged(characters: Uint8Array): void;
  reframe(framing: Framing): void;
  /** Switches to another behaviour on the same port. */
  change(behaviour: SerialBehaviour): void;
  /** The same as `Transport.sendUnsolicited`; absent on a monitor. */
  sendUnsolicited?(bytes: Uint8Array): number | undefined;
  end(): void;
}

/** Serves one open port: turns bytes into requests, and reply plans into bytes. Ends with the port. */
export class SerialSession implements PortSession {
  readonly #port: BytePort;
  readonly #handler: LineHandler;
  readonly #chunks: ChunkStatistics;
  readonly #clock: Clock;
  #behaviour: SerialBehaviour;
  /** The framing of the behaviour, possibly with another delimiter. */
  #framing: Framing;
  readonly #player: ReplyPlayer;
  readonly #echo: EchoFilter;
  #callOffEcho = (): void => {};
  #silence: SilenceDetector;
  readonly #overruns: Overruns;

  constructor(
    port: BytePort,
    behaviour: SerialBehaviour,
    handler: LineHandler,
    chunks: ChunkStatistics,
    clock: Clock,
  ) {
    this.#port = port;
    this.#handler = handler;
    this.#chunks = chunks;
    this.#clock = clock;
    this.#behaviour = behaviour;
    this.#framing = behaviour.framing;
    this.#echo = new EchoFilter(echoOptions(behaviour));
    this.#player = new ReplyPlayer(this.#playerOptions(behaviour), clock);
    this.#silence = this.#listenForSilence(behaviour);
    this.#overruns = new Overruns(port.errorCounts);
  }

  /**
   * Switches to another behaviour on the same port. Pending replies are given up. Bytes still being sent
   * belong to the old behaviour: their echo is not a request, and nothing new is sent before they have left.
   */
  change(behaviour: SerialBehaviour): void {
    this.#behaviour = behaviour;
    this.#framing = behaviour.framing;
    this.#echo.change(echoOptions(behaviour));
    this.#player.change(this.#playerOptions(behaviour));
    this.#silence.stop();
    this.#silence = this.#listenForSilence(behaviour);
  }

  reframe(framing: Framing): void {
    this.#framing = framing;
    this.#framer.reframe(framing);
  }

  received(chunk: Uint8Array): void {
    const now = this.#clock.now();
    const bytes = this.#withoutEcho(this.#echo.received(chunk, now));
    if (bytes.length > 0) {
      // The echo is not counted, because it shows nothing about what clients send.
      this.#chunks.chunk(bytes.length, this.#framer.busy ? now - this.#framer.lastAt : undefined);
      this.#dispatch(this.#framer.push(bytes, now));
    }
    this.#player.listened();
    this.#silence.heard(chunk, now);
  }

  damaged(characters: Uint8Array): void {
    const now = this.#clock.now();
    const { isRest, noise } = this.#framer.damaged(now);
    this.#handler.event({ kind: 'damaged', count: characters.length, isRest });
    this.#dispatch(noise);
    this.#player.listened();
    this.#silence.heard(characters, now);
  }

  sendUnsolicited(bytes: Uint8Array): number | undefined {
    return this.#player.sendUnsolicited(bytes, ({ outcome, achievedAt, endedAt }) => {
      if (outcome !== 'achieved') return;
      const frame = { bytes, startedAt: achievedAt, receivedAt: endedAt };
      this.#handler.event({ kind: 'unsolicited', frame });
    });
  }

  /**
   * Ends the session because the port is gone: nothing more is sent or received, and steps that were not
   * played are reported as disconnected.
   */
  end(): void {
    this.#player.giveUp('the port is gone', 'disconnected');
    this.#silence.stop();
    this.#callOffEcho();
  }

  get #framer(): Framer {
    return this.#behaviour.framer;
  }

  #playerOptions({ timing, arrival, whenBusy, framer }: SerialBehaviour): ReplyPlayerOptions {
    const onSent: ReplyPlayerOptions['onSent'] = (bytes, endsAt, piece) => this.#sent(bytes, endsAt, piece);
    return { port: this.#port, timing, listening: framer, arrival, whenBusy, onSent };
  }

  #listenForSilence({ gap }: SerialBehaviour): SilenceDetector {
    return new SilenceDetector(gap, this.#clock, () => {
      this.#hearRest(this.#echo.silence());
      this.#dispatch(this.#framer.silence());
      this.#player.listened();
    });
  }

  #sent(bytes: Uint8Array, endsAt: number, piece: SentPiece): void {
    this.#echo.sent(bytes, endsAt, piece);
    this.#callOffEcho();
    const { timing, arrival } = this.#behaviour;
    const windowOver = endsAt + timing.t35 + arrival.inputHold + LATE_ECHO_MS;
    this.#callOffEcho = this.#clock.callAfter(windowOver - this.#clock.now(), () => {
      this.#hearRest(this.#echo.windowOver());
      this.#player.listened();
    });
  }

  /** Handles bytes that were held back because they began like an echo, and were not one. */
  #hearRest(filtered: Filtered): void {
    const bytes = this.#withoutEcho(filtered);
    if (bytes.length > 0) this.#dispatch(this.#framer.push(bytes, this.#clock.now()));
  }

  #withoutEcho({ bytes, noticed }: Filtered): Uint8Array {
    for (const kind of noticed) this.#handler.event({ kind });
    return bytes;
  }

  #dispatch(events: readonly FramerEvent[]): void {
    for (const event of events) {
      if (event.kind !== 'noise') this.#chunks.frame();
      switch (event.kind) {
        case 'request':
          this.#request(event);
          break;
        case 'foreign':
          // The client that waited for our reply has sent a request to another unit.
          if (event.role === 'request') this.#player.turnedAway();
          this.#handler.event({ kind: 'foreign', role: event.role, frame: this.#asOnWire(event) });
          break;
        case 'duplicate':
          this.#handler.event({ kind: 'duplicate', frame: this.#asOnWire(event) });
          break;
        case 'noise':
          this.#noise(event);
      }
    }
  }

  #noise(noise: Noise): void {
    this.#chunks.discarded(noise, (bytes) => this.#framing.decode(bytes) !== undefined);
    this.#handler.event({ kind: 'noise', noise: this.#asOnWire(noise), isRest: noise.isRest });
  }

  #request(frame: TimedBytes): void {
    const content = this.#framing.fields(frame.bytes);
    if (content === undefined) return;
    const onWire = this.#asOnWire(frame);
    if (this.#player.refuses) {
      this.#handler.event({ kind: 'dropped', frame: onWire });
      return;
    }
    const lost = this.#overruns.take();
    if (lost > 0) this.#handler.event({ kind: 'overrun', count: lost });
    const { bytes: adu, startedAt, receivedAt } = onWire;
    this.#handler.request({ ...content, adu, startedAt, receivedAt, clientId: 0 }, (reply) => {
      if (content.unitId === BROADCAST) this.#player.turnedAway();
      this.#player.play(frame, reply);
    });
  }

  #asOnWire(received: TimedBytes): TimedBytes {
    return asOnWire(received, this.#behaviour.arrival);
  }
}

function echoOptions({ echo, framing, timing, mayBeRequest }: SerialBehaviour): EchoFilterOptions {
  const isFrame = (bytes: Uint8Array) => framing.decode(bytes) !== undefined;
  return { echo, wireTime: timing.wireTime, isFrame, mayBeRequest };
}

/**
 * Listens on one open port and reports the traffic of others. A monitor can neither write to the port nor
 * have a request executed, so nothing that it receives can make the line send.
 */
export class MonitorSession implements PortSession {
  readonly #report: LineHandler['event'];
  readonly #clock: Clock;
  readonly #overruns: Overruns;
  #behaviour: SerialBehaviour;
  #silence: SilenceDetector;

  /** Starts listening. @param errorCounts the port's own */
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
      // No unit is ours, so a frame that the framer reports as a request to us is a broadcast.
      const role = event.kind === 'foreign' ? event.role : 'request';
      this.#report({ kind: 'foreign', role, frame: onWire });
    }
  }
}
