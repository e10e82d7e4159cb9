import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { until } from '../../../modbus/transport/socket/raw-client.js';

interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
}

/** Something that a message of traffic tells. */
export interface Told {
  readonly seq: number;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** A reader of server-sent events on a connection of its own, as a browser has one. */
export class EventSource {
  readonly messages: Message[] = [];
  status: number | undefined;
  body = '';
  closed = false;
  response: IncomingMessage | undefined;
  readonly #request: ClientRequest;
  #rest = '';

  constructor(url: string, lastEventId?: string) {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    this.#request = get(url, { headers, agent: false }, (response) => {
      this.response = response;
      this.status = response.statusCode;
      response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
      response.on('error', () => {});
    });
    this.#request.on('error', () => {});
    this.#request.on('close', () => {
      this.closed = true;
    });
  }

  /** The identifier that the next connection should tell. */
  get lastEventId(): string | undefined {
    return this.messages.findLast(({ id }) => id !== undefined)?.id;
  }

  /** All that was told so far. */
  get told(): Told[] {
    return this.messages.flatMap(({ data }) => (data === undefined ? [] : (JSON.parse(data) as Told[])));
  }

  async connected(): Promise<this> {
    await until(() => this.messages.length > 0 || this.closed, 'the reader is connected');
    return this;
  }

  async close(): Promise<void> {
    this.#request.destroy();
    await until(() => this.closed, 'the reader has gone');
  }

  #read(text: string): void {
    this.body += text;
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      this.messages.push({ id: field('id'), event: field('event'), data: field('data') });
    }
  }
}
