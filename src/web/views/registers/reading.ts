import { effect, signal } from '@preact/signals';
import type { RegisterView, Words } from '../../../control/schemas/value.js';
import { type Answer, ask, pathOf } from '../../api.js';
import { restarts } from '../../live.js';
import { forget, known, machine, selected, target, version, visible } from './state.js';

/** All that is known of the register that is selected. */
export const detail = signal<RegisterView | undefined>(undefined);

/** Why nothing can be read. */
export const problem = signal<string | undefined>(undefined);

const EVERY_MS = 1000;
/** However much passes the lines, no more than four answers a second. */
const SOON_MS = 250;
const AFTER_SCROLL_MS = 60;

let timer: ReturnType<typeof setTimeout> | undefined;
let dueAt = Number.POSITIVE_INFINITY;
let isAsking = false;
let lastAt = 0;

/** Reads what is seen every second, and when it changes, until the function that is returned is called. */
export function followRegisters(): () => void {
  const stops = [
    effect(() => {
      const { device, table } = target.value ?? {};
      if (device?.name !== undefined && restarts.value >= 0)
        anew(`${restarts.value} ${device.name}\n${table}`);
    }),
    effect(() => {
      if (visible.value.end > 0) readWithin(AFTER_SCROLL_MS);
    }),
    effect(() => {
      if (selected.value >= 0) readWithin(AFTER_SCROLL_MS);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    clearTimeout(timer);
    dueAt = Number.POSITIVE_INFINITY;
  };
}

let shown = '';

function anew(wanted: string): void {
  if (wanted !== shown) queueMicrotask(forget);
  shown = wanted;
}

/** Says that traffic has touched what is seen. */
export function readSoon(): void {
  readWithin(Math.max(0, lastAt + SOON_MS - performance.now()));
}

/** Reads what is seen at once, as after a change of our own. */
export function readNow(): Promise<void> {
  dueAt = Number.POSITIVE_INFINITY;
  return read();
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
  if (!wanted || isAsking) return readWithin(isAsking ? AFTER_SCROLL_MS : EVERY_MS);
  isAsking = true;
  lastAt = performance.now();
  const { table } = wanted;
  const { from, end } = visible.peek();
  const path = pathOf('devices', wanted.device.name);
  const at = selected.peek();
  const [pieces, about] = await Promise.all([
    readPieces(`${path}/words`, table, from, Math.max(from + 1, end)),
    ask<{ registers: RegisterView[] }>('GET', `${path}/registers?${range(table, at, at)}`),
  ]);
  isAsking = false;
  const now = target.peek();
  if (now?.device.name === wanted.device.name && now.table === table) {
    problem.value = pieces.find((piece) => !piece.ok)?.problem.detail;
    for (const piece of pieces) {
      if (!piece.ok) continue;
      known.take(piece.value);
      machine.value = { supply: piece.value.supply, clock: piece.value.clock };
    }
    version.value++;
    if (about.ok && selected.peek() === at) detail.value = about.value.registers[0];
  }
  readWithin(document.hidden ? 5 * EVERY_MS : EVERY_MS);
}

/** As many as an answer has. Only a very large screen shows more. */
const MOST = 512;

async function readPieces(
  path: string,
  table: string,
  from: number,
  end: number,
): Promise<readonly Answer<Words>[]> {
  const pieces: Answer<Words>[] = [];
  for (let first = from; first < end; first += MOST) {
    const query = range(table, first, Math.min(first + MOST, end) - 1);
    pieces.push(await ask<Words>('GET', `${path}?${query}`));
  }
  return pieces;
}

function range(table: string, from: number, to: number): URLSearchParams {
  return new URLSearchParams({ table, from: String(from), to: String(to) });
}
