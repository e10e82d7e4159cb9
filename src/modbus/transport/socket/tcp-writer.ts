import type { Socket } from 'node:net';
import { MAX_ON_HEAP, NO_BYTES, putBytes } from '../../protocol/bytes.js';
import { notAchieved, type PlayReport, type Step } from '../../protocol/reply-plan.js';
import type { Channel } from './channel.js';
import type { ReplyWriter, StepFailure } from './reply-queue.js';

/** The initial room, in bytes: enough for a few replies. */
const FIRST_ROOM = 512;
/** The room kept for later replies, in bytes: a few kB for each of many clients. */
const MAX_KEPT_ROOM = 4096;
/** Plans with more steps than this are too rare to keep room for them. */
const MANY_STEPS = 64;
/**
 * Memory outside V8's heap. A reply on the heap is copied here and written at once, because the system can't
 * be given bytes that may move.
 */
const offHeap = Buffer.allocUnsafeSlow(MAX_ON_HEAP);

type PlayReported = (report: PlayReport) => void;

/** A plan that was played, but whose bytes the operating system has not all accepted. */
interface Untaken {
  readonly report: PlayReport;
  readonly reported: PlayReported;
  /**
   * For each step played, how many bytes of the connection the operating system must have accepted for the
   * step to be achieved.
   */
  readonly needs: readonly number[];
  /** How many bytes the system must have accepted for this plan, and all earlier plans, to be achieved. */
  readonly end: number;
}

/**
 * The sending side of one connection.
 *
 * Replies that must wait are joined here: for other replies of the same turn, or for a client that does not
 * read. A stream would keep each reply as objects many times its size, and the limit for unread replies is in
 * bytes.
 */
export class TcpWriter implements ReplyWriter {
  readonly #channel: Channel;
  readonly #socket: Socket;
  readonly #raw: Socket;
  readonly #taken: (error?: Error | null) => void;
  /** How many bytes, at the beginning of `#room`, have not been passed to the socket yet. */
  #held = 0;
  #room = NO_BYTES;
  #holds = false;
  /**
   * Whether all held bytes are a reply that waits for the bytes of a later one. The bytes of the plan being
   * played are added to that reply, and the first bytes of a later plan release it.
   */
  #waits: 'no' | 'being played' | 'for the next' = 'no';
  /** The total number of bytes so far, including those held here. */
  #length = 0;
  /** Total bytes the operating system had accepted at the last check. */
  #takenLength = 0;
  /** The `Untaken.needs` of the first `#steps` steps of the current plan. Reused for the next plan. */
  #needs: number[] = [];
  #steps = 0;
  /** The plans whose bytes the operating system has not accepted, in order. */
  readonly #untaken: Untaken[] = [];
  /** True if a plan has closed the connection. A TLS socket learns of the reset below it only later. */
  #isClosed = false;
  #isAbandoned = false;

  /**
   * Creates the writer.
   * @param channel sends the replies
   * @param raw the connection below the channel's socket if that is a TLS socket, which can't reset;
   * otherwise the same socket
   * @param taken called when the operating system has accepted what was written
   */
  constructor(channel: Channel, raw: Socket, taken: () => void) {
    this.#channel = channel;
    this.#socket = channel.socket;
    this.#raw = raw;
    this.#taken = (error) => {
      if (error) return;
      this.#countTaken();
      if (!this.#holds) this.flush();
      this.#reportTaken();
      taken();
    };
  }

  get open(): boolean {
    return !this.#isClosed && this.#socket.writable;
  }

  /** How many bytes the operating system has not accepted. */
  get unsent(): number {
    return this.#held + this.#socket.writableLength;
  }

  /** How many plans were played whose bytes the operating system has not all accepted. */
  get untaken(): number {
    return this.#untaken.length;
  }

  /** Holds bytes back from now on, so that they leave together on `release`. */
  hold(): void {
    this.#holds = true;
  }

  /** Ends `hold`. */
  release(): void {
    this.#holds = false;
    // If earlier bytes wait in the stream, these bytes leave after them.
    if (this.#held > 0 && this.#socket.writableLength === 0) this.flush();
  }

  play(step: Step): StepFailure {
    switch (step.kind) {
      case 'bytes':
        this.#length += step.bytes.length;
        this.#needs[this.#steps++] = this.#length;
        if (this.#waits !== 'no') this.#join(step.bytes);
        else if (this.#holds || this.#socket.writableLength > 0) this.#keep(step.bytes);
        else this.#write(step.bytes);
        return undefined;
      case 'close':
        // A reset does not wait for earlier bytes.
        this.#needs[this.#steps++] = step.how === 'end' ? this.#length : 0;
        this.#close(step.how);
        return undefined;
      case 'break':
        this.#needs[this.#steps++] = 0;
        return 'a TCP connection has no break state';
    }
  }

  /** Makes the next plan wait. If a reply is already waiting, the next plan releases it instead. */
  coalesce(): void {
    if (this.#waits !== 'no') return;
    this.flush();
    this.#waits = 'being played';
  }

  complete(report: PlayReport, reported: PlayReported): void {
    const isSilence = this.#steps === 0 && this.#waits === 'for the next';
    if (this.#waits === 'being played') this.#waits = this.#held > 0 ? 'for the next' : 'no';
    // A silent plan has no bytes that the previous reply could hold up.
    if (isSilence) reported(report);
    else if (this.#takenLength === this.#length || this.#isAbandoned) reported(report);
    else {
      const needs = this.#needs.slice(0, this.#steps);
      this.#untaken.push({ report, reported, needs, end: this.#length });
    }
    if (this.#steps > MANY_STEPS) this.#needs = [];
    this.#steps = 0;
  }

  flush(): void {
    this.#holds = false;
    if (this.#held === 0 || this.#waits !== 'no' || !this.#socket.writable) return;
    const [room, held] = [this.#room, this.#held];
    const written = this.#writeNow(room, held);
    this.#held = 0;
    // The stream keeps the bytes that it gets until the system accepts them.
    if (written < held || room.length > MAX_KEPT_ROOM) this.#room = NO_BYTES;
    if (written < held) this.#socket.write(room.subarray(written, held), this.#taken);
    this.#countTaken();
    this.#reportTaken();
  }

  /** Ends the connection. Steps whose bytes the operating system has not accepted are not achieved, for `reason`. */
  abandon(reason: string): void {
    this.#isAbandoned = true;
    this.#countTaken();
    const taken = this.#takenLength;
    const gaveUpAt = performance.now();
    for (const { report, reported, needs, end } of this.#untaken.splice(0)) {
      if (end <= taken) reported(report);
      else {
        const steps = report.steps.map((step, i) =>
          step.outcome === 'achieved' && (needs[i] ?? 0) > taken
            ? notAchieved(step.plannedAt, gaveUpAt, reason)
            : step,
        );
        reported({ steps, ended: 'disconnected' });
      }
    }
  }

  #join(bytes: Uint8Array): void {
    this.#keep(bytes);
    if (this.#waits === 'being played') return;
    this.#waits = 'no';
    const last = this.#untaken.pop();
    if (last) this.#untaken.push({ ...last, report: leftAt(last.report, performance.now()) });
    if (!this.#holds) this.flush();
  }

  #write(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length > MAX_ON_HEAP) {
      const written = this.#writeNow(bytes, length);
      if (written < length) this.#socket.write(bytes.subarray(written), this.#taken);
    } else {
      putBytes(offHeap, 0, bytes);
      const written = this.#writeNow(offHeap, length);
      if (written < length) this.#socket.write(Buffer.from(offHeap.subarray(written, length)), this.#taken);
    }
    this.#countTaken();
  }

  /**
   * Writes what the system accepts at once, unless earlier bytes wait in the stream.
   * @returns how many bytes the system accepted
   */
  #writeNow(bytes: Uint8Array, length: number): number {
    return this.#socket.writableLength === 0 ? this.#channel.writeNow(bytes, length) : 0;
  }

  /** Counts the accepted bytes. Node reports that nothing is left of a write even if it failed or was cancelled. */
  #countTaken(): void {
    if (this.#socket.errored || this.#raw.destroyed) return;
    this.#takenLength = this.#length - this.unsent;
  }

  #reportTaken(): void {
    if (this.#untaken.length === 0) return;
    const taken = this.#takenLength;
    for (let first = this.#untaken[0]; first && first.end <= taken; first = this.#untaken[0]) {
      this.#untaken.shift();
      first.reported(first.report);
    }
  }

  #close(how: 'end' | 'reset'): void {
    this.flush();
    this.#isClosed = true;
    if (how === 'end') this.#socket.end();
    // For a TLS socket, Node reports one turn late that the operating system has accepted the bytes, even if
    // it did so at once.
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

/** Returns the report of a plan whose bytes left now rather than when they were played. */
function leftAt({ steps, ended }: PlayReport, now: number): PlayReport {
  const left = steps.map((step) =>
    step.outcome === 'achieved' ? { ...step, achievedAt: now, endedAt: now } : step,
  );
  return { steps: left, ended };
}
