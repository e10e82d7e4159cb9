import { effect, signal } from '@preact/signals';
import { type Answer, pathOf } from '../../../../common/rest-client/client.js';
import type { RegisterView, Words } from '../../../../simulator/commands/schemas/value.js';
import { ask } from '../../api.js';
import { restarts } from '../../live.js';
import { past, shifted, writes } from '../../past.js';
import { together } from '../../ui/element.js';
import { partsOf } from './layout.js';
import {
  columns,
  forget,
  learn,
  learnBefore,
  selected,
  size,
  target,
  version,
  visibleStarts,
} from './state.js';

/** Everything known about the selected register. */
export const detail = signal<RegisterView | undefined>(undefined);

/** Why nothing can be read. */
export const problem = signal<string | undefined>(undefined);

export const EVERY_MS = 1000;
export const HIDDEN_EVERY_MS = 5000;
/** Minimum time in ms between two reads caused by traffic, however much there is. */
const SOON_MS = 250;
const AFTER_SCROLL_MS = 60;
/** Maximum number of addresses in an answer. */
const MOST = 512;

let timer: ReturnType<typeof setTimeout> | undefined;
let dueAt = Number.POSITIVE_INFINITY;
/** The read that is in progress. */
let reading: Promise<void> | undefined;
let lastAt = 0;
/** The table that was read last, and the run of the simulator. */
let shown = '';

/** Reads the visible registers every second and when they change, until the returned function is called. */
export function followRegisters(): () => void {
  return together(
    effect(() => {
      const { device, table } = target.value ?? {};
      const wanted = `${restarts.value} ${device?.name}\n${table}`;
      if (!device || wanted === shown) return;
      shown = wanted;
      queueMicrotask(forget);
    }),
    effect(() => {
      if (past.value === undefined) writes.value = undefined;
      queueMicrotask(() => void readNow());
    }),
    effect(() => {
      if (visibleStarts.value.length > 0) readWithin(AFTER_SCROLL_MS);
    }),
    effect(() => {
      if (selected.value >= 0) readWithin(AFTER_SCROLL_MS);
    }),
    () => {
      writes.value = undefined;
      clearTimeout(timer);
      dueAt = Number.POSITIVE_INFINITY;
    },
  );
}

/** Reads again soon, because traffic has affected visible registers. */
export function readSoon(): void {
  readWithin(Math.max(0, lastAt + SOON_MS - performance.now()));
}

/** Reads the visible registers at once, for example after a change by this page. */
export async function readNow(): Promise<void> {
  // Some of its answers may be older than the change.
  while (reading !== undefined) await reading;
  clearTimeout(timer);
  dueAt = Number.POSITIVE_INFINITY;
  await read();
}

/** Reads the values in a range of addresses, inclusive. */
export function valuesIn(device: string, table: string, from: number, to: number) {
  const query = rangeQuery(table, from, to);
  return ask<{ registers: RegisterView[] }>('GET', `${pathOf('devices', device, 'registers')}?${query}`);
}

/** Reads the words in a range of addresses, inclusive, now or at an earlier time. */
export function wordsIn(device: string, table: string, from: number, to: number, at?: string) {
  const query = rangeQuery(table, from, to);
  if (at !== undefined) query.set('at', at);
  return ask<Words>('GET', `${pathOf('devices', device, 'words')}?${query}`);
}

function readWithin(ms: number): void {
  const at = performance.now() + ms;
  if (at >= dueAt) return;
  clearTimeout(timer);
  dueAt = at;
  timer = setTimeout(() => {
    dueAt = Number.POSITIVE_INFINITY;
    void read();
  }, ms);
}

async function read(): Promise<void> {
  const wanted = target.peek();
  if (reading !== undefined) return readWithin(AFTER_SCROLL_MS);
  if (!wanted) return readWithin(EVERY_MS);
  reading = readTarget(wanted);
  await reading;
}

async function readTarget(wanted: NonNullable<typeof target.value>): Promise<void> {
  lastAt = performance.now();
  const { table } = wanted;
  const { name } = wanted.device;
  const at = selected.peek();
  const then = past.peek();
  const [answers, about] = await Promise.all([
    readVisible(name, table, then),
    then === undefined ? valuesIn(name, table, at, at) : undefined,
  ]);
  const first = answers.find((answer) => answer.ok && answer.value.past);
  const around = first?.ok ? first.value.past : undefined;
  const before = around?.changed ? await readVisible(name, table, shifted(around.changed, -2)) : [];
  reading = undefined;
  if (then !== past.peek()) return readWithin(0);
  const now = target.peek();
  if (now?.device.name === name && now.table === table) {
    problem.value = answers.find((answer) => !answer.ok)?.problem.detail;
    // The last answer is for another time.
    if (then !== undefined && problem.value !== undefined) forget();
    for (const answer of answers) if (answer.ok) learn(answer.value);
    learnBefore(
      before.flatMap((answer) => (answer.ok ? [answer.value] : [])),
      around?.before ?? [],
    );
    if (then !== undefined) writes.value = around && { previous: around.previous, next: around.next };
    version.value++;
    if (!about) detail.value = undefined;
    else if (about.ok && selected.peek() === at) detail.value = about.value.registers[0];
  }
  // The past does not change.
  if (then === undefined) readWithin(document.hidden ? HIDDEN_EVERY_MS : EVERY_MS);
}

/**
 * Reads the visible rows. A table without registers is also read, because the answer contains the power and
 * the clock.
 */
async function readVisible(device: string, table: string, at?: string): Promise<readonly Answer<Words>[]> {
  const answers: Answer<Words>[] = [];
  const parts = partsOf(visibleStarts.peek(), columns.peek(), MOST);
  for (const { from, end } of parts.length > 0 ? parts : [{ from: 0, end: 1 }]) {
    answers.push(await wordsIn(device, table, from, Math.max(from, Math.min(end, size.peek()) - 1), at));
  }
  return answers;
}

function rangeQuery(table: string, from: number, to: number): URLSearchParams {
  return new URLSearchParams({ table, from: String(from), to: String(to) });
}
