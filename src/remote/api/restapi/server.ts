import { z } from 'zod';
import { At } from '../../../common/schema/at.js';
import { Findings } from '../../../common/schema/findings.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { expectedMessage } from '../../../common/schema/problem.js';
import type { Outcome } from '../../../simulator/commands/refusal.js';
import type { LineView } from '../../../simulator/commands/schemas/line.js';
import { allParts, type Rpc } from '../../rpc/rpc.js';
import { type Failure, failure, mistakes, refused } from '../failure.js';
import { flatNames, nativeChange } from './server-change.js';
import { SERVER_REQUESTS, type SetRequest, withoutEmptyFields } from './server-request.js';
import { serverRow, serverRowSchema } from './server-rows.js';

/** The states of a line with numbers, as register_types and register_actions have them. */
const SERVER_STATES = { open: 0, waiting: 1, stopped: 2, failed: 3 };
const SERVER_FRAMERS = { socket: 0, rtu: 1, ascii: 2 };
const SERVER_PARITIES = { N: 0, E: 1, O: 2 };

const numbers = z.record(z.string(), z.number());

export const serverAnswerSchema = z
  .object({
    result: z.literal('ok'),
    footer: z.string(),
    server_states: numbers,
    server_framers: numbers,
    server_parities: numbers,
    server_rows: z.array(serverRowSchema),
  })
  .meta({ id: 'Server', description: 'The lines.' });

type ServerAnswer = z.infer<typeof serverAnswerSchema>;

/**
 * Answers POST /restapi/server: shows the lines, starts and stops them, and changes their settings while they
 * serve.
 */
export async function handleServer(rpc: Rpc, body: object): Promise<ServerAnswer | Failure> {
  const written = withoutEmptyFields(body);
  const request = SERVER_REQUESTS.read(written);
  if ('result' in request) return request;
  const lines = await allParts(await rpc.list('line.list', undefined));
  if ('ok' in lines) return refused(lines);
  const { submit, fields } = request;
  if (submit === 'Status' && fields.line == null) return answer(lines, statesText(lines));
  if (submit === 'Restart' && fields.line == null) return restartAll(rpc, lines);
  const line = findLine(lines, fields.line);
  if (typeof line === 'string') return failure(line);
  switch (submit) {
    case 'Status':
      return answer([line], lineText(line));
    case 'Start':
      return answerTo(line, await rpc.call('line.start', { line: line.name }));
    case 'Restart':
      return answerTo(line, await rpc.call('line.restart', { line: line.name }));
    case 'Stop':
      return answerTo(line, await rpc.call('line.stop', { line: line.name }));
    case 'Set':
      return setLine(rpc, line, request.fields, written);
  }
}

/** Restarts every line, even after one that could not be opened again. */
async function restartAll(rpc: Rpc, lines: readonly LineView[]): Promise<ServerAnswer | Failure> {
  const results = await Promise.all(
    lines.map(async (line) => answerTo(line, await rpc.call('line.restart', { line: line.name }))),
  );
  const errors = results.flatMap((result) => (result.result === 'error' ? result.error : []));
  if (errors.length > 0) return failure(errors.join('; '));
  const now = await allParts(await rpc.list('line.list', undefined));
  return 'ok' in now ? refused(now) : answer(now, statesText(now));
}

async function setLine(
  rpc: Rpc,
  line: LineView,
  { submit: _, line: __, ...settings }: SetRequest,
  written: Readonly<Record<string, unknown>>,
): Promise<ServerAnswer | Failure> {
  const findings = new Findings();
  const change = nativeChange(line, settings, new At(written, findings));
  if (findings.count > 0) return mistakes(findings);
  if (Object.keys(change).length === 0)
    return failure('body: nothing to set, expected a setting of the line');
  return answerTo(line, await rpc.call('line.change', { line: line.name, settings: change }));
}

/** The line with this name, or an error message. Without a name, the line must be the only one. */
function findLine(lines: readonly LineView[], name: string | null | undefined): LineView | string {
  const known = lines.map((line) => line.name);
  const [first, second] = lines;
  if (name == null) {
    return first && !second
      ? first
      : `line: ${expectedMessage(known.length > 0 ? `one of ${known.join(', ')}` : 'a line', undefined)}`;
  }
  return lines.find((line) => line.name === name) ?? `line: ${unknownName('line', name, known)}`;
}

/** The answer to a change of a line. @param line the line before the change */
function answerTo(line: LineView, ended: Outcome<LineView>): ServerAnswer | Failure {
  if (ended.ok) return answer([ended.value], lineText(ended.value));
  const [first] = ended.problems;
  if (first?.path === '') return failure(`line ${line.name}: ${first.message}`);
  return refused(ended, flatNames(line));
}

function answer(lines: readonly LineView[], footer: string): ServerAnswer {
  return {
    result: 'ok',
    footer,
    server_states: SERVER_STATES,
    server_framers: SERVER_FRAMERS,
    server_parities: SERVER_PARITIES,
    server_rows: lines.map(serverRow),
  };
}

/** A line in words: `line bench: open, RTU on /dev/ttyUSB0 9600 8E1, …` or `line bench: failed, …`. */
function lineText({ name, state, reason, description }: LineView): string {
  return [`line ${name}: ${state}`, reason ?? description].join(', ');
}

/** The states of all lines in words: `3 lines: 2 open, 1 stopped`. */
function statesText(lines: readonly LineView[]): string {
  const counts = new Map<string, number>();
  for (const { state } of lines) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = Array.from(counts, ([state, count]) => `${count} ${state}`);
  return `${lines.length === 1 ? '1 line' : `${lines.length} lines`}: ${parts.join(', ') || 'none'}`;
}
