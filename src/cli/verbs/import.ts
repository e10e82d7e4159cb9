import { readText } from '../../files/config/text/read-file.js';
import { importText } from '../../files/import/import.js';
import { noteText, writeNative } from '../../files/import/write.js';
import type { ImportCommand } from '../command-line/commands/import.js';
import { complain, note } from './say.js';
import { writeNativeFile } from './write-files.js';

/** Largest file, in bytes. A file of 10,000 registers has about 1 MB. */
const LARGEST_BYTES = 4 * 1024 * 1024;
const MOST_PRINTED = 50;

/**
 * Writes a native file from a file of another program, and reports on standard error what was understood and
 * what was not.
 */
export function importFile(command: ImportCommand): number {
  const { file, from } = command;
  const read = readText(file, LARGEST_BYTES);
  if (!read.ok) return complain(`${file}: ${read.message}`);
  const imported = importText(read.text, file, from);
  if (typeof imported === 'string') return complain(`${file}: ${imported}`);
  const { text, notes, summary, values } = writeNative(imported, file);
  note([`${file}: ${imported.what}`, ...imported.preview.map((line) => `  ${line}`), ...summary].join('\n'));
  for (const each of notes.slice(0, MOST_PRINTED)) note(`${file}: ${noteText(each)}`);
  if (notes.length > MOST_PRINTED)
    note(`${file}: and ${notes.length - MOST_PRINTED} more, which stand in the written file`);
  const [some, devices] = [values === 1 ? 'value' : 'values', summary.length === 1 ? 'device' : 'devices'];
  return writeNativeFile(text, command, `: ${values} ${some} of ${summary.length} ${devices}`);
}
