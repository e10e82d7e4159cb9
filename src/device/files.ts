import type { FilePart } from '../modbus/protocol/request.js';

/** A file of a device with `records` records of one word, numbered from 0. */
export interface FileDefinition {
  readonly records: number;
  readonly writable: boolean;
  /** The first words of the file. The rest are 0. */
  readonly values: readonly number[];
}

/** The only reference type defined (Application Protocol V1.1b3, 6.14). */
const EXTENDED_FILE = 6;

/** The maximum number of records in a file: the specification allows records 0 to 9999. */
export const MAX_RECORDS = 10_000;

/** The files of a device that does not define any. */
const DEFAULT_FILES: ReadonlyMap<number, FileDefinition> = new Map(
  Array.from({ length: 10 }, (_, i) => [i + 1, { records: MAX_RECORDS, writable: true, values: [] }]),
);

/** The files of a device. A file takes no memory until it is written to. */
export class Files {
  readonly #definitions: ReadonlyMap<number, FileDefinition>;
  readonly #written = new Map<number, Uint16Array>();

  constructor(definitions: ReadonlyMap<number, FileDefinition> = DEFAULT_FILES) {
    this.#definitions = definitions;
  }

  /** Reports whether these records can be read. If not, the answer is exception 02. */
  canRead({ referenceType, file, record, length }: FilePart): boolean {
    const definition = this.#definitions.get(file);
    return (
      referenceType === EXTENDED_FILE && definition !== undefined && record + length <= definition.records
    );
  }

  canWrite(part: FilePart): boolean {
    return this.canRead(part) && this.#definitions.get(part.file)?.writable === true;
  }

  /** Reads records. The part must be readable. */
  read({ file, record, length }: FilePart): number[] {
    const words = this.#written.get(file) ?? this.#definitions.get(file)?.values ?? [];
    return Array.from({ length }, (_, i) => words[record + i] ?? 0);
  }

  /** Writes records. The part must be writable. */
  write({ file, record }: FilePart, words: readonly number[]): void {
    const definition = this.#definitions.get(file);
    if (!definition) return;
    let content = this.#written.get(file);
    if (!content) {
      content = new Uint16Array(definition.records);
      content.set(definition.values);
      this.#written.set(file, content);
    }
    content.set(words, record);
  }
}
