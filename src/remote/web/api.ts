import { signal } from '@preact/signals';
import { type Answer, ask as askBy, type Method } from '../../common/rest-client/client.js';
import type { Session } from '../api/v1/session.js';
import { past } from './past.js';
import { recorded } from './recorded.js';

/** True after an answer that asked for a token, until the user has logged in. */
export const needsLogIn = signal(false);

/** The session of this page; undefined until the simulator has described it. */
export const session = signal<Session | undefined>(undefined);

/** Sends a request to the simulator that this page came from. @param path path below `/api/v1` */
export async function send(path: string, init: RequestInit): Promise<Response> {
  if (recorded) return (await import('./recorded-answers.js')).answered(path);
  const response = await fetch(`/api/v1${path}`, init);
  if (response.status === 401) needsLogIn.value = true;
  return response;
}

/** Sends a request and reads its answer: see `ask` of `common/rest-client/client.ts`. */
export function ask<Value>(method: Method, path: string, body?: object): Promise<Answer<Value>> {
  return askBy<Value>(send, method, path, body);
}

/** Why a control that changes something is disabled in a read-only session. */
export const ONLY_READS = 'this session is read-only';

/** Whether this session is read-only. False while its role is not known. */
export function onlyReads(): boolean {
  return session.value?.role === 'read';
}

/** Why nothing can be changed here; undefined if it can. */
export function whyOff(): string | undefined {
  if (recorded) return 'this is a saved file';
  if (past.value !== undefined) return "the past can't be changed";
  return onlyReads() ? ONLY_READS : undefined;
}

export async function readSession(): Promise<void> {
  const answer = await ask<Session>('GET', '/session');
  if (answer.ok) session.value = answer.value;
}

export async function logIn(token: string): Promise<Answer<Session>> {
  const answer = await ask<Session>('POST', '/session', { token });
  if (answer.ok) {
    session.value = answer.value;
    needsLogIn.value = false;
  }
  return answer;
}

export async function logOut(): Promise<void> {
  await ask('DELETE', '/session');
  session.value = undefined;
  needsLogIn.value = true;
}
