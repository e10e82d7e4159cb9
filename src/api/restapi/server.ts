import { z } from 'zod';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import { expectedMessage } from '../../schema/problem.js';
import { describeLine } from '../../simulator/describe-line.js';
import type { Line, LineOutcome } from '../../simulator/line.js';
import { lineStatus } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';
import { SERVER } from './examples.js';
import { type Failure, failure, mistakes, type Outcome } from './outcome.js';
import { flatIssue, nativeChange } from './server-change.js';
import { commandRequest, serverSubmit, setRequest, withoutEmptyFields } from './server-request.js';
import { type ServerRow, serverRow, serverRowSchema } from './server-rows.js';

/** Names to choose from, as register_types and register_actions are. */
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
  .meta({ id: 'Server', description: 'The lines.', examples: [SERVER] });

interface ServerAnswer extends Omit<z.infer<typeof serverAnswerSchema>, 'server_rows'> {
  readonly server_rows: Iterable<ServerRow>;
}

/** POST /restapi/server: how the lines are; starts and stops them, and changes their settings while they serve. */
export async function handleServer(simulator: Simulator, body: object): Promise<Outcome<ServerAnswer>> {
  const findings = new Findings();
  const fields = withoutEmptyFields(body);
  const at = new At(fields, findings);
  const request = at.check(serverSubmit);
  if (request?.submit === 'Set') return setLine(simulator, fields);
  const parsed = request && at.check(commandRequest);
  if (!parsed) return mistakes(findings);
  if (request.submit === 'Status' && parsed.line == null) {
    const lines = [...simulator.lines.values()];
    return answer(lines, statesText(lines));
  }
  if (request.submit === 'Restart' && parsed.line == null) return restartAll(simulator);
  const line = findLine(simulator, parsed.line);
  if (typeof line === 'string') return failure(line);
  switch (request.submit) {
    case 'Status':
      return answer([line], lineText(line));
    case 'Start':
      return outcome(line, await line.start());
    case 'Restart':
      return outcome(line, await line.restart());
    case 'Stop':
      await line.stop();
      return answer([line], lineText(line));
  }
}

/** Restarts every line, also after one that could not be opened again. */
async function restartAll(simulator: Simulator): Promise<Outcome<ServerAnswer>> {
  const lines = [...simulator.lines.values()];
  const results = await Promise.all(lines.map(async (line) => outcome(line, await line.restart())));
  const errors = results.flatMap((result) => (result.result === 'error' ? result.error : []));
  return errors.length > 0 ? failure(errors.join('; ')) : answer(lines, statesText(lines));
}

async function setLine(
  simulator: Simulator,
  fields: Readonly<Record<string, unknown>>,
): Promise<Outcome<ServerAnswer>> {
  const findings = new Findings();
  const at = new At(fields, findings);
  const request = at.check(setRequest);
  if (!request) return mistakes(findings);
  const { submit, line: name, ...settings } = request;
  const line = findLine(simulator, name);
  if (typeof line === 'string') return failure(line);
  const { definition } = line;
  const change = nativeChange(definition, settings, at);
  if (findings.count > 0) return mistakes(findings);
  if (Object.keys(change).length === 0)
    return failure('body: nothing to set, expected a setting of the line');
  const changed = await simulator.changes.changeLine(line, change);
  if (changed.ok || 'error' in changed) return outcome(line, changed);
  const { listed, more } = changed.issues;
  return mistakes({ listed: listed.map((issue) => flatIssue(definition, issue)), more });
}

/** The line with this name, or an error message. Without a name, the only line is used. */
function findLine({ lines }: Simulator, name: string | null | undefined): Line | string {
  const known = [...lines.keys()];
  const [first, second] = lines.values();
  if (name == null) {
    return first && !second
      ? first
      : `line: ${expectedMessage(known.length > 0 ? `one of ${known.join(', ')}` : 'a line', undefined)}`;
  }
  return lines.get(name) ?? `line: ${unknownName('line', name, known)}`;
}

function outcome(line: Line, result: LineOutcome): ServerAnswer | Failure {
  return result.ok ? answer([line], lineText(line)) : failure(`line ${line.name}: ${result.error}`);
}

function answer(lines: readonly Line[], footer: string): ServerAnswer {
  return {
    result: 'ok',
    footer,
    server_states: SERVER_STATES,
    server_framers: SERVER_FRAMERS,
    server_parities: SERVER_PARITIES,
    server_rows: serverRows(lines),
  };
}

function* serverRows(lines: readonly Line[]): Generator<ServerRow> {
  for (const line of lines) yield serverRow(line);
}

/** `line bench: open, RTU on /dev/ttyUSB0 9600 8E1, …`, `line bench: failed, …`. */
function lineText(line: Line): string {
  const { state, reason } = lineStatus(line);
  return [`line ${line.name}: ${state}`, reason ?? describeLine(line)].join(', ');
}

/** `3 lines: 2 open, 1 stopped`. */
function statesText(lines: readonly Line[]): string {
  const counts = new Map<string, number>();
  for (const { state } of lines) counts.set(state.kind, (counts.get(state.kind) ?? 0) + 1);
  const parts = Array.from(counts, ([state, count]) => `${count} ${state}`);
  return `${lines.length === 1 ? '1 line' : `${lines.length} lines`}: ${parts.join(', ') || 'none'}`;
}
