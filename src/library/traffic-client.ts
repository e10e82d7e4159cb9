import type { z } from 'zod';
import type { exchangeViewSchema } from '../api/v1/exchange-view.js';
import type { Call } from './call.js';

/** A request and what became of it, as the REST interface shows it. */
export type ExchangeView = z.infer<typeof exchangeViewSchema>;

interface Span {
  /** Only exchanges after the one with this `id`; all that are kept when absent. */
  readonly after?: number;
}

/** What has passed the lines of a simulator. */
export class TrafficClient {
  readonly #call: Call;
  readonly #pause: () => Promise<void>;

  /** @param pause resolves when it is worth asking again whether something has passed */
  constructor(call: Call, pause: () => Promise<void>) {
    this.#call = call;
    this.#pause = pause;
  }

  /** The newest exchanges, at most 1000, the newest first. */
  async exchanges({ after = 0 }: Span = {}): Promise<readonly ExchangeView[]> {
    const answer = await this.#call('GET', `/exchanges?limit=1000&after=${after}`);
    return (answer as { exchanges: ExchangeView[] }).exchanges;
  }

  /**
   * Waits for an exchange, and takes one that has ended already: a client may be faster than the test.
   * @param isMeant which exchange; any when absent
   * @returns the oldest that is meant. Rejects when there is none within `timeoutMs`, 5 s when absent.
   */
  async waitFor(
    isMeant: (exchange: ExchangeView) => boolean = () => true,
    { after = 0, timeoutMs = 5000 }: Span & { readonly timeoutMs?: number } = {},
  ): Promise<ExchangeView> {
    const end = performance.now() + timeoutMs;
    let seen = after;
    for (;;) {
      const news = await this.exchanges({ after: seen });
      const found = news.findLast(isMeant);
      if (found) return found;
      seen = news[0]?.id ?? seen;
      if (performance.now() >= end) throw new Error(`no such exchange within ${timeoutMs} ms`);
      await this.#pause();
    }
  }
}
