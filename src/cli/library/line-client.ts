import { pathOf } from '../../common/rest-client/client.js';
import type { LineView } from '../../simulator/commands/schemas/line.js';
import type { Call } from './call.js';

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
    if (address) throw new Error(`line ${this.name} is a socket: it has a port, and no path`);
    return place;
  }

  /** The port that a socket line listens on. Throws for a serial line. */
  get port(): number {
    const { address } = this.#view;
    if (!address) throw new Error(`line ${this.name} is serial: it has a path, and no port`);
    return address.port;
  }

  /** How the line is now: its state, settings and counters. */
  get(): Promise<LineView> {
    return this.#answer('GET', '');
  }

  /**
   * Changes settings while the line serves: `{serial: {baudRate: 9600}}`. Settings that are left out stay as
   * they are.
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
