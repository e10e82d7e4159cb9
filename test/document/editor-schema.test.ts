import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isMapping } from '../../src/common/schema/parts.js';
import type { JsonSchema } from '../../src/common/schema/written-as.js';
import { loadNative } from '../../src/document/load.js';
import { parseText } from '../../src/document/text/parse-text.js';
import { EDITOR, expectEditorToAgree, underlined } from '../support/editor.js';

function dataOf(text: string): unknown {
  const parsed = parseText(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.source.value;
}

const text = (path: string) => readFileSync(path, 'utf8');

/** Every whole file in the documents, with its kind. */
function documented(): [string, 'configuration' | 'scenario', unknown][] {
  const documents = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)];
  return documents
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...text(path).matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].flatMap(
        ([, indent = '', block = ''], i) => {
          const data = dataOf(block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
          if (!isMapping(data)) return [];
          const kind = 'steps' in data ? 'scenario' : 'lines' in data ? 'configuration' : undefined;
          return kind ? [[`${path}, block ${i + 1}`, kind, data] as [string, typeof kind, unknown]] : [];
        },
      ),
    );
}

const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.yaml') && !/compose|kubernetes|prometheus|ci\//.test(path))
  .map((path) => join('examples', path));

describe('the schema that editors get', () => {
  it.each([...examples, 'packaging/config.yaml'])('underlines nothing in %s', (path) => {
    const data = dataOf(text(path));
    expect(underlined(isMapping(data) && 'steps' in data ? 'scenario' : 'configuration', data)).toEqual([]);
  });

  it.each(documented())('underlines nothing in %s', (_, kind, data) => {
    expect(underlined(kind, data)).toEqual([]);
  });

  it.each(readdirSync('catalogue'))('underlines nothing in catalogue/%s', (name) => {
    expect(underlined('catalogue', dataOf(text(`catalogue/${name}`)))).toEqual([]);
  });

  it.each(Object.entries(EDITOR))('explains every key of a %s, and knows what it holds', (_, make) => {
    expect(unexplained(make())).toEqual([]);
  });

  it('agrees with check about every key that is misspelt, and every value of a wrong type', () => {
    const blocks = documented().filter(([name]) => name.startsWith('docs/configuration.md'));
    // Two copies of a device show what a thousand do, and are read in a tenth of the time.
    const few = JSON.stringify(blocks[0]?.[2]).replace('30-247', '30-31').replace('127.1.3.232', '127.1.0.2');
    const base: unknown = JSON.parse(few);
    expect(few).not.toBe(JSON.stringify(blocks[0]?.[2]));
    const whole = { ...(base as object), devices: { ...devicesOf(base), old: { registers: {} } } };
    expect(mutants(whole).length).toBeGreaterThan(200);
    for (const { what, data } of mutants(whole)) {
      const loaded = loadNative(data as object, '/etc');
      const mistakes = loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
      try {
        expectEditorToAgree(data, mistakes);
      } catch (error) {
        throw new Error(`${what}: ${(error as Error).message}`);
      }
    }
  });

  it('has a title for each alternative, and an identifier', () => {
    const { definitions, $id, title } = EDITOR.configuration();
    const titles = (id: string) =>
      (definitions as Readonly<Record<string, JsonSchema>>)[id]?.anyOf?.map(({ title }) => title);
    expect(titles('Line')).toEqual(['Serial line', 'Modbus TCP', 'Modbus UDP', 'Modbus/TCP Security']);
    expect(titles('Fault')).toContain('fault: crc');
    expect(titles('Signal')).toContain('signal: sine');
    expect($id).toBe('urn:modbus-sim:configuration');
    expect(title).toBeUndefined();
  });
});

function devicesOf(file: unknown): object {
  return isMapping(file) && isMapping(file.devices) ? file.devices : {};
}

/** The paths of keys without a description, and of schemas that allow anything. */
function unexplained(schema: unknown, path = ''): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each, i) => unexplained(each, `${path}/${i}`));
  if (!isMapping(schema)) return [];
  // `not` allows nothing; the other two have the names of points of any model, and any settings of any kind of line.
  if (Object.keys(schema).length === 0)
    return /\/(?:(?:values|line)\/additionalProperties|not)$/.test(path) ? [] : [path];
  const keys =
    isMapping(schema.properties) && isMapping(schema.additionalProperties) ? {} : schema.properties;
  const bare = Object.entries(isMapping(keys) && schema.type === 'object' ? keys : {}).flatMap(
    ([key, each]) =>
      each === true || (isMapping(each) && (typeof each.description === 'string' || '$ref' in each))
        ? []
        : [`${path}.${key}`],
  );
  const inner = Object.entries(schema)
    .filter(([key]) => !['examples', 'default', 'enum', 'required'].includes(key))
    .flatMap(([key, each]) => unexplained(each, `${path}/${key}`));
  return [...bare, ...inner];
}

interface Mutant {
  readonly what: string;
  readonly data: unknown;
}

/** Copies of data, each with one mistake: a key nobody knows, or another type of value. */
function mutants(data: unknown, path = ''): Mutant[] {
  const other = typeof data === 'string' || isMapping(data) ? -1.5 : 'x y';
  const here = [null, other].map((each) => ({ what: `${path} = ${JSON.stringify(each)}`, data: each }));
  if (Array.isArray(data)) {
    const inner = data
      .slice(0, 1)
      .flatMap((each, i) =>
        mutants(each, `${path}[${i}]`).map((mutant) => ({ ...mutant, data: data.with(i, mutant.data) })),
      );
    return [...here, ...inner];
  }
  if (!isMapping(data)) return here;
  const inner = Object.entries(data).flatMap(([key, each]) =>
    mutants(each, `${path}.${key}`).map((mutant) => ({ ...mutant, data: { ...data, [key]: mutant.data } })),
  );
  return [...here, { what: `${path}.bautRate`, data: { ...data, bautRate: 9600 } }, ...inner];
}
