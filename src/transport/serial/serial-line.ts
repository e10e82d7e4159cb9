import type { PlayReport } from '../../protocol/play-report.js';
import type { ReplyPlan } from '../../protocol/reply-plan.js';
import { BROADCAST, decodeRtu } from '../../protocol/rtu.js';
import type { TimedBytes } from './burst.js';
import { EchoFilter } from './echo-filter.js';
import { type FramerEvent, RtuFramer } from './framer.js';
import type { BytePort, OpenResult, PortListener } from './port.js';
import { ReplyPlayer, type ReplyTiming, type WhenBusy } from './reply-player.js';
import { SilenceDetector } from './silence-detector.js';

/** A request to one of the line's units, or a broadcast (unit identifier 0). Times in ms of `performance.now()`. */
export interface SerialRequest {
  readonly unitId: number;
  readonly pdu: Uint8Array;
  readonly adu: Uint8Array;
  readonly receivedAt: number;
}

export type SerialLineEvent =
  | { readonly kind: 'open'; readonly path: string; readonly notes: readonly string[] }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'retry'; readonly error: string; readonly inMs: number }
  | { readonly kind: 'foreign'; readonly role: 'request' | 'response'; readonly frame: TimedBytes }
  | { readonly kind: 'noise'; readonly noise: TimedBytes }
  /** The adapter hears what it sends; from now on that is taken out. */
  | { readonly kind: 'echo' }
  /** Somebody else spoke while a reply was on the wire. */
  | { readonly kind: 'collision' }
  /** Another device answered a request to one of our units. */
  | { readonly kind: 'duplicate'; readonly frame: TimedBytes }
  /** The UART has lost characters since the last request. */
  | { readonly kind: 'overrun'; readonly count: number }
  /** A request that came while a reply was pending, on a line that drops those. */
  | { readonly kind: 'dropped'; readonly frame: TimedBytes };

/** What a line needs from the rest of the simulator. Nothing of it may throw. */
export interface SerialLineHandler {
  owns(unitId: number): boolean;
  request(request: SerialRequest): ReplyPlan;
  /** What was done of a plan; called once for each request. */
  played(request: SerialRequest, report: PlayReport): void;
  event(event: SerialLineEvent): void;
}

export interface SerialLineOptions {
  readonly open: (listener: PortListener) => Promise<OpenResult>;
  readonly timing: ReplyTiming;
  /** Silence after which what is pending is discarded, in ms. */
  readonly gap: number;
  readonly whenBusy: WhenBusy;
  /** Is there only software on the other side? */
  readonly isPseudoTerminal: boolean;
  /** May the line be in the middle of a frame when the port opens? Then the first bytes wait for a silence. */
  readonly joinsTraffic: boolean;
}

export type LineState =
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'stopped' };

const UNHEARD = { bytes: new Uint8Array(0), noticed: undefined };

const FIRST_RETRY_MS = 250;
/** Looking for a port that is not there costs next to nothing, and its users wait for it. */
const LAST_RETRY_MS = 1000;

/** A Modbus RTU server's end of a serial line: opens the port and keeps it open, takes requests, plays replies. */
export class SerialLine implements PortListener {
  readonly #options: SerialLineOptions;
  readonly #handler: SerialLineHandler;
  readonly #framer: RtuFramer;
  #state: LineState = { kind: 'stopped' };
  #port: BytePort | undefined;
  #player: ReplyPlayer | undefined;
  #echo: EchoFilter | undefined;
  #silenceDetector: SilenceDetector | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Lost characters that were reported, as the driver counts them. */
  #overruns = 0;

  constructor(options: SerialLineOptions, handler: SerialLineHandler) {
    this.#options = options;
    this.#handler = handler;
    const { t35, wireTime } = options.timing;
    this.#framer = new RtuFramer((unitId) => handler.owns(unitId), t35, wireTime);
  }

  get state(): LineState {
    return this.#state;
  }

  /** Opens the port. A port that can't be opened now is an error; one that vanishes later is waited for. */
  async start(): Promise<
    { readonly ok: true; readonly path: string } | { readonly ok: false; readonly error: string }
  > {
    const opened = await this.#options.open(this);
    if (!opened.ok) return opened;
    this.#attach(opened.port, opened.notes);
    return { ok: true, path: opened.port.path };
  }

  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    clearTimeout(this.#retryTimer);
    const port = this.#port;
    this.#detach();
    await port?.close();
  }

  onData(chunk: Uint8Array): void {
    const now = performance.now();
    const { bytes, noticed } = this.#echo?.received(chunk, now) ?? { bytes: chunk, noticed: undefined };
    if (noticed) this.#handler.event({ kind: noticed });
    const events = bytes.length > 0 ? this.#framer.push(bytes, now) : [];
    this.#dispatch(events);
    this.#silenceDetector?.heard(chunk, now);
  }

  onClose(reason: string): void {
    this.#detach();
    if (this.#state.kind === 'stopped') return;
    this.#state = { kind: 'waiting', reason };
    this.#handler.event({ kind: 'lost', reason });
    this.#retry(FIRST_RETRY_MS);
  }

  #attach(port: BytePort, notes: readonly string[]): void {
    this.#port = port;
    this.#framer.reset({ aligned: !this.#options.joinsTraffic });
    const { timing, whenBusy } = this.#options;
    const echo = new EchoFilter({
      hasWire: timing.wireTime > 0,
      mayProbe: this.#options.isPseudoTerminal && timing.wireTime === 0,
      t35: timing.t35,
      latency: this.#options.gap,
    });
    this.#echo = echo;
    this.#player = new ReplyPlayer({
      port,
      timing,
      listening: this.#framer,
      whenBusy,
      onSent: (bytes, endsAt, piece) => echo.sent(bytes, endsAt, piece),
    });
    this.#silenceDetector = new SilenceDetector(this.#options.gap, () => this.#onSilence());
    this.#overruns = port.errorCounts?.()?.overrun ?? 0;
    this.#state = { kind: 'open', path: port.path };
    this.#handler.event({ kind: 'open', path: port.path, notes });
  }

  #detach(): void {
    this.#port = undefined;
    this.#player?.supersede('disconnected');
    this.#player = undefined;
    this.#echo = undefined;
    this.#silenceDetector?.stop();
    this.#silenceDetector = undefined;
  }

  #onSilence(): void {
    const { bytes, noticed } = this.#echo?.silence() ?? UNHEARD;
    if (noticed) this.#handler.event({ kind: noticed });
    const events = bytes.length > 0 ? this.#framer.push(bytes, performance.now()) : [];
    this.#dispatch([...events, ...this.#framer.silence()]);
  }

  #dispatch(events: readonly FramerEvent[]): void {
    for (const event of events) {
      switch (event.kind) {
        case 'request':
          this.#request(event);
          break;
        case 'foreign':
          // Whoever waited for our reply has turned to somebody else.
          if (event.role === 'request') this.#player?.turnedAway();
          this.#handler.event({ kind: 'foreign', role: event.role, frame: event });
          break;
        case 'duplicate':
          this.#handler.event({ kind: 'duplicate', frame: event });
          break;
        case 'noise':
          this.#handler.event({ kind: 'noise', noise: event });
      }
    }
    this.#player?.listened();
  }

  #request(frame: TimedBytes): void {
    if (this.#player?.refuses) {
      this.#handler.event({ kind: 'dropped', frame });
      return;
    }
    this.#countOverruns();
    const { unitId, pdu } = decodeRtu(frame.bytes);
    const request = { unitId, pdu, adu: frame.bytes, receivedAt: frame.receivedAt };
    const plan = this.#handler.request(request);
    if (unitId === BROADCAST) this.#player?.turnedAway();
    this.#player?.play(frame, this.#echo?.probe(plan) ?? plan, (report) =>
      this.#handler.played(request, report),
    );
  }

  #countOverruns(): void {
    const overruns = this.#port?.errorCounts?.()?.overrun;
    if (overruns === undefined || overruns === this.#overruns) return;
    this.#handler.event({ kind: 'overrun', count: overruns - this.#overruns });
    this.#overruns = overruns;
  }

  #retry(delay: number): void {
    this.#retryTimer = setTimeout(async () => {
      const opened = await this.#options.open(this);
      if (this.#state.kind === 'stopped') {
        if (opened.ok) await opened.port.close();
        return;
      }
      if (opened.ok) {
        this.#attach(opened.port, opened.notes);
        return;
      }
      const inMs = Math.min(2 * delay, LAST_RETRY_MS);
      this.#state = { kind: 'waiting', reason: opened.error };
      this.#handler.event({ kind: 'retry', error: opened.error, inMs });
      this.#retry(inMs);
    }, delay);
  }
}
