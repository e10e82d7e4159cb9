import { Ajv, type ValidateFunction } from 'ajv';
import { editorSchema } from '../../src/common/schema/editor-schema.js';
import { catalogueEntrySchema } from '../../src/document/catalogue.js';
import { fileSections } from '../../src/document/native/schema.js';
import { PARAMETER, scenarioSchema } from '../../src/testing/scenario/schema.js';

const FORMS = {
  configuration: () => editorSchema('configuration', fileSections),
  scenario: () => editorSchema('scenario', scenarioSchema, PARAMETER),
  catalogue: () => editorSchema('catalogue', catalogueEntrySchema),
};

/** The schemas for editors, by kind of file. */
export const EDITOR = FORMS;

const compiled = new Map<keyof typeof FORMS, ValidateFunction>();

/** The messages with which an editor underlines parts of a file of a kind; empty if it underlines nothing. */
export function underlined(kind: keyof typeof FORMS, data: unknown): string[] {
  let validate = compiled.get(kind);
  if (!validate) {
    const ajv = new Ajv({ strict: true, allErrors: true });
    validate = ajv.compile(FORMS[kind]());
    compiled.set(kind, validate);
  }
  if (validate(withoutBigints(data))) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Editors do not support integers that a double can't hold. */
function withoutBigints(data: unknown): unknown {
  return JSON.parse(
    JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? Number(value) : value)) ?? 'null',
  );
}

/**
 * Mistakes that only a reader of the whole file can find, such as unknown names, and values that do not go
 * together.
 */
const BEYOND = [
  /unknown (?:name|device|line|point|entry of the catalogue|parameter)/,
  // The allowed values depend on the type next to the value, or on another key.
  /\((?:bits?|u?int\d\d|float\d\d)[,)]|expected (?:text of at most|numbers that|a coil, got|a bit from|at least t3)| which is |for framing ascii/,
  /the number of values|at most max|a read above|a multiple of|fills seven registers|\.reads: missing/,
  /expected at most \d+ words \(records\)|: line \d+: /,
];

/**
 * Throws if an editor and `check` do not agree about a configuration: if the editor underlines something
 * right, or accepts a structural mistake.
 * @param mistakes `path: message` of each mistake that `check` reports
 */
export function expectEditorToAgree(data: unknown, mistakes: readonly string[]): void {
  const found = underlined('configuration', data);
  if (mistakes.length === 0 && found.length > 0)
    throw new Error(`an editor underlines what is right:\n${found.join('\n')}`);
  const structural = mistakes.filter(isStructural);
  if (structural.length > 0 && found.length === 0)
    throw new Error(`an editor takes what check refuses:\n${structural.join('\n')}`);
}

function isStructural(mistake: string): boolean {
  if (BEYOND.some((pattern) => pattern.test(mistake))) return false;
  return /: (?:unknown (?:key|kind of)|missing, expected|expected .*, got )/.test(mistake);
}
