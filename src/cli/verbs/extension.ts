import type { AtDesk } from '../../remote/api/extension.js';
import type { ExtensionCommand } from '../command-line/commands/of-extension.js';

/**
 * Something that the core need not know. An extension says what it has; the code behind each part is loaded
 * when somebody asks for that part.
 */
export interface Extension extends AtDesk {
  readonly name: string;
  /** Its command of the command line, which starts what carries it out. */
  readonly command?: ExtensionCommand;
  /** Loads its long work, which a thread of its own does one piece after another (`work.ts`). */
  readonly work?: () => Promise<Generator<unknown, unknown, never>>;
}
