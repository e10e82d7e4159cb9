import { valueAt } from '../../../common/schema/parts.js';
import { LONGEST_ANSWER, type Observer, type ObserverText, READ_LIMIT_MS, shownText } from './observer.js';

const PACE_MS = 200;

/** A step into a JSON value: the name of a member, or an index of an array. */
export type JsonPath = readonly (string | number)[];

const STEP = /\.?([^.[\]]+)|\[(\d{1,9})\]/y;

/**
 * Reads a path like `a.b[0]`.
 * @returns undefined when the text is no path
 */
export function readJsonPath(text: string): JsonPath | undefined {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const [, name, index] = STEP.exec(text) ?? [];
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else return undefined;
  }
  return text.startsWith('.') ? undefined : steps;
}

/**
 * Makes an observer of a page that shows what the client has read.
 * @param path where the value is in the JSON of the page; the whole text is the value when undefined
 */
export function urlObserver(url: string, path: JsonPath | undefined): Observer {
  return {
    name: url,
    paceMs: PACE_MS,
    read: async () => {
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(READ_LIMIT_MS) });
        const text = await textOf(response);
        if (!response.ok) return { ok: false, error: `answered ${response.status}` };
        if (text === undefined) return { ok: false, error: `answered more than ${LONGEST_ANSWER} bytes` };
        return path === undefined ? shownText(text) : shownAt(text, path);
      } catch (error) {
        return { ok: false, error: `did not answer: ${reasonOf(error)}` };
      }
    },
  };
}

/**
 * Reads the text of a page.
 * @returns undefined when it is longer than `LONGEST_ANSWER`
 */
async function textOf({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop cancels the rest of the page.
    if (length > LONGEST_ANSWER) return undefined;
  }
  return Buffer.concat(chunks).toString();
}

function shownAt(text: string, path: JsonPath): ObserverText {
  let value: unknown;
  try {
    value = valueAt(JSON.parse(text), path);
  } catch {
    return { ok: false, error: 'did not answer JSON' };
  }
  if (value === undefined || value === null) return { ok: false, error: 'has no value at the path' };
  if (typeof value === 'object') return { ok: false, error: 'has no single value at the path' };
  return shownText(String(value));
}

/** Finds the reason of a failure, which `fetch` hides in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
