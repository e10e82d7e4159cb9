import { parse } from 'yaml';
import { loadNative } from '../../../src/document/load.js';
import { importText } from '../../../src/extensions/import/import.js';
import { noteText, writeNative } from '../../../src/extensions/import/write.js';

type Entry = Readonly<Record<string, unknown>>;

/** A written file as a reader of YAML sees it. */
interface NativeFile {
  readonly devices: Readonly<
    Record<string, { readonly registers: Readonly<Record<string, readonly Entry[]>> }>
  >;
  readonly lines: Readonly<
    Record<string, { readonly tcp: { port: number }; readonly units: Readonly<Record<string, string>> }>
  >;
}

/** What an import gives; the written file has no mistakes. */
export function imported(text: string, file = 'meter.csv', from?: string) {
  const result = importText(text, file, from);
  if (!result.ok) throw new Error(result.error);
  const written = writeNative(result.value, file);
  const loaded = loadNative(written.text, '.');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const data = parse(written.text) as NativeFile;
  const [device] = Object.values(data.devices);
  return {
    text: written.text,
    preview: result.value.preview,
    data,
    /** The tables of the first device. */
    registers: device?.registers ?? {},
    notes: written.notes.map(noteText),
    configuration: loaded.configuration,
  };
}

/** Why a text is not imported; empty when it is. */
export function refusedImport(text: string, file: string, from?: string): string {
  const result = importText(text, file, from);
  return result.ok ? '' : result.error;
}
