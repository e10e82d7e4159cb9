/** A message of server-sent events. Fields that were not in it are undefined. */
export interface SseMessage {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Takes server-sent events apart (HTML Living Standard, 9.2.6), as far as this program sends them. */
export class SseParser {
  #rest = '';
  #id: string | undefined;
  #data: string[] = [];

  /** Takes what has come. @returns the messages that are complete now */
  push(text: string): SseMessage[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  /** An empty line ends a message. */
  #line(line: string): SseMessage | undefined {
    if (line === '') return this.#end();
    const at = line.indexOf(':');
    const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
    if (name === 'id') this.#id = value;
    if (name === 'data') this.#data.push(value);
    return undefined;
  }

  #end(): SseMessage {
    const message = { id: this.#id, data: this.#data.length > 0 ? this.#data.join('\n') : undefined };
    this.#id = undefined;
    this.#data = [];
    return message;
  }
}
