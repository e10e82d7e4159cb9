import { complain, NOT_DONE, note } from '../../cli/verbs/say.js';
import { writeNativeFile } from '../../cli/verbs/write-files.js';
import { compact } from '../../common/compact.js';
import { failure } from '../../common/result.js';
import { counted } from '../../common/words.js';
import { readBytes } from '../../document/text/read-file.js';
import { LARGEST_IMPORT } from '../../simulator/commands/schemas/imported.js';
import type { ImportCommand } from './command.js';
import { decodedText, importText } from './import.js';
import { noteText, placeProblem, writeNative } from './write.js';

const MOST_PRINTED = 50;

/**
 * Converts a file of another program to a native file, and reports on standard error what was understood and
 * what was not.
 */
export function importFile(command: ImportCommand): number {
  const { file, from, packages, substitutions, defaults, columns, base, table } = command;
  const read = readDecoded(file);
  if (!read.ok) return complain(read.error, NOT_DONE);
  const others: (readonly [string, string])[] = [];
  for (const path of packages) {
    const other = readDecoded(path);
    if (!other.ok) return complain(other.error, NOT_DONE);
    others.push([path, other.value.text]);
  }
  const result = importText(read.value.text, file, from, {
    packages: others,
    substitutions,
    inUnits: defaults === 'units',
    columns,
    ...compact({ base, table }),
  });
  if (!result.ok) return complain(`${file}: ${result.error}`);
  const imported = result.value;
  const misplaced = placeProblem(imported, command);
  if (misplaced !== undefined) return complain(misplaced);
  const { text, notes, summary, values } = writeNative(imported, file, command);
  if (read.value.encoding !== 'utf-8') note(`${file}: read as ${read.value.encoding} text`);
  note([`${file}: ${imported.what}`, ...imported.preview.map((line) => `  ${line}`), ...summary].join('\n'));
  for (const each of notes.slice(0, MOST_PRINTED)) note(`${file}: ${noteText(each)}`);
  if (notes.length > MOST_PRINTED)
    note(`${file}: and ${notes.length - MOST_PRINTED} more, listed as comments in the written file`);
  return writeNativeFile(
    text,
    command,
    `: ${counted(values, 'value')} of ${counted(summary.length, 'device')}`,
  );
}

/** Reads the text of a file of another program. An error message begins with the name of the file. */
export function readDecoded(file: string): ReturnType<typeof decodedText> {
  const read = readBytes(file, LARGEST_IMPORT);
  if (!read.ok) return failure(`${file}: ${read.error}`);
  const decoded = decodedText(read.value);
  return decoded.ok ? decoded : failure(`${file}: ${decoded.error}`);
}
