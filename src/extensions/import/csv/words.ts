import type { TableName } from '../../../device/tables.js';
import { functionOf } from '../../../modbus/protocol/function-table.js';

/** Meanings of words in the cells of a register table: tables, and write access. */

/** A table that a string names, and whether the functions in the string write to it. */
export interface TableWord {
  readonly table: TableName;
  readonly write: boolean;
}

/** The first pattern that matches a string decides. Digits such as `3x` are the beginning of register numbers. */
const TABLES: readonly (readonly [RegExp, TableName])[] = [
  [/\b(?:holdings?|holdingregisters?|holdingreg|4x|hr|ao|analogu?e? ?outputs?)\b/, 'holding'],
  [
    /\b(?:discretes?|discreteinputs?|inputstatus|1x|di|contacts?|(?:digital|binary) ?inputs?|input status)\b/,
    'discrete',
  ],
  [/\b(?:coils?|coilstatus|co|do|(?:digital|binary) ?outputs?)\b|^0x$|\(0x\)/, 'coils'],
  [/\b(?:inputs?|inputregisters?|inputreg|3x|ir|ai|analogu?e? ?inputs?)\b/, 'input'],
];
/** The words that may occur next to one of these: a string with any other word is about something else. */
const BESIDE =
  /^(?:modbus|registers?|regs?|reading|read|write|only|or|and|r|w|rw|ro|wo|f(?:c|n)?\d*|function|code|table|type|status|single|multiple|area|memory|analogu?e?|digital|binary|bits?|words?|[0134]x+|0x\d\d?|\d{1,2}|inputs?|outputs?|holdings?|coils?|discretes?|contacts?|ir|hr|di|do|co|ai|ao|(?:coil|input)status|(?:discrete|digital|analog)(?:inputs?|outputs?)|(?:input|holding)reg(?:isters?)?)$/;

/**
 * The table that words or function codes stand for: `input register`, `FC03`, `3, 6, 16`, `0x04`,
 * `MODBUS_INPUT_REGISTER`.
 */
export function tableOf(text: string): TableWord | undefined {
  const words = wordsOf(text.slice(0, 60));
  if (words.length > 0 && words.every((word) => BESIDE.test(word))) {
    const found = tableIn(words.join(' '));
    if (found !== undefined) return { table: found, write: false };
  }
  const codes = text.slice(0, 60).match(/\d+/g)?.map(Number) ?? [];
  if (codes.length === 0 || !/^(?:fc|fn|f|function|code|0x|read|write|r|w|[\d\s,;/&+:=()x-])+$/i.test(text))
    return undefined;
  const known = codes.filter((code) => code !== 0 || codes.length === 1).map(functionOf);
  const table = known[0]?.table;
  if (table === undefined || known.some((each) => each?.table !== table)) return undefined;
  return { table, write: known.some((each) => each?.broadcast) };
}

/** The table named in a title above a group of registers; undefined if it names none, or several. */
export function tableOfTitle(text: string): TableName | undefined {
  const words = wordsOf(text.slice(0, 200)).join(' ');
  if (!/\b(?:registers?|registry|coils?|discretes?|discrete ?inputs?|fc ?0?[1-4])\b/.test(words))
    return undefined;
  const all = TABLES.flatMap(([pattern, table]) => (pattern.test(words) ? [table] : []));
  // "Discrete inputs" are inputs, too.
  const found = all.filter((table) => table !== 'input' || !all.includes('discrete'));
  return found.length === 1 ? found[0] : undefined;
}

function tableIn(text: string): TableName | undefined {
  return TABLES.find(([pattern]) => pattern.test(text))?.[1];
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

const READ_ONLY =
  /^(?:r|ro|rd|l|read|readonly|readable|no|false|0|n|nein|input|lesen|nurlesen|lesend|lesbar|schreibgeschützt)$/;
const WRITABLE =
  /^(?:w|wo|rw|wr|s|ls|l\/s|write|writeonly|readwrite|writeable|writable|yes|true|1|y|ja|setting|schreiben|lesenschreiben|lesenundschreiben|readandwrite|schreibbar|rwd|rrw)$/;

/** Decides whether clients may write a value; undefined if the text does not say. */
export function accessOf(text: string): boolean | undefined {
  const word = text
    .slice(0, 40)
    .toLowerCase()
    .replace(/[^a-zäöüß0-9]+/g, '');
  return READ_ONLY.test(word) || /^[-–—]+$/.test(text) ? false : WRITABLE.test(word) ? true : undefined;
}
