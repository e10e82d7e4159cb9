import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** A position in a document, from 0. */
export interface Place {
  readonly line: number;
  readonly character: number;
}

/** Settings of the server: only the schema named in the file, nothing from the network. */
const SETTINGS = {
  yaml: { validate: true, completion: true, hover: true, schemaStore: { enable: false }, schemas: {} },
};

/** yaml-language-server, which editors use for YAML, on its standard input and output. */
export class LanguageServer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers = new Map<number, (result: unknown) => void>();
  readonly #heard: ((message: Message) => void)[] = [];
  #buffer = Buffer.alloc(0);
  #next = 1;

  constructor() {
    this.#child = spawn(process.execPath, [
      'node_modules/yaml-language-server/bin/yaml-language-server',
      '--stdio',
    ]);
    this.#child.stdout.on('data', (bytes: Buffer) => this.#take(bytes));
  }

  async start(): Promise<void> {
    const capabilities = {
      workspace: { configuration: true },
      textDocument: { completion: { completionItem: { snippetSupport: true } }, publishDiagnostics: {} },
    };
    await this.#ask('initialize', { processId: process.pid, rootUri: null, capabilities });
    this.#send({ method: 'initialized', params: {} });
    this.#send({ method: 'workspace/didChangeConfiguration', params: { settings: SETTINGS } });
  }

  /** Opens a document. @returns the texts that the server underlines, with its messages */
  async open(uri: string, text: string): Promise<{ readonly text: string; readonly message: string }[]> {
    const heard = new Promise<{ range: { start: Place; end: Place }; message: string }[]>((resolve) => {
      this.#heard.push(({ method, params }) => {
        const { uri: of, diagnostics } = (params ?? {}) as { uri?: string; diagnostics?: never };
        if (method === 'textDocument/publishDiagnostics' && of === uri) resolve(diagnostics as never);
      });
    });
    this.#send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
    });
    const lines = text.split('\n');
    return (await heard).map(({ range: { start, end }, message }) => ({
      text:
        lines[start.line]?.slice(start.character, end.line === start.line ? end.character : undefined) ?? '',
      message,
    }));
  }

  /** The labels that the server offers at a position in an open document. */
  async complete(uri: string, position: Place): Promise<string[]> {
    const result = await this.#ask('textDocument/completion', { textDocument: { uri }, position });
    const items = (Array.isArray(result) ? result : (result as { items?: unknown[] } | null)?.items) ?? [];
    return items.map((item) => (item as { label: string }).label);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill();
    await ended;
  }

  #ask(method: string, params: unknown): Promise<unknown> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  #send(message: Message): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #take(bytes: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString('latin1', 0, end))?.[1]);
      if (this.#buffer.length < end + 4 + length) return;
      const message = JSON.parse(this.#buffer.toString('utf8', end + 4, end + 4 + length)) as Message;
      this.#buffer = this.#buffer.subarray(end + 4 + length);
      this.#hear(message);
    }
  }

  #hear({ id, method, params, result }: Message): void {
    if (method === undefined) {
      this.#answers.get(id ?? 0)?.(result);
      return;
    }
    for (const listener of this.#heard) listener({ method, params });
    if (id === undefined) return;
    const { items = [] } = (params ?? {}) as { items?: { section?: string }[] };
    const answer = items.map(({ section }) => (section === 'yaml' ? SETTINGS.yaml : {}));
    this.#send({ id, result: method === 'workspace/configuration' ? answer : null });
  }
}
