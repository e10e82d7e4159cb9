import { basename } from 'node:path';
import { complain, NOT_DONE, note, say } from '../../cli/verbs/say.js';
import { save } from '../../cli/verbs/write-files.js';
import { counted } from '../../common/words.js';
import { readBytes } from '../../document/text/read-file.js';
import type { ViewCommand } from './command.js';
import { LARGEST, pageOfFile } from './page.js';

/** Makes a page from a report, a capture or recorded traffic, and writes it to a file. */
export async function view({ file, output = `${file}.html`, force = false }: ViewCommand): Promise<number> {
  const read = readBytes(file, LARGEST);
  if (!read.ok) return complain(`${file}: ${read.error}`, NOT_DONE);
  const made = pageOfFile(read.value, basename(file));
  if (!made.ok) return complain(`${file}: ${made.error}`, NOT_DONE);
  const { html, count, notes } = made.value;
  if (notes.length > 0) note(notes.map((each) => `${file}: ${each}`).join('\n'));
  const unwritten = save(output, html, force);
  if (unwritten !== undefined) return complain(unwritten);
  return say(
    `wrote ${output} with ${counted(count, 'frame or event', 'frames and events')}; open it in a browser`,
  );
}
