import type { BytePort } from '../port/port.js';

/** Counts characters lost in the UART, or because the kernel's buffer was full, from the moment it is made. */
export class Overruns {
  readonly #errorCounts: BytePort['errorCounts'];
  /** Lost characters reported so far, as the driver counts them. */
  #reported: number;

  /** @param errorCounts as the port has it; where it is absent nothing is counted */
  constructor(errorCounts: BytePort['errorCounts']) {
    this.#errorCounts = errorCounts;
    this.#reported = this.#counted() ?? 0;
  }

  /** Characters lost since the last call. */
  take(): number {
    const counted = this.#counted() ?? this.#reported;
    const lost = counted - this.#reported;
    this.#reported = counted;
    return lost;
  }

  #counted(): number | undefined {
    const counts = this.#errorCounts?.();
    return counts && counts.overrun + counts.bufferOverrun;
  }
}
