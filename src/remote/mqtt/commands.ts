import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import type { MqttAuthority } from '../../files/config/configuration.js';
import { type Outcome, type Refusal, refusal, refusalOf } from '../../simulator/commands/refusal.js';
import { INPUTS, inputSchema, isQuery, meantBy } from '../../simulator/commands/schemas/inputs.js';
import { parseJson } from '../api/json-body.js';
import { errorBody } from '../api/problem.js';
import { type CallName, isList, type ListName, type Rpc } from '../rpc/rpc.js';
import type { Arrived } from './broker.js';
import type { Publication } from './outbox.js';

type Name = CallName | ListName;

/** The longest request and the longest answer. */
const LONGEST = 2 ** 20;
const TOO_LONG = refusal(
  'answer.too_long',
  '',
  `the answer has more than ${LONGEST} bytes: REST has it in parts`,
);
/** What asks beyond this is refused. */
const MOST_UNDER_WAY = 64;
/** So many answers, of so many bytes together, are remembered, for requests that come again. */
const MOST_REMEMBERED = { answers: 256, bytes: 4 * 2 ** 20 };
/** The longest correlation data, in bytes: it is kept with the answer. */
const LONGEST_CORRELATION = 1024;
const CORRELATION_TEXT = `expected correlation data of at most ${LONGEST_CORRELATION} bytes`;
const RESPONSES = /^modbus-sim\/[^+#\p{Cc}]{1,1000}$/u;

/** A request as it was understood. */
interface Request {
  readonly input: unknown;
  readonly responseTopic: string | undefined;
  readonly correlation: Uint8Array | undefined;
  /** Of a request under MQTT 3.1.1: it stands in the answer as it was sent. */
  readonly tag: unknown;
}

/** What is said to a request. */
interface CommandAnswer {
  /** Why it was not carried out; undefined when it was. */
  readonly refused: Refusal | undefined;
  /** Empty when nobody wants to know. */
  readonly text: string;
}

interface Remembered {
  readonly result: Promise<CommandAnswer>;
  /** Bytes of the answer; 0 while it is not there. */
  length: number;
}

/** What a request says of itself where MQTT has no properties. */
const KEYS = ['responseTopic', 'correlation', 'input'];

/** Carries out commands and queries of the door that come as messages, and answers them. */
export class Commands {
  readonly #rpc: Rpc;
  readonly #authority: MqttAuthority;
  readonly #bench: string;
  readonly #publish: (message: Publication) => void;
  #underWay = 0;
  readonly #answers = new Map<string, Remembered>();
  /** Bytes of the answers that are remembered. */
  #remembered = 0;

  /** @param bench the beginning of the topics of this bench, which is in each answer */
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

  /** @returns why it was not carried out; undefined when it was */
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

  /** A request that comes again, because somebody did not hear the answer, is not carried out again. */
  #once(name: string, request: Request): Promise<CommandAnswer> {
    const { input, responseTopic, correlation, tag } = request;
    const answered = async () => this.#answerOf(await this.carryOut(name, input), request);
    const id = correlation ? Buffer.from(correlation).toString('hex') : JSON.stringify(tag);
    if (id === undefined || !Object.hasOwn(INPUTS, name)) return answered();
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

  /** Makes room for what is remembered now. */
  #forgetOldest(): void {
    for (const [key, { length }] of this.#answers) {
      const { answers, bytes } = MOST_REMEMBERED;
      if (this.#answers.size <= answers && this.#remembered <= bytes) return;
      this.#answers.delete(key);
      this.#remembered -= length;
    }
  }

  /** Carries out a command or answers a query, if that is allowed here. */
  async carryOut(written: string, input: unknown): Promise<Outcome<unknown>> {
    if (!Object.hasOwn(INPUTS, written))
      return refusal('path.unknown', '', unknownName('command', written, Object.keys(INPUTS)));
    const name = written as Name;
    if (this.#authority === 'none' || (this.#authority === 'read' && !isQuery(name)))
      return refusal('access.read_only', '', `mqtt.commands is ${this.#authority}`);
    if (this.#underWay >= MOST_UNDER_WAY)
      return refusal('request.too_many', '', `expected at most ${MOST_UNDER_WAY} requests at a time`);
    this.#underWay++;
    try {
      const findings = new Findings();
      const checked = new At(input, findings).check<unknown>(inputSchema(name));
      if (findings.count > 0) return refusalOf(findings, 'request.invalid');
      const meant = meantBy(name, checked as object);
      return meant.ok ? await this.#ask(name, meant.value) : meant;
    } catch (error) {
      return refusal('request.failed', '', (error as Error).message);
    } finally {
      this.#underWay--;
    }
  }

  async #ask(name: Name, input: unknown): Promise<Outcome<unknown>> {
    if (!isList(name)) return this.#rpc.call(name, input as never);
    const list = await this.#rpc.list(name, input as never);
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

/** The JSON that a payload is; `{}` for an empty one. */
export function jsonOf(payload: Buffer): Outcome<unknown> {
  if (payload.length > LONGEST)
    return refusal('request.too_long', '', `expected at most ${LONGEST} bytes, got ${payload.length}`);
  const text = payload.toString('utf8');
  return text.trim() === '' ? { ok: true, value: {} } : parseJson(text);
}

/** MQTT 5 has the topic of the answer beside the payload; under 3.1.1 the payload has it. */
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

/** Maps and bytes as JSON has them. Frames are left out: REST shows them. */
function plain(key: string, value: unknown): unknown {
  if (key === 'packedFrames') return undefined;
  if (value instanceof Map) return Object.fromEntries(value);
  return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value;
}
