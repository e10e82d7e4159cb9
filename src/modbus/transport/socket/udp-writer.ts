import type { Socket } from 'node:dgram';
import { notAchieved, type PlayReport, type Step } from '../../protocol/reply-plan.js';
import type { ReplyWriter, StepFailure } from './reply-queue.js';

type PlayReported = (report: PlayReport) => void;

/**
 * The outcome of the steps of one plan so far. The object is reused when the plan's outcome is known: under a
 * flood, new objects that wait for the end of each send cost half as much again as all the rest of a reply
 * (measured).
 */
class PlayOutcome {
  steps = 0;
  /** How many datagrams the operating system has neither taken nor refused. */
  unsent = 0;
  /** Why a step was not done, by the index of the step; undefined for most plans. */
  failures: Map<number, string> | undefined;
  report: PlayReport | undefined;
  reported: PlayReported | undefined;
  /** The callback for when the first step of the plan is sent. Most plans have only this step. */
  readonly firstSent: (error: Error | null) => void;

  constructor(sent: (outcome: PlayOutcome, index: number, error: Error | null) => void) {
    this.firstSent = (error) => sent(this, 0, error);
  }

  clear(): void {
    this.steps = 0;
    this.failures = undefined;
    this.report = undefined;
    this.reported = undefined;
  }
}

/**
 * Sends the replies to one address. A step of bytes is one datagram, so a reply in pieces leaves as several
 * datagrams, which no client joins again.
 */
export class UdpWriter implements ReplyWriter {
  /** True, because there is no connection that could be closed. */
  readonly open = true;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  #unsent = 0;
  readonly #sent = (outcome: PlayOutcome, index: number, error: Error | null) =>
    this.#settle(outcome, index, error);
  #outcome = new PlayOutcome(this.#sent);
  readonly #free: PlayOutcome[] = [];

  /** Makes the writer. @param socket is bound, and stays open for as long as steps are played */
  constructor(socket: Socket, address: string, port: number) {
    this.#socket = socket;
    this.#address = address;
    this.#port = port;
  }

  /** How many datagrams wait for room in the operating system's send buffer. */
  get unsent(): number {
    return this.#unsent;
  }

  play(step: Step): StepFailure {
    const index = this.#outcome.steps++;
    switch (step.kind) {
      case 'bytes':
        // Port 0 is allowed as the source of a datagram (RFC 768), but not as a destination.
        if (this.#port === 0) return 'the client has port 0, and nothing can be sent there';
        if (step.bytes.length > 0) this.#send(step.bytes, index);
        return undefined;
      case 'close':
        return 'UDP has no connection to close';
      case 'break':
        return 'UDP has no break state';
    }
  }

  /** Does nothing, because every datagram leaves separately. */
  flush(): void {}

  /**
   * Takes the report of the plan that was played last, and hands it on with the failed sends once they are
   * known. Node reports them after the call that sends, usually before anything else happens.
   */
  complete(report: PlayReport, reported: PlayReported): void {
    const outcome = this.#outcome;
    if (outcome.unsent === 0) {
      const known = withFailures(report, outcome.failures);
      outcome.clear();
      reported(known);
      return;
    }
    outcome.report = report;
    outcome.reported = reported;
    this.#outcome = this.#free.pop() ?? new PlayOutcome(this.#sent);
  }

  #send(bytes: Uint8Array, index: number): void {
    const outcome = this.#outcome;
    outcome.unsent++;
    this.#unsent++;
    // With a callback, an error goes there and not to the "error" event of the socket that all clients share.
    const sent =
      index === 0 ? outcome.firstSent : (error: Error | null) => this.#settle(outcome, index, error);
    this.#socket.send(bytes, this.#port, this.#address, sent);
  }

  #settle(outcome: PlayOutcome, index: number, error: Error | null): void {
    this.#unsent--;
    outcome.unsent--;
    if (error) {
      outcome.failures ??= new Map();
      outcome.failures.set(index, `not sent: ${error.message}`);
    }
    const { report, reported, failures } = outcome;
    if (outcome.unsent > 0 || report === undefined) return;
    outcome.clear();
    this.#free.push(outcome);
    reported?.(withFailures(report, failures));
  }
}

function withFailures(report: PlayReport, failures: ReadonlyMap<number, string> | undefined): PlayReport {
  if (failures === undefined) return report;
  const steps = report.steps.map((step, i) => {
    const failure = failures.get(i);
    return failure === undefined ? step : notAchieved(step.plannedAt, step.achievedAt, failure);
  });
  return { ...report, steps };
}
