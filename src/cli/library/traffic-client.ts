import type { z } from 'zod';
import type { exchangeViewSchema } from '../../remote/api/v1/exchange-view.js';
import type { trafficViewSchema } from '../../simulator/traffic/view.js';
import type { Call } from './call.js';

/** A request and its outcome, as REST shows it. */
export type ExchangeView = z.infer<typeof exchangeViewSchema>;

/** An event of the traffic, as REST shows it. */
export type EventView = z.infer<typeof trafficViewSchema>;

interface Span {
  /** Only exchanges with a higher `id`, or events with a higher `seq`, are returned. */
  readonly after?: number;
}

interface Wait extends Span {
  /** Longest time to wait, in ms; 5000 when absent. */
  readonly timeoutMs?: number;
}

/** A page of the traffic. */
interface Page<Item> {
  readonly items: readonly Item[];
  /** The `after` of the next page. */
  readonly next: number;
  /** Whether there was more traffic when the page was read. */
  readonly hasMore: boolean;
}

/** The numbers that every page of REST has. */
interface PageNumbers {
  readonly next: number;
  readonly last: number;
}

const PAGE_LENGTH = 1000;

/** How long a request waits for new traffic, in ms. A simulator that is stopped meanwhile is noticed after it. */
const WAIT_MS = 1000;

/** The traffic of a simulator. */
export class TrafficClient {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * At most 1000 exchanges, the oldest first: those right after `after`, or the newest ones without `after`.
   */
  async exchanges({ after }: Span = {}): Promise<readonly ExchangeView[]> {
    return (await this.#exchangePage(after)).items;
  }

  /** At most 1000 events, the oldest first: those right after `after`, or the newest ones without `after`. */
  async events({ after }: Span = {}): Promise<readonly EventView[]> {
    return (await this.#eventPage(after)).items;
  }

  /**
   * Waits for an exchange. One that has already ended counts, because a client may be faster than the test.
   * @param isMeant tells whether an exchange is the wanted one; any exchange when absent
   * @returns the oldest wanted exchange. Rejects when there is none within `timeoutMs`.
   */
  waitFor(isMeant: (exchange: ExchangeView) => boolean = () => true, wait: Wait = {}): Promise<ExchangeView> {
    return this.#find('exchange', (after, wait) => this.#exchangePage(after, wait), isMeant, wait);
  }

  /**
   * Waits for an event. One that has already happened counts.
   * @param isMeant tells whether an event is the wanted one; any event when absent
   * @returns the oldest wanted event. Rejects when there is none within `timeoutMs`.
   */
  waitForEvent(isMeant: (event: EventView) => boolean = () => true, wait: Wait = {}): Promise<EventView> {
    return this.#find('event', (after, wait) => this.#eventPage(after, wait), isMeant, wait);
  }

  async #exchangePage(after: number | undefined, waitMs = 0): Promise<Page<ExchangeView>> {
    const answer = await this.#call('GET', `/exchanges?${pageQuery(after, waitMs)}`);
    const { exchanges, next, last } = answer as PageNumbers & { exchanges: ExchangeView[] };
    return { items: exchanges, next, hasMore: next < last };
  }

  async #eventPage(after: number | undefined, waitMs = 0): Promise<Page<EventView>> {
    const answer = await this.#call('GET', `/traffic?${pageQuery(after, waitMs)}`);
    const { events, next, last } = answer as PageNumbers & { events: EventView[] };
    return { items: events, next, hasMore: next < last };
  }

  async #find<Item>(
    what: string,
    read: (after: number, waitMs: number) => Promise<Page<Item>>,
    isMeant: (item: Item) => boolean,
    { after = 0, timeoutMs = 5000 }: Wait,
  ): Promise<Item> {
    const end = performance.now() + timeoutMs;
    let seen = after;
    for (;;) {
      const leftMs = Math.max(0, Math.ceil(end - performance.now()));
      const { items, next, hasMore } = await read(seen, Math.min(leftMs, WAIT_MS));
      const found = items.find(isMeant);
      if (found) return found;
      seen = next;
      if (!hasMore && leftMs === 0) throw new Error(`no such ${what} within ${timeoutMs} ms`);
    }
  }
}

function pageQuery(after: number | undefined, waitMs: number): string {
  return `limit=${PAGE_LENGTH}${after === undefined ? '' : `&after=${after}`}&wait=${waitMs}`;
}
