import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import type { MqttAuthority } from '../../document/configuration.js';
import { type Declared, inputSchema, meantBy } from '../../simulator/commands/declared.js';
import { unpacked } from '../../simulator/commands/packed-sums.js';
import { type Outcome, type Refusal, refusal, refusalOf } from '../../simulator/commands/refusal.js';
import { errorBody } from '../api/error-answer.js';
import { parseJson } from '../api/requests.js';
import { COMMANDS, declaredAs } from '../rpc/declared.js';
import type { CallName, ListName, Rpc } from '../rpc/rpc.js';
import type { Arrived } from './broker.js';
import type { Publication } from './outbox.js';

/** Maximum length of a request and of an answer, in bytes. */
const LONGEST = 2 ** 20;
const TOO_LONG = refusal(
  'answer.too_long',
  '',
  `the answer is longer than ${LONGEST} bytes: request it in parts over REST`,
);
/** Maximum number of requests in progress; more are rejected. */
const MOST_UNDER_WAY = 64;
/** Maximum number and total bytes of answers stored for repeated requests. */
const MOST_REMEMBERED = { answers: 256, bytes: 4 * 2 ** 20 };
/** Maximum length of correlation data, in bytes; it is stored with the answer. */
const LONGEST_CORRELATION = 1024;
const CORRELATION_TEXT = `expected correlation data of at most ${LONGEST_CORRELATION} bytes`;
const RESPONSES = /^modbus-sim\/[^+#\p{Cc}]{1,1000}$/u;

/** A parsed request. */
interface Request {
  readonly input: unknown;
  readonly responseTopic: string | undefined;
  readonly correlation: Uint8Array | undefined;
  /** The correlation of a request under MQTT 3.1.1. The answer contains it unchanged. */
  readonly tag: unknown;
}

interface CommandAnswer {
  /** Why the command was not carried out; undefined if it was. */
  readonly refused: Refusal | undefined;
  /** The payload; empty if the request has no response topic. */
  readonly text: string;
}

interface Remembered {
  readonly result: Promise<CommandAnswer>;
  /** Length of the answer in bytes; 0 until there is one. */
  length: number;
}

/** The payload keys for what MQTT 3.1.1 has no properties for. */
const KEYS = ['responseTopic', 'correlation', 'input'];

/** Carries out commands and queries that arrive as messages, and answers them. */
export class Commands {
  readonly #rpc: Rpc;
  readonly #authority: MqttAuthority;
  readonly #bench: string;
  readonly #publish: (message: Publication) => void;
  #underWay = 0;
  readonly #answers = new Map<string, Remembered>();
  /** Total bytes of the stored answers. */
  #remembered = 0;

  /** @param bench topic prefix of this bench; each answer contains it */
  constructor(
    rpc: Rpc,
    {
      authority,
      bench,
      publish,
    }: {
      readonly authority: MqttAuthority;
      readonly bench: string;
      readonly publish: (message: Publication) => void;
    },
  ) {
    this.#rpc = rpc;
    this.#authority = authority;
    this.#bench = bench;
    this.#publish = publish;
  }

  /** Carries out the request in a message. @returns why it was not carried out; undefined if it was */
  async arrived(name: string, message: Arrived): Promise<Refusal | undefined> {
    if (message.isRetained) return undefined;
    if ((message.correlation?.length ?? 0) > LONGEST_CORRELATION)
      return refusal('request.too_long', 'correlation', CORRELATION_TEXT);
    const request = requestOf(message);
    const { responseTopic, correlation } = request.ok ? request.value : message;
    if (responseTopic !== undefined && !RESPONSES.test(responseTopic))
      return refusal('request.invalid', 'responseTopic', 'expected a topic that begins with modbus-sim/');
    const { refused, text } = request.ok
      ? await this.#once(name, request.value)
      : this.#answerOf(request, message);
    if (responseTopic !== undefined)
      this.#publish({ topic: responseTopic, payload: text, ...(correlation && { correlation }) });
    return refused;
  }

  #answerOf(
    result: Outcome<unknown>,
    { responseTopic, tag }: Partial<Pick<Request, 'responseTopic' | 'tag'>>,
  ): CommandAnswer {
    const refused = result.ok ? undefined : result;
    if (responseTopic === undefined) return { refused, text: '' };
    const textOf = (outcome: Outcome<unknown>) => {
      const answer = outcome.ok ? outcome : { ok: false, ...errorBody(outcome) };
      return JSON.stringify({ bench: this.#bench, ...answer, correlation: tag }, plain);
    };
    const text = textOf(result);
    return { refused, text: text.length <= LONGEST ? text : textOf(TOO_LONG) };
  }

  /** Carries out a request once. If the request is repeated because its answer was lost, repeats the answer. */
  #once(name: string, request: Request): Promise<CommandAnswer> {
    const { input, responseTopic, correlation, tag } = request;
    const answered = async () => this.#answerOf(await this.carryOut(name, input), request);
    const id = correlation ? Buffer.from(correlation).toString('hex') : JSON.stringify(tag);
    if (id === undefined || !declaredAs(name)) return answered();
    const key = `${responseTopic} ${name} ${id}`;
    const known = this.#answers.get(key);
    if (known) return known.result;
    const entry: Remembered = { result: answered(), length: 0 };
    this.#answers.set(key, entry);
    void entry.result.then(({ text }) => {
      if (this.#answers.get(key) !== entry) return;
      entry.length = text.length;
      this.#remembered += entry.length;
      this.#forgetOldest();
    });
    return entry.result;
  }

  /** Makes room for a new answer by dropping the oldest ones. */
  #forgetOldest(): void {
    for (const [key, { length }] of this.#answers) {
      const { answers, bytes } = MOST_REMEMBERED;
      if (this.#answers.size <= answers && this.#remembered <= bytes) return;
      this.#answers.delete(key);
      this.#remembered -= length;
    }
  }

  /** Carries out a command or answers a query, if that is allowed here. */
  async carryOut(name: string, input: unknown): Promise<Outcome<unknown>> {
    const declared = declaredAs(name);
    if (!declared) return refusal('path.unknown', '', unknownName('command', name, Object.keys(COMMANDS)));
    if (this.#authority === 'none' || (this.#authority === 'read' && !declared.kind))
      return refusal('access.read_only', '', `mqtt.commands is ${this.#authority}`);
    if (this.#underWay >= MOST_UNDER_WAY)
      return refusal('request.too_many', '', `expected at most ${MOST_UNDER_WAY} requests at a time`);
    this.#underWay++;
    try {
      const findings = new Findings();
      const checked = new At(input, findings).check<unknown>(inputSchema(declared));
      if (findings.count > 0) return refusalOf(findings, 'request.invalid');
      const meant = await meantBy(declared, checked as object);
      return meant.ok ? await this.#ask(name, declared, meant.value) : meant;
    } catch (error) {
      return refusal('request.failed', '', (error as Error).message);
    } finally {
      this.#underWay--;
    }
  }

  async #ask(name: string, { kind }: Declared, input: unknown): Promise<Outcome<unknown>> {
    if (kind !== 'list') return this.#rpc.call(name as CallName, input as never);
    const list = await this.#rpc.list(name as ListName, input as never);
    if (!list.ok) return list;
    const all: unknown[] = [];
    let length = 0;
    for await (const parts of list.value) {
      for (const part of parts) {
        length += JSON.stringify(part, plain).length;
        all.push(part);
      }
      if (length > LONGEST) return TOO_LONG;
    }
    return { ok: true, value: name === 'program.configuration' ? all.join('') : all };
  }
}

/** Parses a payload as JSON; an empty one is `{}`. */
export function jsonOf(payload: Buffer): Outcome<unknown> {
  if (payload.length > LONGEST)
    return refusal('request.too_long', '', `expected at most ${LONGEST} bytes, got ${payload.length}`);
  const text = payload.toString('utf8');
  return text.trim() === '' ? { ok: true, value: {} } : parseJson(text);
}

/** Parses a request. MQTT 5 has the response topic in the properties; under 3.1.1 it is in the payload. */
function requestOf({ payload, responseTopic, correlation }: Arrived): Outcome<Request> {
  const parsed = jsonOf(payload);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  const isWrapped =
    responseTopic === undefined && isMapping(value) && typeof value.responseTopic === 'string';
  if (!isWrapped) return { ok: true, value: { input: value, responseTopic, correlation, tag: undefined } };
  const other = Object.keys(value).find((key) => !KEYS.includes(key));
  if (other !== undefined) return refusal('request.invalid', other, `expected ${KEYS.join(', ')}`);
  if ((JSON.stringify(value.correlation)?.length ?? 0) > LONGEST_CORRELATION)
    return refusal('request.too_long', 'correlation', CORRELATION_TEXT);
  return {
    ok: true,
    value: {
      input: value.input ?? {},
      responseTopic: value.responseTopic as string,
      correlation: undefined,
      tag: value.correlation,
    },
  };
}

/** Converts maps, bytes and packed sums to JSON. Frames are left out, because REST shows them. */
function plain(key: string, value: unknown): unknown {
  if (key === 'packedFrames') return undefined;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Float64Array) return [...unpacked(value)];
  return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value;
}
