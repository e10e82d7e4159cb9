import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Progress, RunProgress } from '../../../src/cli/verbs/progress.js';
import { standardError } from '../../../src/cli/verbs/standard.js';

let printed: string[];

beforeEach(() => {
  printed = [];
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  vi.spyOn(standardError(), 'offer').mockImplementation((text) => void printed.push(text));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets standard error be a terminal, or a file. */
function errorIs(what: 'terminal' | 'file', columns = 80): void {
  vi.spyOn(process, 'stderr', 'get').mockReturnValue({
    ...process.stderr,
    isTTY: what === 'terminal',
    columns,
  } as typeof process.stderr);
}

it('says on a terminal each second what a run does, in one line that anything else replaces', () => {
  errorIs('terminal', 40);
  let left = 50;
  const progress = new RunProgress('client', () => ({
    what: 'an outage of 60 s\x1b[2J, which is long',
    number: 7,
    of: 34,
    leftMs: 1000 * left--,
  }));
  vi.advanceTimersByTime(2000);
  progress.above((text: string) => printed.push(text))('fail 6');
  progress.end();
  vi.advanceTimersByTime(5000);
  const shown = printed.map((text) => text.replaceAll('\r\x1b[K', '<'));
  expect(shown).toEqual(['<check 7 of 34, an outage of 60 s?[2J, w', shown[1], '<', 'fail 6', '<']);
  expect(shown[1]).toHaveLength(40);
});

it('says it in a file every half minute', () => {
  errorIs('file');
  const progress = new RunProgress('server', () => ({ what: 'Keeps answering', number: 2, of: 3 }));
  vi.advanceTimersByTime(29_000);
  expect(printed).toEqual([]);
  vi.advanceTimersByTime(32_000);
  progress.end();
  expect(printed).toEqual(Array(2).fill('check 2 of 3, Keeps answering\n'));
});

it('says the first thing at once where nothing was shown before', () => {
  errorIs('file');
  const progress = new Progress({ terminal: 100, file: 5000 });
  progress.show('unit 1');
  progress.show('unit 2');
  expect(printed).toEqual(['unit 1\n']);
});
