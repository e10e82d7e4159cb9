import { OK } from '../../common/result.js';
import { quote } from '../../common/schema/problem.js';
import { lineSettings } from '../../document/native/line-source.js';
import type { Line, LineOutcome } from '../line.js';
import { describeLine, type LineStatus, lineStatus } from '../line-status.js';
import type { Simulator } from '../simulator.js';
import { thousandths } from '../traffic/words.js';
import { undoable } from '../undo.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput, FunctionsOf } from './declared.js';
import { done, notDone, type Outcome, type Refusal, refusal } from './refusal.js';
import { wrongFiles } from './remote-files.js';
import type { LINE_COMMANDS, LineView } from './schemas/line.js';

type OfLine = DeclaredInput<(typeof LINE_COMMANDS)['line.get']>;
type OfSettings = DeclaredInput<(typeof LINE_COMMANDS)['line.change']>;

function* listLines({ simulator }: CommandContext): Generator<LineView> {
  for (const line of simulator.lines.values()) yield lineView(line);
}

function getLine({ simulator }: CommandContext, { line: name }: OfLine): Outcome<LineView> {
  const line = simulator.lines.get(name);
  return line ? done(lineView(line)) : unknownLine(name);
}

/**
 * Adds a line from its entry in the form of a native file. Opens it, unless the simulator has not started
 * yet. A line that can't be opened is removed again.
 */
async function addLine(
  context: CommandContext,
  { name, ...source }: DeclaredInput<(typeof LINE_COMMANDS)['line.add']>,
): Promise<Outcome<LineView>> {
  const wrong = await wrongFiles(context, source);
  if (wrong) return wrong;
  const added = await context.simulator.changes.createLine(name, source);
  return added.ok ? done(lineView(added.added)) : notDone(added, 'line.invalid');
}

/**
 * Changes settings of a line while it is running. If the port or the operating system refuses, the line stays
 * as it was.
 */
export async function changeLine(
  context: CommandContext,
  { line: name, settings }: OfSettings,
): Promise<Outcome<LineView>> {
  const { simulator } = context;
  const line = simulator.lines.get(name);
  if (!line) return unknownLine(name);
  const { definition } = line;
  const wrong = await wrongFiles(context, settings, definition);
  if (wrong) return wrong;
  const changed = await simulator.changes.changeLine(line, settings);
  return changed.ok ? done(lineView(line)) : notDone(changed, 'line.invalid');
}

/** Closes a line and removes it. The last line can’t be removed: a configuration needs one. */
async function removeLine(
  { simulator, isOwner }: CommandContext,
  { line: name }: OfLine,
): Promise<Outcome<null>> {
  if (!simulator.lines.has(name)) return unknownLine(name);
  if (simulator.lines.size === 1 && !isOwner) {
    return refusal('line.last', '', "the last line can't be removed: a configuration needs one");
  }
  const removed = await simulator.changes.removeLine(name);
  return removed.ok ? done(null) : notDone(removed);
}

const startLine = command((line) => line.start());
const restartLine = command((line) => line.restart());
const stopLine = command(async (line) => {
  await line.stop();
  return OK;
});

function command(carryOut: (line: Line) => Promise<LineOutcome>) {
  return async ({ simulator }: CommandContext, { line: name }: OfLine): Promise<Outcome<LineView>> => {
    const line = simulator.lines.get(name);
    if (!line) return unknownLine(name);
    const outcome = await carryOut(line);
    return outcome.ok ? done(lineView(line)) : notDone(outcome);
  };
}

function unknownLine(name: string, path = 'line'): Refusal {
  return refusal('line.unknown', path, `no line ${quote(name)}`);
}

function lineView(line: Line): LineView {
  const { state, reason, endpoint, address, link, ...status } = lineStatus(line);
  const { uptime, clients, times, port, errorCounts } = status;
  return {
    name: line.name,
    description: describeLine(line),
    state,
    ...(line.definition.kind === 'serial' && { mode: line.definition.mode }),
    reason: reason ?? null,
    place: endpoint,
    ...(address && { address }),
    link: link ?? null,
    settings: lineSettings(line.definition),
    units: Object.fromEntries(line.definition.units),
    manners: Object.fromEntries(
      [...line.bus.stations.devices].flatMap(({ name, manners }) =>
        manners ? [[name, { ...manners }]] : [],
      ),
    ),
    uptime: uptime === undefined ? null : thousandths(uptime),
    ...(clients !== undefined && { clients }),
    ...(times && { times: viewTimes(times) }),
    ...(port && { port: viewPort(port) }),
    ...(errorCounts && { errorCounts }),
    counters: { ...line.counters },
  };
}

function viewTimes({ t15, t35, gap, turnaround, characterTime }: NonNullable<LineStatus['times']>) {
  return {
    t15: thousandths(t15),
    t35: thousandths(t35),
    gap: thousandths(gap),
    turnaround: turnaround === undefined ? null : thousandths(turnaround),
    characterTime: thousandths(characterTime),
  };
}

function viewPort({
  adapter,
  settings,
  lowLatency,
  parityMarks,
  direction,
}: NonNullable<LineStatus['port']>): NonNullable<LineView['port']> {
  return {
    adapter: adapter.name,
    hint: adapter.hint ?? null,
    settings: settings ?? null,
    lowLatency: lowLatency ?? null,
    parityMarks,
    direction,
  };
}

export function lineNames({ lines }: Simulator): string[] {
  return [...lines.keys()];
}

export const LINE_FUNCTIONS = {
  'line.list': listLines,
  'line.get': getLine,
  'line.add': undoable(addLine),
  'line.change': undoable(changeLine),
  'line.remove': undoable(removeLine),
  'line.start': startLine,
  'line.restart': restartLine,
  'line.stop': stopLine,
} satisfies FunctionsOf<typeof LINE_COMMANDS>;
