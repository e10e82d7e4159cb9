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
   * Reads a value by its name, in its unit. Strings are text, and so are numbers that JavaScript can't
   * represent. Null while the value is not available.
   */
  async read(name: string): Promise<number | string | null> {
    const { value } = await this.#answer<ValueView>('GET', pathOf('values', name));
    return value;
  }

  /**
   * Sets a value by its name, in its unit, even if Modbus clients may not write it. With `expected`, rejects
   * and writes nothing when the value is no longer the expected one.
   */
  write(
    name: string,
    value: number | string | boolean,
    { expected }: { readonly expected?: number | string | boolean } = {},
  ): Promise<ValueView> {
    return this.#answer('PUT', pathOf('values', name), { value, expected });
  }

  /**
   * Makes a value unavailable (`false`): clients read its "not available" pattern, such as NaN, whatever is
   * written meanwhile. `true` makes it available again.
   */
  setAvailable(name: string, available: boolean): Promise<ValueView> {
    return this.#answer('PUT', pathOf('values', name), { available });
  }

  /**
   * Values with everything that is known of them: all of a table, those in a range of addresses, or those
   * with the given names.
   */
  async registers(query: RegisterQuery = {}): Promise<readonly RegisterView[]> {
    const given = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const below = `/registers?${new URLSearchParams(given)}`;
    return (await this.#answer<{ registers: RegisterView[] }>('GET', below)).registers;
  }

  /**
   * Sets values by name, or by table and address. Sets none of them when one change is invalid or does not
   * find the value that it expects.
   */
  async change(...changes: readonly ChangeRequest[]): Promise<readonly RegisterView[]> {
    return (await this.#answer<{ registers: RegisterView[] }>('PATCH', '/registers', { changes })).registers;
  }

  /** Gives a value a signal that moves it: `{sine: {period: '60s', amplitude: 5, offset: 230}}`. */
  setSignal(name: string, signal: object): Promise<RegisterView> {
    return this.#answer('PUT', pathOf('signals', name), signal);
  }

  /** Removes the signal of a value, which then keeps its present value. */
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

  /** Replaces the manners of the device: `{most: {registers: 40}}`; `{}` removes all of them. */
  manners(manners: MannersRequest): Promise<DeviceView> {
    return this.#answer('PUT', '/manners', manners);
  }

  /** Restarts the device. Registers and signals become as configured; retained values stay. */
  reset(): Promise<DeviceView> {
    return this.#answer('POST', '/reset');
  }

  #answer<Answer>(method: Method, below: string, body?: object): Promise<Answer> {
    return this.#call(method, `${pathOf('devices', this.name)}${below}`, body) as Promise<Answer>;
  }
}
