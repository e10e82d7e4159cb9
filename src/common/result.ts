/** The value of something that can fail, or why it failed: mostly a sentence for people. */
export type Result<Value, Failure = string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Failure };

/** The result of something that went well and has no value. */
export const OK = { ok: true } as const;

/** The result of something that went well. */
export function success<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** The result of something that failed. @param error says why, as a sentence for people or as data */
export function failure<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}
