import type { ExtensionCommand } from '../command-line/commands/of-extension.js';

/**
 * A command that the core need not know, and the long work that goes with it. The code behind them is loaded
 * when somebody asks for it. What an extension does at the desk, another thread, is a `ExtensionPart`
 * (`remote/api/extension.ts`).
 */
export interface Extension {
  readonly name: string;
  readonly command: ExtensionCommand;
  /** Loads its long work, which a thread of its own does one piece after another (`work.ts`). */
  readonly work?: () => Promise<Generator<unknown, unknown, never>>;
}
