/** Work that must not overlap: each piece begins when those before it have ended, however they ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
