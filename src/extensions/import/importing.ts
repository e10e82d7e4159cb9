import type { ImportExtras, Imported, Note } from './collected.js';
import { tableSeen } from './csv/csv.js';
import { decodedText, importText } from './import.js';
import { writeNative } from './write.js';

/** A request to `importing`: the bytes of a file, its name, and the options for it. */
export interface ToImporter {
  readonly bytes: Uint8Array;
  readonly file: string;
  readonly from?: string;
  readonly extras: ImportExtras;
}

/** The result for a file: how it was interpreted, and the native file. */
interface ImportedFile extends Pick<Imported, 'what' | 'preview' | 'tables'> {
  readonly kind: 'imported';
  readonly notes: readonly Note[];
  readonly summary: readonly string[];
  readonly devices: readonly { readonly name: string; readonly unit: number; readonly entry: object }[];
  readonly text: string;
  /** Why a table led to no devices. */
  readonly problem?: string;
}

export type FromImporter = ImportedFile | { readonly kind: 'unusable'; readonly message: string };

const NOTHING: FromImporter = { kind: 'unusable', message: 'no file was given' };

/**
 * Imports one file after another. A generator ignores the argument of its first `next`, so start it with any
 * request.
 */
export function* importing(): Generator<FromImporter, FromImporter, ToImporter> {
  for (let answer = NOTHING; ; ) answer = importedFile(yield answer);
}

function importedFile({ bytes, file, from, extras }: ToImporter): FromImporter {
  const decoded = decodedText(bytes);
  const imported = decoded.ok ? importText(decoded.value.text, file, from, extras) : decoded;
  if (!imported.ok) {
    const table =
      decoded.ok && /\.(?:csv|tsv|txt|md)$/i.test(file) ? tableSeen(decoded.value.text) : undefined;
    if (!table) return { kind: 'unusable', message: imported.error };
    const nothing = { what: 'a table', preview: [], notes: [], summary: [], devices: [], text: '' };
    return { kind: 'imported', ...nothing, tables: [table], problem: imported.error };
  }
  const { what, preview, tables } = imported.value;
  const { text, notes, summary, devices } = writeNative(imported.value, file);
  return { kind: 'imported', what, preview, ...(tables && { tables }), notes, summary, devices, text };
}
