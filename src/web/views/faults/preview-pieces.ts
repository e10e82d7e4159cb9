import type { FaultPreviewView } from '../../../control/schemas/fault.js';
import type { Piece, Wire } from '../../strip/piece.js';
import { lengthText, msText } from '../../strip/times.js';

/** What is drawn where characters take no time, so that the request can be seen. */
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
    look: 'ours',
    startUs: -count * (wire.characterUs ?? NO_CHARACTER_US),
    endUs: 0,
    label: 'request',
    words: `the request, ${count} bytes`,
  });
  if (t35Us) {
    const words = `t3.5 after the request: ${lengthText(t35Us, wire.characterUs)}`;
    add({ lane: 'planned', look: 'wait', startUs: 0, endUs: t35Us, label: 't3.5', words });
  }
  steps.forEach(({ kind, bytes = '', plannedUs, endedUs }, i) => {
    const what = kind === 'bytes' ? `${countOf(bytes)} bytes` : kind;
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

/** A request that fits the conditions of a rule, as far as they name one value. */
export function madeUpLike(rule: unknown): object {
  const { when = {} } = (rule ?? {}) as { readonly when?: Readonly<Record<string, unknown>> };
  const keys = ['line', 'unit', 'function', 'address', 'quantity'] as const;
  const entries = keys.flatMap((key) => {
    const value = firstOf(when[key]);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? firstOf(value[0]) : value;
}

/** Of bytes in hexadecimal. */
function countOf(bytes: string): number {
  return (bytes.length + 1) / 3;
}
