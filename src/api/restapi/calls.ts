import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import type { Desk } from '../desk.js';
import { type Failure, mistakes } from '../failure.js';
import { callsSubmit, monitorRequest, NO_SIMULATION, simulateRequest } from './call-request.js';
import { CallMonitor, callRowSchema } from './call-rows.js';
import { choices, ERROR_CODES, FUNCTION_CODES } from './function-codes.js';
import { ResponseSimulation } from './simulation.js';

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

/** POST /restapi/calls: the response simulation and the list of calls, for all lines together. */
export class CallsEndpoint {
  readonly #desk: Desk;
  readonly #simulation: ResponseSimulation;
  #monitor: CallMonitor | undefined;
  #stopped: CallMonitor | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#simulation = new ResponseSimulation(desk.door);
  }

  async handle(body: unknown): Promise<CallsAnswer | Failure> {
    const findings = new Findings();
    const request = new At(body, findings).check(callsSubmit);
    switch (request?.submit) {
      case undefined:
        return mistakes(findings);
      case 'Simulate':
        return this.#simulate(body);
      case 'Reset':
        await this.#simulation.stop();
        return this.#state();
      case 'Add':
      case 'Monitor':
        return this.#watch(body);
      case 'Stop':
        return this.#stop();
    }
  }

  async #simulate(body: unknown): Promise<CallsAnswer | Failure> {
    const findings = new Findings();
    const settings = new At(body, findings).check(simulateRequest);
    if (!settings) return mistakes(findings);
    return (await this.#simulation.start(settings)) ?? this.#state();
  }

  /** Begins to list calls. When calls are already listed, this only replaces the filter. */
  #watch(body: unknown): Promise<CallsAnswer> | Failure {
    const findings = new Findings();
    const filter = new At(body, findings).check(monitorRequest);
    if (!filter) return mistakes(findings);
    if (this.#monitor) this.#monitor.filter = filter;
    else this.#monitor = new CallMonitor(filter, this.#desk.traffic);
    return this.#state();
  }

  async #stop(): Promise<CallsAnswer> {
    this.#monitor?.stop();
    this.#stopped = this.#monitor ?? this.#stopped;
    this.#monitor = undefined;
    return { ...(await this.#state()), foot: 'Stopped monitoring' };
  }

  /** Everything the web page of the original shows, whatever was asked for. */
  async #state(): Promise<CallsAnswer> {
    const active = await this.#simulation.active();
    const settings = active ?? NO_SIMULATION;
    const filter = this.#monitor?.filter;
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
      call_rows: [...((this.#monitor ?? this.#stopped)?.rows() ?? [])],
      foot: this.#monitor ? 'Monitoring active' : 'not active',
      result: 'ok',
    };
  }
}
