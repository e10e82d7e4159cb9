import type { StreamedView } from '../../api/v1/traffic-view.js';
import type { Look, Piece, Wire } from './piece.js';
import { lengthText, msText } from './times.js';

type Event = Exclude<StreamedView, { kind: 'left out' }>;
type Step = NonNullable<Event['steps']>[number];

/** The looks of received bytes; those of all other kinds are `foreign`. */
const LOOKS: Partial<Record<Event['kind'], Look>> = {
  request: 'ours',
  broadcast: 'ours',
  damaged: 'damaged',
  discarded: 'damaged',
  duplicate: 'damaged',
};

/** The pieces that an event of the traffic is drawn as. Its times are those of `monotonicUs`. */
export function piecesOf(event: StreamedView, wire: Wire): Piece[] {
  if (event.kind === 'left out') return [];
  if (event.kind === 'reply') return replyPieces(event, wire);
  const { seq, kind, text, monotonicUs: endUs, startedUs = endUs, bytes } = event;
  if (bytes === undefined) {
    const mark = { id: seq, lane: 'notes', look: 'mark', startUs: endUs, endUs } as const;
    return [{ ...mark, label: kind === 'line' ? text : kind, words: `${kind}: ${text}` }];
  }
  const words = `${kind} ${seq}, ${sizeText(bytes, event.omittedBytes)}: ${text}`;
  const pause =
    event.pauseUs == null ? '' : `, after a pause of ${lengthText(event.pauseUs, wire.characterUs)}`;
  return [
    {
      id: seq,
      lane: 'received',
      look: LOOKS[kind] ?? 'foreign',
      startUs: startedUs,
      endUs,
      label: event.name ?? kind,
      words: words + pause,
    },
  ];
}

function replyPieces(event: Event, wire: Wire): Piece[] {
  const { seq: id, monotonicUs, requestedUs: base = monotonicUs, steps = [], faults = [], silence } = event;
  const pieces: Piece[] = [];
  const add = (piece: Omit<Piece, 'id'>) => pieces.push({ id, ...piece });
  if (wire.t35Us) {
    const words = `t3.5 after request ${event.request}: ${lengthText(wire.t35Us, wire.characterUs)}`;
    add({ lane: 'planned', look: 'wait', startUs: base, endUs: base + wire.t35Us, label: 't3.5', words });
  }
  if (steps.length === 0) {
    const label = `no reply: ${silence ?? event.ended}`;
    const words = `no reply to request ${event.request}: ${silence ?? event.ended}`;
    add({ lane: 'sent', look: 'missing', startUs: base, endUs: base, label, words });
  }
  steps.forEach((step, i) => {
    const which = steps.length === 1 ? `reply ${id}` : `piece ${i + 1} of ${steps.length} of reply ${id}`;
    for (const piece of stepPieces(step, { base, which, wire, event })) add(piece);
  });
  if (faults.length > 0) {
    const endUs = Math.max(base, ...pieces.map((piece) => piece.endUs));
    const label = faults.map(
      ({ rule, kind, outcome }) => `${rule}: ${kind}${outcome === 'applied' ? '' : ' (not achieved)'}`,
    );
    const words = `faults on reply ${id}: ${label.join(', ')}`;
    add({ lane: 'notes', look: 'fault', startUs: base, endUs, label: [...new Set(label)].join(', '), words });
  }
  return pieces;
}

interface Around {
  /** When the request had ended. */
  readonly base: number;
  readonly which: string;
  readonly wire: Wire;
  readonly event: Event;
}

function stepPieces(step: Step, { base, which, wire, event }: Around): Omit<Piece, 'id'>[] {
  const { kind, bytes = '', plannedUs, achievedUs, endedUs, reason } = step;
  const what = kind === 'bytes' ? sizeText(bytes, 0) : kind;
  const expected = kind === 'bytes' ? countOf(bytes) * (wire.characterUs ?? 0) : 0;
  const taken = achievedUs === null || endedUs === null ? expected : endedUs - achievedUs;
  const startUs = base + plannedUs;
  const words = `${which}, ${what}, planned ${msText(plannedUs)} after the request`;
  if (achievedUs === null) {
    const label = `not sent${reason ? `: ${reason}` : ''}`;
    return [
      {
        lane: 'planned',
        look: 'missing',
        startUs,
        endUs: startUs + taken,
        label,
        words: `${words}, ${label}`,
      },
    ];
  }
  const from = base + achievedUs;
  const sent = `${which}, ${what}, ${msText(achievedUs)} after the request, ${msText(achievedUs - plannedUs)} after its plan, ${lengthText(taken, wire.characterUs)} long: ${event.text}`;
  return [
    { lane: 'planned', look: 'planned', startUs, endUs: startUs + taken, label: what, words },
    {
      lane: 'sent',
      look: kind === 'bytes' ? 'ours' : 'break',
      startUs: from,
      endUs: from + taken,
      label: kind === 'bytes' ? what : kind,
      words: sent,
    },
  ];
}

/** Of bytes in hexadecimal. */
function countOf(bytes: string): number {
  return (bytes.length + 1) / 3;
}

function sizeText(bytes: string, omitted = 0): string {
  const count = Math.floor(countOf(bytes)) + omitted;
  return `${count} byte${count === 1 ? '' : 's'}`;
}
