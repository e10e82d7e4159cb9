import type { Framing } from '../../protocol/framing.js';
import type { PlayReport } from '../../protocol/play-report.js';
import type { ReplyPlan } from '../../protocol/reply-plan.js';
import { BROADCAST } from '../../protocol/rtu.js';
import type { TimedBytes } from '../framer/burst.js';
import type { Framer, FramerEvent } from '../framer/framer.js';
import { inputPause } from '../port/adapter.js';
import type { BytePort } from '../port/port.js';
import type { WhenBusy } from '../settings.js';
import type { LineHandler } from '../transport.js';
import type { ChunkStatistics } from './chunk-statistics.js';
import { EchoFilter, type EchoFilterOptions } from './echo-filter.js';
import { MessageDamage } from './message-damage.js';
import { ReplyPlayer, type ReplyPlayerOptions, type ReplyTiming } from './reply-player.js';
import { SilenceDetector } from './silence-detector.js';

/** How a line behaves on an open port. Times in ms. */
export interface SerialBehaviour {
  readonly framing: Framing;
  /** A new one: it keeps what is pending. */
  readonly framer: Framer;
  /** Could these bytes, sent by us, be a client's request as well? */
  readonly mayBeRequest: (adu: Uint8Array) => boolean;
  readonly timing: ReplyTiming;
  /** Silence after which what is pending is discarded. */
  readonly gap: number;
  /** How long the adapter may hold received bytes back. */
  readonly inputHold: number;
  readonly whenBusy: WhenBusy;
  /** Is there only software on the other side? */
  readonly isPseudoTerminal: boolean;
  /** May the line be in the middle of a frame at the beginning? Then the first bytes wait for a silence. */
  readonly joinsTraffic: boolean;
}

const NO_BYTES = new Uint8Array(0);
const UNHEARD = { bytes: NO_BYTES, noticed: undefined };

/** What happens on one open port: bytes to requests, plans to bytes. Ends with the port. */
export class SerialSession {
  readonly #port: BytePort;
  readonly #handler: LineHandler;
  #framing: Framing;
  #framer: Framer;
  readonly #player: ReplyPlayer;
  readonly #echo: EchoFilter;
  #silenceDetector: SilenceDetector;
  readonly #chunks: ChunkStatistics;
  /** Lost characters that were reported, as the driver counts them. */
  #overruns: number;
  #damage = new MessageDamage();
  #timing: ReplyTiming;

  constructor(port: BytePort, behaviour: SerialBehaviour, handler: LineHandler, chunks: ChunkStatistics) {
    this.#port = port;
    this.#handler = handler;
    this.#chunks = chunks;
    this.#framing = behaviour.framing;
    this.#framer = newFramer(behaviour);
    this.#timing = behaviour.timing;
    this.#echo = new EchoFilter(echoOptions(behaviour));
    this.#player = new ReplyPlayer(this.#playerOptions(behaviour));
    this.#silenceDetector = new SilenceDetector(behaviour.gap, () => this.#onSilence());
    this.#overruns = this.#lostCharacters() ?? 0;
  }

  /**
   * Goes on with another behaviour on the same port; replies that are pending are given up. What is still on its way
   * belongs to what was sent before: an echo of it is no request, and nothing new is sent into it.
   */
  change(behaviour: SerialBehaviour): void {
    this.#framing = behaviour.framing;
    this.#framer = newFramer(behaviour);
    this.#damage = new MessageDamage();
    this.#timing = behaviour.timing;
    this.#echo.change(echoOptions(behaviour));
    this.#player.change(this.#playerOptions(behaviour));
    this.#silenceDetector.stop();
    this.#silenceDetector = new SilenceDetector(behaviour.gap, () => this.#onSilence());
  }

  /** The line's messages have another delimiter from now on. */
  reframe(framing: Framing): void {
    this.#framing = framing;
    this.#framer.reframe(framing);
  }

  received(chunk: Uint8Array): void {
    const now = performance.now();
    const { bytes, noticed } = this.#echo.received(chunk, now);
    if (noticed) this.#handler.event({ kind: noticed });
    const pause = this.#framer.busy ? now - this.#framer.lastAt : undefined;
    // Not our own echo: it says nothing of what clients send.
    if (bytes.length > 0) {
      this.#chunks.chunk(bytes.length, pause);
      if (this.#damage.isTold) this.#hearBehindDamage(bytes, now);
    }
    this.#dispatch(bytes.length > 0 ? this.#framer.push(bytes, now) : []);
    this.#silenceDetector.heard(now);
  }

  damaged(count: number): void {
    const now = performance.now();
    if (this.#damage.isTold) this.#hearBehindDamage(NO_BYTES, now);
    this.#handler.event({ kind: 'damaged', count, isRest: this.#damage.tell(now) });
    // What came before it is of the same message, which goes on.
    for (const event of this.#framer.damaged(now)) if (event.kind === 'noise') this.#noise(event, true);
    this.#player.listened();
    this.#silenceDetector.heard(now);
  }

  /** The port is gone: nothing is sent or heard any more, and what was not played is reported as disconnected. */
  end(): void {
    this.#player.supersede('disconnected');
    this.#silenceDetector.stop();
  }

  #playerOptions({ timing, inputHold, whenBusy }: SerialBehaviour): ReplyPlayerOptions {
    const onSent: ReplyPlayerOptions['onSent'] = (bytes, endsAt, piece) =>
      this.#echo.sent(bytes, endsAt, piece);
    return { port: this.#port, timing, listening: this.#framer, inputHold, whenBusy, onSent };
  }

  #onSilence(): void {
    const { bytes, noticed } = this.#echo.silence() ?? UNHEARD;
    if (noticed) this.#handler.event({ kind: noticed });
    const events = bytes.length > 0 ? this.#framer.push(bytes, performance.now()) : [];
    this.#dispatch([...events, ...this.#framer.silence()]);
    this.#damage.ended();
  }

  /** Another message comes t3.5 later than the adapter may deliver the rest of one, or was seen to. */
  #hearBehindDamage(bytes: Uint8Array, at: number): void {
    const { wireTime, t35 } = this.#timing;
    const known = inputPause(this.#port.facts().adapter, wireTime);
    this.#damage.heard(at, Math.max(known, this.#chunks.longestPause) + t35);
    if (this.#framer.beginsMessage(bytes)) this.#damage.begun();
  }

  #dispatch(events: readonly FramerEvent[]): void {
    for (const event of events) {
      if (event.kind !== 'noise') this.#chunks.frame();
      switch (event.kind) {
        case 'request':
          this.#request(event);
          break;
        case 'foreign':
          // Whoever waited for our reply has turned to somebody else.
          if (event.role === 'request') this.#player.turnedAway();
          this.#handler.event({ kind: 'foreign', role: event.role, frame: event });
          break;
        case 'duplicate':
          this.#handler.event({ kind: 'duplicate', frame: event });
          break;
        case 'noise':
          this.#noise(event, this.#damage.isTold && !this.#framer.beginsMessage(event.bytes));
      }
      this.#damage.ended();
    }
    this.#player.listened();
  }

  /** @param isRest of a message whose damage was told */
  #noise(noise: TimedBytes, isRest: boolean): void {
    this.#chunks.discarded(noise, (bytes) => this.#isFrame(bytes));
    this.#handler.event({ kind: 'noise', noise, isRest });
  }

  #isFrame(bytes: Uint8Array): boolean {
    return this.#framing.decode(bytes) !== undefined;
  }

  #request(frame: TimedBytes): void {
    const content = this.#framing.fields(frame.bytes);
    if (content === undefined) return;
    if (this.#player.refuses) {
      this.#handler.event({ kind: 'dropped', adu: frame.bytes });
      return;
    }
    this.#countOverruns();
    const request = { ...content, adu: frame.bytes, receivedAt: frame.receivedAt, clientId: 0 };
    const plan: ReplyPlan = this.#handler.request(request);
    if (content.unitId === BROADCAST) this.#player.turnedAway();
    const probed = this.#echo.probe(plan);
    this.#player.play(frame, probed, (report) =>
      this.#handler.played(request, probed === plan ? report : ofWholeFrame(report)),
    );
  }

  #countOverruns(): void {
    const overruns = this.#lostCharacters();
    if (overruns === undefined || overruns === this.#overruns) return;
    this.#handler.event({ kind: 'overrun', count: overruns - this.#overruns });
    this.#overruns = overruns;
  }

  /** In the UART, or because the kernel's buffer was full. */
  #lostCharacters(): number | undefined {
    const counts = this.#port.errorCounts?.();
    return counts && counts.overrun + counts.bufferOverrun;
  }
}

/** What a plan that was cut in two for a probe has come to, as a report on the plan with one step. */
function ofWholeFrame({ steps: [first, rest], ended }: PlayReport): PlayReport {
  if (first === undefined) return { steps: [], ended };
  if (first.outcome === 'not achieved') return { steps: [first], ended };
  if (rest?.outcome === 'achieved') return { steps: [first], ended };
  const reason =
    rest?.reason ?? 'given up after the first half, which was sent alone to see whether it comes back';
  return { steps: [{ ...first, uncertainty: undefined, outcome: 'not achieved', reason }], ended };
}

function newFramer({ framer, joinsTraffic }: SerialBehaviour): Framer {
  framer.reset({ aligned: !joinsTraffic });
  return framer;
}

function echoOptions(behaviour: SerialBehaviour): EchoFilterOptions {
  const { framing, timing, mayBeRequest, isPseudoTerminal, inputHold } = behaviour;
  return {
    hasWire: timing.wireTime > 0,
    mayProbe: isPseudoTerminal && timing.wireTime === 0,
    mayBeRequest,
    shortestFrame: framing.minLength,
    t35: timing.t35,
    latency: inputHold,
  };
}
