import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';

/**
 * Selects the events that are listed: all from the first request to watch until the request to stop, by the
 * newest filter.
 */
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

  /** Begins to watch. If watching has already begun, only replaces the filter. */
  begin(filter: Filter): void {
    if (!this.isActive) this.#after = this.#traffic.last;
    this.#until = undefined;
    this.#filter = filter;
  }

  /** Stops watching: later events are not listed. */
  stop(): void {
    if (this.isActive) this.#until = this.#traffic.last;
  }

  /** The newest filter, and the range of sequence numbers; undefined before the first request. */
  get watched():
    | { readonly filter: Filter; readonly span: { readonly after: number; readonly until?: number } }
    | undefined {
    const [filter, after, until] = [this.#filter, this.#after, this.#until];
    return filter === undefined
      ? undefined
      : { filter, span: { after, ...(until !== undefined && { until }) } };
  }
}
