import type { Line } from '../simulator/line.js';
import type { Simulator } from '../simulator/simulator.js';

/** True when a line is on any free port, which is another one each time it is opened. */
export function hasAnyPort({ definition }: Line): boolean {
  return definition.kind !== 'serial' && definition.port === 0;
}

/**
 * Closes a line for a while, as if its server were gone. A caller that begins an outage must see to it that
 * it ends.
 */
export class Outage {
  readonly line: Line;
  readonly #simulator: Simulator;
  readonly #failed: (problem: string) => void;
  #isOn = false;
  #ended: Promise<string | undefined> = Promise.resolve(undefined);

  /** @param failed called with a sentence when the line can't be opened again */
  constructor(line: Line, simulator: Simulator, failed: (problem: string) => void = () => {}) {
    this.line = line;
    this.#simulator = simulator;
    this.#failed = failed;
  }

  /** True from before the line is closed until it is to be open again. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Closes the line and all its connections. */
  async begin(): Promise<void> {
    this.#isOn = true;
    await this.line.stop();
  }

  /**
   * Opens the line again, also one that is still being closed. Does nothing without an outage.
   * @returns why the line could not be opened, as a sentence; undefined when it was
   */
  end(): Promise<string | undefined> {
    if (this.#isOn) {
      this.#isOn = false;
      this.#ended = this.#open();
    }
    return this.#ended;
  }

  async #open(): Promise<string | undefined> {
    const reason = await this.#whyNotOpen();
    if (reason === undefined) return undefined;
    const { name } = this.line;
    const problem = `line ${name} could not be opened again: ${reason}`;
    this.#failed(problem);
    return problem;
  }
  async #whyNotOpen(): Promise<string | undefined> {
    const { line } = this;
    // Nobody could close a line that was removed meanwhile.
    if (this.#simulator.lines.get(line.name) !== line) return 'it was removed';
    const started = await line.start();
    if (!started.ok) return started.error;
    return line.state.kind === 'open' ? undefined : `it is ${line.state.kind}`;
  }
}
