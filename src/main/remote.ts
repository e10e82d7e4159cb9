import { unreachableReason } from '../monitor/unreachable.js';
import { ask, type Method } from '../rest/client.js';
import type { LineEndpoints } from '../testing/scenario/line-endpoints.js';

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

  async ask<Body>(method: Method, path: string, body?: object): Promise<RemoteAnswer<Body>> {
    const answer = await ask<Body>((...request) => this.#send(...request), method, path, body);
    if (answer.ok) return { ok: true, body: answer.value };
    const { status, problem, cause } = answer;
    if (status === 0)
      return { ok: false, error: `${this.#url}: no answer: ${unreachableReason(cause as Error)}` };
    const listed = problem.problems.map(({ path, message }) =>
      path === '' ? message : `${path}: ${message}`,
    );
    return { ok: false, error: listed.length > 0 ? listed.join('\n') : problem.detail };
  }

  /** Where the open lines are, or why that is not known. */
  async endpoints(): Promise<LineEndpoints | string> {
    const answer = await this.ask<LineBody>('GET', '/api/v1/lines');
    if (!answer.ok) return answer.error;
    const open = answer.body.lines.filter(({ state }) => state === 'open');
    return new Map(open.map(({ name, place }) => [name, place]));
  }

  #send(path: string, { headers, ...init }: RequestInit): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      ...init,
      headers: { ...headers, ...this.#headers },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
  }
}
