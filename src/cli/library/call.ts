import { ask, type Method, type Send } from '../../common/rest-client/client.js';
import type { Problem } from '../../common/schema/problem.js';

/**
 * Sends a request to the REST interface of a simulator. Resolves with the body of the answer; rejects with a
 * `Refusal`.
 */
export type Call = (method: Method, path: string, body?: object) => Promise<unknown>;

/** Why a simulator did not do what it was asked. */
export interface Refusal extends Error {
  /** Status of HTTP. */
  readonly status: number;
  /** Each mistake of the request and its path. */
  readonly problems: readonly Problem[];
}

/** @param where address of the simulator, for the error when nothing answers there */
export function callBy(send: Send, where: string): Call {
  return async (method, path, body) => {
    const answer = await ask(send, method, `/api/v1${path}`, body);
    if (answer.ok) return answer.value ?? undefined;
    const { status, problem, cause } = answer;
    if (status === 0)
      throw new Error(`can't reach ${where}/api/v1${path}: ${reasonOf(cause as Error)}`, { cause });
    const { detail, problems } = problem;
    throw Object.assign(new Error(`${method} ${path}: ${detail}`), { status, problems });
  };
}

/** The reason of a failed `fetch`. Its own message says only that it failed; the reason is in `cause`. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}
