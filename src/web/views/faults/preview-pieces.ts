import type { DeviceView } from '../../../control/schemas/device.js';
import type { FaultPreviewView } from '../../../control/schemas/fault.js';
import { countOf, type Piece, sizeText, type Wire } from '../../../strip/pieces.js';
import { lengthText, msText } from '../../../strip/times.js';

/** The length of a drawn character where characters take no time. */
const NO_CHARACTER_US = 20;

export function wireOfPreview({ characterUs, t35Us }: FaultPreviewView): Wire {
  return { characterUs: characterUs ?? undefined, t35Us: t35Us ?? undefined };
}

/** The request, the reply as it will be, and the rule where it acts. The request ends at 0. */
export function previewPieces(view: FaultPreviewView): Piece[] {
  const { request, steps, faults, silence, t35Us } = view;
  const wire = wireOfPreview(view);
  const count = countOf(request.bytes);
  const pieces: Piece[] = [];
  const add = (piece: Omit<Piece, 'id'>) => pieces.push({ id: pieces.length, ...piece });
  add({
    lane: 'received',
    look: 'request',
    startUs: -count * (wire.characterUs ?? NO_CHARACTER_US),
    endUs: 0,
    label: 'request',
    words: `the request, ${sizeText(request.bytes)}`,
  });
  if (t35Us) {
    const words = `t3.5 after the request: ${lengthText(t35Us, wire.characterUs)}`;
    add({ lane: 'planned', look: 'wait', startUs: 0, endUs: t35Us, label: 't3.5', words });
  }
  steps.forEach(({ kind, bytes = '', plannedUs, endedUs }, i) => {
    const what = kind === 'bytes' ? sizeText(bytes) : kind;
    const which = steps.length === 1 ? 'the reply' : `piece ${i + 1} of ${steps.length} of the reply`;
    const words = `${which}, ${what}, ${msText(plannedUs)} after the request, ${lengthText(endedUs - plannedUs, wire.characterUs)} long`;
    const endUs = Math.max(endedUs, plannedUs + (wire.characterUs || kind !== 'bytes' ? 0 : NO_CHARACTER_US));
    add({
      lane: kind === 'bytes' ? 'sent' : 'notes',
      look: kind === 'bytes' ? 'planned' : kind === 'break' ? 'break' : 'mark',
      startUs: plannedUs,
      endUs,
      label: what,
      words,
    });
  });
  if (silence !== null) {
    add({ lane: 'sent', look: 'missing', startUs: 0, endUs: 0, label: 'no reply', words: 'no reply' });
  }
  const label = faults.map(({ kind, outcome }) => (outcome === 'applied' ? kind : `${kind} (can’t act)`));
  if (label.length > 0) {
    const endUs = Math.max(0, ...pieces.map((piece) => piece.endUs));
    const text = label.join(', ');
    add({ lane: 'notes', look: 'fault', startUs: 0, endUs, label: text, words: `faults: ${text}` });
  }
  return pieces;
}

type When = Readonly<Record<string, unknown>>;

/** The conditions of a rule as it is written. */
export function whenOf(rule: unknown): When {
  return ((rule ?? {}) as { readonly when?: When }).when ?? {};
}

/** Asks for the newest requests that a rule may be for. A text that is not finished yet is for the simulator to refuse. */
export function requestsLike(when: When): URLSearchParams {
  const query = new URLSearchParams({ kind: 'request', limit: '100' });
  for (const key of ['line', 'unit', 'function'] as const) {
    if (when[key] !== undefined) query.set(key, [when[key]].flat().join());
  }
  const { address } = when;
  if (address !== undefined) {
    const ranges = Array.isArray(address) && !Array.isArray(address[0]) ? [address] : [address].flat();
    query.set('address', ranges.map((range) => [range].flat().join('-')).join());
  }
  return query;
}

/** Whether a request meets the conditions that the query can't have. */
export function isLike(
  when: When,
  event: { readonly quantity?: number | undefined; readonly names?: readonly string[] | undefined },
): boolean {
  const wanted = (key: string): unknown[] | undefined =>
    when[key] === undefined ? undefined : [when[key]].flat();
  return (
    wanted('quantity')?.includes(event.quantity) !== false &&
    wanted('name')?.some((name) => event.names?.includes(String(name))) !== false
  );
}

/** A request that meets the conditions of a rule, as far as they name one value each. */
export function madeUpLike(when: When): Readonly<Record<string, unknown>> {
  const keys = ['line', 'unit', 'function', 'address', 'quantity'] as const;
  const entries = keys.flatMap((key) => {
    const value = firstOf(when[key]);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The functions that read a table. */
const READS = { holding: 3, input: 4, coils: 1, discrete: 2 } as const;

/** A made-up request that asks for a register which the device has, where the conditions leave the address open. */
export function atDefined(
  request: Readonly<Record<string, unknown>>,
  defined: DeviceView['defined'],
): Readonly<Record<string, unknown>> {
  if (request.address !== undefined || !defined) return request;
  const tables = Object.entries(READS).filter(
    ([table, code]) => (request.function ?? code) === code && defined[table]?.ranges[0],
  );
  const [[table, code] = []] = tables;
  const address = table && defined[table]?.ranges[0]?.[0];
  return address === undefined ? request : { ...request, function: code, address };
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? firstOf(value[0]) : value;
}
