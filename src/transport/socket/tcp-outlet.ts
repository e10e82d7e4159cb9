import type { Socket } from 'node:net';
import type { PlayReport } from '../../protocol/play-report.js';
import type { Step } from '../../protocol/reply-plan.js';
import type { Outlet, StepFailure } from './outlet.js';
import { notAchieved } from './step-report.js';

/** Room for a few replies. */
const FIRST_ROOM = 512;
/** Plans with more steps than this are too rare to keep room for them. */
const MANY_STEPS = 64;
/** The longest array of bytes that V8 keeps on its heap. */
const MAX_ON_HEAP = 64;

type Tell = (report: PlayReport) => void;

/** A plan that was played, and of whose bytes the operating system has not taken all. */
interface Untaken {
  readonly report: PlayReport;
  readonly tell: Tell;
  /** How many bytes of the connection have to be taken for each step that was played. */
  readonly needs: readonly number[];
  /** The same for the whole plan, and all before it. */
  readonly end: number;
}

/**
 * The sending side of one connection.
 *
 * Replies that have to wait, for others of the same turn or for a client that does not read, are put together here:
 * a stream would keep each as objects of many times its length, and what a client leaves unread is bounded in bytes.
 */
export class TcpOutlet implements Outlet {
  readonly #socket: Socket;
  readonly #raw: Socket;
  readonly #taken: (error?: Error | null) => void;
  /** Bytes that the socket was not given yet, at the beginning of `#room`. */
  #held = 0;
  #room = new Uint8Array(0);
  #holds = false;
  /** All bytes so far, those held included. */
  #length = 0;
  /** Those of them that the operating system has taken, when that was known last. */
  #takenLength = 0;
  /** As `Untaken.needs`, for the first `#steps` steps of the plan that is being played. Used again for the next one. */
  #needs: number[] = [];
  #steps = 0;
  /** In their order. */
  readonly #untaken: Untaken[] = [];
  /** A plan has closed the connection: a TLS socket learns of the reset below it only later. */
  #isClosed = false;
  #isAbandoned = false;

  /**
   * @param socket takes the replies
   * @param raw the connection below `socket` where that is a TLS one, which can't reset; otherwise the same
   * @param taken called when the operating system has taken what was written
   */
  constructor(socket: Socket, raw: Socket, taken: () => void) {
    this.#socket = socket;
    this.#raw = raw;
    this.#taken = (error) => {
      if (error) return;
      this.#countTaken();
      if (!this.#holds) this.flush();
      this.#tellTaken();
      taken();
    };
  }

  get open(): boolean {
    return !this.#isClosed && this.#socket.writable;
  }

  /** Bytes that the operating system has not taken. */
  get unsent(): number {
    return this.#held + this.#socket.writableLength;
  }

  /** Plans that were played, and of whose bytes the operating system has not taken all. */
  get untaken(): number {
    return this.#untaken.length;
  }

  /** Bytes leave together from now on, when `release` is called. */
  hold(): void {
    this.#holds = true;
  }

  /** The end of `hold`. */
  release(): void {
    this.#holds = false;
    // Otherwise they leave when what was written before has left.
    if (this.#held > 0 && this.#socket.writableLength === 0) this.flush();
  }

  play(step: Step): StepFailure {
    switch (step.kind) {
      case 'bytes':
        this.#length += step.bytes.length;
        this.#needs[this.#steps++] = this.#length;
        if (this.#holds || this.#socket.writableLength > 0) this.#keep(step.bytes);
        else this.#write(offHeap(step.bytes));
        return undefined;
      case 'close':
        // A reset waits for nobody.
        this.#needs[this.#steps++] = step.how === 'end' ? this.#length : 0;
        this.#close(step.how);
        return undefined;
      case 'break':
        this.#needs[this.#steps++] = 0;
        return 'a TCP connection has no break state';
    }
  }

  complete(report: PlayReport, tell: Tell): void {
    if (this.#takenLength === this.#length || this.#isAbandoned) tell(report);
    else {
      const needs = this.#needs.slice(0, this.#steps);
      this.#untaken.push({ report, tell, needs, end: this.#length });
    }
    if (this.#steps > MANY_STEPS) this.#needs = [];
    this.#steps = 0;
  }

  flush(): void {
    this.#holds = false;
    if (this.#held === 0 || !this.#socket.writable) return;
    const bytes = this.#room.subarray(0, this.#held);
    this.#room = new Uint8Array(0);
    this.#held = 0;
    this.#write(bytes);
    this.#tellTaken();
  }

  /** The connection ends: steps whose bytes the operating system has not taken by now are not achieved, for `reason`. */
  abandon(reason: string): void {
    this.#isAbandoned = true;
    this.#countTaken();
    const taken = this.#takenLength;
    const gaveUpAt = performance.now();
    for (const { report, tell, needs, end } of this.#untaken.splice(0)) {
      if (end <= taken) tell(report);
      else {
        const steps = report.steps.map((step, i) =>
          step.outcome === 'achieved' && (needs[i] ?? 0) > taken
            ? notAchieved(step.plannedAt, gaveUpAt, reason)
            : step,
        );
        tell({ steps, ended: 'disconnected' });
      }
    }
  }

  #write(bytes: Uint8Array): void {
    this.#socket.write(bytes, this.#taken);
    this.#countTaken();
  }

  /** Of a write that failed or was called off, Node says like of one that was done that nothing of it is left. */
  #countTaken(): void {
    if (this.#socket.errored || this.#raw.destroyed) return;
    this.#takenLength = this.#length - this.unsent;
  }

  #tellTaken(): void {
    if (this.#untaken.length === 0) return;
    const taken = this.#takenLength;
    for (let first = this.#untaken[0]; first && first.end <= taken; first = this.#untaken[0]) {
      this.#untaken.shift();
      first.tell(first.report);
    }
  }

  #close(how: 'end' | 'reset'): void {
    this.flush();
    this.#isClosed = true;
    if (how === 'end') this.#socket.end();
    // Node says one turn later that the operating system has taken the bytes of a TLS socket, even when it did at once.
    else if (this.#socket !== this.#raw && this.unsent > 0) setImmediate(() => this.#raw.resetAndDestroy());
    else this.#raw.resetAndDestroy();
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#held + bytes.length;
    if (length > this.#room.length) {
      const room = new Uint8Array(Math.max(FIRST_ROOM, length, 2 * this.#held));
      room.set(this.#room.subarray(0, this.#held));
      this.#room = room;
    }
    this.#room.set(bytes, this.#held);
    this.#held = length;
  }
}

/**
 * A copy in Node's buffer pool of what is on the heap. A socket would first move each such array to memory of its own,
 * which costs more.
 */
function offHeap(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_ON_HEAP) return bytes;
  const buffer = Buffer.allocUnsafe(bytes.length);
  buffer.set(bytes);
  return buffer;
}
