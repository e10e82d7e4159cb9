import { basename } from 'node:path';
import { complain, NOT_DONE, note, say } from '../../cli/verbs/say.js';
import { save } from '../../cli/verbs/write-files.js';
import { counted } from '../../common/words.js';
import { readBytes } from '../../document/text/read-file.js';
import { trafficHtml } from '../../testing/report/html.js';
import type { ViewCommand } from './command.js';
import { shownTraffic } from './shown-traffic.js';

/** The most bytes of a file. */
const LARGEST = 16 * 1024 * 1024;

/** Writes the page of a capture, or of recorded traffic. */
export async function view({ file, output = `${file}.html`, force = false }: ViewCommand): Promise<number> {
  const read = readBytes(file, LARGEST);
  if (!read.ok) return complain(`${file}: ${read.error}`, NOT_DONE);
  const shown = shownTraffic(read.value);
  if (!shown.ok) return complain(`${file}: ${shown.error}`, NOT_DONE);
  const { events, notes } = shown.value;
  if (notes.length > 0) note(notes.map((each) => `${file}: ${each}`).join('\n'));
  const unwritten = save(output, trafficHtml(basename(file), events, notes), force);
  if (unwritten !== undefined) return complain(unwritten);
  return say(
    `wrote ${output} with ${counted(events.length, 'frame or event', 'frames and events')}; open it in a browser`,
  );
}
