import type { Socket } from 'node:dgram';
import type { PlayReport, StepReport } from '../../protocol/play-report.js';
import type { Step } from '../../protocol/reply-plan.js';
import type { Outlet, StepFailure } from './outlet.js';

/** What became of the steps of one plan so far. */
interface Outcome {
  /** One entry per step that was played, in their order. */
  readonly failures: StepFailure[];
  /** Datagrams that the operating system has neither taken nor refused. */
  unsent: number;
  /** Called when there are no more of them. */
  known?: () => void;
}

/**
 * Sends the replies to one address. A step of bytes is one datagram, so a reply in pieces leaves as several, which
 * no client puts together again.
 */
export class UdpOutlet implements Outlet {
  /** There is no connection that could be closed. */
  readonly open = true;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  #unsent = 0;
  #outcome: Outcome = { failures: [], unsent: 0 };

  /** `socket` is bound, and stays open for as long as steps are played. */
  constructor(socket: Socket, address: string, port: number) {
    this.#socket = socket;
    this.#address = address;
    this.#port = port;
  }

  /** Datagrams waiting for room in the operating system's send buffer. */
  get unsent(): number {
    return this.#unsent;
  }

  play(step: Step): StepFailure {
    const index = this.#outcome.failures.push(undefined) - 1;
    switch (step.kind) {
      case 'bytes':
        // Allowed as the source of a datagram (RFC 768), not as the destination of another.
        if (this.#port === 0) return 'the client has port 0, and nothing can be sent there';
        if (step.bytes.length > 0) this.#send(step.bytes, index);
        return undefined;
      case 'close':
        return 'UDP has no connection to close';
      case 'break':
        return 'UDP has no break state';
    }
  }

  /** Every datagram leaves by itself. */
  flush(): void {}

  /**
   * Takes the report of the plan that was played last and hands it on with the sends that failed, once that is
   * known. Node tells it after the call that sends, usually before anything else happens.
   */
  complete(report: PlayReport, tell: (report: PlayReport) => void): void {
    const outcome = this.#outcome;
    this.#outcome = { failures: [], unsent: 0 };
    if (outcome.unsent === 0) tell(report);
    else outcome.known = () => tell(withFailures(report, outcome.failures));
  }

  #send(bytes: Uint8Array, index: number): void {
    const outcome = this.#outcome;
    outcome.unsent++;
    this.#unsent++;
    // With a callback, an error ends there and not as an "error" event of the socket that all clients share.
    this.#socket.send(bytes, this.#port, this.#address, (error) => {
      if (error) outcome.failures[index] = `not sent: ${error.message}`;
      this.#unsent--;
      outcome.unsent--;
      if (outcome.unsent === 0) outcome.known?.();
    });
  }
}

function withFailures(report: PlayReport, failures: readonly StepFailure[]): PlayReport {
  if (failures.every((failure) => failure === undefined)) return report;
  return { ...report, steps: report.steps.map((step, i) => withFailure(step, failures[i])) };
}

function withFailure(step: StepReport, failure: StepFailure): StepReport {
  if (failure === undefined) return step;
  return { ...step, uncertainty: undefined, outcome: 'not achieved', reason: failure };
}
