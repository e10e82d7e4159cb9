import { z } from 'zod';
import type { KeptEvents } from '../../../simulator/traffic/kept-events.js';
import type { ApiContext } from '../desk.js';
import type { Failure } from '../failure.js';
import { CALLS_REQUESTS, type MonitorRequest, NO_SIMULATION } from './call-request.js';
import { callRowSchema, callRows } from './call-rows.js';
import { choices, ERROR_CODES, FUNCTION_CODES } from './function-codes.js';
import { ResponseSimulation } from './simulation.js';
import { Watch } from './watch.js';

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
  .meta({ id: 'Calls', description: 'The simulation of responses, and the calls.' });

type CallsAnswer = z.infer<typeof callsAnswerSchema>;

/** Serves POST /restapi/calls: the simulation of responses and the list of calls, for all lines together. */
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

  /** The whole state that the web page of the original shows, whatever the request was. */
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
