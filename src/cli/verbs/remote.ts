import type { ReadableStream } from 'node:stream/web';
import { z } from 'zod';
import {
  type Answer,
  ask,
  type Method,
  open,
  type Send,
  sendTo,
  unreachableReason,
} from '../../common/rest-client/client.js';
import { failure, type Result, success } from '../../common/result.js';
import type { LineEndpoints } from '../../testing/scenario/dut.js';

const LINES = z.looseObject({
  lines: z.array(
    z.looseObject({ name: z.string().regex(/^\P{Cs}+$/u), state: z.string(), place: z.string() }),
  ),
});

type LineBody = z.infer<typeof LINES>;

/** Maximum time to wait for an answer, in ms. */
const ANSWER_LIMIT_MS = 10_000;

/** The REST interface of another simulator. A failure is a sentence that says why there is no answer. */
export class Remote {
  readonly #url: string;
  readonly #send: Send;
  readonly #limitMs: number;

  constructor(url: string, token: string | undefined, limitMs = ANSWER_LIMIT_MS) {
    this.#url = url.replace(/\/+$/, '');
    this.#send = sendTo(url, token);
    this.#limitMs = limitMs;
  }

  /** @param shape the minimum that the answer must have; any other answer comes from another program */
  async ask<Body>(
    method: Method,
    path: string,
    body?: object,
    shape: z.ZodType = z.unknown(),
  ): Promise<Result<Body>> {
    const send: Send = (at, init) => this.#send(at, { ...init, signal: AbortSignal.timeout(this.#limitMs) });
    const answer = this.#known(await ask<Body>(send, method, path, body));
    const isOurs = !answer.ok || shape.safeParse(answer.value).success;
    return isOurs ? answer : failure(this.anotherProgram);
  }

  /** Requests a body that is not JSON, without a time limit. */
  async download(path: string): Promise<Result<ReadableStream<Uint8Array>>> {
    const answer = this.#known(await open(this.#send, path, {}));
    return answer.ok ? success(answer.value.body as ReadableStream<Uint8Array>) : answer;
  }

  lines(): Promise<Result<LineBody>> {
    return this.ask('GET', '/api/v1/lines', undefined, LINES);
  }

  /** The addresses of the open lines, or a sentence that says why they are unknown. */
  async endpoints(): Promise<Result<LineEndpoints>> {
    const answer = await this.lines();
    if (!answer.ok) return failure(answer.error);
    const open = answer.value.lines.filter(({ state }) => state === 'open');
    return success(new Map(open.map(({ name, place }) => [name, place])));
  }

  #known<Body>(answer: Answer<Body>): Result<Body> {
    if (answer.ok) return answer;
    const { status, problem, cause } = answer;
    if (status === 0) return failure(this.noAnswer(cause as Error));
    const listed = problem.problems.map(({ path, message }) =>
      path === '' ? message : `${path}: ${message}`,
    );
    return failure(listed.length > 0 ? listed.join('\n') : problem.detail);
  }

  /** The sentence for an answer from another program. */
  get anotherProgram(): string {
    return `${this.#url}: this is not modbus-sim`;
  }

  /** The sentence for an answer that did not arrive, or not completely. */
  noAnswer(cause: Error): string {
    return `${this.#url}: no answer: ${unreachableReason(cause)}`;
  }
}
