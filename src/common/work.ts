/** Work that can pause at each `yield`, so that its caller serves others in between. */
export type Work<Result> = Generator<void, Result, void>;

/** Does work without a pause and returns its result. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
