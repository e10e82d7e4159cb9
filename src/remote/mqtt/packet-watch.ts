/**
 * Reads the lengths of packets from a connection's bytes as they arrive. This way, a packet that is too long
 * is detected from its first bytes, before the rest is stored (MQTT 5, 2.1.4: fixed header and Remaining
 * Length).
 */
export class PacketWatch {
  /** Number of bytes left in the current packet. */
  #left = 0;
  #isInLength = false;
  #length = 0;
  #factor = 1;

  /** @returns the largest Remaining Length announced in these bytes; infinite if the length field itself is too long */
  longestIn(bytes: Uint8Array): number {
    let longest = 0;
    for (let at = 0; at < bytes.length; ) {
      const skipped = Math.min(this.#left, bytes.length - at);
      this.#left -= skipped;
      at += skipped;
      const byte = bytes[at++];
      if (byte === undefined) break;
      if (!this.#isInLength) {
        this.#isInLength = true;
        this.#length = 0;
        this.#factor = 1;
        continue;
      }
      if (this.#factor > LARGEST_FACTOR) return Number.POSITIVE_INFINITY;
      this.#length += (byte & 0x7f) * this.#factor;
      this.#factor *= 0x80;
      longest = Math.max(longest, this.#length);
      if (byte >= 0x80) continue;
      this.#isInLength = false;
      this.#left = this.#length;
    }
    return longest;
  }
}

/** The factor for the fourth and last byte of a length (MQTT 5, 1.5.5). */
const LARGEST_FACTOR = 0x80 ** 3;
