import { computed, type Signal, signal } from '@preact/signals';
import { CONFLICT, pathOf } from '../../../../common/rest-client/client.js';
import type { ChangeRequest, RegisterView } from '../../../../simulator/commands/schemas/value.js';
import { ask, whyOff } from '../../api.js';
import { go, hrefOf, route } from '../../route.js';
import { timeOfDay } from '../../ui/format.js';
import { say } from '../../ui/toast.js';
import { parseText, shortestFloat } from './formats.js';
import { cellLength, cellStart, cellText, valueText, whyNot } from './layout.js';
import { readNow, valuesIn, wordsIn } from './reading.js';
import {
  addressOf,
  anchor,
  editing,
  format,
  known,
  refusal,
  rowStarts,
  selected,
  size,
  target,
  type WordTable,
} from './state.js';

type CellChange = ChangeRequest & { readonly table: WordTable; readonly address: number };

/** A change to a device's registers, and the change that undoes it. */
interface Done {
  readonly device: string;
  readonly table: WordTable;
  readonly address: number;
  readonly count: number;
  readonly forth: CellChange;
  readonly back: ChangeRequest;
}

/** A confirmation before a change that would overwrite another client's write; undefined if there is none. */
export const clash = signal<{ readonly text: string; readonly goOn: () => void } | undefined>(undefined);

const MOST_DONE = 200;
const done = signal<readonly Done[]>([]);
const undone = signal<readonly Done[]>([]);

export const mayUndo = computed(() => done.value.length > 0);
export const mayRedo = computed(() => undone.value.length > 0);

/** Resolves when the last change is complete. Changes are made one at a time, because keys are faster than answers. */
let turn = Promise.resolve();

/**
 * Remembers a change that was just made, so that it can be undone.
 * @param before the registers before the change
 * @param registers the simulator's answer
 */
function made(
  device: string,
  change: CellChange,
  before: readonly number[],
  registers: readonly RegisterView[],
): void {
  const { table, address } = change;
  // Undo and redo each expect what the other has left, so that a client's write in between is not lost.
  // Registers with a signal or an action are exempt, because they change by themselves.
  const isMoved = registers.some(({ signal, action }) => signal !== null || action !== null);
  const after = isMoved ? undefined : (change.words ?? registers[0]?.raw);
  const back = { table, address, words: [...before], raw: true, expected: after };
  const forth = { ...change, expected: isMoved ? undefined : [...before] };
  const next = { device, table, address, count: before.length, forth, back };
  done.value = [...done.value.slice(1 - MOST_DONE), next];
  undone.value = [];
}

/** Undoes the last change, and selects its register. */
export function undo(): void {
  turn = turn.then(() => repeat(done, undone, ({ back }) => back, 'undone'));
}

/** Repeats the change that was last undone. */
export function redo(): void {
  turn = turn.then(() => repeat(undone, done, ({ forth }) => forth, 'redone'));
}

/** Carries out the last change in one list, and moves it to the other. */
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
    const text = `${device}, ${table} ${address}, has since been written by ${writerText(other)}. It is now ${valueText(other)}.`;
    clash.value = { text, goOn: () => void repeat(from, to, requestOf, what, true) };
    return;
  }
  const { expected, ...request } = requestOf(last);
  const sent = await sendChange(device, isSure ? request : { ...request, expected });
  const subject = `The change to ${device}, ${table} ${address},`;
  if (!sent.ok && sent.isOther)
    return say(`${subject} was not ${what}: another write came first.`, 'refused');
  from.value = from.peek().slice(0, -1);
  if (!sent.ok) return say(sent.text, 'refused');
  to.value = [...to.peek(), last];
  say(`${subject} was ${what}.`);
  const now = target.peek();
  if (now?.device.name === device && now.table === table) selected.value = anchor.value = address;
}

/** The outcome of a change. `isOther`: the current value is not the expected one. */
type Sent =
  | { readonly ok: true; readonly registers: readonly RegisterView[] }
  | { readonly ok: false; readonly text: string; readonly isOther: boolean };

/** Sends a change, then reads the visible registers. */
async function sendChange(device: string, change: ChangeRequest): Promise<Sent> {
  const path = pathOf('devices', device, 'registers');
  const answer = await ask<{ registers: RegisterView[] }>('PATCH', path, { changes: [change] });
  if (answer.ok) noteWrite(device, answer.value.registers);
  await readNow();
  if (answer.ok) return { ok: true, registers: answer.value.registers };
  const { status, problem } = answer;
  return { ok: false, text: problem.problems[0]?.message ?? problem.detail, isOther: status === CONFLICT };
}

const MOST_OURS = 1000;

/** This page's writes by device and time, oldest first. */
const ours = new Set<string>();

const writeOf = (device: string, { lastWriter }: RegisterView) => `${lastWriter?.time} ${device}`;

function noteWrite(device: string, registers: readonly RegisterView[]): void {
  for (const register of registers) ours.add(writeOf(device, register));
  for (const oldest of ours) {
    if (ours.size <= MOST_OURS) return;
    ours.delete(oldest);
  }
}

/** The first value that another client has written since this page wrote it; undefined if there is none. */
async function overwritten({ device, table, address, count }: Done): Promise<RegisterView | undefined> {
  const answer = await valuesIn(device, table, address, address + count - 1);
  return answer.ok
    ? answer.value.registers.find((register) => !ours.has(writeOf(device, register)))
    : undefined;
}

/** Describes the last writer of a value: who, where and when. */
export function writerText({ lastWriter }: RegisterView): string {
  if (!lastWriter) return 'no one since the reset';
  const { by, line, client, time } = lastWriter;
  const who = by === 'line' ? `line ${line}${client === null ? '' : `, ${client}`}` : by;
  return time === null ? who : `${who}, ${timeOfDay(Date.parse(time))}`;
}

/** Time in ms between the last key and the change of the page's address. Browsers limit how often it may change. */
const SETTLED_MS = 400;

let settled: ReturnType<typeof setTimeout> | undefined;
/** The address of the page that follows the selection; it selects nothing itself. */
let following = '';

/** Selects a register for the keyboard, and stores it in the page's address. */
export function select(address: number, isRange = false): void {
  selected.value = Math.max(0, address);
  if (!isRange) anchor.value = selected.value;
  editing.value = undefined;
  refusal.value = undefined;
  clearTimeout(settled);
  const { view, parts } = route.peek();
  settled = setTimeout(() => {
    const now = route.peek();
    if (now.view !== view || now.parts.join('\n') !== parts.join('\n')) return;
    following = addressOf({ from: selected.peek() });
    go(following, 'replace');
  }, SETTLED_MS);
}

/** Selects the register in the page's address, or the first one, when the user opens that address. */
export function selectFromAddress(): void {
  const { view, parts, query } = route.peek();
  // The page is drawn after its address changes, and a key may have selected another register in between.
  if (hrefOf(view, parts, query) === following) return;
  following = '';
  const wanted = Number(query.get('from') ?? rowStarts.peek()[0] ?? 0);
  if (Number.isInteger(wanted) && wanted >= 0 && wanted !== selected.peek())
    select(Math.min(wanted, size.peek() - 1));
}

/**
 * Starts editing the cell at an address, or says next to it why that is not possible.
 * @param text text typed so far
 */
export function beginEdit(address: number, text: string): void {
  const start = cellStart(known, format.peek(), address);
  const why = whyNot(known, start, whyOff());
  refusal.value = why === undefined ? undefined : { address: start, text: why };
  editing.value = why === undefined ? { address: start, text } : undefined;
}

/** Edits the selected register. The text starts with its value, without the unit. */
export function editSelected(): void {
  const start = cellStart(known, format.peek(), selected.peek());
  const value = format.peek() === 'values' ? known.valueAt(start) : undefined;
  beginEdit(start, value ? (value.label ?? String(value.value)) : cellText(known, format.peek(), start));
}

/** Sends the typed text. If it is rejected, the cell stays open and shows the reason. */
export async function commitEdit(text: string): Promise<void> {
  const now = target.peek();
  const { address } = editing.peek() ?? {};
  if (!now || address === undefined) return;
  const change = changeOf(now.table, address, text);
  if ('expected' in change) {
    refusal.value = { address, text: `expected ${change.expected}` };
    return;
  }
  const count = change.words?.length ?? cellLength(known, 'values', address);
  const before = known.wordsAt(address, count) ?? (await presentWords(now, address, count));
  const sent = await sendChange(now.device.name, change);
  if (!sent.ok) {
    refusal.value = { address, text: sent.text };
    return;
  }
  editing.value = undefined;
  refusal.value = undefined;
  if (before) made(now.device.name, change, before, sent.registers);
  for (const register of sent.registers) sayOddities(register, change.value);
}

/** Reports what may surprise a user about a value that was just set. @param typed the number, if it was one */
export function sayOddities(register: RegisterView, typed: unknown): void {
  const { name, table, address, value, type, violates } = register;
  const subject = name ?? `${table} ${address}`;
  const held = type === 'float32' ? shortestFloat(Number(value)) : value;
  const shown = `${subject} is ${valueText(register)}`;
  if (violates !== null) say(`${shown}, which clients can't write: its ${violates} reject it.`, 'warn');
  if (typeof typed === 'number' && typeof held === 'number' && held !== typed)
    say(`${shown}: ${typed} was rounded to fit the type.`, 'warn');
}

/** The change that flips one bit of a value, unless another client has written the value in the meantime. */
export function withBit({ table, address, registers, type, raw }: RegisterView, bit: number) {
  const asType = type.startsWith('int') ? BigInt.asIntN : BigInt.asUintN;
  const value = String(asType(16 * registers, BigInt(raw) ^ (1n << BigInt(bit))));
  return { table, address, value, raw: true, expected: raw };
}

/** The value of a typed text: text if a number would not be exact, or if it is not a number. */
export function typedValue({ type }: Pick<RegisterView, 'type'>, text: string): string | number {
  const trimmed = text.trim();
  const isExact = type.endsWith('64') && type !== 'float64';
  return type === 'string' || isExact || trimmed === '' || Number.isNaN(Number(trimmed))
    ? text
    : Number(trimmed);
}

/** Sets or clears one bit of a value, unless another client has written the value since the page read it. */
export async function changeBit(register: RegisterView, bit: number): Promise<void> {
  const now = target.peek();
  if (!now) return;
  const { table, address, registers } = register;
  const before = known.wordsAt(address, registers) ?? (await presentWords(now, address, registers));
  const change = withBit(register, bit);
  const sent = await sendChange(now.device.name, change);
  if (!sent.ok) say(`${table} ${address}: ${sent.text}`, 'refused');
  else if (before) made(now.device.name, change, before, sent.registers);
}

/** The words from an address on, which the page has not read: a string may be longer than the visible part. */
async function presentWords(
  { device, table }: Pick<Done, 'table'> & { readonly device: { readonly name: string } },
  from: number,
  count: number,
): Promise<readonly number[] | undefined> {
  const answer = await wordsIn(device.name, table, from, from + count - 1);
  const words = answer.ok ? answer.value.words : [];
  return words.every((word) => word !== null) && words.length === count ? words : undefined;
}

/** The change for a string in the current format, or what was expected instead. */
function changeOf(
  table: WordTable,
  address: number,
  text: string,
): CellChange | { readonly expected: string } {
  const as = format.peek();
  const value = known.valueAt(address);
  if (as === 'values' && value) {
    return { table, address: value.address, value: typedValue(value, text) };
  }
  const parsed = parseText(as, text, known.bits);
  return 'expected' in parsed ? parsed : { table, address, words: [...parsed.words] };
}
