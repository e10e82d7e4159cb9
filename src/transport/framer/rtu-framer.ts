import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { hasQuantityOf } from '../../protocol/pdu.js';
import {
  BROADCAST,
  endsAtSilence,
  isRtuFrame,
  MAX_RTU_LENGTH,
  type PredictedLength,
  requestLength,
  responseLength,
} from '../../protocol/rtu.js';
import { Burst } from './burst.js';
import type { Carrier, Framer, FramerEvent, Noise, Role } from './framer.js';
import { LateResponses } from './late-responses.js';

/** A frame at some offset. */
interface Found {
  readonly length: number;
  readonly role: Role;
}

/** Times in ms. */
export interface RtuFramerOptions {
  /** The pause t3.5. A frame may end before such a pause, and begin after it. */
  readonly t35: number;
  /** How long a character takes on the wire; 0, the default, where bytes arrive all at once. */
  readonly characterTime?: number;
  /** The longest pause between two pieces of one frame. When absent, only silence ends a damaged message. */
  readonly longestPause?: number;
  /** `wire` when not given. */
  readonly carrier?: Carrier;
}

/** The most stray bytes before a frame at the beginning of a burst. A driver that switches on late leaves them. */
const MAX_STRAY_BYTES = 2;

/**
 * Finds RTU frames in bytes that arrive in chunks of any size (Modbus over Serial Line V1.02, 2.5.1).
 *
 * The specification delimits frames by silence alone. Behind a FIFO, a USB adapter and an operating system, silences
 * inside a frame can't be told from silences between frames. So the framer recognises a frame by its CRC and by the
 * length that its function code predicts; silence only cleans up. To keep damaged or foreign bytes from being executed,
 * a frame may begin only
 * - at the beginning of a burst,
 * - right after a valid frame,
 * - after at most two stray bytes, or after a pause of t3.5, if everything up to the next silence is valid.
 *
 * On a stream no stray bytes come before a frame. A client that got no answer has given up its request, so bytes that
 * are not a frame at the end of the read that completes them never become one later. Two more rules hold there:
 * - The end of a read may end a frame of any length, if exactly that frame is left.
 * - If a read comes after a pause of `t35` and consists of whole frames only, everything before it was noise.
 *
 * Silence completes a frame that closes with its CRC, even if the frame is shorter than its function wants.
 *
 * Pure: the caller brings the clock, and calls `silence` when nothing has arrived for the discard gap.
 */
export class RtuFramer implements Framer {
  readonly #owns: (unitId: number) => boolean;
  readonly #t35: number;
  readonly #characterTime: number;
  readonly #carrier: Carrier;
  /** The longest pause inside a frame: the one given, or a longer one that was seen in a valid frame. */
  #longestPause: number;
  #burst = new Burst();
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Whether a frame begins at the first pending byte, as far as can be known. */
  #aligned = true;
  /** The last request, while its response may come: from a foreign unit, or from another device that has our unit. */
  #awaited: Uint8Array | undefined;
  readonly #late = new LateResponses();
  /** Damage of the message under way was reported. */
  #isReported = false;

  /** @param owns tells whether a unit identifier is ours */
  constructor(owns: (unitId: number) => boolean, options: RtuFramerOptions) {
    const { t35, characterTime = 0, longestPause = Number.POSITIVE_INFINITY, carrier = 'wire' } = options;
    this.#owns = owns;
    this.#t35 = t35;
    this.#characterTime = characterTime;
    this.#longestPause = longestPause;
    this.#carrier = carrier;
  }

  get busy(): boolean {
    return this.#burst.length > 0;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  /** Starts over, as on a port just opened. Unless `aligned`, the first bytes are frames only if a silence shows it. */
  reset({ aligned }: { aligned: boolean }): void {
    this.#burst = new Burst();
    this.#lastAt = Number.NEGATIVE_INFINITY;
    this.#aligned = aligned;
    this.#awaited = undefined;
    this.#late.forget();
    this.#isReported = false;
  }

  /** RTU has no delimiter, so nothing changes. */
  reframe(): void {}

  push(chunk: Uint8Array, at: number): FramerEvent[] {
    const events: FramerEvent[] = [];
    // A FIFO hands over 8 or 16 characters of an unbroken frame at once. The wire was busy for that long before `at`.
    const idle = at - this.#lastAt - chunk.length * this.#characterTime;
    const afterPause = idle >= this.#t35;
    const isWire = this.#carrier === 'wire';
    this.#endReported(at, events);
    if (isWire && afterPause && this.busy && this.#aligned) this.#takeWholeFrames(events);
    this.#burst.append(chunk, at, afterPause);
    this.#lastAt = at;
    if (this.#aligned) this.#takeHeads(events);
    if (!isWire) this.#takeReadEnd(chunk.length, afterPause, events);
    this.#shed(events);
    return events;
  }

  damaged(at: number): { readonly isRest: boolean; readonly noise: readonly Noise[] } {
    const noise: Noise[] = [];
    this.#endReported(at, noise);
    const isRest = this.#isReported;
    this.#isReported = true;
    this.#lastAt = at;
    this.#aligned = false;
    if (this.busy) this.#discard(this.#burst.length, noise);
    return { isRest, noise };
  }

  silence(): FramerEvent[] {
    const events: FramerEvent[] = [];
    const starts = this.#carrier === 'wire' ? this.#possibleStarts() : this.#aligned ? [0] : [];
    if (this.busy && !this.#takeExactly(starts, true, events)) this.#discard(this.#burst.length, events);
    this.#aligned = true;
    this.#isReported = false;
    return events;
  }

  /** Ends the message whose damage was reported, if the pause before `at` is too long to be inside a frame. */
  #endReported(at: number, events: FramerEvent[]): void {
    if (!this.#isReported || at - this.#lastAt <= this.#longestPause + this.#t35) return;
    if (this.busy) this.#discard(this.#burst.length, events);
    this.#isReported = false;
  }

  /** Takes valid frames from the front while there are any: USB adapters merge frames into one chunk. */
  #takeHeads(events: FramerEvent[]): void {
    for (let found = this.#headFrame(); found; found = this.#headFrame()) this.#take(found, events);
  }

  /**
   * The frame at the front, if it is complete. While the likelier reading of the front still lacks bytes, the other
   * reading does not count, because a response may begin like a request.
   */
  #headFrame(): Found | undefined {
    const { bytes } = this.#burst;
    if (bytes.length === 0) return undefined;
    const likelier = this.#likelierRole(0);
    for (let role: Role | undefined = likelier; role; role = this.#roleAfter(role, likelier, 0)) {
      const length = this.#lengthAs(role, 0);
      if (length === 'unknown') continue;
      if (length === 'more' || length > bytes.length) return undefined;
      if (isRtuFrame(bytes, 0, length)) return { length, role };
    }
    return undefined;
  }

  /** What the frame at `start` is, as far as its first two bytes show. */
  #likelierRole(start: number): Role {
    const { bytes } = this.#burst;
    const unitId = bytes[start] as number;
    return !this.#isOurs(unitId) && this.#isAwaited(unitId, bytes[start + 1]) ? 'response' : 'request';
  }

  /**
   * What the frame at `start` may be if it is not `tried`; undefined when both were tried. A frame to one of our units
   * is a request, unless another device on the wire may have the same unit identifier and be answering the last request.
   */
  #roleAfter(tried: Role, likelier: Role, start: number): Role | undefined {
    if (tried !== likelier) return undefined;
    if (tried === 'response') return 'request';
    const { bytes } = this.#burst;
    const unitId = bytes[start] as number;
    if (!this.#isOurs(unitId)) return 'response';
    const mayBeResponse = this.#isAwaited(unitId, bytes[start + 1]) && this.#mayBeDuplicate(start);
    return mayBeResponse ? 'response' : undefined;
  }

  #lengthAs(role: Role, start: number): PredictedLength {
    const { bytes } = this.#burst;
    return role === 'request'
      ? requestLength(bytes, start, bytes.length)
      : responseLength(bytes, start, bytes.length);
  }

  #isOurs(unitId: number): boolean {
    return unitId === BROADCAST || this.#owns(unitId);
  }

  #isAwaited(unitId: number, functionCode: number | undefined): boolean {
    if (this.#awaited?.[0] !== unitId) return false;
    return functionCode === undefined || (functionCode & ~EXCEPTION_FLAG) === this.#awaited[1];
  }

  /** Can the bytes at `start` be another device's response to the last request? A stream has no other devices. */
  #mayBeDuplicate(start: number): boolean {
    if (this.#carrier === 'stream' || this.#awaited === undefined) return false;
    const response = this.#burst.bytes.subarray(start + 1);
    return response.length < 2 || hasQuantityOf(response, this.#awaited.subarray(1));
  }

  /** After a pause of t3.5, takes exactly whole frames: a busy bus may never be silent for the discard gap. */
  #takeWholeFrames(events: FramerEvent[]): void {
    this.#takeExactly([0], false, events);
  }

  /** Takes frames that end with a read of `length` bytes from a stream, where no predicted length shows their end. */
  #takeReadEnd(length: number, afterPause: boolean, events: FramerEvent[]): void {
    const pending = this.#burst.length;
    if (pending === 0) return;
    const whole = this.#aligned ? this.#frameOfUntoldLength() : undefined;
    if (whole !== undefined) {
      this.#take(whole, events);
      return;
    }
    const begins = pending > length || (!this.#aligned && pending === length);
    if (!afterPause || !begins || length > MAX_RTU_LENGTH) return;
    if (this.#takeExactly([pending - length], false, events)) this.#aligned = true;
  }

  /** All pending bytes as one frame, unless the predicted length is greater. */
  #frameOfUntoldLength(): Found | undefined {
    const { bytes } = this.#burst;
    const expected = requestLength(bytes, 0, bytes.length);
    if (expected === 'more' || (expected !== 'unknown' && expected > bytes.length)) return undefined;
    if (!isRtuFrame(bytes)) return undefined;
    return { length: bytes.length, role: this.#likelierRole(0) };
  }

  #possibleStarts(): number[] {
    const first = this.#aligned ? Array.from({ length: MAX_STRAY_BYTES + 1 }, (_, i) => i) : [];
    return [...first, ...this.#burst.pauses().filter((offset) => !first.includes(offset))];
  }

  /** Takes frames from the first of `starts` from which they fill the pending bytes. Bytes before it are noise. */
  #takeExactly(starts: readonly number[], anyLength: boolean, events: FramerEvent[]): boolean {
    const hopeless = new Set<number>();
    for (const start of starts) {
      const frames = this.#exactFrames(start, anyLength, hopeless);
      if (frames.length === 0) continue;
      if (start > 0) this.#discard(start, events);
      for (const frame of frames) this.#take(frame, events);
      return true;
    }
    return false;
  }

  /**
   * The frames that fill the pending bytes from `start` to the last byte; empty if there are none. With `anyLength`,
   * the last frame may have a length that is wrong for its function.
   * @param hopeless offsets from which no frames are known to fill the rest
   */
  #exactFrames(start: number, anyLength: boolean, hopeless: Set<number>): Found[] {
    const { bytes } = this.#burst;
    for (const { length, role } of this.#possibleFrames(start, anyLength)) {
      const next = start + length;
      if (next === bytes.length) return [{ length, role }];
      if (hopeless.has(next)) continue;
      const rest = this.#exactFrames(next, anyLength, hopeless);
      if (rest.length > 0) return [{ length, role }, ...rest];
      hopeless.add(next);
    }
    return [];
  }

  /**
   * The valid frames that may begin at `start`, likeliest first. Some functions do not fix the length, and the adapter
   * or the system may have swallowed the pause after the frame. Then the frame may end wherever a CRC closes.
   */
  #possibleFrames(start: number, anyLength: boolean): Found[] {
    const { bytes } = this.#burst;
    const found: Found[] = [];
    const likelier = this.#likelierRole(start);
    for (let role: Role | undefined = likelier; role; role = this.#roleAfter(role, likelier, start)) {
      const length = this.#lengthAs(role, start);
      if (typeof length !== 'number' || start + length > bytes.length) continue;
      if (isRtuFrame(bytes, start, start + length)) found.push({ length, role });
    }
    const all = bytes.length - start;
    const anywhere = endsAtSilence(bytes[start + 1] ?? 0);
    const lengths = anywhere ? [all, ...Array.from({ length: all }, (_, i) => i)] : anyLength ? [all] : [];
    const role = this.#likelierRole(start);
    for (const length of lengths) if (isRtuFrame(bytes, start, start + length)) found.push({ length, role });
    return found;
  }

  #take({ length, role: supposed }: Found, events: FramerEvent[]): void {
    this.#isReported = false;
    this.#longestPause = Math.max(this.#longestPause, this.#burst.longestPause(length));
    const { bytes, startedAt, receivedAt } = this.#burst.take(length);
    const unitId = bytes[0] as number;
    const isOurs = this.#isOurs(unitId);
    const role = isOurs ? supposed : this.#roleBetweenOthers(bytes, supposed);
    this.#awaited = role === 'request' && unitId !== BROADCAST ? bytes : undefined;
    if (!isOurs) events.push({ kind: 'foreign', role, bytes, startedAt, receivedAt });
    else events.push({ kind: role === 'request' ? 'request' : 'duplicate', bytes, startedAt, receivedAt });
  }

  /** While a request to us waits for its answer, a frame that may be another device's late response counts as one. */
  #roleBetweenOthers(frame: Uint8Array, supposed: Role): Role {
    const asked = this.#awaited?.[0];
    const isAnswer = supposed === 'response' || (asked !== undefined && this.#isOurs(asked));
    const isLate = isAnswer && this.#late.settles(frame);
    this.#late.heard(frame, isLate);
    return isLate ? 'response' : supposed;
  }

  /** Reports that the first `length` pending bytes, at least one, are noise. */
  #discard(length: number, events: (Noise | FramerEvent)[]): void {
    events.push({ kind: 'noise', isRest: this.#isReported, ...this.#burst.take(length) });
    this.#isReported = true;
  }

  /**
   * Bounds the memory: when more bytes are pending than any frame has, and none is at the front, discards up to the
   * next pause, where a frame may begin.
   */
  #shed(events: FramerEvent[]): void {
    while (this.#burst.length > MAX_RTU_LENGTH) {
      this.#aligned = false;
      this.#discard(this.#burst.pauses().find((offset) => offset > 0) ?? this.#burst.length, events);
    }
  }
}
