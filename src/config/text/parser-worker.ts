import { serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import type { Issue, Problem } from '../../schema/problem.js';
import { parseText } from './parse-text.js';

/** What the thread is asked: to parse a text, or to find the places of issues in it. */
export interface ParserQuestion {
  readonly text: string;
  /** The most values of the text with its aliases followed, and the most bytes that they take to be passed on. */
  readonly mostValues: number;
  readonly mostBytes: number;
  /** The most problems that the answer lists. */
  readonly mostProblems: number;
  readonly issues?: readonly Issue[];
}

/** `problems` are the first mistakes in the text, or the places of the issues. */
export type ParserAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly more: number };

/** The thread keeps nothing between two questions, so it can be ended at any time. */
function answer({ text, mostValues, mostBytes, mostProblems, issues }: ParserQuestion): ParserAnswer {
  const parsed = parseText(text, mostValues);
  if (parsed.ok && !issues) {
    const { value } = parsed.source;
    if (serialize(value).length <= mostBytes) return { ok: true, value };
    const message = `more than ${mostBytes} bytes with its aliases followed`;
    return { ok: false, problems: [{ path: '', message }], more: 0 };
  }
  const problems = parsed.ok ? parsed.source.locate(issues ?? []) : parsed.problems;
  return {
    ok: false,
    problems: problems.slice(0, mostProblems),
    more: Math.max(0, problems.length - mostProblems),
  };
}

parentPort?.on('message', (question: ParserQuestion) => parentPort?.postMessage(answer(question)));
