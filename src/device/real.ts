import type { Diagnostics } from './diagnostics.js';
import type { Writer } from './registers/accesses.js';

/** The device that answers while a real one does not. */
interface Fallback {
  /** Set before `respond`: who sends the request. */
  writer: Writer;
  respond(requestPdu: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined;
}

/** What becomes of a request to a real device. */
export type RealOutcome =
  | { readonly kind: 'response'; readonly pdu: Uint8Array }
  /** The real device is away, and this one answers in its place. */
  | { readonly kind: 'fallback'; readonly device: Fallback }
  | { readonly kind: 'silence'; readonly reason: string };

/** A real device that answers in place of a simulated one. */
export interface RealDevice {
  /** Where it is, and whether it answered when it was asked last. */
  readonly status: { readonly to: string; readonly answers: boolean };
  /**
   * Asks the real device once; nothing is ever asked again.
   * @param unitId as the client has it
   * @param done is called once, within this call or later, unless the request is called off before
   * @returns calls the request off: its reply is not waited for, and it is not sent if it was not yet
   */
  ask(unitId: number, requestPdu: Uint8Array, done: (outcome: RealOutcome) => void): () => void;
}
