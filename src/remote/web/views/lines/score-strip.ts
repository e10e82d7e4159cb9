import { effect, signal, untracked } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import { piecesOf } from '../../../../common/timeline/pieces.js';
import { ask } from '../../api.js';
import { go, hrefOf } from '../../route.js';
import { StripModel, sourceOf } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import { together } from '../../ui/element.js';
import type { Event } from '../traffic/chunks.js';
import { lineNamed, wireOf } from './details.js';
import { axis, dayRuler, FINE, wallAt } from './score-sums.js';

/** The line whose lane was used last. Its bytes are shown when the axis is fine enough. */
export const nearLine = signal('');

/** Maximum number of events read for the part shown. */
const MOST = 2000;
/** How long the axis must be still before events are read, in ms. */
const REST_MS = 150;

/** The finest zoom level: the bytes of a line to scale, for the time span of the lanes. */
export function ScoreStrip({ line }: { readonly line: string }) {
  const model = useMemo(() => new StripModel(), [line]);
  useEffect(() => together(pair(model), readAround(model, line)), [model]);
  const open = (seq: number) => go(hrefOf('traffic', [], { line, strip: line, at: String(seq) }));
  return html`<${Strip} model=${model} label=${`Bytes on line ${line}`} onSelect=${open} />`;
}

/** Keeps a strip and the axis at the same time and scale, although their widths differ. */
function pair(model: StripModel): () => void {
  const follow = (from: StripModel, to: StripModel) =>
    effect(() => {
      const { fromUs, usPerPixel } = from.scale.value;
      const shift = ((from.width.value - to.width.value) / 2) * usPerPixel;
      if (from.width.value === 0 || to.width.value === 0) return;
      untracked(() => {
        const now = to.scale.peek();
        const wanted = { fromUs: fromUs + shift, usPerPixel };
        const isSame = now.usPerPixel === usPerPixel && Math.abs(now.fromUs - wanted.fromUs) < usPerPixel;
        if (!isSame) to.look(wanted);
      });
    });
  return together(follow(axis, model), follow(model, axis));
}

/** Reads the events in the part that the axis shows, and as much again on both sides. */
function readAround(model: StripModel, line: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let known = { fromUs: 0, toUs: 0 };
  const read = async (fromUs: number, toUs: number) => {
    const iso = (us: number) => new Date(wallAt(us)).toISOString();
    const query = new URLSearchParams({ line, since: iso(fromUs), until: iso(toUs), limit: String(MOST) });
    const answer = await ask<{ readonly events: readonly Event[] }>('GET', `/traffic?${query}`);
    if (!answer.ok) return;
    const wire = wireOf(lineNamed(line));
    const { events } = answer.value;
    known = { fromUs: events.length < MOST ? fromUs : (events[0]?.monotonicUs ?? fromUs), toUs };
    const pieces = events.flatMap((event) => piecesOf(event, wire));
    model.setSource({ ...sourceOf(pieces, wire), rulerAt: dayRuler });
  };
  const stop = effect(() => {
    const { fromUs, usPerPixel } = axis.scale.value;
    const wide = axis.width.value * usPerPixel;
    clearTimeout(timer);
    if (usPerPixel > FINE || (fromUs >= known.fromUs && fromUs + wide <= known.toUs)) return;
    timer = setTimeout(() => void read(fromUs - wide, fromUs + 2 * wide), REST_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
