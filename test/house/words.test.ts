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

describe('words that were given up', () => {
  /** The right column of docs/glossary.md, as far as these words mean nothing else in this program. */
  const OLD =
    /(?<![\w-])(?:examin(?:e[sd]?|ing|ations?)|inspect(?:s|ed|ing|ions?)?|shak(?:es?|en|ing)|self-?tests?|witness|unasked|told)(?![\w-])/gi;
  /** Words that were given up for what a client sends; elsewhere a dialog has a question, and a port is tried in attempts. */
  const OF_A_CLIENT = /(?<![\w-])(?:questions?|askings|attempts?)(?![\w-])/gi;
  const ABOUT_CLIENTS =
    /^(?:src\/testing\/(?!server\/|survey\/)|docs\/(?:test-client|fuzz|report-cards|scenarios|first-session|ADDING_A_CHECK|error-rates)\.md)/;
  /** The one place where an old word names the new one, what other programs say, and hands. */
  const ALLOWED =
    /RENAMED|^ *\['|case 'examine'|fleet examine is now called|attempts is called retries|attempts to connect|another attempt only|witness-|unsolicited: 'unasked'|observer: 'witness'|(?:mbmd|buildah|podman image) inspect|cmd\/inspect|from 'node:util'|return inspect\(value|shakes? hands/;
  const texts = [
    'README.md',
    'CONTRIBUTING.md',
    ...FILES,
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && path !== 'glossary.md')
      .map((path) => join('docs', path)),
  ];

  it('do not stand in code, messages or documents', () => {
    const found = texts.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, i) =>
          (line.search(OLD) >= 0 || (ABOUT_CLIENTS.test(path) && line.search(OF_A_CLIENT) >= 0)) &&
          !ALLOWED.test(line)
            ? [`${path}:${i + 1}: ${line.trim()}`]
            : [],
        ),
    );
    expect(found, 'docs/glossary.md has the word to use').toEqual([]);
  });
});
