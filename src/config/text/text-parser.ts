import { Worker } from 'node:worker_threads';
import type { Issue, Problem } from '../../schema/problem.js';
import type { ParserAnswer, ParserQuestion } from './parser-worker.js';

/** Mistakes in a text: the first of them with their places, and how many there are besides. */
interface TextProblems {
  readonly problems: readonly Problem[];
  readonly more: number;
}

export type TextRead =
  | { readonly ok: true; readonly value: unknown }
  | ({ readonly ok: false } & TextProblems);

/** Limits for a text from outside. */
export interface TextLimits {
  /** The most values of a text with its aliases followed, and the most bytes of them. The event loop copies them. */
  readonly mostValues: number;
  readonly mostBytes: number;
  readonly mostProblems: number;
  /** The longest time in ms for one text. */
  readonly ms: number;
}

/** The thread takes a tenth of a second to start, so it stays for so long after its last text. */
const IDLE_MS = 2000;

const RESOURCES = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4 };

/**
 * Parses texts from outside in a thread of its own, one after the other: the YAML library can't pause, and the lines would
 * wait for it. The thread is started for the first text.
 */
export class TextParser {
  readonly #limits: TextLimits;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  constructor(limits: TextLimits) {
    this.#limits = limits;
  }

  /** Parses a text. A text that exceeds the limits of time or memory has a problem that says so. */
  parse(text: string): Promise<TextRead> {
    return this.#take({ text });
  }

  /** Finds the places of issues in a text that `parse` has read. */
  async locate(text: string, issues: readonly Issue[]): Promise<readonly Problem[]> {
    const found = await this.#take({ text, issues });
    return found.ok ? [] : found.problems;
  }

  /** Ends the thread. No text is parsed any more. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#stop();
  }

  #take(asked: Pick<ParserQuestion, 'text' | 'issues'>): Promise<ParserAnswer> {
    const answer = this.#turn.then(() => this.#answer({ ...this.#limits, ...asked }));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async #answer(question: ParserQuestion): Promise<ParserAnswer> {
    clearTimeout(this.#idle);
    const answer = this.#isEnded ? ENDED : await ask(this.#started(), question, this.#limits.ms);
    if (typeof answer !== 'string') {
      this.#idle = setTimeout(() => void this.#stop(), IDLE_MS).unref();
      return answer;
    }
    await this.#stop();
    return { ok: false, problems: [{ path: '', message: answer }], more: 0 };
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./parser-worker.js', import.meta.url), { resourceLimits: RESOURCES });
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    // Nothing that waits for the thread keeps the program from ending, and no failure of an idle thread ends it.
    worker.on('error', forget).on('exit', forget).unref();
    this.#worker = worker;
    return worker;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

const ENDED = 'is not read any more: the program ends';

/** @returns the answer, or why there is none. Rejects when the thread has failed for a reason of its own. */
function ask(worker: Worker, question: ParserQuestion, ms: number): Promise<ParserAnswer | string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(resolve, `could not be read within ${ms / 1000} s`), ms);
    const end = <Result>(settle: (result: Result) => void, result: Result) => {
      clearTimeout(timer);
      worker.off('message', answered).off('error', failed).off('exit', ended);
      settle(result);
    };
    const answered = (answer: ParserAnswer) => end(resolve, answer);
    const failed = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end(resolve, 'takes too much memory to be read');
      else end(reject, error);
    };
    const ended = () => end(resolve, ENDED);
    worker.on('message', answered).on('error', failed).on('exit', ended);
    worker.postMessage(question);
  });
}
