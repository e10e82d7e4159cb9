import { useSignal } from '@preact/signals';
import type { Answer, Refusal } from '../../rest/client.js';

/** What a form sends: whether it is under way, and why the last time it was refused. */
export function useRequest() {
  const isBusy = useSignal(false);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const send = async <Value>(request: Promise<Answer<Value>>): Promise<Answer<Value>> => {
    isBusy.value = true;
    const answer = await request;
    isBusy.value = false;
    refusal.value = answer.ok ? undefined : answer.problem;
    return answer;
  };
  return { isBusy, refusal, send };
}
