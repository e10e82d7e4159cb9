import { isDeepStrictEqual } from 'node:util';
import { seededRandom, seedOf } from '../common/random.js';
import type { LineDefinition, UnsolicitedDefinition } from '../document/configuration.js';
import type { Framing } from '../modbus/protocol/framing.js';
import type { PlayReport, SendStep } from '../modbus/protocol/reply-plan.js';
import { t35 } from '../modbus/protocol/timing.js';
import type { Clock } from '../modbus/transport/clock.js';
import type { LineEvent, LineRequest } from '../modbus/transport/transport.js';
import type { Reply } from './bus/reply.js';

/** What `Unsolicited` needs from its line. */
interface UnsolicitedLine {
  /** The current framing. */
  readonly framing: () => Framing;
  /** Sends bytes like `sendUnsolicited` of a transport. Does nothing while the line is not open. */
  readonly send: (bytes: Uint8Array, how: { readonly waits: boolean }) => number | undefined;
  /** Called with the event for what was sent before a reply. */
  readonly sent: (event: Extract<LineEvent, { kind: 'unsolicited' }>) => void;
}

/** Minimum time between two transmissions, in ms. */
const SHORTEST_MS = 10;

/**
 * What a line sends without a request: noise, the frames of a stranger, the requests of a second master. It
 * is only sent: no device on the line executes it. A line has the same jitter in each run.
 */
export class Unsolicited {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #line: UnsolicitedLine;
  #isStarted = false;
  #timed: readonly UnsolicitedDefinition[] = [];
  #before: readonly UnsolicitedDefinition[] = [];
  /** Silence after each frame that is sent before a reply, in ms. */
  #pause = 0;
  #callOffs: (() => void)[] = [];

  constructor(clock: Clock, name: string, line: UnsolicitedLine) {
    this.#clock = clock;
    this.#name = name;
    this.#line = line;
  }

  /** Applies another definition. Timers whose intervals have not changed keep running. */
  change(definition: LineDefinition): void {
    const { unsolicited = [] } = definition;
    this.#before = unsolicited.filter(({ before }) => before !== undefined);
    this.#pause = definition.kind === 'serial' ? (definition.timing.t35 ?? t35(definition.baudRate)) : 0;
    const timed = unsolicited.filter(({ every }) => every !== undefined);
    if (isDeepStrictEqual(timed, this.#timed)) return;
    this.#timed = timed;
    if (this.#isStarted) this.start();
  }

  /** Starts the timers. Call this when the line opens. */
  start(): void {
    this.stop();
    this.#isStarted = true;
    this.#timed.forEach((each, i) => {
      const random = seededRandom(seedOf(i, this.#name), 0);
      const { every = SHORTEST_MS, jitter = 0 } = each;
      const wait = () => Math.max(SHORTEST_MS, every + (2 * random.next() - 1) * jitter);
      const after = (ms: number) => {
        this.#callOffs[i] = this.#clock.callAfter(ms, () => {
          const busyMs = this.#line.send(this.#bytesOf(each), { waits: false });
          after(busyMs === undefined ? wait() : Math.max(1, busyMs));
        });
      };
      after(wait());
    });
  }

  stop(): void {
    this.#isStarted = false;
    for (const callOff of this.#callOffs.splice(0)) callOff();
  }

  /**
   * Sends bytes once, as soon as the line is free. A client on a socket gets them after the replies that it
   * waits for.
   * @returns a function that cancels bytes not yet sent; undefined if they need not wait
   */
  once(bytes: Uint8Array): (() => void) | undefined {
    let callOff: (() => void) | undefined;
    const attempt = () => {
      const busyMs = this.#line.send(bytes, { waits: true });
      if (busyMs !== undefined) callOff = this.#clock.callAfter(Math.max(1, busyMs), attempt);
    };
    attempt();
    return callOff && (() => callOff?.());
  }

  /** Adds what the line sends before its replies to a reply. */
  beforeReply(reply: Reply): void {
    if (this.#before.length === 0) return;
    const steps = this.#before.map((each, i): SendStep => {
      return { kind: 'bytes', waitMs: i && this.#pause, bytes: this.#bytesOf(each), continues: false };
    });
    reply.prepend(steps, this.#pause);
  }

  /** Reports what was sent before a reply. @returns the report on the reply alone */
  replied({ client, clientId }: LineRequest, { before }: Reply, report: PlayReport): PlayReport {
    if (before.length === 0) return report;
    for (const [i, { bytes }] of before.entries()) {
      const { outcome, achievedAt = 0, endedAt = 0 } = report.steps[i] ?? {};
      if (outcome !== 'achieved') continue;
      const frame = { bytes, startedAt: achievedAt, receivedAt: endedAt };
      this.#line.sent({ kind: 'unsolicited', frame, ...(client !== undefined && { client, clientId }) });
    }
    return { ...report, steps: report.steps.slice(before.length) };
  }

  #bytesOf({ bytes, frame }: UnsolicitedDefinition): Uint8Array {
    if (bytes) return bytes;
    const { unit = 0, pdu = new Uint8Array() } = frame ?? {};
    return this.#line.framing().encode({ transactionId: 0, unitId: unit, pdu });
  }
}
