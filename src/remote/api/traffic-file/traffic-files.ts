import type { Logger } from 'pino';
import type { TrafficFileDefinition } from '../../../files/config/configuration.js';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import type { LineMap } from '../line-map.js';
import { TrafficFile, type TrafficFileStatus } from './traffic-file.js';

/** Starts and stops the writing of traffic. It is written to one place at a time. */
export class TrafficFiles {
  readonly #stream: KeptEvents;
  readonly #lines: LineMap;
  readonly #log: Logger;
  #current: TrafficFile | undefined;
  /** Resolves when the last request has been carried out. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(stream: KeptEvents, lines: LineMap, log: Logger) {
    this.#stream = stream;
    this.#lines = lines;
    this.#log = log;
  }

  /** The progress of writing; undefined while nothing is written. */
  get status(): TrafficFileStatus | undefined {
    return this.#current?.status;
  }

  /**
   * Writes to this place from now on, and to no other.
   * @returns why that is not possible; then nothing has changed
   */
  start(definition: TrafficFileDefinition): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const { ndjson, pcapng } = await import('./encoding.js');
      const newEncoding = () => (definition.format === 'pcapng' ? pcapng(this.#lines) : ndjson(this.#stream));
      const next = new TrafficFile(definition, this.#stream, newEncoding, this.#log, () =>
        this.#lines.refresh(),
      );
      const problem = await next.start();
      if (problem !== undefined) return problem;
      await this.#current?.stop();
      this.#current = next;
      return undefined;
    });
  }

  /** Writes the rest, and stops writing. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#current?.stop();
      this.#current = undefined;
    });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
