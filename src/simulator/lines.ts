import type { LineDefinition, UnitNames } from '../files/config/configuration.js';
import { unitsAt } from '../files/config/native/names.js';
import type { Served, Units } from './bus/bus.js';
import type { Devices } from './devices.js';
import { Line, type LineContext, type WantedLine } from './line.js';

/** The lines of a simulator, each with the devices behind it. */
export class Lines {
  readonly #lines = new Map<string, Line>();
  readonly #devices: Devices;
  readonly #context: LineContext;

  constructor(definitions: readonly LineDefinition[], devices: Devices, context: LineContext) {
    this.#devices = devices;
    this.#context = context;
    for (const definition of definitions) this.add({ definition, served: this.servedBy(definition) });
  }

  get byName(): ReadonlyMap<string, Line> {
    return this.#lines;
  }

  /** The devices that a line with this definition serves. */
  servedBy(definition: LineDefinition): Served {
    const units = this.#unitsOf(definition.units);
    if (definition.kind === 'serial' || definition.each === undefined) return { units };
    const { hosts = [] } = definition;
    const at = new Map(hosts.map((host) => [host, this.#unitsOf(unitsAt(definition, host))]));
    return { units, at };
  }

  #unitsOf(names: UnitNames): Units {
    return new Map(Array.from(names, ([unitId, name]) => [unitId, this.#devices.get(name)]));
  }

  /** Adds a line with a name that no other line has, without opening it. */
  add({ definition, served }: WantedLine): Line {
    const { name } = definition;
    const { log, ...context } = this.#context;
    const line = new Line(definition, served, { ...context, log: log.child({ line: name }) });
    this.#lines.set(name, line);
    return line;
  }

  /** Adds a line again that was dropped. */
  putBack(line: Line): void {
    this.#lines.set(line.name, line);
  }

  /**
   * Puts the lines into an order; lines that are not named go behind. Requests that name no line are for the
   * first one.
   */
  arrange(names: readonly string[]): void {
    const rest = [...this.#lines.keys()].filter((name) => !names.includes(name));
    for (const name of [...names, ...rest]) {
      const line = this.#lines.get(name);
      if (!line) continue;
      this.#lines.delete(name);
      this.#lines.set(name, line);
    }
  }

  /** Removes a line from the list, without closing it. */
  drop(name: string): void {
    this.#lines.delete(name);
  }
}
