/** The value of an operation that can fail, or why it failed: usually a sentence. */
export type Result<Value, Failure = string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Failure };

/** The result of an operation that succeeded and has no value. */
export const OK = { ok: true } as const;

/** Returns the result of an operation that succeeded. */
export function success<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** Returns the result of an operation that failed. @param error the reason, as a sentence or as data */
export function failure<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}
