import type { z } from 'zod';
import { ask, type Method, pathOf, type Send } from '../../common/rest-client/client.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Problem } from '../../common/schema/problem.js';
import type { ruleSchema } from '../../device/faults/rule.js';
import type { exchangeViewSchema } from '../../remote/api/v1/traffic.js';
import type { Armed } from '../../simulator/commands/catalogue.js';
import type {
  ClockRequest,
  DeviceView,
  MannersRequest,
  PowerRequest,
} from '../../simulator/commands/schemas/device.js';
import type { PastRules, RuleView } from '../../simulator/commands/schemas/fault.js';
import type { ImportedView, ImportRequest } from '../../simulator/commands/schemas/imported.js';
import type { LineView } from '../../simulator/commands/schemas/line.js';
import type { ConfigurationChange } from '../../simulator/commands/schemas/program.js';
import type {
  ChangeRequest,
  RegisterQuery,
  RegisterView,
  ValueView,
  WordQuery,
  Words,
} from '../../simulator/commands/schemas/value.js';
import type { trafficViewSchema } from '../../simulator/traffic/view-schema.js';

/**
 * Sends a request to the REST interface of a simulator. Resolves with the body of the answer; rejects with a
 * `Refusal`.
 */
type Call = (method: Method, path: string, body?: object) => Promise<unknown>;

/** Why a simulator rejected a request. */
export interface Refusal extends Error {
  /** HTTP status code. */
  readonly status: number;
  /** Each mistake in the request, with its path. */
  readonly problems: readonly Problem[];
}

/** @param where address of the simulator, for the error when nothing answers there */
export function callBy(send: Send, where: string): Call {
  return async (method, path, body) => {
    const answer = await ask(send, method, `/api/v1${path}`, body);
    if (answer.ok) return answer.value ?? undefined;
    const { status, problem, cause } = answer;
    if (status === 0)
      throw new Error(`can't reach ${where}/api/v1${path}: ${reasonOf(cause as Error)}`, { cause });
    const { detail, problems } = problem;
    throw Object.assign(new Error(`${method} ${path}: ${detail}`), { status, problems });
  };
}

/** The reason why `fetch` failed. Its own message only says that it failed; the reason is in `cause`. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}

/** A line as the REST interface shows it. */
export type { LineView };

/** A line of a simulator. */
export class LineClient {
  readonly name: string;
  readonly #call: Call;
  #view: Pick<LineView, 'place' | 'address'>;

  constructor(call: Call, view: LineView) {
    this.name = view.name;
    this.#call = call;
    this.#view = view;
  }

  /** The path that a client of a serial line opens, such as `/dev/pts/3`. Throws for a socket. */
  get path(): string {
    const { address, place } = this.#view;
    if (address) throw new Error(`line ${this.name} is a socket: it has a port but no path`);
    return place;
  }

  /** The port that a socket line listens on. Throws for a serial line. */
  get port(): number {
    const { address } = this.#view;
    if (!address) throw new Error(`line ${this.name} is serial: it has a path but no port`);
    return address.port;
  }

  /** Reads the line's current state, settings and counters. */
  get(): Promise<LineView> {
    return this.#answer('GET', '');
  }

  /**
   * Changes settings while the line is running: `{serial: {baudRate: 9600}}`. Settings that are left out keep
   * their values.
   */
  change(settings: object): Promise<LineView> {
    return this.#answer('PUT', '', settings);
  }

  start(): Promise<LineView> {
    return this.#answer('POST', '/start');
  }

  restart(): Promise<LineView> {
    return this.#answer('POST', '/restart');
  }

  stop(): Promise<LineView> {
    return this.#answer('POST', '/stop');
  }

  async #answer(method: 'GET' | 'PUT' | 'POST', below: string, body?: object): Promise<LineView> {
    const path = `${pathOf('lines', this.name)}${below}`;
    const view = (await this.#call(method, path, body)) as LineView;
    this.#view = view;
    return view;
  }
}

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

  /** Reads the device's current power, its clock and where it answers. */
  get(): Promise<DeviceView> {
    return this.#answer('GET', '');
  }

  /**
   * Reads a value by name, in its unit. Strings are returned as text, and so are numbers that JavaScript
   * can't represent. Null while the value is unavailable.
   */
  async read(name: string): Promise<number | string | null> {
    const { value } = await this.#answer<ValueView>('GET', pathOf('values', name));
    return value;
  }

  /**
   * Sets a value by name, in its unit, even if Modbus clients can't write it. With `expected`, rejects and
   * writes nothing if the current value is a different one.
   */
  write(
    name: string,
    value: number | string | boolean,
    { expected }: { readonly expected?: number | string | boolean } = {},
  ): Promise<ValueView> {
    return this.#answer('PUT', pathOf('values', name), { value, expected });
  }

  /**
   * Makes a value unavailable (`false`): clients read its "not available" pattern, such as NaN, even if the
   * value is written. `true` makes it available again.
   */
  setAvailable(name: string, available: boolean): Promise<ValueView> {
    return this.#answer('PUT', pathOf('values', name), { available });
  }

  /** Reads values with all their details: a whole table, a range of addresses, or the given names. */
  async registers(query: RegisterQuery = {}): Promise<readonly RegisterView[]> {
    const given = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const below = `/registers?${new URLSearchParams(given)}`;
    return (await this.#answer<{ registers: RegisterView[] }>('GET', below)).registers;
  }

  /**
   * Reads up to 512 consecutive registers, now or at an earlier time: `{table: 'holding', from: 0, to: 9, at:
   * '30s'}`.
   */
  words(query: WordQuery = {}): Promise<Words> {
    const given = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    return this.#answer('GET', `/words?${new URLSearchParams(given)}`);
  }

  /**
   * Sets values by name, or by table and address. Sets none of them if one change is invalid or its expected
   * value does not match.
   */
  async change(...changes: readonly ChangeRequest[]): Promise<readonly RegisterView[]> {
    return (await this.#answer<{ registers: RegisterView[] }>('PATCH', '/registers', { changes })).registers;
  }

  /** Gives a value a signal that changes it: `{sine: {period: '60s', amplitude: 5, offset: 230}}`. */
  setSignal(name: string, signal: object): Promise<RegisterView> {
    return this.#answer('PUT', pathOf('signals', name), signal);
  }

  /** Removes a value's signal. The value then stays constant. */
  removeSignal(name: string): Promise<RegisterView> {
    return this.#answer('DELETE', pathOf('signals', name));
  }

  /** Switches the device's power on or off. A device without power does not answer. */
  power(request: PowerRequest): Promise<DeviceView> {
    return this.#answer('POST', '/power', request);
  }

  /** Sets the clock that drives the signals. */
  clock(request: ClockRequest): Promise<DeviceView> {
    return this.#answer('POST', '/clock', request);
  }

  /** Replaces the manners of the device: `{most: {registers: 40}}`. `{}` removes them all. */
  manners(manners: MannersRequest): Promise<DeviceView> {
    return this.#answer('PUT', '/manners', manners);
  }

  /** Restarts the device. Registers and signals return to their configured values; retained values stay. */
  reset(): Promise<DeviceView> {
    return this.#answer('POST', '/reset');
  }

  #answer<Answer>(method: Method, below: string, body?: object): Promise<Answer> {
    return this.#call(method, `${pathOf('devices', this.name)}${below}`, body) as Promise<Answer>;
  }
}

/** A fault rule as the REST interface shows it. */
export type { RuleView };

/** One kind of fault with its parameters: `{delay: 250}`. */
export type FaultRequest = Readonly<Record<string, unknown>>;

/** A fault rule in the form that users write. */
export type RuleRequest = Omit<z.input<typeof ruleSchema>, 'do'> & {
  readonly do: FaultRequest | readonly FaultRequest[];
};

/** The fault rules of a simulator. */
export class FaultsClient {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Lists all rules in the order they act. */
  async list(): Promise<readonly RuleView[]> {
    return ((await this.#call('GET', '/faults')) as { faults: RuleView[] }).faults;
  }

  /** Lists the rules that were in force at an earlier time: an ISO 8601 time, or how long ago (`30s`). */
  past(at: string): Promise<PastRules> {
    return this.#call('GET', `/past/faults?${new URLSearchParams({ at })}`) as Promise<PastRules>;
  }

  /** Reads a rule and its counts. */
  get(name: string): Promise<RuleView> {
    return this.#call('GET', pathOf('faults', name)) as Promise<RuleView>;
  }

  /** Adds a rule, or replaces the rule with the same name and sets its counts to zero. */
  set(rule: RuleRequest): Promise<RuleView> {
    return this.#call('PUT', pathOf('faults', rule.name), rule) as Promise<RuleView>;
  }

  async remove(name: string): Promise<void> {
    await this.#call('DELETE', pathOf('faults', name));
  }

  /** Restores the configured rules, with their counts at zero. */
  async reset(): Promise<readonly RuleView[]> {
    return ((await this.#call('POST', '/faults/reset')) as { faults: RuleView[] }).faults;
  }
}

/** A request and its outcome, in the form of the REST interface. */
export type ExchangeView = z.infer<typeof exchangeViewSchema>;

/** A traffic event, in the form of the REST interface. */
export type EventView = z.infer<typeof trafficViewSchema>;

interface Span {
  /** Returns only what passes this filter. The syntax is the console's: `unit=1 fc=3 late>50ms`. */
  readonly filter?: string;
  /** Returns only exchanges with a higher `id`, or events with a higher `seq`. */
  readonly after?: number;
}

interface Wait extends Span {
  /** Maximum time to wait, in ms; 5000 when absent. */
  readonly timeoutMs?: number;
}

/** A page of traffic. */
interface Page<Item> {
  readonly items: readonly Item[];
  /** The value of `after` for the next page. */
  readonly next: number;
  /** Whether more traffic was available when the page was read. */
  readonly hasMore: boolean;
}

/** The paths of the traffic lists, by their names in answers. */
const LISTS = { exchanges: '/exchanges', events: '/traffic' } as const;

const PAGE_LENGTH = 1000;

/**
 * How long a request waits for new traffic, in ms. If the simulator stops, this client notices at the end of
 * that time.
 */
const WAIT_MS = 1000;

/** The traffic of a simulator. */
export class TrafficClient {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Reads at most 1000 exchanges, oldest first: the first ones after `after`, or the newest ones without it. */
  async exchanges(span: Span = {}): Promise<readonly ExchangeView[]> {
    return (await this.#page<ExchangeView>('exchanges', span)).items;
  }

  /** Reads at most 1000 events, oldest first: the first ones after `after`, or the newest ones without it. */
  async events(span: Span = {}): Promise<readonly EventView[]> {
    return (await this.#page<EventView>('events', span)).items;
  }

  /**
   * Waits for an exchange. One that has already ended counts, because a client may be faster than the test.
   * @param isMeant whether an exchange is the wanted one; any exchange when absent
   * @returns the oldest wanted exchange. Rejects if there is none within `timeoutMs`.
   */
  waitFor(isMeant: (exchange: ExchangeView) => boolean = () => true, wait: Wait = {}): Promise<ExchangeView> {
    return this.#find('exchanges', isMeant, wait);
  }

  /**
   * Waits for an event. One that has already happened counts.
   * @param isMeant whether an event is the wanted one; any event when absent
   * @returns the oldest wanted event. Rejects if there is none within `timeoutMs`.
   */
  waitForEvent(isMeant: (event: EventView) => boolean = () => true, wait: Wait = {}): Promise<EventView> {
    return this.#find('events', isMeant, wait);
  }

  async #page<Item>(what: keyof typeof LISTS, span: Span, waitMs = 0): Promise<Page<Item>> {
    const answer = await this.#call('GET', `${LISTS[what]}?${pageQuery(span, waitMs)}`);
    const {
      [what]: items,
      next,
      last,
    } = answer as { next: number; last: number } & Record<typeof what, Item[]>;
    return { items, next, hasMore: next < last };
  }

  async #find<Item>(
    what: keyof typeof LISTS,
    isMeant: (item: Item) => boolean,
    { filter, after = 0, timeoutMs = 5000 }: Wait,
  ): Promise<Item> {
    const end = performance.now() + timeoutMs;
    let seen = after;
    for (;;) {
      const leftMs = Math.max(0, Math.ceil(end - performance.now()));
      const { items, next, hasMore } = await this.#page<Item>(
        what,
        { after: seen, ...(filter !== undefined && { filter }) },
        Math.min(leftMs, WAIT_MS),
      );
      const found = items.find(isMeant);
      if (found) return found;
      seen = next;
      if (!hasMore && leftMs === 0)
        throw new Error(`no matching ${what.slice(0, -1)} within ${timeoutMs} ms`);
    }
  }
}

function pageQuery({ filter, after }: Span, waitMs: number): URLSearchParams {
  return new URLSearchParams({
    limit: String(PAGE_LENGTH),
    wait: String(waitMs),
    ...(after !== undefined && { after: String(after) }),
    ...(filter !== undefined && { filter }),
  });
}

export type { ImportedView, ImportRequest };

/** What a test can do with a simulator, whether in its own process or elsewhere. */
export interface SimulatorClient {
  readonly lines: readonly LineClient[];
  readonly faults: FaultsClient;
  readonly traffic: TrafficClient;
  /** Returns the line with this name. Throws if there is none. */
  line(name: string): LineClient;
  /** Returns the device with this name. If there is none, the first call on it rejects. */
  device(name: string): DeviceClient;
  /** Makes a device, or all devices of a line, misbehave as a catalogue entry describes. `behave` ends it. */
  misbehave(id: string, target: { readonly device: string } | { readonly line: string }): Promise<Armed>;
  behave(id: string): Promise<Armed>;
  /**
   * Replaces devices, lines and fault rules with a configuration's, all or nothing. Anything unchanged keeps
   * running. This client's `lines` and `line` still have the lines from when it was created.
   * @param how with `preview`, nothing is changed
   * @returns the changes, in the order they were made
   */
  apply(configuration: object, how?: { readonly preview?: boolean }): Promise<ConfigurationChange['steps']>;
  /**
   * Creates devices from another program's file, like `modbus-sim import`. They are not added to the
   * simulator.
   * @param request the file's name, its bytes in base64, and the import options
   */
  import(request: ImportRequest): Promise<ImportedView>;
  /** Undoes the changes that the last command made to devices, lines and rules. */
  undo(): Promise<ConfigurationChange['steps']>;
}

/** Creates a client for a simulator; `call` sends its requests. */
export async function simulatorClient(call: Call): Promise<SimulatorClient> {
  const views = ((await call('GET', '/lines')) as { lines: LineView[] }).lines;
  const lines = new Map(views.map((view) => [view.name, new LineClient(call, view)]));
  return {
    lines: [...lines.values()],
    faults: new FaultsClient(call),
    traffic: new TrafficClient(call),
    device: (name) => new DeviceClient(call, name),
    misbehave: (id, target) => call('POST', pathOf('catalogue', id), target) as Promise<Armed>,
    behave: (id) => call('DELETE', pathOf('catalogue', id)) as Promise<Armed>,
    async apply(configuration, { preview = false } = {}) {
      const path = `/configuration${preview ? '?preview=true' : ''}`;
      return ((await call('PUT', path, configuration)) as ConfigurationChange).steps;
    },
    import: (request) => call('POST', '/import', request) as Promise<ImportedView>,
    undo: async () => ((await call('POST', '/configuration/undo')) as ConfigurationChange).steps,
    line(name) {
      const found = lines.get(name);
      if (!found) throw new Error(unknownName('line', name, [...lines.keys()]));
      return found;
    },
  };
}
