/** Why a request is not let in. */
export interface Refusal<Status = 400 | 401 | 403 | 421 | 429> {
  readonly status: Status;
  /** The part of the request that is wrong: a header, or its method. */
  readonly path: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}
