import { failure, type Result, success } from './result.js';

/** Work that can pause at each `yield`, so that its caller can serve others in between. */
export type Work<Result> = Generator<void, Result, void>;

/** Does work without a pause and returns its result. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** The longest time for other work before the lines get their turn of the event loop, in ms. */
const SLICE_MS = 0.5;

/** Work that waits for its next slice. All work shares one slice per turn of the event loop, however much there is. */
const waiting: (() => void)[] = [];

function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(beginNext);
  });
}

function beginNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(beginNext);
}

/** Does long work in slices, each in a separate turn of the event loop. @returns the result of the work */
export async function inSlices<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    const endsAt = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < endsAt);
    await nextSlice();
  }
}

/**
 * Returns the next parts of a long list, as many as can be created without a pause. `isLast` is true if there
 * are no more.
 */
export function nextParts<Part>(parts: Iterator<Part | undefined>): {
  readonly parts: Part[];
  readonly isLast: boolean;
} {
  const made: Part[] = [];
  const endsAt = performance.now() + SLICE_MS;
  do {
    const { done, value } = parts.next();
    if (done) return { parts: made, isLast: true };
    if (value !== undefined) made.push(value);
  } while (performance.now() < endsAt);
  return { parts: made, isLast: false };
}

/** Work that answers questions one after another, here or in a thread of its own. */
export interface Asked<Question, Answer> {
  ask(question: Question): Promise<Answer>;
  end(): Promise<void>;
}

/** Answers questions here, each in one turn. */
export function askedHere<Question, Answer>(
  answers: Generator<Answer, Answer, Question>,
): Asked<Question, Answer> {
  return { ask: async (question) => answers.next(question).value, end: async () => {} };
}

/**
 * Returns a thread's answer, or why it can't answer: `tooLarge` if it ran out of memory. The work ends when
 * the client that requested it disconnects.
 */
export async function answerOrWhyNot<Answer>(
  ask: () => Promise<Answer>,
  isGone: () => boolean,
  tooLarge: string,
): Promise<Result<Answer>> {
  try {
    return success(await ask());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return failure(tooLarge);
    if (isGone()) return failure('the client has disconnected');
    throw error;
  }
}
