import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FILES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path));

/** A constant of a file: its name without a type, and its value, which may take several lines. */
const CONSTANT = /^(?:export )?const ([A-Z][A-Z\d_]*)(?:: [^=\n]+)? =\s([\s\S]*?);\n/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/g;
const ARITHMETIC = /^[\d_.xXa-fA-F\s*+()/-]*\d[\d_.xXa-fA-F\s*+()/-]*$/;

/** The value of a constant, so that `64 * 1024` and `0x1_0000` are the same. */
function computed(text: string): string {
  const plain = text
    .replace(COMMENT, '')
    .replace(/\s+/g, ' ')
    .replace(/ as const$/, '')
    .trim();
  return ARITHMETIC.test(plain) ? String(new Function(`return ${plain}`)()) : plain;
}

describe('the constants of src', () => {
  const files = new Map<string, Set<string>>();
  for (const file of FILES) {
    for (const [, name = '', text = ''] of readFileSync(file, 'utf8').matchAll(CONSTANT)) {
      const constant = `${name} = ${computed(text)}`;
      files.set(constant, (files.get(constant) ?? new Set()).add(file));
    }
  }

  it('are found', () => {
    expect(files.size).toBeGreaterThan(1000);
    expect(files.has('PIECE_LENGTH = 65536')).toBe(true);
  });

  it('have each name and value in one file: a change of one of two would leave the other behind', () => {
    const twice = [...files].filter(([, all]) => all.size > 1).map(([constant, all]) => [constant, [...all]]);
    expect(
      Object.fromEntries(twice),
      'export one and import it; if they mean different things, give them different names',
    ).toEqual({});
  });
});
