import { afterEach, expect, it } from 'vitest';
import { parseText } from '../../../src/config/text/parse-text.js';
import { type TextLimits, TextParser } from '../../../src/config/text/text-parser.js';

const LIMITS: TextLimits = { mostValues: 4096, mostBytes: 2 ** 18, mostProblems: 20, ms: 120_000 };

let parser: TextParser;
const parserWith = (limits: Partial<TextLimits> = {}) => {
  parser = new TextParser({ ...LIMITS, ...limits });
  return parser;
};
afterEach(() => parser.end());

/** A short text that stands for ten to the power of `levels` values. */
function aliases(levels: number): string {
  const lines = Array.from(
    { length: levels - 1 },
    (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(10)}]`,
  );
  return ['a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]', ...lines].join('\n');
}

it('the event loop turns while a text is parsed', async () => {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const read = await parserWith().parse(`[${'1,'.repeat(2000)}]`);
  isOver = true;
  expect(read.ok && (read.value as number[]).length).toBe(2000);
  expect(turns).toBeGreaterThan(2);
});

it('reads what the parser of files reads, also several texts at once', async () => {
  const texts = ['a: {b: [1, "x", null, true]}', '9007199254740993', '', 'x: &x [1]\ny: *x'];
  parserWith();
  const read = await Promise.all(texts.map((text) => parser.parse(text)));
  for (const [i, text] of texts.entries()) {
    const expected = parseText(text);
    expect(read[i]).toEqual({ ok: true, value: expected.ok && expected.source.value });
  }
});

it('tells mistakes as the parser of files does, the first twenty of them', async () => {
  const wrong = 'a: 1\na: 2\nb: [1, {c: 3]\n';
  const expected = parseText(wrong);
  expect(await parserWith().parse(wrong)).toEqual({ ...expected, more: 0 });
  const read = await parser.parse('a: 1\n'.repeat(31));
  expect(read.ok).toBe(false);
  expect(read).toMatchObject({ more: 10, problems: { length: 20 } });
});

it('finds the places of issues', async () => {
  const issue = { path: ['steps', 1], message: 'wrong' };
  expect(await parserWith().locate('steps:\n  - a\n  - b\n', [issue])).toEqual([
    { path: 'steps[1]', message: 'wrong', line: 3, column: 5 },
  ]);
});

it('refuses a short text that stands for too many values', async () => {
  expect(await parserWith().parse(aliases(5))).toMatchObject({
    ok: false,
    problems: [{ message: 'more than 4096 values with its aliases followed' }],
  });
});

it('refuses a short text that stands for long values', async () => {
  const text = `a: &a ${'x'.repeat(8000)}\nb: [${'*a, '.repeat(2000)}]`;
  expect(await parserWith().parse(text)).toMatchObject({
    ok: false,
    problems: [{ message: 'more than 262144 bytes with its aliases followed' }],
  });
});

/** Each of them nests without brackets, and left so little of the stack that the process ended. */
it.each(['? ', '- ', '? - '])('a text that goes on with %j leaves the program alive', async (piece) => {
  const text = piece.repeat(16_000 / piece.length);
  expect(await parserWith().parse(text)).toMatchObject({
    ok: false,
    problems: [{ message: 'nested more than 64 levels deep' }],
  });
  expect(await parser.parse('1')).toEqual({ ok: true, value: 1 });
});

it('a text that takes too much memory is refused, and the next one is read', async () => {
  expect(await parserWith({ mostValues: Number.MAX_SAFE_INTEGER }).parse(aliases(8))).toMatchObject({
    ok: false,
    problems: [{ path: '', message: 'takes too much memory to be read' }],
  });
  expect(await parser.parse('1')).toEqual({ ok: true, value: 1 });
});

it('a text that takes too long is refused, and so is one after the end', async () => {
  // The thread alone takes longer to start.
  expect(await parserWith({ ms: 1 }).parse('1')).toMatchObject({
    ok: false,
    problems: [{ message: 'could not be read within 0.001 s' }],
  });
  await parser.end();
  expect(await parser.parse('1')).toMatchObject({
    ok: false,
    problems: [{ message: 'is not read any more: the program ends' }],
  });
});
