import { EDITOR_SCHEMAS } from '../../remote/api/v1/schemas.js';
import type { SchemaCommand } from '../command-line/commands/plain.js';
import { say } from './say.js';

/** Prints the JSON Schema of a kind of file, on many lines because people read it too. */
export async function schema({ of }: SchemaCommand): Promise<number> {
  return say(JSON.stringify(JSON.parse(await EDITOR_SCHEMAS[of]()), null, 2));
}
