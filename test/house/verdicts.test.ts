import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ODDITIES } from '../../src/testing/server/codes/oddities.js';
import { CODES, seenTitle } from '../../src/testing/server/found.js';

/*
 * Sentences are for people: a program that reads one is wrong as soon as somebody words it better. In
 * src/testing nothing may look into a text for people, and nothing may look for a piece of a sentence.
 */

/** Names of properties and variables that hold text for people. */
const FOR_PEOPLE = 'text|title|summary|message|sentence|conclusion|does|rule|matters|mend';
const LOOKS = 'includes|startsWith|endsWith|indexOf|lastIndexOf|match|matchAll|search|localeCompare';

/** `event.text.startsWith(…)`, `textOf(finding).includes(…)`. */
const LOOKS_INTO = new RegExp(
  String.raw`\b(?:${FOR_PEOPLE}|(?:\w+T|t)ext(?:Of)?\([^()]*\))\??\.(?:${LOOKS})\(`,
);
/** `finding.text === '…'`. */
const EQUALS = new RegExp(String.raw`\.(?:${FOR_PEOPLE}) [!=]== ['"\x60][^'"\x60]`);
/** `/…/.test(event.text)`. */
const TESTS = new RegExp(String.raw`\/[a-z]*\.(?:test|exec)\((?:[\w.?]*\.)?(?:${FOR_PEOPLE})\b`);
/** `connections.startsWith('1 ')`: a literal with a word and a space, but for the verdict `not run`. */
const LOOKS_FOR = new RegExp(
  String.raw`(?<!verdicts)\.(?:${LOOKS})\(\s*(['"\x60])[^'"\x60]*(?:\w | \w)[^'"\x60]*\1`,
);
/** `/ at a time; /.exec(…)`. */
const MATCHES = /\/(?:[^/\n\\]|\\.)*(?:[a-z] | [a-z])(?:[^/\n\\]|\\.)*\/[a-z]*\.(?:test|exec)\(/;

/** Files that look into text which nobody here words, each with what it is. */
const READ: Readonly<Record<string, string>> = {
  'scenario/scenario-file.ts': 'what a user has written into a scenario',
  'scenario/seen.ts': 'the lines of a message, to show the first of its values',
  'survey/guess.ts': 'characters that a device keeps in its registers',
  'survey/write.ts': 'characters of the identification of a device',
  'report/words.ts': 'whether a sentence has its full stop already',
  'client/observer.ts': 'a path that a user has written',
  'client/trial/verdict.ts': 'the numbers of sentences that become one sentence',
  'client/trial/run-check.ts': 'the stack of an error of Node.js',
};

const decides = (line: string) =>
  [LOOKS_INTO, EQUALS, TESTS, LOOKS_FOR, MATCHES].some((each) => each.test(line));

/** The lines of a file; a call that is broken over several lines is one. */
const linesOf = (path: string) =>
  readFileSync(join('src/testing', path), 'utf8')
    .replaceAll(/\n\s*(?=\??\.)|(?<=\()\n\s*/g, '')
    .split('\n');

describe('a verdict is data', () => {
  const files = readdirSync('src/testing', { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );

  it('nothing decides on the words of a sentence', () => {
    const hits = files.flatMap((path) =>
      path in READ ? [] : linesOf(path).flatMap((line) => (decides(line) ? `${path}: ${line.trim()}` : [])),
    );
    expect(hits, 'give what is looked for a code').toEqual([]);
  });

  it.each(Object.keys(READ))('%s looks into text', (path) => {
    expect(linesOf(path).some(decides)).toBe(true);
  });

  it.each([
    'each.check.id === id && each.verdict === verdict && each.text.includes(words),',
    "return text.startsWith('at least')",
    "if (facts.connections?.startsWith('1 ')) return unsupported('it has one connection');",
    "({ check, text }) => check.id === 'tables-separate' && text.includes('one table'),",
    String.raw`const [, many, end = ''] = /^(\d+) at a time; (.*)$/.exec(connections) ?? [];`,
    "return isNoFrame || (event.kind === 'client rejected' && event.text.startsWith(NOT_MODBUS));",
  ])('finds %s', (line) => {
    expect(decides(line)).toBe(true);
  });

  it('what was found is worded in one folder, and its codes have the form of identifiers', () => {
    for (const code of CODES) expect(code).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(CODES.length).toBeGreaterThan(100);
    const text = files
      .filter((path) => path.startsWith('server') && !path.startsWith('server/codes'))
      .map((path) => readFileSync(join('src/testing', path), 'utf8'))
      .join('\n');
    const isUsed = (code: string) => new RegExp(`['\`]${code}['\`]|\\b${code}:`).test(text);
    expect(CODES.filter((code) => !isUsed(code) && !(code in ODDITIES))).toEqual([]);
  });
});

const HEAD = `# Codes of findings

A [server test](test-server.md) reports each finding as a code with facts, and as a sentence. In JSON a check has \`code\`, \`facts\` and \`text\`; in JUnit
the \`type\` of a failure is the code. Programs may rely on the codes; sentences are for people and may change. Times in \`facts\` are in ms (\`pauseMs\`).
\`answer\` is what the server did: \`{"kind": "exception", "exception": 2}\`, \`{"kind": "data", "function": 3}\`, or \`silent\`, \`closed\` and \`garbled\`.

Names in braces are facts.

This page is generated from \`src/testing/server/codes\` by \`npx vitest run test/house/verdicts.test.ts -u\`.

| code | what was seen |
| --- | --- |
`;

it('docs/findings.md has every code', async () => {
  const rows = CODES.toSorted().map((code) => `| \`${code}\` | ${seenTitle(code)} |\n`);
  await expect(HEAD + rows.join('')).toMatchFileSnapshot('../../docs/findings.md');
});
