import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FILES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path));

const DECLARATION = /^(?:export )?(?:abstract )?(?:type|interface|class|enum) ([A-Z]\w*)/gm;

describe('the names of types', () => {
  const files = new Map<string, string[]>();
  for (const file of FILES) {
    const names = new Set([...readFileSync(file, 'utf8').matchAll(DECLARATION)].map(([, name = '']) => name));
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file]);
  }

  it('are found', () => {
    expect(files.size).toBeGreaterThan(1000);
  });

  it('stand for one thing, or two: a reader who meets a name again has a right to think that it is the same', () => {
    const often = [...files].filter(([, all]) => all.length > 2);
    expect(Object.fromEntries(often), 'give these types names that say what they are in their file').toEqual(
      {},
    );
  });
});

describe('a comment that documents', () => {
  /** Words that go on with the name that is documented, or with nothing: the sentence can't be read alone. */
  const BARE =
    /^(?:Of|For|In|At|On|By|With|Without|From|To|Behind|Beside|Before|After|Between|Until) [^:,]*\.$/;

  it('is a sentence that can be read alone', () => {
    const bare = FILES.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\/\*\*\s*(?:\n\s*\* )?([^\n*]+)/g)].flatMap(
        ([, line = '']) => {
          const [sentence = ''] = line.trim().split(/(?<=[.:;])\s/);
          return BARE.test(sentence) ? `${file}: ${sentence}` : [];
        },
      ),
    );
    expect(bare, 'begin these with a subject').toEqual([]);
  });
});
