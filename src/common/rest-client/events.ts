import { type Failed, refused, type Send, unreached } from './client.js';

/** A message of server-sent events. A field missing from the message is undefined. */
export interface SseMessage {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/**
 * Maximum characters of a message. A simulator sends at most some hundred thousand, but any program may
 * answer at an address.
 */
const LONGEST_MESSAGE = 16 * 1024 * 1024;

/** Parses those server-sent events (HTML Living Standard, 9.2.6) that this program sends. */
export class SseParser {
  #rest = '';
  #id: string | undefined;
  #data: string[] = [];
  /** How many characters arrived since the last message. */
  #length = 0;

  /**
   * Adds the next piece of the stream and returns the messages that are now complete. Throws for a message
   * that is too long.
   */
  push(text: string): SseMessage[] {
    this.#length += text.length;
    if (this.#length > LONGEST_MESSAGE) throw new Error('an event is too long');
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  /** Adds one line. An empty line ends a message, which is returned. */
  #line(line: string): SseMessage | undefined {
    if (line === '') return this.#end();
    const at = line.indexOf(':');
    const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
    if (name === 'id') this.#id = value;
    if (name === 'data') this.#data.push(value);
    return undefined;
  }

  #end(): SseMessage {
    this.#length = this.#rest.length;
    const message = { id: this.#id, data: this.#data.length > 0 ? this.#data.join('\n') : undefined };
    this.#id = undefined;
    this.#data = [];
    return message;
  }
}

/**
 * A step of following a stream of events. `closed` says why there is no connection; the next step is another
 * attempt.
 */
export type Followed =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'message' } & SseMessage)
  | ({ readonly kind: 'closed' } & Failed);

const EVENT_STREAM = 'text/event-stream';
const NO_STREAM = { detail: 'this is not modbus-sim: the answer is not an event stream', problems: [] };

/** The connection to open next. When its signal aborts, the connection after it is opened at once. */
export interface ConnectionWanted {
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Follows server-sent events. When a connection ends, the next one is opened as soon as the reader requests
 * the next step: so the reader decides how long to wait before another attempt, and a slow reader slows the
 * simulator down.
 * @param next returns the connection to open; undefined ends the generator
 * @param silenceMs a connection that is silent for this many ms counts as dead, even if it was not closed
 */
export async function* follow(
  send: Send,
  next: () => ConnectionWanted | undefined,
  silenceMs: number,
): AsyncGenerator<Followed, void> {
  for (let wanted = next(); wanted; wanted = next()) {
    const attempt = new AbortController();
    const signal = AbortSignal.any([wanted.signal, attempt.signal]);
    let end: Failed;
    try {
      const response = await send(wanted.path, { signal, headers: { accept: EVENT_STREAM } });
      if (!response.ok || !response.body) end = await refused(response);
      else if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM)) {
        end = { ...(await refused(response)), problem: NO_STREAM };
      } else {
        yield { kind: 'open' };
        yield* messagesOf(response.body, silenceMs);
        end = unreached(new Error('the connection was closed'));
      }
    } catch (cause) {
      // The connection broke, fell silent, or is no longer wanted.
      end = unreached(cause);
    } finally {
      attempt.abort();
    }
    if (!wanted.signal.aborted) yield { kind: 'closed', ...end };
  }
}

async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<Extract<Followed, { kind: 'message' }>, void> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await inTime(reader.read(), silenceMs);
    if (done) return;
    for (const message of parser.push(decoder.decode(value, { stream: true })))
      yield { kind: 'message', ...message };
  }
}

/** Settles like the promise, but rejects if it takes longer than `ms` milliseconds. */
function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout>;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing was received for ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}
