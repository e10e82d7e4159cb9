import { CARRIAGE_RETURN, isHexDigit, MAX_ASCII_LENGTH } from '../../protocol/ascii.js';
import type { AduContent, Framing } from '../../protocol/framing.js';
import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { COLON } from '../../protocol/limits.js';
import { hasQuantityOf } from '../../protocol/pdu.js';
import { BROADCAST, encodeRtu, mayBeRequest, responseLength } from '../../protocol/rtu.js';
import {
  Burst,
  type Carrier,
  type Framer,
  type FramerEvent,
  type FramerOptions,
  type Noise,
  UnansweredRequests,
} from './framer.js';

/**
 * Finds ASCII messages in bytes that arrive in chunks of any size (Modbus over Serial Line V1.02, 2.5.2).
 *
 * A colon always begins a message. If it is inside another message, that message is noise. A message ends
 * with carriage return and the line's delimiter, and is valid if `framing` can decode it. A message becomes
 * noise at its first invalid character. Call `silence` after a pause of `ASCII_TIMEOUT_MS`.
 *
 * Noise is reported in one piece: at the end of its line, before a message, at the silence, or when it is
 * longer than a message. So at most two messages are kept between two chunks.
 *
 * Limits, because messages don't identify their sender:
 * - Another device with one of our unit identifiers is detected only if its response immediately follows the
 *   request and does not have the length of a request. Responses to functions such as 5 and 6 are copies of
 *   the request, so they are executed again. Responses of functions without a fixed length are answered.
 * - Between other stations, a message that could be the response to an unanswered request is treated as that
 *   response, even if it is a write that a client repeats. Foreign messages are never executed.
 * - Messages in the same chunk as the request that changes the delimiter are read with the old delimiter.
 *
 * Pure: the caller brings the clock.
 */
export class AsciiFramer implements Framer {
  readonly #owns: (unitId: number) => boolean;
  /** The longest pause between two damaged characters of one message, in ms. */
  readonly #longestPause: number;
  readonly #carrier: Carrier;
  #framing: Framing;
  #burst = new Burst();
  /** The offset in the pending bytes at which the current message begins; everything before it is noise. */
  #begun: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** The last message, unless it was a broadcast or another device's response to one of ours. */
  #asked: AduContent | undefined;
  readonly #unanswered = new UnansweredRequests();
  /** True if damage to the current message was reported. */
  #isDamageReported = false;

  /** Creates the framer. @param owns reports whether a unit identifier is ours */
  constructor(
    owns: (unitId: number) => boolean,
    framing: Framing,
    { t35, longestPause = Number.POSITIVE_INFINITY, carrier = 'wire' }: FramerOptions,
  ) {
    this.#owns = owns;
    this.#framing = framing;
    this.#longestPause = longestPause + t35;
    this.#carrier = carrier;
  }

  /** True from a colon to the end of its message. Noise does not make the line busy. */
  get busy(): boolean {
    return this.#begun !== undefined;
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  /** Forgets everything. `aligned` does not matter, because the next colon marks the beginning of a message. */
  reset(): void {
    this.#burst = new Burst();
    this.#begun = undefined;
    this.#lastAt = Number.NEGATIVE_INFINITY;
    this.#asked = undefined;
    this.#unanswered.clear();
    this.#isDamageReported = false;
  }

  reframe(framing: Framing): void {
    this.#framing = framing;
  }

  push(chunk: Uint8Array, at: number): FramerEvent[] {
    const events: FramerEvent[] = [];
    this.#lastAt = at;
    let next = this.#burst.length;
    this.#burst.append(chunk, at, false);
    while (next < this.#burst.length) {
      next = this.#begun === undefined ? this.#seek(next) : this.#follow(this.#begun, next, events);
    }
    this.#reportNoise(events);
    return events;
  }

  damaged(at: number): { readonly isRest: boolean; readonly noise: readonly Noise[] } {
    const noise: Noise[] = [];
    const isPast = at - this.#lastAt > this.#longestPause || this.#burst.bytes.includes(COLON);
    const isRest = this.#isDamageReported && !isPast;
    this.#isDamageReported = true;
    this.#lastAt = at;
    this.#begun = undefined;
    if (this.#burst.length > 0)
      noise.push({ kind: 'noise', isRest: true, ...this.#burst.take(this.#burst.length) });
    return { isRest, noise };
  }

  silence(): FramerEvent[] {
    const events: FramerEvent[] = [];
    this.#begun = undefined;
    this.#discard(this.#burst.length, events);
    this.#isDamageReported = false;
    return events;
  }

  /** Looks for the next colon outside a message. Returns the offset at which to continue. */
  #seek(next: number): number {
    const colon = this.#burst.bytes.indexOf(COLON, next);
    if (colon < 0) return this.#burst.length;
    this.#begun = colon;
    return colon + 1;
  }

  /** Reads the message that begins at `begun` up to its end, or up to its first invalid character. */
  #follow(begun: number, next: number, events: FramerEvent[]): number {
    const { bytes } = this.#burst;
    for (let i = next; i < bytes.length; i++) {
      const character = bytes[i] as number;
      const isLast = bytes[i - 1] === CARRIAGE_RETURN;
      const fits = !isLast && (character === CARRIAGE_RETURN || isHexDigit(character));
      if (fits && i + 1 - begun < MAX_ASCII_LENGTH) continue;
      this.#begun = undefined;
      const content = isLast ? this.#framing.decode(bytes.subarray(begun, i + 1)) : undefined;
      if (!content) return i;
      this.#discard(begun, events);
      this.#emit(i + 1 - begun, content, events);
      return 0;
    }
    return bytes.length;
  }

  #emit(length: number, content: AduContent, events: FramerEvent[]): void {
    this.#isDamageReported = false;
    const frame = this.#burst.take(length);
    const { unitId } = content;
    const isOurs = unitId === BROADCAST || this.#owns(unitId);
    const isDuplicate = isOurs && this.#isDuplicate(content);
    this.#asked = isDuplicate || unitId === BROADCAST ? undefined : content;
    if (isOurs) events.push({ kind: isDuplicate ? 'duplicate' : 'request', ...frame });
    else events.push({ kind: 'foreign', role: this.#roleBetweenOthers(content), ...frame });
  }

  /**
   * Reports whether this is another device's response to the request immediately before it: it has the length
   * of a response, and not the length of a request. A stream has no other devices.
   */
  #isDuplicate({ unitId, pdu }: AduContent): boolean {
    if (this.#carrier === 'stream' || this.#asked?.unitId !== unitId) return false;
    if (((pdu[0] as number) & ~EXCEPTION_FLAG) !== this.#asked.pdu[0]) return false;
    if (!hasQuantityOf(pdu, this.#asked.pdu)) return false;
    const adu = encodeRtu(unitId, pdu);
    return !mayBeRequest(adu) && responseLength(adu, 0, adu.length) === adu.length;
  }

  #roleBetweenOthers({ unitId, pdu }: AduContent): 'request' | 'response' {
    const adu = encodeRtu(unitId, pdu);
    const isAnswer = this.#unanswered.answeredBy(adu);
    this.#unanswered.remember(adu, isAnswer);
    return isAnswer ? 'response' : 'request';
  }

  #reportNoise(events: FramerEvent[]): void {
    const { bytes } = this.#burst;
    const length = this.#begun ?? bytes.length;
    const endsLine = bytes[length - 2] === CARRIAGE_RETURN && bytes[length - 1] === this.#framing.delimiter;
    if (!endsLine && length <= MAX_ASCII_LENGTH) return;
    this.#discard(length, events);
    if (endsLine) this.#isDamageReported = false;
    if (this.#begun !== undefined) this.#begun = 0;
  }

  /**
   * Reports the first `length` bytes as noise, if there are any. A colon among them began another message.
   */
  #discard(length: number, events: FramerEvent[]): void {
    if (length === 0) return;
    const noise = this.#burst.take(length);
    const isRest = this.#isDamageReported && !noise.bytes.includes(COLON);
    events.push({ kind: 'noise', isRest, ...noise });
    this.#isDamageReported = true;
  }
}
