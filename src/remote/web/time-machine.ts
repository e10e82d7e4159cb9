import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { longDuration } from '../../testing/report/words.js';
import { serverNow, summary } from './live.js';
import { past, showThen, writes } from './past.js';
import { recorded, recordedSeconds } from './recorded.js';
import { route, type ViewName as ShownView } from './route.js';
import { Button, Select, typed } from './ui/controls.js';
import { timeOfDay } from './ui/format.js';

/** How far the slider goes back, in seconds. */
const SPANS = [
  ['60', 'last minute'],
  ['600', 'last 10 min'],
  ['3600', 'last hour'],
  ['86400', 'last day'],
] as const;

const span = signal(recorded ? String(recordedSeconds) : '600');

/** The position of the slider while it is being moved; the views follow when it rests. */
const dragged = signal<number | undefined>(undefined);
const RESTS_MS = 120;
const STEPS_S = [-10, -1, 1, 10];

/** What the views show of the past; the others keep showing the present. */
const FOLLOWING: Readonly<Partial<Record<ShownView, string>>> = {
  lines: recorded ? 'The lanes end here.' : 'The lanes end here; everything else is current.',
  conversations: 'Requests before this time.',
  registers: recorded ? 'As of the last write or frame before this time.' : 'Nothing can be changed here.',
  traffic: recorded ? 'The last event before this time is open.' : 'Nothing can be changed here.',
  faults: 'Nothing can be changed here.',
};

const iso = (ms: number) => new Date(ms).toISOString();

/** Formats a time, with the day if that is not today, and with ms. */
function momentText(ms: number): string {
  const day =
    new Date(ms).toDateString() === new Date(serverNow()).toDateString() ? '' : `${iso(ms).slice(0, 10)} `;
  return `${day}${timeOfDay(ms)}.${String(Math.floor(ms) % 1000).padStart(3, '0')}`;
}

/** The band with the time that all views show, and the slider for it. */
export function TimeMachine() {
  const then = Date.parse(past.value ?? '');
  const at = dragged.value ?? then;
  const now = summary.value ? Math.floor(serverNow()) : at;
  useEffect(() => {
    if (recorded) return;
    const fits = SPANS.find(([seconds]) => now - then < Number(seconds) * 1000);
    if (now - then > Number(span.peek()) * 1000) span.value = fits?.[0] ?? '86400';
  }, [past.value]);
  useEffect(() => {
    if (dragged.value === undefined) return;
    const timer = setTimeout(() => {
      const to = dragged.peek();
      dragged.value = undefined;
      if (to !== undefined) showThen(iso(to));
    }, RESTS_MS);
    return () => clearTimeout(timer);
  }, [dragged.value]);
  const ago = longDuration(Math.max(0, Math.round((now - at) / 1000)));
  const text = `${momentText(at)}, ${ago} ${recorded ? 'before the end' : 'ago'}`;
  const { previous, next } = writes.value ?? {};
  return html`<section class="time-machine flow" aria-label="Time machine">
    <strong>The past: ${text}</strong>
    <span>${FOLLOWING[route.value.view] ?? `This view shows ${recorded ? 'all of it' : 'the present'}.`}</span>
    <input type="range" aria-label="Moment" aria-valuetext=${text} min=${Math.ceil(now - Number(span.value) * 1000 - 1e-3)} max=${now} step=${recorded ? Math.min(100, Math.max(1, recordedSeconds)) : 100}
      value=${at} onInput=${typed((value) => {
        dragged.value = Number(value);
      })} />
    ${
      recorded
        ? null
        : html`<${Select} label="Slider" value=${span.value} choices=${SPANS} onChange=${(value: string) => {
            span.value = value;
          }} />`
    }
    <span class="flow">${STEPS_S.map(
      (step) => html`<${Button} label=${`${Math.abs(step)} s ${step < 0 ? 'back' : 'on'}`}
        onClick=${() => showThen(iso(Math.min(now, then + step * 1000)))}>${step < 0 ? '−' : '+'}${Math.abs(step)} s<//>`,
    )}</span>
    ${
      writes.value
        ? html`<span class="flow"><${WriteButton} text="Write before" at=${previous} /><${WriteButton} text="Write after" at=${next} /></span>`
        : null
    }
    <${Button} kind="main" onClick=${() => showThen(undefined)}>${recorded ? 'The end' : 'Now'}<//>
  </section>`;
}

/** Goes to a register write on the device shown. */
function WriteButton({ text, at }: { readonly text: string; readonly at?: string | null }) {
  const label = at ? `${text}: ${momentText(Date.parse(at))}` : text;
  return html`<${Button} disabled=${!at} label=${label} onClick=${() => showThen(at ?? undefined)}>${text}<//>`;
}
