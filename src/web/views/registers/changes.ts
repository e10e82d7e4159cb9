import { computed, type Signal, signal } from '@preact/signals';
import type { ChangeRequest, RegisterView } from '../../../control/schemas/value.js';
import { ask, pathOf } from '../../api.js';
import { mayWrite } from '../../session.js';
import { say } from '../../ui/toast.js';
import { parseText } from './formats.js';
import { whyNot } from './known.js';
import { cellLength, cellStart, valueText } from './layout.js';
import { readNow } from './reading.js';
import { anchor, editing, format, known, refusal, selected, type Table, target } from './state.js';
import { noteWrite, overwritten, type Place, writerText } from './writes.js';

/** A change that was made, and the one that takes it back. */
interface Done extends Place {
  readonly forth: ChangeRequest;
  readonly back: ChangeRequest;
}

/** Somebody else has written over a change: whoever wants to write over that is asked first. */
export const clash = signal<{ readonly text: string; readonly goOn: () => Promise<void> } | undefined>(
  undefined,
);

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
  const sent = await send(now.device.name, change);
  if (!sent.ok) {
    refusal.value = { address, text: sent.text };
    return;
  }
  editing.value = undefined;
  refusal.value = undefined;
  if (!before) return;
  const place = { device: now.device.name, table: now.table, address, count: length };
  // Each expects what the other one leaves, so that no write of a client is lost between looking and writing.
  // What moves by itself is not expected to stand still.
  const isMoved = sent.registers.some(({ signal, action }) => signal !== null || action !== null);
  const after = isMoved ? undefined : (change.words ?? sent.registers[0]?.raw);
  const back = { table: now.table, address, words: [...before], raw: true, expected: after };
  const forth = { ...change, expected: isMoved ? undefined : [...before] };
  done.value = [...done.value.slice(1 - MOST), { ...place, forth, back }];
  undone.value = [];
  // Whoever undoes it waits for this.
  turn = turn.then(() => noteWrite(place));
}

/** One change after the other: keys are quicker than answers. */
let turn = Promise.resolve();

/** Takes the last change back, and selects its register. */
export function undo(): void {
  turn = turn.then(() => repeat(done, undone, ({ back }) => back, 'taken back'));
}

/** Makes the change again that was taken back last. */
export function redo(): void {
  turn = turn.then(() => repeat(undone, done, ({ forth }) => forth, 'made again'));
}

/** Sends the last change of a list, and moves it to the other list. */
async function repeat(
  from: Signal<readonly Done[]>,
  to: Signal<readonly Done[]>,
  requestOf: (change: Done) => ChangeRequest,
  what: string,
  isSure = false,
): Promise<void> {
  const last = from.peek().at(-1);
  if (!last) return;
  const { device, table, address } = last;
  const other = isSure ? undefined : await overwritten(last);
  if (other) {
    const text = `${device}, ${table} ${address}, was changed meanwhile by ${writerText(other)}. It is ${valueText(other)} now.`;
    clash.value = { text, goOn: () => repeat(from, to, requestOf, what, true) };
    return;
  }
  const { expected, ...request } = requestOf(last);
  const sent = await send(device, isSure ? request : { ...request, expected });
  if (!sent.ok && sent.isOther) {
    return say(
      `The change of ${device}, ${table} ${address}, was not ${what}: another write came first.`,
      'refused',
    );
  }
  from.value = from.peek().slice(0, -1);
  if (!sent.ok) return say(sent.text, 'refused');
  await noteWrite(last);
  to.value = [...to.peek(), last];
  say(`The change of ${device}, ${table} ${address}, was ${what}.`);
  const now = target.peek();
  if (now?.device.name === device && now.table === table) selected.value = anchor.value = address;
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

/** What became of a change. `isOther`: something else stood there than it expected. */
type Sent =
  | { readonly ok: true; readonly registers: readonly RegisterView[] }
  | { readonly ok: false; readonly text: string; readonly isOther: boolean };

const CONFLICT = 409;

async function send(device: string, change: ChangeRequest): Promise<Sent> {
  const path = `${pathOf('devices', device)}/registers`;
  const answer = await ask<{ registers: RegisterView[] }>('PATCH', path, { changes: [change] });
  await readNow();
  if (answer.ok) return { ok: true, registers: answer.value.registers };
  const { status, problem } = answer;
  return { ok: false, text: problem.problems[0]?.message ?? problem.detail, isOther: status === CONFLICT };
}
