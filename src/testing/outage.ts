import type { Line } from '../simulator/line.js';

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
  readonly #failed: (problem: string) => void;
  #isOn = false;
  #ended: Promise<string | undefined> = Promise.resolve(undefined);

  /** @param failed called with a sentence when the line can't be opened again */
  constructor(line: Line, failed: (problem: string) => void = () => {}) {
    this.line = line;
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
    const started = await this.line.start();
    const { name, state } = this.line;
    if (started.ok && state.kind === 'open') return undefined;
    const reason = started.ok ? `it is ${state.kind}` : started.error;
    const problem = `line ${name} could not be opened again: ${reason}`;
    this.#failed(problem);
    return problem;
  }
}
