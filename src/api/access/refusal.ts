import type { Code } from '../../control/refusal.js';

/** Why a request is not let in. */
export interface Refusal<Reason extends Code = Code> {
  readonly code: Reason;
  /** The part of the request that is wrong: a header, or its method. */
  readonly path: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}
