import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';

/** Which events are listed: all that pass from the first request to watch until the one to stop, with the newest filter. */
export class Watch<Filter> {
  readonly #traffic: KeptEvents;
  #filter: Filter | undefined;
  #after = 0;
  #until: number | undefined;

  constructor(traffic: KeptEvents) {
    this.#traffic = traffic;
  }

  get isActive(): boolean {
    return this.#filter !== undefined && this.#until === undefined;
  }

  /** Begins to watch. Where that has begun already, only the filter is replaced. */
  begin(filter: Filter): void {
    if (!this.isActive) this.#after = this.#traffic.last;
    this.#until = undefined;
    this.#filter = filter;
  }

  /** What comes later is not listed. */
  stop(): void {
    if (this.isActive) this.#until = this.#traffic.last;
  }

  /** What was asked for last, and between which sequence numbers; undefined before the first request. */
  get watched():
    | { readonly filter: Filter; readonly span: { readonly after: number; readonly until?: number } }
    | undefined {
    const [filter, after, until] = [this.#filter, this.#after, this.#until];
    return filter === undefined
      ? undefined
      : { filter, span: { after, ...(until !== undefined && { until }) } };
  }
}
