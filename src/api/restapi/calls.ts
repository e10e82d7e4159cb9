import { z } from 'zod';
import type { Simulator } from '../../simulator/simulator.js';
import { monitorRequest, simulateRequest } from './call-request.js';
import { CallMonitor, type CallRow } from './call-rows.js';
import { choices, ERROR_CODES, FUNCTION_CODES } from './function-codes.js';
import { failure, type Outcome, problemsOf } from './outcome.js';
import { ResponseSimulation } from './simulation.js';

const submitRequest = z.object({
  submit: z.enum(['Simulate', 'Reset', 'Add', 'Monitor', 'Stop'], {
    error: 'expected Simulate, Reset, Add, Monitor or Stop',
  }),
});

interface CallsAnswer {
  readonly result: 'ok';
  readonly call_rows: readonly CallRow[];
  readonly [field: string]: unknown;
}

/** POST /restapi/calls: the response simulation and the list of calls, for all lines together. */
export class CallsEndpoint {
  readonly #simulator: Simulator;
  readonly #simulation: ResponseSimulation;
  #monitor: CallMonitor | undefined;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
    this.#simulation = new ResponseSimulation(simulator.faults);
  }

  handle(body: unknown): Outcome<CallsAnswer> {
    const parsed = submitRequest.safeParse(body);
    if (!parsed.success) return failure(problemsOf(parsed.error));
    switch (parsed.data.submit) {
      case 'Simulate':
        return this.#simulate(body);
      case 'Reset':
        this.#simulation.stop();
        return this.#state();
      case 'Add':
      case 'Monitor':
        return this.#watch(body);
      case 'Stop':
        this.#monitor = undefined;
        return { ...this.#state(), foot: 'Stopped monitoring' };
    }
  }

  #simulate(body: unknown): Outcome<CallsAnswer> {
    const parsed = simulateRequest.safeParse(body);
    if (!parsed.success) return failure(problemsOf(parsed.error));
    return this.#simulation.start(parsed.data) ?? this.#state();
  }

  #watch(body: unknown): Outcome<CallsAnswer> {
    const parsed = monitorRequest.safeParse(body);
    if (!parsed.success) return failure(problemsOf(parsed.error));
    this.#monitor = new CallMonitor(parsed.data, this.#simulator.ledger);
    return this.#state();
  }

  /** Everything the web page of the original shows, whatever was asked for. */
  #state(): CallsAnswer {
    const { active, settings, remaining } = this.#simulation;
    const filter = this.#monitor?.filter;
    return {
      simulation_action: active ? 'ACTIVE' : '',
      range_start: filter?.range_start ?? null,
      range_stop: filter?.range_stop ?? null,
      function_codes: choices(FUNCTION_CODES, filter?.function ?? undefined),
      function_show_hex_checked: filter?.show_hex !== undefined,
      function_show_decoded_checked: filter?.show_decode !== undefined,
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
      function_response_clear_after: remaining ?? settings.clearAfter,
      call_rows: this.#monitor?.rows() ?? [],
      foot: this.#monitor ? 'Monitoring active' : 'not active',
      result: 'ok',
    };
  }
}
