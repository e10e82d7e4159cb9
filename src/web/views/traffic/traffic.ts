import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { type Batch, followTraffic } from '../../live.js';
import { place } from '../../route.js';
import { Empty } from '../../ui/empty.js';

const MOST = 100;

/** The view `/traffic`: the newest events in words, with the filters of its address. */
export function TrafficView() {
  const newest = useSignal<Batch>([]);
  const filter = place.value.query.toString();
  useEffect(() => {
    newest.value = [];
    return followTraffic({
      filter: new URLSearchParams(filter),
      onBatch: (batch) => {
        newest.value = [...newest.value, ...batch].slice(-MOST);
      },
    });
  }, [filter]);
  if (newest.value.length === 0) return html`<${Empty} title="Traffic">Nothing has passed the lines yet.<//>`;
  return html`<ol class="mono">${newest.value.map((event) => html`<li class="long">${event.text}</li>`)}</ol>`;
}
