import { signal } from '@preact/signals';
import type { Session } from '../api/v1/session.js';
import { type Answer, ask, needsLogIn } from './api.js';

/** Who we are; undefined before the server has said so, and where it wants a token. */
export const session = signal<Session | undefined>(undefined);

/** Whether this client may change anything. Without a word from the server it may try. */
export function mayWrite(): boolean {
  return session.value?.role !== 'read';
}

/** Asks who we are. */
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
