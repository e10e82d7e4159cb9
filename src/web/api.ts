import { signal } from '@preact/signals';
import type { ErrorBody } from '../api/problem.js';

/** The answer to a request: what came, or why the server refused. */
export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly status: number; readonly problem: Refusal };

/** Why something was refused. `problems` name places in what was asked: `serial.baudRate`. */
export type Refusal = Pick<ErrorBody, 'detail' | 'problems'>;

/** True after an answer that asked for a token. Whoever logs in makes it false. */
export const needsLogIn = signal(false);

/** The status of an answer that never came. */
const UNREACHED = 0;

/**
 * Asks the API. Never rejects: what the network or the server refuses is a value.
 * @param path below `/api/v1`, with names percent-encoded: see `pathOf`
 * @param body sent as JSON; a blob as it is, with its own type
 */
export async function ask<Value>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Answer<Value>> {
  try {
    const response = await fetch(`/api/v1${path}`, {
      method,
      ...(body && (body instanceof Blob ? { body } : jsonOf(body))),
    });
    if (!response.ok) return { ok: false, status: response.status, problem: await refusalOf(response) };
    const value = response.status === 204 ? null : await response.json();
    return { ok: true, value: value as Value };
  } catch {
    return { ok: false, status: UNREACHED, problem: refusal('The simulator could not be reached.') };
  }
}

function jsonOf(body: object): Pick<RequestInit, 'body' | 'headers'> {
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** A path of names that may have any characters: `pathOf('lines', name, 'start')`. */
export function pathOf(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** What a failed answer says. An answer that asks for a token brings up the log-in. */
export async function refusalOf(response: Response): Promise<Refusal> {
  if (response.status === 401) needsLogIn.value = true;
  try {
    const { detail, problems } = (await response.json()) as ErrorBody;
    return { detail, problems };
  } catch {
    return refusal(`The server answered ${response.status} ${response.statusText}.`);
  }
}

function refusal(detail: string): Refusal {
  return { detail, problems: [] };
}
