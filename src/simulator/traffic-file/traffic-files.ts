import type { Logger } from 'pino';
import type { TrafficFileDefinition } from '../../config/configuration.js';
import type { CaptureLines } from '../../traffic/capture/packet.js';
import type { TrafficStream } from '../../traffic/stream.js';
import { Turns } from '../turns.js';
import { ndjson, pcapng } from './encoding.js';
import { TrafficFile, type TrafficFileStatus } from './traffic-file.js';

/** Starts and stops the writing of traffic, which is done to one place at a time. */
export class TrafficFiles {
  readonly #stream: TrafficStream;
  readonly #lines: CaptureLines;
  readonly #log: Logger;
  #current: TrafficFile | undefined;
  readonly #turns = new Turns();

  constructor(stream: TrafficStream, lines: CaptureLines, log: Logger) {
    this.#stream = stream;
    this.#lines = lines;
    this.#log = log;
  }

  /** Undefined while nothing is written. */
  get status(): TrafficFileStatus | undefined {
    return this.#current?.status;
  }

  /** Writes to this place from now on, and no more to another. @returns why that is not possible: nothing has changed */
  start(definition: TrafficFileDefinition): Promise<string | undefined> {
    return this.#turns.take(async () => {
      const newEncoding = () => (definition.format === 'pcapng' ? pcapng(this.#lines) : ndjson(this.#stream));
      const next = new TrafficFile(definition, this.#stream, newEncoding, this.#log);
      const problem = await next.start();
      if (problem !== undefined) return problem;
      await this.#current?.stop();
      this.#current = next;
      return undefined;
    });
  }

  /** Writes what is left, and ends. */
  stop(): Promise<void> {
    return this.#turns.take(async () => {
      await this.#current?.stop();
      this.#current = undefined;
    });
  }
}
