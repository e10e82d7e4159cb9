import { type Issue, type Path, pathText } from '../../common/schema/problem.js';
import type { TableName } from '../../device/tables.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { parseText } from '../config/text/parse-text.js';

/** The data of a YAML file of another program. */
export interface YamlFile {
  /** The data. Values with a tag of that program are null. */
  readonly value: unknown;
  /** The places of such tags. */
  readonly tags: readonly Issue[];
  /** Says where a path is in the file, in words: `line 12`. */
  readonly locationOf: (path: Path) => string;
}

const MOST_VALUES = 300_000;

/** Reads the text of a YAML file. @returns what is wrong with it, as a sentence */
export function readYaml(text: string): YamlFile | string {
  const parsed = parseText(text, MOST_VALUES, true);
  if (!parsed.ok) {
    const [{ line, message } = { line: undefined, message: '' }] = parsed.problems;
    return `is no YAML: ${line === undefined ? '' : `line ${line}: `}${message}`;
  }
  const { value, locate } = parsed.source;
  const locationOf = (path: Path) => {
    const line = locate([{ path, message: '' }])[0]?.line;
    return line === undefined ? pathText(path) : `line ${line}`;
  };
  return { value, tags: parsed.tags ?? [], locationOf };
}

/** The table that a function reads; undefined for a function that reads none. */
export function tableReadBy(code: number): TableName | undefined {
  const row = functionOf(code);
  return row?.broadcast ? undefined : row?.table;
}

/** True when a table has bits instead of registers. */
export function isOfBits(table: TableName): boolean {
  return table === 'coils' || table === 'discrete';
}

/** A mapping of a file. */
export type Section = Readonly<Record<string, unknown>>;

export function sectionOf(value: unknown): Section | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Section)
    : undefined;
}

/** The elements of a list; none when the value is no list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The mappings of a list, or the one mapping that stands in its place. */
export function sectionsOf(value: unknown): Section[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.map(sectionOf).filter((item) => item !== undefined);
}

/** A text or a number as text; undefined for anything else. */
export function wordOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}

/**
 * Reads a number that is given as a number, or as decimal or hexadecimal text; undefined for anything else.
 */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || value.length > 40 || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}
