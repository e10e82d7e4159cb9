import { computed, signal } from '@preact/signals';
import type { ChangeRequest } from '../../../api/v1/registers.js';
import { ask, pathOf } from '../../api.js';
import { mayWrite } from '../../session.js';
import { say } from '../../ui/toast.js';
import { parseText } from './formats.js';
import { whyNot } from './known.js';
import { cellLength, cellStart } from './layout.js';
import { readNow } from './reading.js';
import { editing, format, known, refusal, type Table, target } from './state.js';

/** A change that was made, and the one that takes it back. */
interface Done {
  readonly device: string;
  readonly table: Table;
  readonly address: number;
  readonly forth: ChangeRequest;
  readonly back: ChangeRequest;
}

const MOST = 200;
const done = signal<readonly Done[]>([]);
const undone = signal<readonly Done[]>([]);

export const mayUndo = computed(() => done.value.length > 0);
export const mayRedo = computed(() => undone.value.length > 0);

/** Begins to edit the cell of an address, or says beside it why it can't be. @param text what was typed already */
export function beginEdit(address: number, text: string): void {
  const start = cellStart(known, format.peek(), address);
  const why = whyNot(known, start, mayWrite());
  refusal.value = why === undefined ? undefined : { address: start, text: why };
  editing.value = why === undefined ? { address: start, text } : undefined;
}

/** Sends what was typed. What is refused stays open, with the reason. */
export async function commitEdit(text: string): Promise<void> {
  const now = target.peek();
  const { address } = editing.peek() ?? {};
  if (!now || address === undefined) return;
  const change = changeOf(now.table, address, text);
  if ('expected' in change) {
    refusal.value = { address, text: `expected ${change.expected}` };
    return;
  }
  const length = change.words?.length ?? cellLength(known, 'values', address);
  const before = known.wordsAt(address, length);
  const problem = await send(now.device.name, change);
  if (problem !== undefined) {
    refusal.value = { address, text: problem };
    return;
  }
  editing.value = undefined;
  refusal.value = undefined;
  if (!before) return;
  const back = { table: now.table, address, words: [...before] };
  done.value = [
    ...done.value.slice(1 - MOST),
    { device: now.device.name, table: now.table, address, forth: change, back },
  ];
  undone.value = [];
}

/** Takes the last change back. @returns what it was, so that it can be shown */
export async function undo(): Promise<Done | undefined> {
  const last = done.peek().at(-1);
  if (!last) return undefined;
  done.value = done.peek().slice(0, -1);
  const problem = await send(last.device, last.back);
  if (problem === undefined) undone.value = [...undone.peek(), last];
  return told(last, problem, 'taken back');
}

export async function redo(): Promise<Done | undefined> {
  const last = undone.peek().at(-1);
  if (!last) return undefined;
  undone.value = undone.peek().slice(0, -1);
  const problem = await send(last.device, last.forth);
  if (problem === undefined) done.value = [...done.peek(), last];
  return told(last, problem, 'made again');
}

function told(change: Done, problem: string | undefined, what: string): Done {
  const { device, table, address } = change;
  if (problem === undefined) say(`The change of ${device}, ${table} ${address}, was ${what}.`);
  else say(problem, 'refused');
  return change;
}

function changeOf(
  table: Table,
  address: number,
  text: string,
): ChangeRequest | { readonly expected: string } {
  const as = format.peek();
  const value = known.valueAt(address);
  if (as === 'values' && value) {
    const trimmed = text.trim();
    const isExact = value.type.endsWith('64') && value.type !== 'float64';
    const isText = value.type === 'string' || isExact || trimmed === '' || Number.isNaN(Number(trimmed));
    return { table, address: value.address, value: isText ? text : Number(trimmed) };
  }
  const parsed = parseText(as, text, known.bits);
  return 'expected' in parsed ? parsed : { table, address, words: [...parsed.words] };
}

/** @returns why it was refused */
async function send(device: string, change: ChangeRequest): Promise<string | undefined> {
  const path = `${pathOf('devices', device)}/registers`;
  const answer = await ask('PATCH', path, { changes: [change] });
  if (!answer.ok) return answer.problem.problems[0]?.message ?? answer.problem.detail;
  await readNow();
  return undefined;
}
