import type { Diagnostics } from './diagnostics.js';
import type { Writer } from './registers/accesses.js';

/** The simulated device that answers while a real device does not. */
interface Fallback {
  /** Says who sends the request; set this before `respond`. */
  writer: Writer;
  respond(requestPdu: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined;
}

/** The outcome of a request to a real device. */
export type RealOutcome =
  | { readonly kind: 'response'; readonly pdu: Uint8Array }
  /** The real device is away, and the simulated device answers instead. */
  | { readonly kind: 'fallback'; readonly device: Fallback }
  | { readonly kind: 'silence'; readonly reason: string };

/** A real device that answers instead of a simulated one. */
export interface RealDevice {
  /** Where the real device is, and whether it answered when it was asked last. */
  readonly status: { readonly to: string; readonly answers: boolean };
  /**
   * Asks the real device once; nothing is asked again.
   * @param unitId as the client has it
   * @param done is called once, within this call or later, unless the request is called off before
   * @returns a function that calls the request off: its reply is not waited for, and a request that was not
   * sent yet is not sent
   */
  ask(unitId: number, requestPdu: Uint8Array, done: (outcome: RealOutcome) => void): () => void;
}
