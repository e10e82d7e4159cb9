import { concatBytes, newBytes } from '../protocol/bytes.js';
import type { AduContent, Framing } from '../protocol/framing.js';
import { EXCEPTION_FLAG } from '../protocol/function-code.js';
import { COLON } from '../protocol/limits.js';
import { decodeMbap } from '../protocol/mbap.js';
import { hasQuantityOf } from '../protocol/pdu.js';
import { isRtuFrame, repeatsRequest, responseLength } from '../protocol/rtu.js';

/** A reply: the whole frame and its PDU. */
export interface Reply {
  readonly adu: Uint8Array;
  readonly pdu: Uint8Array;
}

/** Maximum bytes kept that are not a reply. No reply is longer. */
const MOST_HEARD = 1024;

/**
 * Searches the bytes after a request for its reply. A reply has the unit and the function of the request, or
 * is an exception to it; with an MBAP header, it also has the transaction identifier of the request; and it
 * has as much data as requested. All other bytes are only kept in `heard`. Pure.
 */
export class ReplySearch {
  readonly #framing: Framing;
  readonly #asked: AduContent;
  readonly #request: Uint8Array;
  #heard: Uint8Array = newBytes(0);
  /** True if the request itself was received first. */
  isEchoed = false;
  readonly #mayEcho: boolean | 'certainly';

  /**
   * Creates the search.
   * @param mayEcho whether the adapter may receive what it sends. Until that is certain, a copy of the
   * request is not treated as an echo if the reply would be a copy too.
   */
  constructor(framing: Framing, asked: AduContent, mayEcho: boolean | 'certainly') {
    this.#framing = framing;
    this.#asked = asked;
    this.#request = framing.encode(asked);
    this.#mayEcho = mayEcho;
  }

  /** The bytes received so far, none of which was a reply. */
  get heard(): Uint8Array {
    return this.#heard;
  }

  /**
   * Adds the bytes of one read.
   * @param isOver true after a silence, which completes the frame whatever its length
   */
  push(chunk: Uint8Array, isOver = false): Reply | undefined {
    this.#heard = concatBytes(this.#heard, chunk).slice(-MOST_HEARD);
    const from = this.#endOfEcho();
    switch (this.#framing.name) {
      case 'socket':
        return this.#mbapReply();
      case 'rtu':
        return this.#rtuReply(from, isOver);
      case 'ascii':
        return this.#asciiReply(from);
    }
  }

  #endOfEcho(): number {
    const { length } = this.#request;
    const isEcho =
      this.#mayEcho !== false && Buffer.compare(this.#heard.subarray(0, length), this.#request) === 0;
    if (!isEcho || (this.#mayEcho !== 'certainly' && this.#isCopied)) return 0;
    this.isEchoed = true;
    return length;
  }

  /** True if the reply to this request is a copy of it. */
  get #isCopied(): boolean {
    const { unitId, pdu } = this.#asked;
    return repeatsRequest(Uint8Array.of(unitId, ...pdu));
  }

  #mbapReply(): Reply | undefined {
    for (let start = 0; start < this.#heard.length; ) {
      const decoded = decodeMbap(this.#heard, start);
      if (decoded.kind === 'more' || decoded.kind === 'invalid') return undefined;
      const end = start + decoded.length;
      if (decoded.kind === 'frame' && this.#isReply(decoded.frame))
        return { adu: this.#heard.slice(start, end), pdu: decoded.frame.pdu };
      start = end;
    }
    return undefined;
  }

  /** Tries every offset, because a driver that switches late may leave stray bytes before the reply. */
  #rtuReply(from: number, isOver: boolean): Reply | undefined {
    const bytes = this.#heard;
    for (let start = from; start + 1 < bytes.length; start++) {
      const predicted = responseLength(bytes, start, bytes.length);
      const length = predicted === 'unknown' && isOver ? bytes.length - start : predicted;
      if (typeof length !== 'number' || start + length > bytes.length) continue;
      if (!isRtuFrame(bytes, start, start + length)) continue;
      const adu = bytes.slice(start, start + length);
      const content = this.#framing.decode(adu);
      if (content && this.#isReply(content)) return { adu, pdu: content.pdu };
    }
    return undefined;
  }

  #asciiReply(from: number): Reply | undefined {
    const { delimiter = 0 } = this.#framing;
    const bytes = this.#heard;
    let start = from;
    for (let end = bytes.indexOf(delimiter, from); end >= 0; end = bytes.indexOf(delimiter, start)) {
      const adu = bytes.slice(bytes.lastIndexOf(COLON, end), end + 1);
      const content = this.#framing.decode(adu);
      if (content && this.#isReply(content)) return { adu, pdu: content.pdu };
      start = end + 1;
    }
    return undefined;
  }

  #isReply({ transactionId, unitId, pdu }: AduContent): boolean {
    const asked = this.#asked;
    const code = asked.pdu[0] as number;
    if (unitId !== asked.unitId || transactionId !== asked.transactionId) return false;
    if (pdu[0] === (code | EXCEPTION_FLAG)) return pdu.length === 2;
    return pdu[0] === code && hasQuantityOf(pdu, asked.pdu);
  }
}
