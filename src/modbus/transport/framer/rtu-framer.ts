import {
  endsAtSilence,
  isRtuFrame,
  MAX_RTU_LENGTH,
  type PredictedLength,
  requestLength,
  responseLength,
} from '../../protocol/rtu.js';
import {
  Burst,
  type Carrier,
  Conversation,
  type FrameRole,
  type Framer,
  type FramerEvent,
  type FramerOptions,
  type Noise,
} from './framer.js';

/** A valid frame, at an offset known to the caller. */
interface FoundFrame {
  readonly length: number;
  readonly role: FrameRole;
}

/** Maximum stray bytes before a frame at the beginning of a burst. A driver that switches on late leaves such bytes. */
const MAX_STRAY_BYTES = 2;

/**
 * Finds RTU frames in bytes that arrive in chunks of any size (Modbus over Serial Line V1.02, 2.5.1).
 *
 * The specification delimits frames by silence alone. Behind a FIFO, a USB adapter and an operating system,
 * silences inside a frame look like silences between frames. So the framer recognises a frame by its CRC and
 * by the length that its function code predicts; silence only cleans up. To keep damaged or foreign bytes
 * from being executed, a frame may begin only
 * - at the beginning of a burst,
 * - immediately after a valid frame,
 * - after at most two stray bytes, or after a pause of t3.5, if everything up to the next silence is valid.
 *
 * On a stream no stray bytes come before a frame. A client that got no answer has given up its request, so
 * bytes that are not a frame when their last read ends never become one later. Two more rules hold there:
 * - The end of a read may end a frame of any length, if exactly one frame is left.
 * - If a read follows a pause of `t35` and consists of whole frames only, everything before it was noise.
 *
 * Silence completes a frame that ends with its CRC, even if the frame is shorter than its function requires.
 *
 * So there are three ways to find frames, each a method: `#framesOfPredictedLength` at the front, as soon as
 * they are complete; `#framesThatFill` all pending bytes, when a pause or silence shows that nothing is
 * missing; and `#framesAtEndOfRead` on a stream. Pending bytes in which none of them finds a frame become
 * noise.
 *
 * Pure: the caller brings the clock, and calls `silence` when nothing has arrived for the discard gap.
 */
export class RtuFramer implements Framer {
  readonly #t35: number;
  readonly #characterTime: number;
  readonly #carrier: Carrier;
  readonly #conversation: Conversation;
  /** The bytes that are not in any event yet. */
  #pending = new Burst();
  #lastAt = Number.NEGATIVE_INFINITY;
  /** True if a frame begins at the first pending byte, as far as known. */
  #isAligned = true;
  /** The longest pause inside a frame: the one configured, or a longer one seen in a valid frame. */
  #longestPause: number;
  /** True if damage to the current message was reported. */
  #isDamageReported = false;

  /** Creates the framer. @param owns reports whether a unit identifier is ours */
  constructor(owns: (unitId: number) => boolean, options: FramerOptions) {
    const { t35, characterTime = 0, longestPause = Number.POSITIVE_INFINITY, carrier = 'wire' } = options;
    this.#t35 = t35;
    this.#characterTime = characterTime;
    this.#longestPause = longestPause;
    this.#carrier = carrier;
    this.#conversation = new Conversation(owns, carrier);
  }

  get busy(): boolean {
    return this.#pending.length > 0;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  /**
   * Starts over, as on a newly opened port. Unless `aligned`, the first bytes count as frames only if a
   * silence confirms it.
   */
  reset({ aligned }: { aligned: boolean }): void {
    this.#pending = new Burst();
    this.#lastAt = Number.NEGATIVE_INFINITY;
    this.#isAligned = aligned;
    this.#conversation.forget();
    this.#isDamageReported = false;
  }

  /** RTU has no delimiter, so nothing changes. */
  reframe(): void {}

  push(chunk: Uint8Array, at: number): FramerEvent[] {
    const events: FramerEvent[] = [];
    // A FIFO delivers 8 or 16 characters of an unbroken frame at once. The wire was busy for that long before
    // `at`.
    const idle = at - this.#lastAt - chunk.length * this.#characterTime;
    const afterPause = idle >= this.#t35;
    const isWire = this.#carrier === 'wire';
    this.#endDamagedMessage(at, events);
    // A busy bus may never be silent for the discard gap, so a pause of t3.5 is enough if everything before
    // it is valid.
    if (isWire && afterPause && this.busy && this.#isAligned) this.#framesThatFill([0], false, events);
    this.#pending.append(chunk, at, afterPause);
    this.#lastAt = at;
    if (this.#isAligned) this.#framesOfPredictedLength(events);
    if (!isWire) this.#framesAtEndOfRead(chunk.length, afterPause, events);
    this.#boundMemory(events);
    return events;
  }

  damaged(at: number): { readonly isRest: boolean; readonly noise: readonly Noise[] } {
    const noise: Noise[] = [];
    this.#endDamagedMessage(at, noise);
    const isRest = this.#isDamageReported;
    this.#isDamageReported = true;
    this.#lastAt = at;
    this.#isAligned = false;
    if (this.busy) this.#discard(this.#pending.length, noise);
    return { isRest, noise };
  }

  silence(): FramerEvent[] {
    const events: FramerEvent[] = [];
    const starts = this.#carrier === 'wire' ? this.#possibleStarts() : this.#isAligned ? [0] : [];
    if (this.busy && !this.#framesThatFill(starts, true, events)) this.#discard(this.#pending.length, events);
    this.#isAligned = true;
    this.#isDamageReported = false;
    return events;
  }

  /** Ends the message whose damage was reported, if the pause before `at` is too long for the inside of a frame. */
  #endDamagedMessage(at: number, events: FramerEvent[]): void {
    if (!this.#isDamageReported || at - this.#lastAt <= this.#longestPause + this.#t35) return;
    if (this.busy) this.#discard(this.#pending.length, events);
    this.#isDamageReported = false;
  }

  /** Emits complete frames from the front while there are any: USB adapters merge frames into one chunk. */
  #framesOfPredictedLength(events: FramerEvent[]): void {
    for (let found = this.#frameAtFront(); found; found = this.#frameAtFront()) this.#emit(found, events);
  }

  /**
   * Returns the frame at the front if it is complete. While the likelier interpretation still lacks bytes,
   * the other does not count, because a response may begin like a request.
   */
  #frameAtFront(): FoundFrame | undefined {
    const { bytes } = this.#pending;
    for (const role of this.#conversation.rolesAt(bytes, 0)) {
      const length = lengthAs(role, bytes, 0);
      if (length === 'unknown') continue;
      if (length === 'more' || length > bytes.length) return undefined;
      if (isRtuFrame(bytes, 0, length)) return { length, role };
    }
    return undefined;
  }

  /** Emits frames that end with a read of `length` bytes from a stream, if no predicted length marks their end. */
  #framesAtEndOfRead(length: number, afterPause: boolean, events: FramerEvent[]): void {
    const pending = this.#pending.length;
    const whole = this.#isAligned ? this.#wholeFrame() : undefined;
    if (whole !== undefined) {
      this.#emit(whole, events);
      return;
    }
    const isLaterRead = pending > length || (!this.#isAligned && pending === length);
    if (!afterPause || !isLaterRead || length > MAX_RTU_LENGTH) return;
    if (this.#framesThatFill([pending - length], false, events)) this.#isAligned = true;
  }

  /** Returns all pending bytes as one frame, unless the predicted length is greater. */
  #wholeFrame(): FoundFrame | undefined {
    const { bytes } = this.#pending;
    const expected = requestLength(bytes, 0, bytes.length);
    if (typeof expected === 'number' ? expected > bytes.length : expected === 'more') return undefined;
    return isRtuFrame(bytes) ? { length: bytes.length, role: this.#likeliestRole(0) } : undefined;
  }

  #possibleStarts(): number[] {
    const first = this.#isAligned ? Array.from({ length: MAX_STRAY_BYTES + 1 }, (_, i) => i) : [];
    return [...first, ...this.#pending.pauses()];
  }

  /**
   * Emits the frames that fill the pending bytes from the first possible offset in `starts`; the bytes before
   * it are noise. Returns false, and emits nothing, if there is no such offset.
   * @param anyLength the last frame may have a length that is wrong for its function
   */
  #framesThatFill(starts: readonly number[], anyLength: boolean, events: FramerEvent[]): boolean {
    const deadEnds = new Set<number>();
    for (const start of starts) {
      const chain = this.#chainFrom(start, anyLength, deadEnds);
      if (chain.length === 0) continue;
      if (start > 0) this.#discard(start, events);
      for (const frame of chain) this.#emit(frame, events);
      return true;
    }
    return false;
  }

  /**
   * Returns frames that follow each other from `start` to the last pending byte; none if there is no such
   * chain.
   * @param deadEnds offsets known to lead to no such chain
   */
  #chainFrom(start: number, anyLength: boolean, deadEnds: Set<number>): FoundFrame[] {
    const { bytes } = this.#pending;
    for (const frame of this.#validFramesAt(start, anyLength)) {
      const next = start + frame.length;
      if (next === bytes.length) return [frame];
      if (deadEnds.has(next)) continue;
      const rest = this.#chainFrom(next, anyLength, deadEnds);
      if (rest.length > 0) return [frame, ...rest];
      deadEnds.add(next);
    }
    return [];
  }

  /**
   * Returns the valid frames that may begin at `start`, the likeliest first. Some functions do not fix the
   * length, and the adapter or the system may have swallowed the pause after the frame. Such a frame may end
   * wherever a CRC matches.
   */
  #validFramesAt(start: number, anyLength: boolean): FoundFrame[] {
    const { bytes } = this.#pending;
    const all = bytes.length - start;
    const isValid = ({ length }: FoundFrame) => isRtuFrame(bytes, start, start + length);
    const predicted = this.#conversation.rolesAt(bytes, start).flatMap((role): FoundFrame[] => {
      const length = lengthAs(role, bytes, start);
      return typeof length === 'number' && length <= all ? [{ length, role }] : [];
    });
    const role = this.#likeliestRole(start);
    const anywhere = endsAtSilence(bytes[start + 1] ?? 0) ? Array.from({ length: all }, (_, i) => i) : [];
    const last = anyLength || anywhere.length > 0 ? [all] : [];
    return [...predicted, ...[...last, ...anywhere].map((length) => ({ length, role }))].filter(isValid);
  }

  #likeliestRole(start: number): FrameRole {
    return this.#conversation.rolesAt(this.#pending.bytes, start)[0] as FrameRole;
  }

  #emit({ length, role: supposed }: FoundFrame, events: FramerEvent[]): void {
    this.#isDamageReported = false;
    this.#longestPause = Math.max(this.#longestPause, this.#pending.longestPause(length));
    const frame = this.#pending.take(length);
    const role = this.#conversation.settle(frame.bytes, supposed);
    if (!this.#conversation.isOurs(frame.bytes[0] as number))
      events.push({ kind: 'foreign', role, ...frame });
    else events.push({ kind: role === 'request' ? 'request' : 'duplicate', ...frame });
  }

  /** Reports that the first `length` pending bytes, at least one, are noise. */
  #discard(length: number, events: (Noise | FramerEvent)[]): void {
    events.push({ kind: 'noise', isRest: this.#isDamageReported, ...this.#pending.take(length) });
    this.#isDamageReported = true;
  }

  /**
   * Discards bytes up to the next pause, where a frame may begin, while more bytes are pending than the
   * longest frame has. In that case no frame begins at the front.
   */
  #boundMemory(events: FramerEvent[]): void {
    while (this.#pending.length > MAX_RTU_LENGTH) {
      this.#isAligned = false;
      this.#discard(this.#pending.pauses().find((offset) => offset > 0) ?? this.#pending.length, events);
    }
  }
}

function lengthAs(role: FrameRole, bytes: Uint8Array, start: number): PredictedLength {
  return role === 'request'
    ? requestLength(bytes, start, bytes.length)
    : responseLength(bytes, start, bytes.length);
}
