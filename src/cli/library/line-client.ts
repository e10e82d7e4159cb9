import { pathOf } from '../../common/rest-client/client.js';
import type { LineView } from '../../simulator/commands/schemas/line.js';
import type { Call } from './call.js';

/** A line as the REST interface shows it. */
export type { LineView };

/** A line of a simulator. */
export class LineClient {
  readonly name: string;
  readonly #call: Call;
  #place: string;

  constructor(call: Call, { name, place }: LineView) {
    this.name = name;
    this.#call = call;
    this.#place = place;
  }

  /** The path that a client of a serial line opens, such as `/dev/pts/3`. Throws for a socket. */
  get path(): string {
    if (!this.#place.startsWith('/'))
      throw new Error(`line ${this.name} is a socket: it has a port, and no path`);
    return this.#place;
  }

  /** The port that a socket line listens on. Throws for a serial line. */
  get port(): number {
    const port = /:(\d+)$/.exec(this.#place)?.[1];
    if (port === undefined) throw new Error(`line ${this.name} is serial: it has a path, and no port`);
    return Number(port);
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
    this.#place = view.place;
    return view;
  }
}
