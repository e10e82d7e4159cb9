import { type Method, pathOf } from '../../common/rest-client/client.js';
import type {
  ClockRequest,
  DeviceView,
  MannersRequest,
  PowerRequest,
} from '../../simulator/commands/schemas/device.js';
import type {
  ChangeRequest,
  RegisterQuery,
  RegisterView,
  ValueView,
} from '../../simulator/commands/schemas/value.js';
import type { Call } from './call.js';

/** A device, a value and a register as the REST interface shows them. */
export type { DeviceView, RegisterView, ValueView };

/** A device of a simulator. */
export class DeviceClient {
  readonly name: string;
  readonly #call: Call;

  constructor(call: Call, name: string) {
    this.name = name;
    this.#call = call;
  }

  /** How the device is now: its supply, its clock, where it answers. */
  get(): Promise<DeviceView> {
    return this.#answer('GET', '');
  }

  /**
   * A value by its name, in its unit. Text for strings, and for numbers that no number of JavaScript can be; null while it is
   * not available.
   */
  async read(name: string): Promise<number | string | null> {
    const { value } = await this.#answer<ValueView>('GET', pathOf('values', name));
    return value;
  }

  /**
   * Sets a value by its name, in its unit. Whether Modbus clients may write it does not matter. With `expected`, it fails
   * and writes nothing where another value stands by now.
   */
  write(
    name: string,
    value: number | string | boolean,
    { expected }: { readonly expected?: number | string | boolean } = {},
  ): Promise<ValueView> {
    return this.#answer('PUT', pathOf('values', name), { value, expected });
  }

  /**
   * False: clients read the "not available" value from now on, such as NaN, whatever is written meanwhile.
   * True takes that back.
   */
  setAvailable(name: string, available: boolean): Promise<ValueView> {
    return this.#answer('PUT', pathOf('values', name), { available });
  }

  /** Values with all that is known of them: of a table, of a range of addresses, or those with the names. */
  async registers(query: RegisterQuery = {}): Promise<readonly RegisterView[]> {
    const given = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const below = `/registers?${new URLSearchParams(given)}`;
    return (await this.#answer<{ registers: RegisterView[] }>('GET', below)).registers;
  }

  /** Sets values by name, or by table and address: all of them, or none when one has a mistake or finds something else than it expects. */
  async change(...changes: readonly ChangeRequest[]): Promise<readonly RegisterView[]> {
    return (await this.#answer<{ registers: RegisterView[] }>('PATCH', '/registers', { changes })).registers;
  }

  /** Lets a signal move a value: `{sine: {period: '60s', amplitude: 5, offset: 230}}`. */
  setSignal(name: string, signal: object): Promise<RegisterView> {
    return this.#answer('PUT', pathOf('signals', name), signal);
  }

  /** Lets a value stand still. */
  removeSignal(name: string): Promise<RegisterView> {
    return this.#answer('DELETE', pathOf('signals', name));
  }

  /** Switches the supply. A device without supply answers nothing. */
  power(request: PowerRequest): Promise<DeviceView> {
    return this.#answer('POST', '/power', request);
  }

  /** Sets the clock by which signals move. */
  clock(request: ClockRequest): Promise<DeviceView> {
    return this.#answer('POST', '/clock', request);
  }

  /** Gives the device other manners, in place of all that it has: `{most: {registers: 40}}`; `{}` for none. */
  manners(manners: MannersRequest): Promise<DeviceView> {
    return this.#answer('PUT', '/manners', manners);
  }

  /** Restarts the device: registers and signals are as configured, except retained values. */
  reset(): Promise<DeviceView> {
    return this.#answer('POST', '/reset');
  }

  #answer<Answer>(method: Method, below: string, body?: object): Promise<Answer> {
    return this.#call(method, `${pathOf('devices', this.name)}${below}`, body) as Promise<Answer>;
  }
}
