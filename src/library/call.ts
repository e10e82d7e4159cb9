import type { Problem } from '../schema/problem.js';

/** Sends a request to the REST interface of a simulator. Resolves with the body of the answer; rejects with a `Refusal`. */
export type Call = (method: Method, path: string, body?: object) => Promise<unknown>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Why a simulator did not do what it was asked. */
export interface Refusal extends Error {
  /** Of HTTP. */
  readonly status: number;
  /** What is wrong, and where in the request. */
  readonly problems: readonly Problem[];
}

/**
 * The body of an answer.
 * @param text the body as it came; empty text is undefined
 * @throws a `Refusal` for the status of an error
 */
export function bodyOf(what: string, status: number, text: string): unknown {
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  if (status < 400) return body;
  const { detail, problems = [] } = body as { detail?: string; problems?: readonly Problem[] };
  throw Object.assign(new Error(`${what}: ${detail ?? `status ${status}`}`), { status, problems });
}
