import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { type LocalSimulator, newLocalSimulator } from '../../../src/cli/library/local-simulator.js';
import type { Configuration } from '../../../src/document/configuration.js';
import { AT_DESK } from '../../../src/extensions/at-desk.js';
import type { ApiRules } from '../../../src/remote/api/app.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { expectDocumented } from '../../support/documented.js';

/** An answer of the REST interface; `body` is undefined where there was none. */
export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

export interface RegistersBody {
  readonly result: 'ok' | 'error';
  readonly error: string;
  readonly footer: string;
  readonly register_types: Readonly<Record<string, number>>;
  readonly register_actions: Readonly<Record<string, number>>;
  readonly register_rows: readonly Readonly<Record<string, string>>[];
}

/** The simulation state of the specification; the fields that tests look into have their types. */
export interface CallsBody {
  readonly result: 'ok' | 'error';
  readonly error: string;
  readonly simulation_action: string;
  readonly function_error: readonly Choice[];
  readonly function_codes: readonly Choice[];
  readonly function_response_clear_after: number;
  readonly call_rows: readonly CallRow[];
  readonly foot: string;
  readonly [field: string]: unknown;
}

interface Choice {
  readonly value: number;
  readonly text: string;
  readonly selected: boolean;
}

interface CallRow {
  readonly call: string;
  readonly time: string;
  readonly line: string;
  readonly unit: number;
  readonly fc: number;
  readonly address: number | null;
  readonly count: number | null;
  readonly data: string;
}

/** A simulator with its REST interface, without any port: requests are injected. */
export class Rest {
  readonly local: LocalSimulator;
  readonly app: FastifyInstance;
  readonly simulator: Simulator;

  constructor(
    configuration: Configuration,
    rules: ApiRules = { host: '127.0.0.1' },
    log: Logger = pino({ level: 'silent' }),
    writesIn?: string,
  ) {
    this.local = newLocalSimulator(configuration, rules, log, AT_DESK, writesIn);
    this.simulator = this.local.simulator;
    this.app = this.local.app;
  }

  /**
   * Sends `payload` as it is when it is text, else as JSON. Throws when the answer is not as the document of the
   * interface says.
   */
  async send<Body = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS',
    url: string,
    payload?: object | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const type = payload === undefined ? {} : { 'content-type': 'application/json' };
    const response = await this.app.inject({
      method,
      url,
      headers: { host: 'localhost', ...type, ...headers },
      ...(payload !== undefined && { payload }),
    });
    expectDocumented(method, url, response);
    return {
      status: response.statusCode,
      body: (response.body === '' ? undefined : response.json()) as Body,
    };
  }

  async registers(request: object): Promise<RegistersBody> {
    return (await this.send<RegistersBody>('POST', '/restapi/registers', request)).body;
  }

  async calls(request: object): Promise<CallsBody> {
    return (await this.send<CallsBody>('POST', '/restapi/calls', request)).body;
  }

  /** The values of consecutive registers, as their rows tell. */
  async values(range_start: number, range_end = range_start, where: object = {}): Promise<string[]> {
    const { register_rows } = await this.registers({ submit: 'Register', range_start, range_end, ...where });
    return register_rows.map((row) => row.value as string);
  }
}
