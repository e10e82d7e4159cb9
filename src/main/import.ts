import { dirname, resolve } from 'node:path';
import type { ImportCommand } from '../config/commands/import.js';
import { loadNative } from '../config/load.js';
import { readText } from '../config/text/read-file.js';
import { importText } from '../import/import.js';
import { noteText, writeNative } from '../import/write.js';
import { formatProblems } from '../schema/problem.js';
import { save } from './save.js';
import { complain, note, OK, say } from './say.js';

/** A file of 10,000 registers has some 1 MB. */
const LARGEST_BYTES = 4 * 1024 * 1024;
const MOST_PRINTED = 50;

/** Writes a native file from a file of others, and says on standard error what was understood and what was not. */
export function importFile({ file, output, from, force }: ImportCommand): number {
  const read = readText(file, LARGEST_BYTES);
  if (!read.ok) return complain(`${file}: ${read.message}`);
  const imported = importText(read.text, file, from);
  if (typeof imported === 'string') return complain(`${file}: ${imported}`);
  const { text, notes, summary, values } = writeNative(imported, file);
  const loaded = loadNative(text, dirname(resolve(output ?? file)));
  if (!loaded.ok) return complain(`nothing was written: ${formatProblems('the file', loaded.problems)}`);
  note([`${file}: ${imported.what}`, ...imported.preview.map((line) => `  ${line}`), ...summary].join('\n'));
  for (const each of notes.slice(0, MOST_PRINTED)) note(`${file}: ${noteText(each)}`);
  if (notes.length > MOST_PRINTED)
    note(`${file}: and ${notes.length - MOST_PRINTED} more, which stand in the written file`);
  if (output === undefined) {
    process.stdout.write(text);
    return OK;
  }
  const failure = save(output, text, force);
  if (failure !== undefined) return complain(failure);
  return say(
    `wrote ${output}: ${values} ${values === 1 ? 'value' : 'values'} of ${summary.length} ${summary.length === 1 ? 'device' : 'devices'}; serve it with modbus-sim --config ${output}`,
  );
}
