import { z } from 'zod';
import { expectedMessage } from '../../common/schema/problem.js';
import { MAX_REPLY_BYTES, MAX_REPLY_MS } from '../../device/faults/budget.js';
import { concatBytes, hex } from '../../modbus/protocol/bytes.js';
import { FunctionCode, type FunctionName } from '../../modbus/protocol/function-code.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import { sentBytes } from '../../modbus/protocol/reply-plan.js';
import type { ApiContext } from '../../remote/api/desk.js';
import { type Failure, refused } from '../../remote/api/error-answer.js';
import type { Rpc } from '../../remote/rpc/rpc.js';
import { decodeEvent, requestPduOf } from '../../simulator/traffic/decode.js';
import type { EventOf } from '../../simulator/traffic/event.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import { wantedNewestFirst } from '../../simulator/traffic/reading.js';
import { MAX_SHOWN_BYTES } from '../../simulator/traffic/reply-view.js';
import { thousandths } from '../../simulator/traffic/words.js';
import {
  anyValue,
  formFlag,
  inMs,
  integer,
  isInOrder,
  LONGEST_WAIT_S,
  listed,
  listFilter,
  NOT_IN_ORDER,
  noFields,
  optionalInteger,
  orEmpty,
  requests,
  seconds,
  Watch,
} from './fields.js';
import { MAX_ROWS } from './log.js';

/** The function names used by REST clients. */
const CLIENT_NAMES: Readonly<Record<FunctionName, string>> = {
  readCoils: 'read_coils',
  readDiscreteInputs: 'read_discrete_input',
  readHoldingRegisters: 'read_holding_registers',
  readInputRegisters: 'read_input_registers',
  writeSingleCoil: 'write_coil',
  writeSingleRegister: 'write_register',
  readExceptionStatus: 'read_exception_status',
  diagnostics: 'diagnostic_status',
  getCommEventCounter: 'get_event_counter',
  getCommEventLog: 'get_event_log',
  writeMultipleCoils: 'write_coils',
  writeMultipleRegisters: 'write_registers',
  reportServerId: 'report_slave_id',
  readFileRecord: 'read_file_record',
  writeFileRecord: 'write_file_record',
  maskWriteRegister: 'mask_write_register',
  readWriteMultipleRegisters: 'read_write_multiple_registers',
  readFifoQueue: 'read_fifo_queue',
  encapsulatedInterfaceTransport: 'read_device_information',
};

const FUNCTION_CODES: ReadonlyMap<number, string> = new Map(
  Object.entries(CLIENT_NAMES).map(([name, text]) => [FunctionCode[name as FunctionName], text]),
);

/** The exception codes that REST clients can request. */
const ERROR_CODES: ReadonlyMap<number, string> = new Map([
  [1, 'IllegalFunction'],
  [2, 'IllegalAddress'],
  [3, 'IllegalValue'],
  [4, 'SlaveFailure'],
  [5, 'Acknowledge'],
  [6, 'SlaveBusy'],
  [7, 'MemoryParityError'],
  [10, 'GatewayPathUnavailable'],
  [11, 'GatewayNoResponse'],
]);

/** Formats a table of codes as a list of choices. */
function choices(table: ReadonlyMap<number, string>, selected: number | undefined) {
  return Array.from(table, ([value, text]) => ({ value, text, selected: value === selected }));
}

/** What is sent instead of the true response. */
const RESPONSE_TYPES = ['normal', 'error', 'empty', 'junk'] as const;

const DEFAULT_JUNK = 10;

const CODES = [...ERROR_CODES.keys()].join(', ');

/** The error text of a check for which zod has no message. */
function expecting(expected: string) {
  return { error: ({ input }: { input?: unknown }) => expectedMessage(expected, input) };
}

const simulateFields = z.object({
  response_type: optionalInteger.refine(
    (type) => type == null || type < RESPONSE_TYPES.length,
    expecting('0 (normal), 1 (error), 2 (empty) or 3 (junk)'),
  ),
  response_split: anyValue,
  split_delay: orEmpty(seconds.optional(), 0),
  response_cr: anyValue,
  response_cr_pct: orEmpty(
    integer.refine((percent) => percent <= 100, expecting('percent, 0 to 100')).optional(),
    0,
  ),
  response_delay: orEmpty(seconds, 0),
  response_error: integer.refine(
    (code) => code === 0 || ERROR_CODES.has(code),
    expecting(`0 or one of ${CODES}`),
  ),
  response_junk_datalen: optionalInteger.refine(
    (length) => (length ?? 0) <= MAX_REPLY_BYTES,
    expecting(`a number of bytes, 0 to ${MAX_REPLY_BYTES}`),
  ),
  response_clear_after: orEmpty(integer, 0),
});

/** The settings of simulated responses, with defaults filled in. */
interface Simulation {
  readonly type: (typeof RESPONSE_TYPES)[number];
  readonly errorCode: number;
  readonly junkLength: number;
  /** Delay of the response, in s. */
  readonly delay: number;
  /** Pause between the two parts of a response, in s; 0 for no split. */
  readonly splitDelay: number;
  /** Percentage of responses that are changed; 0 for none. */
  readonly changeRate: number;
  readonly clearAfter: number;
}

const simulateRequest = simulateFields.transform((fields, context): Simulation => {
  const fail = (key: string, message: string) =>
    context.issues.push({ code: 'custom', input: fields, path: [key], message });
  const split = fields.response_split !== undefined;
  const changes = fields.response_cr !== undefined;
  const splitDelay = split ? fields.split_delay || 1 : 0;
  if (split && fields.split_delay === undefined) fail('split_delay', 'missing, expected seconds');
  if (changes && fields.response_cr_pct === undefined) fail('response_cr_pct', 'missing, expected percent');
  if (thousandths(inMs(fields.response_delay) + inMs(splitDelay)) > MAX_REPLY_MS) {
    fail('split_delay', `expected at most ${LONGEST_WAIT_S} seconds together with response_delay`);
  }
  const type = RESPONSE_TYPES[fields.response_type ?? (fields.response_error === 0 ? 0 : 1)] ?? 'normal';
  return {
    type,
    errorCode: fields.response_error,
    junkLength: fields.response_junk_datalen ?? DEFAULT_JUNK,
    delay: fields.response_delay,
    splitDelay,
    changeRate: changes ? (fields.response_cr_pct ?? 0) : 0,
    clearAfter: fields.response_clear_after || 1,
  };
});

/** The fields that select calls. */
const monitorRequest = z
  .object({ ...listed, show_hex: formFlag, show_decode: formFlag })
  .refine(isInOrder, NOT_IN_ORDER);

type MonitorRequest = z.infer<typeof monitorRequest>;

export const CALLS_REQUESTS = requests(
  {
    Simulate: simulateRequest,
    Reset: noFields,
    Add: monitorRequest,
    Monitor: monitorRequest,
    Stop: noFields,
  },
  { submit: 'Simulate', response_error: 2, response_delay: 0.5, response_clear_after: 3 },
);

/** The settings after Reset. */
const NO_SIMULATION: Simulation = {
  type: 'normal',
  errorCode: 0,
  junkLength: DEFAULT_JUNK,
  delay: 0,
  splitDelay: 0,
  changeRate: 0,
  clearAfter: 1,
};

/** A request or a response in the list of calls. */
const callRowSchema = z.object({
  call: z.enum(['request', 'response']),
  time: z.string(),
  line: z.string(),
  unit: z.number(),
  fc: z.number(),
  address: z.number().nullable(),
  count: z.number().nullable(),
  data: z.string(),
});

type CallRow = z.infer<typeof callRowSchema>;

type CallEvent = EventOf<'request' | 'broadcast' | 'reply'>;

const CALLS = { field: 'kind', texts: ['request', 'broadcast', 'reply'] } as const;

/** The calls that match a filter, newest first. Each row is made on demand. */
function* callRows(
  stream: KeptEvents,
  filter: MonitorRequest,
  { after, until = stream.last }: { readonly after: number; readonly until?: number },
): Generator<CallRow> {
  let count = 0;
  const wanted = { wanted: { all: [CALLS, ...listFilter(filter)] } };
  for (const event of wantedNewestFirst(stream, wanted, { after, until })) {
    const row = event && rowOf(event as CallEvent, filter);
    if (row === undefined) continue;
    yield row;
    if (++count === MAX_ROWS) return;
  }
}

/** Looks up no other events, because each call is shown on its own. */
const NO_OTHERS = () => undefined;

/** The row of a request or a response; undefined if nothing of the response was sent. */
function rowOf(event: CallEvent, filter: MonitorRequest): CallRow | undefined {
  const { line, time, unitId, functionCode } = event;
  const [asked] = addressRanges(requestPduOf(event, NO_OTHERS) ?? new Uint8Array(0));
  const range = { address: asked?.address ?? null, count: asked?.quantity ?? null };
  const common = { time: new Date(time).toISOString(), line, unit: unitId, fc: functionCode, ...range };
  if (event.kind !== 'reply')
    return { call: 'request', ...common, data: dataText(filter, event, event.bytes) };
  const sent = concatBytes(...sentBytes(event.plan, event.report));
  return sent.length === 0 ? undefined : { call: 'response', ...common, data: dataText(filter, event, sent) };
}

function hexText(bytes: Uint8Array): string {
  const more = bytes.length - MAX_SHOWN_BYTES;
  return more > 0 ? `${hex(bytes.subarray(0, MAX_SHOWN_BYTES))} … ${more} more` : hex(bytes);
}

function dataText({ show_hex, show_decode }: MonitorRequest, event: CallEvent, bytes: Uint8Array): string {
  const parts = [show_hex && hexText(bytes), show_decode && decodeEvent(event, NO_OTHERS).text];
  return parts.filter(Boolean).join('; ');
}

/** The name of the fault rule that carries out a simulation. It appears in the list of rules. */
const RULE = 'restapi-calls';

/** Response simulation for /restapi/calls: its settings, and the fault rule that carries them out. */
class ResponseSimulation {
  readonly #rpc: Rpc;
  /**
   * The settings of the current simulation, and the seed drawn for its rule. The seed shows whether the rule
   * is still ours.
   */
  #started: { readonly settings: Simulation; readonly seed: number } | undefined;

  constructor(rpc: Rpc) {
    this.#rpc = rpc;
  }

  /**
   * The settings in force, with the remaining number of responses in `clearAfter`; undefined if the
   * simulation is off or used up.
   */
  async active(): Promise<Simulation | undefined> {
    const started = this.#started;
    const rule = await this.#ownRule();
    return started && rule?.remaining ? { ...started.settings, clearAfter: rule.remaining } : undefined;
  }

  /** Starts a simulation. @returns why it can't start; in that case nothing has changed */
  async start(settings: Simulation): Promise<Failure | undefined> {
    const rule = { name: RULE, when: { count: settings.clearAfter }, do: faultsOf(settings) };
    const outcome = await this.#rpc.call('rule.replace', { rule });
    if (!outcome.ok) return refused(outcome);
    this.#started = { settings, seed: outcome.value.seed };
    return undefined;
  }

  async stop(): Promise<void> {
    if (await this.#ownRule()) await this.#rpc.call('rule.remove', { name: RULE });
    this.#started = undefined;
  }

  /** Our rule; undefined if another client has replaced or removed it. */
  async #ownRule() {
    const rule = this.#started && (await this.#rpc.call('rule.get', { name: RULE }));
    return rule?.ok && rule.value.seed === this.#started?.seed ? rule.value : undefined;
  }
}

/**
 * The settings as faults, in the order in which they act. A rule needs at least one fault, so a delay of 0 is
 * used if there is no other.
 */
function faultsOf({ type, errorCode, junkLength, delay, splitDelay, changeRate }: Simulation): object[] {
  const faults: object[] = [];
  if (type === 'error') faults.push({ exception: errorCode });
  if (type === 'empty') faults.push({ silence: true });
  if (type === 'junk') faults.push(junkLength > 0 ? { junk: junkLength } : { truncate: 0 });
  if (changeRate > 0) faults.push({ change: { percent: 100, probability: changeRate / 100 } });
  if (splitDelay > 0) faults.push({ split: { at: 'middle', gap: inMs(splitDelay) } });
  if (delay > 0 || faults.length === 0) faults.push({ delay: inMs(delay) });
  return faults;
}

const choiceSchema = z.object({ value: z.number(), text: z.string(), selected: z.boolean() });

export const callsAnswerSchema = z
  .object({
    simulation_action: z.enum(['ACTIVE', '']),
    range_start: z.number().nullable(),
    range_stop: z.number().nullable(),
    function_codes: z.array(choiceSchema),
    function_show_hex_checked: z.boolean(),
    function_show_decoded_checked: z.boolean(),
    function_response_normal_checked: z.boolean(),
    function_response_error_checked: z.boolean(),
    function_response_empty_checked: z.boolean(),
    function_response_junk_checked: z.boolean(),
    function_response_split_checked: z.boolean(),
    function_response_split_delay: z.number(),
    function_response_cr_checked: z.boolean(),
    function_response_cr_pct: z.number(),
    function_response_delay: z.number(),
    function_response_junk: z.number(),
    function_error: z.array(choiceSchema),
    function_response_clear_after: z.number(),
    call_rows: z.array(callRowSchema),
    foot: z.string(),
    result: z.literal('ok'),
  })
  .meta({ id: 'Calls', description: 'The simulated responses and the recorded calls.' });

type CallsAnswer = z.infer<typeof callsAnswerSchema>;

/** Serves POST /restapi/calls: response simulation and the list of calls, for all lines together. */
export class CallsEndpoint {
  readonly #traffic: KeptEvents;
  readonly #simulation: ResponseSimulation;
  readonly #watch: Watch<MonitorRequest>;

  constructor({ rpc, traffic }: ApiContext) {
    this.#traffic = traffic;
    this.#simulation = new ResponseSimulation(rpc);
    this.#watch = new Watch(traffic);
  }

  async handle(body: object): Promise<CallsAnswer | Failure> {
    const request = CALLS_REQUESTS.read(body);
    if ('result' in request) return request;
    switch (request.submit) {
      case 'Simulate':
        return (await this.#simulation.start(request.fields)) ?? this.#state();
      case 'Reset':
        await this.#simulation.stop();
        return this.#state();
      case 'Add':
      case 'Monitor':
        this.#watch.begin(request.fields);
        return this.#state();
      case 'Stop':
        this.#watch.stop();
        return { ...(await this.#state()), foot: 'Stopped monitoring' };
    }
  }

  /** The whole state that the original's web page shows, regardless of the request. */
  async #state(): Promise<CallsAnswer> {
    const active = await this.#simulation.active();
    const settings = active ?? NO_SIMULATION;
    const { isActive, watched } = this.#watch;
    const filter = isActive ? watched?.filter : undefined;
    return {
      simulation_action: active ? 'ACTIVE' : '',
      range_start: filter?.range_start ?? null,
      range_stop: filter?.range_stop ?? null,
      function_codes: choices(FUNCTION_CODES, filter?.function ?? undefined),
      function_show_hex_checked: filter?.show_hex ?? false,
      function_show_decoded_checked: filter?.show_decode ?? false,
      function_response_normal_checked: active?.type === 'normal',
      function_response_error_checked: active?.type === 'error',
      function_response_empty_checked: active?.type === 'empty',
      function_response_junk_checked: active?.type === 'junk',
      function_response_split_checked: settings.splitDelay > 0,
      function_response_split_delay: settings.splitDelay,
      function_response_cr_checked: settings.changeRate > 0,
      function_response_cr_pct: settings.changeRate,
      function_response_delay: settings.delay,
      function_response_junk: settings.junkLength,
      function_error: choices(ERROR_CODES, settings.errorCode),
      function_response_clear_after: settings.clearAfter,
      call_rows: watched ? [...callRows(this.#traffic, watched.filter, watched.span)] : [],
      foot: isActive ? 'Monitoring active' : 'not active',
      result: 'ok',
    };
  }
}
