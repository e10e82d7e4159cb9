import { unreachableReason } from '../monitor/unreachable.js';
import type { LinePlaces } from '../testing/scenario/places.js';

/** The answer to a request, or a sentence that says why there is none. */
export type RemoteAnswer<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly error: string };

interface LineBody {
  readonly lines: readonly { readonly name: string; readonly state: string; readonly place: string }[];
}

/** A request that takes longer is given up. */
const ANSWER_LIMIT_MS = 10_000;

/** The REST interface of a simulator that runs elsewhere. */
export class Remote {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, token: string | undefined) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  async ask<Body>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<RemoteAnswer<Body>> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: { ...this.#headers, ...(body && { 'content-type': 'application/json' }) },
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
        ...(body && { body: JSON.stringify(body, wideNumbers) }),
      });
      const text = await response.text();
      if (!response.ok) return { ok: false, error: errorText(response.status, text) };
      return { ok: true, body: (text === '' ? undefined : JSON.parse(text)) as Body };
    } catch (error) {
      return { ok: false, error: `${this.#url}: no answer: ${unreachableReason(error as Error)}` };
    }
  }

  /** Where the open lines are, or why that is not known. */
  async places(): Promise<LinePlaces | string> {
    const answer = await this.ask<LineBody>('GET', '/api/v1/lines');
    if (!answer.ok) return answer.error;
    const open = answer.body.lines.filter(({ state }) => state === 'open');
    return new Map(open.map(({ name, place }) => [name, place]));
  }
}

/** JSON has no integers beyond 2^53; the simulator takes them as text. */
function wideNumbers(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function errorText(status: number, text: string): string {
  try {
    const { problems = [], error } = JSON.parse(text) as {
      readonly problems?: readonly { readonly path: string; readonly message: string }[];
      readonly error?: string;
    };
    const listed = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    return listed.length > 0 ? listed.join('\n') : (error ?? `HTTP status ${status}`);
  } catch {
    return `HTTP status ${status}`;
  }
}
