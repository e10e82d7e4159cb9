import { ExceptionCode, namesOf, SubFunction } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';

/** The names of the standard objects of a device identification (6.21). */
const OBJECT_NAMES = [
  'vendor name',
  'product code',
  'revision',
  'vendor URL',
  'product name',
  'model name',
  'user application name',
];

const subFunctions = namesOf(SubFunction);
const exceptions = namesOf(ExceptionCode);

/** The name of a function: `read holding registers`; `function 65` for a code that is not in the specification. */
export function functionName(code: number): string {
  return functionOf(code)?.name ?? `function ${code}`;
}

/**
 * The name of a sub-function: `return query data`; `sub-function 99` for one that function 8 does not have.
 */
export function subFunctionName(code: number): string {
  return subFunctions.get(code) ?? `sub-function ${code}`;
}

/**
 * Formats an exception: `exception 02 illegal data address`; `exception 7f` for a code that is not in the
 * specification.
 */
export function exceptionText(code: number): string {
  const name = exceptions.get(code);
  return `exception ${code.toString(16).padStart(2, '0')}${name === undefined ? '' : ` ${name}`}`;
}

/** The name of an object: `vendor name`, `object 128`. */
export function objectName(id: number): string {
  return OBJECT_NAMES[id] ?? `object ${id}`;
}

/** A range of addresses: `0–9`, `5` for a single address, or `5 (quantity 0)` for none. */
export function rangeText(address: number, quantity: number): string {
  if (quantity === 0) return `${address} (quantity 0)`;
  return quantity === 1 ? String(address) : `${address}–${address + quantity - 1}`;
}

/** Maximum number of values shown: more than a frame has registers. A longer text would not be read. */
export const MAX_SHOWN = 128;

/** Formats values: `1 256 0`. If there are more than 128, the first ones and the number of the others. */
export function valuesText(values: readonly number[]): string {
  const more = values.length - MAX_SHOWN;
  return more > 0 ? `${values.slice(0, MAX_SHOWN).join(' ')} … ${more} more` : values.join(' ');
}

/** Formats a word in wire order: `00f2`. */
export function hexWord(word: number): string {
  return word.toString(16).padStart(4, '0');
}

/** Converts ms to whole µs. */
export function micros(ms: number): number {
  return Math.round(1000 * ms);
}

/** The last time that a date can represent, in ms since 1970; the first is equally far in the past. */
export const LAST_MOMENT = 8.64e15;

/** Formats a time in ms since 1970 as ISO 8601 with µs: `2026-03-01T12:00:00.123456Z`. */
export function isoTime(ms: number): string {
  const us = micros(ms);
  const toMs = new Date(Math.floor(us / 1000)).toISOString();
  return `${toMs.slice(0, -1)}${String(us % 1000).padStart(3, '0')}Z`;
}

/**
 * Rounds a time for output to thousandths: ms to µs, s to ms. More digits would suggest a precision that it
 * does not have.
 */
export function thousandths(value: number): number {
  return Math.round(1000 * value) / 1000;
}
