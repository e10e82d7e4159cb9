import type { Units } from '../bus/bus.js';
import type { LineDefinition } from '../config/configuration.js';
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
    for (const definition of definitions) this.add({ definition, units: this.unitsOf(definition) });
  }

  get byName(): ReadonlyMap<string, Line> {
    return this.#lines;
  }

  /** The devices that a line is to have. */
  unitsOf({ units }: LineDefinition): Units {
    return new Map(Array.from(units, ([unitId, name]) => [unitId, this.#devices.get(name)]));
  }

  /** Adds a line with a name that no other line has, without opening it. */
  add({ definition, units }: WantedLine): Line {
    const { name } = definition;
    const { log, ...context } = this.#context;
    const line = new Line(definition, units, { ...context, log: log.child({ line: name }) });
    this.#lines.set(name, line);
    return line;
  }

  /** Has a line again that was dropped. */
  putBack(line: Line): void {
    this.#lines.set(line.name, line);
  }

  /** Puts the lines into an order; others go behind them. Requests that name no line are for the first one. */
  arrange(names: readonly string[]): void {
    const rest = [...this.#lines.keys()].filter((name) => !names.includes(name));
    for (const name of [...names, ...rest]) {
      const line = this.#lines.get(name);
      if (!line) continue;
      this.#lines.delete(name);
      this.#lines.set(name, line);
    }
  }

  /** Forgets a line. */
  drop(name: string): void {
    this.#lines.delete(name);
  }
}
