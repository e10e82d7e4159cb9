import type { Logger } from 'pino';
import { Bus, type Units } from '../bus/bus.js';
import type { LineDefinition } from '../config/configuration.js';
import { lineSource } from '../config/native/line-source.js';
import type { FaultRules } from '../faults/rules.js';
import type { Ledger } from '../traffic/ledger.js';
import type { LineState } from '../transport/transport.js';
import { type LineCounters, LineRecord } from './line-record.js';
import { LineRequests } from './line-requests.js';
import { busLine, type LineOutcome, LineTransport } from './line-transport.js';
import { newFraming } from './new-transport.js';
import type { SerialTransport } from './serial-transport.js';

export interface LineContext {
  readonly faults: FaultRules;
  readonly ledger: Ledger;
  readonly log: Logger;
}

/**
 * One serial port or one listening socket with the devices behind it. It can be stopped, started, and defined anew
 * while its devices keep their registers.
 */
export class Line {
  readonly name: string;
  readonly bus: Bus;
  readonly #transport: LineTransport;
  readonly #record: LineRecord;
  readonly #log: Logger;

  constructor(definition: LineDefinition, units: Units, { faults, ledger, log }: LineContext) {
    const framing = newFraming(definition);
    this.name = definition.name;
    this.#log = log;
    this.bus = new Bus(busLine(definition, framing), units, faults);
    this.#record = new LineRecord(definition.name, ledger, log);
    this.#transport = new LineTransport(definition, framing, {
      bus: this.bus,
      newRequests: (firstClientId) => new LineRequests(this, this.#record, log, firstClientId),
    });
  }

  get definition(): LineDefinition {
    return this.#transport.definition;
  }

  get counters(): Readonly<LineCounters> {
    return this.#record.counters;
  }

  get state(): LineState {
    return this.#transport.state;
  }

  /** Clients connected now; undefined where that can't be known. */
  get clients(): number | undefined {
    return this.#transport.clients;
  }

  /** When the line was opened, in ms of `performance.now()`; undefined while it isn't open. */
  get openSince(): number | undefined {
    return this.#transport.openSince;
  }

  /** The serial side of the line, where it has one. */
  get serial(): SerialTransport | undefined {
    return this.#transport.serial;
  }

  /** Opens the line; one that is open, or waits for its port, stays as it is. */
  async start(): Promise<LineOutcome> {
    return this.#noted(await this.#transport.start());
  }

  /** Closes the line; replies that wait are given up. */
  async stop(): Promise<void> {
    const { kind } = this.state;
    await this.#transport.stop();
    if (kind === 'open' || kind === 'waiting') this.#log.info('line stopped');
  }

  /** Closes the line and opens it again; one that waits for its port goes on waiting when that is still not there. */
  async restart(): Promise<LineOutcome> {
    return this.#noted(await this.#transport.restart());
  }

  /**
   * Gives the line another definition. Registers and counters stay; so does an open port that needs no other
   * settings. What the port or the system refuses leaves the line as it was; one that waits for its port waits for
   * it with the new settings.
   */
  async change(definition: LineDefinition, units: Units): Promise<LineOutcome> {
    const changed = await this.#transport.change(definition, units);
    if (changed.ok) this.#log.info({ settings: lineSource(definition) }, 'line changed');
    else this.#log.info({ reason: changed.error }, 'line not changed');
    return changed;
  }

  /** Whoever asked for it is told the reason, too. */
  #noted(outcome: LineOutcome): LineOutcome {
    if (!outcome.ok) this.#log.info({ reason: outcome.error }, 'line did not open');
    return outcome;
  }
}
