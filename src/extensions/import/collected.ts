import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import { type Issue, type Path, pathText, quote } from '../../common/schema/problem.js';
import type { ValueType } from '../../device/registers/cell-type.js';
import type { TableName } from '../../device/tables.js';
import { cellsOf, type ImportedDevice, type ImportedValue } from '../../document/register-map.js';
import { parseText } from '../../document/text/parse-text.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { ADDRESS_SPACE, MAX_REGISTERS_READ } from '../../modbus/protocol/limits.js';

/** The command-line options for a file that is imported. */
export interface ImportExtras {
  /** The contents of ESPHome packages, by file name. */
  readonly packages?: readonly (readonly [file: string, text: string])[];
  /** Values of substitutions by name; they take precedence over those in the files. */
  readonly substitutions?: ReadonlyMap<string, string>;
  /** True if default values in a table are in the unit of the value; otherwise they are stored values. */
  readonly inUnits?: boolean;
  /** The user's assignment of roles to table columns, by header. */
  readonly columns?: ReadonlyMap<string, string>;
  /** How a table counts addresses: as on the wire, from 1, or as register numbers such as 40001. */
  readonly base?: 'wire' | '1' | 'entity';
  /** The table of every row that names none. */
  readonly table?: TableName;
}

/** A value as a reader finds it: fields that the file lacks are undefined, or an empty text. */
export type FoundValue = Pick<ImportedValue, 'table' | 'address' | 'type' | 'location'> & {
  readonly [Key in keyof ImportedValue]: ImportedValue[Key] | undefined;
};

/** A part of a file that was not understood, or was converted to a different form. */
export interface Note {
  /** The first place where it occurs. */
  readonly location: string;
  readonly message: string;
  /** The number of further places. */
  readonly more?: number;
}

/** One connection of the client that the file describes. Its devices become one line. */
interface ImportedLine {
  /** Where the client finds its devices, such as `tcp://10.0.0.7:502`; empty if the file does not say. */
  readonly original: string;
  readonly devices: readonly ImportedDevice[];
}

/** How a table column was interpreted. */
export interface ColumnReading {
  readonly header: string;
  /** The role of the column; absent if it is not used. */
  readonly role?: string;
  /** A description of that role. */
  readonly meaning?: string;
  /** The header of another column that scored nearly as well for the same role. */
  readonly near?: string;
}

/** How a table in a file was interpreted. */
export interface TableReading {
  /** The line number of the header; 0 if there is none. */
  readonly line: number;
  readonly columns: readonly ColumnReading[];
  /** The cells of the first rows. */
  readonly rows: readonly (readonly string[])[];
}

export interface Imported {
  /** The kind of file, in words. */
  readonly what: string;
  /** The tables, if the file consists of tables. */
  readonly tables?: readonly TableReading[];
  /** How the file was interpreted, one line of text per item. */
  readonly preview: readonly string[];
  readonly lines: readonly ImportedLine[];
  readonly notes: readonly Note[];
}

/**
 * Maximum number of values in a file: `check` accepts a million lexemes (document/text/parse-text.ts), and an
 * entry has about sixty.
 */
const MOST_VALUES = 10_000;
const MOST_NOTES = 500;
const MOST_UNIT = 255;

interface OpenDevice extends ImportedDevice {
  readonly values: ImportedValue[];
}

/** Collects the values that a reader finds in a file, and notes on the parts that it does not understand. */
export class Collector {
  /** The places of each message, by message. */
  readonly #notes = new Map<string, { readonly location: string; more: number }>();
  #unlisted = 0;
  #values = 0;
  #hasRefused = false;
  /** The positions of values that `addOnce` accepted, by a key of the properties that make two values the same. */
  readonly #known = new Map<string, number>();
  readonly #lines = new Map<string, Map<number, OpenDevice>>();

  /** True if no more values are accepted. */
  get isFull(): boolean {
    return this.#values === MOST_VALUES;
  }

  /** Records a part that was not understood, or was converted to a different form. */
  note(location: string, message: string): void {
    const known = this.#notes.get(message);
    if (known) known.more += 1;
    else if (this.#notes.size < MOST_NOTES) this.#notes.set(message, { location, more: 0 });
    else this.#unlisted += 1;
  }

  /** Records why a named item differs from the file, if there is a reason. */
  noteOf(location: string, name: string, problem: string | undefined): void {
    if (problem !== undefined) this.note(location, `${quote(name)}: ${problem}`);
  }

  /**
   * Adds a value to a device, which is identified by its line and unit identifier. `device` is the device's
   * name; the first one given is used. A value at an impossible address is noted and left out.
   */
  add(line: string, unit: number, device: string, value: FoundValue): void {
    const { address, location } = value;
    const cells = cellsOf(value);
    const last = address + cells - 1;
    if (!Number.isInteger(unit) || unit < 0 || unit > MOST_UNIT) {
      this.note(location, `unit ${unit}: expected 0 to ${MOST_UNIT}`);
    } else if (
      !(
        Number.isInteger(address) &&
        Number.isInteger(cells) &&
        cells > 0 &&
        address >= 0 &&
        last < ADDRESS_SPACE
      )
    ) {
      this.note(location, `addresses ${address} to ${last}: expected 0 to ${ADDRESS_SPACE - 1}`);
    } else if (cells > MAX_REGISTERS_READ) {
      this.note(
        location,
        `${cells} registers: expected at most ${MAX_REGISTERS_READ}, the maximum for one request`,
      );
    } else if (this.isFull) {
      if (!this.#hasRefused)
        this.note(
          location,
          `this value and those after it are left out: the file has more than ${MOST_VALUES} values`,
        );
      this.#hasRefused = true;
    } else {
      this.#values += 1;
      const { name, unit: unitText, description } = value;
      const texts = {
        name: name || undefined,
        unit: unitText || undefined,
        description: description || undefined,
      };
      const known = compact({ ...value, ...texts });
      this.#deviceOf(line, unit, device).values.push(known);
    }
  }

  /**
   * Adds a value unless the same registers were added with the same type: a client that reads a register in
   * several places, or also writes it, means one value. @returns false if the value was noted and left out
   */
  addOnce(line: string, unit: number, device: string, value: FoundValue): boolean {
    const { table, address, type, length, part } = value;
    const values = this.#lines.get(line)?.get(unit)?.values ?? [];
    const key = [line, unit, table, address, type, length, part].join(' ');
    const at = this.#known.get(key);
    const known = at === undefined ? undefined : values[at];
    if (at !== undefined && known !== undefined) {
      if (value.write) values[at] = { ...known, write: true };
      return true;
    }
    const before = this.#values;
    this.add(line, unit, device, value);
    const all = this.#lines.get(line)?.get(unit)?.values;
    const isTaken = this.#values > before;
    if (all && isTaken) this.#known.set(key, all.length - 1);
    return isTaken;
  }

  /** Ends the collection. @returns everything that was collected, as a successful import */
  end(what: string, preview: readonly string[] = []): { readonly ok: true; readonly value: Imported } {
    const rest = this.#unlisted;
    const last = rest > 0 ? [{ location: 'and', message: `${rest} more, not listed` }] : [];
    return success({
      what,
      preview,
      lines: [...this.#lines].map(([original, devices]) => ({ original, devices: [...devices.values()] })),
      notes: [...[...this.#notes].map(([message, each]) => ({ message, ...each })), ...last],
    });
  }

  #deviceOf(line: string, unit: number, name: string): OpenDevice {
    const devices = this.#lines.get(line) ?? new Map<number, OpenDevice>();
    this.#lines.set(line, devices);
    const device = devices.get(unit) ?? { unit, name, values: [] };
    devices.set(unit, device);
    return device;
  }
}

/**
 * A constant halfway between the limits, in stored form: the value is `stored × scale + offset`. Undefined if
 * a limit is missing, or if the type or the scale gives no number.
 */
export function middleOf(
  type: ValueType,
  min: number | undefined,
  max: number | undefined,
  scale = 1,
  offset = 0,
): number | undefined {
  if (min === undefined || max === undefined || !(min <= max) || type === 'string') return undefined;
  const stored = ((min + max) / 2 - offset) / scale;
  if (!Number.isFinite(stored)) return undefined;
  return type === 'float32' || type === 'float64' ? Number(stored.toPrecision(7)) : Math.round(stored);
}

/** The data of a YAML file of another program. */
export interface YamlFile {
  /** The data. Values with a tag of the other program are null. */
  readonly value: unknown;
  /** The places of such tags, and of repeated keys, of which the last value is used. */
  readonly oddities: readonly Issue[];
  /** Describes where a path is in the file: `line 12`. */
  readonly locationOf: (path: Path) => string;
}

/** Maximum number of values in a YAML file, with aliases expanded. */
const MOST_PARSED = 300_000;

/** @param acceptsRepeated whether the other program accepts a repeated key */
export function readYaml(text: string, acceptsRepeated = false): Result<YamlFile> {
  const parsed = parseText(text, MOST_PARSED, true);
  if (!parsed.ok) {
    const [{ line, message } = { line: undefined, message: '' }] = parsed.problems;
    return failure(`not YAML: ${line === undefined ? '' : `line ${line}: `}${message}`);
  }
  const { value, locate } = parsed.source;
  const { tags = [], repeated = [] } = parsed;
  const locationOf = (path: Path) => {
    const line = locate([{ path, message: '' }])[0]?.line;
    return line === undefined ? pathText(path) : `line ${line}`;
  };
  const [first] = acceptsRepeated ? [] : repeated;
  if (first) return failure(`not YAML: ${locationOf(first.path)}: this key appears twice`);
  return success({ value, oddities: [...tags, ...repeated], locationOf });
}

/** The table that a function reads; undefined if the function reads none. */
export function tableReadBy(code: number): TableName | undefined {
  const row = functionOf(code);
  return row?.broadcast ? undefined : row?.table;
}

/** A mapping in a file. */
export type Section = Readonly<Record<string, unknown>>;

export function sectionOf(value: unknown): Section | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Section)
    : undefined;
}

/** The elements of a list; empty if the value is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The mappings in a list, or the single mapping given instead of a list. */
export function sectionsOf(value: unknown): Section[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.map(sectionOf).filter((item) => item !== undefined);
}

/** A string or a number as a string; undefined for anything else. */
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
