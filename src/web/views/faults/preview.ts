import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { FaultPreviewView } from '../../../control/schemas/fault.js';
import { ask, type Refusal } from '../../api.js';
import { StripModel, sourceOf } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import { msText } from '../../strip/times.js';
import { madeUpLike, previewPieces, wireOfPreview } from './preview-pieces.js';

/** A form that is being written is not played with every letter. */
const PAUSE_MS = 250;

interface PreviewProps {
  readonly rule: unknown;
  /** Sequence number of the request on whose reply it is played. */
  readonly like: number | undefined;
}

/** What a rule will look like on the wire, as a strip and as a table. */
export function Preview({ rule, like }: PreviewProps) {
  const view = useSignal<FaultPreviewView | undefined>(undefined);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const model = useMemo(() => new StripModel(), []);
  const asked = JSON.stringify({ rule, like: like ?? madeUpLike(rule) });
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(async () => {
      if (rule === undefined) return;
      const answer = await ask<FaultPreviewView>('POST', '/faults/preview', JSON.parse(asked));
      if (isGone) return;
      refusal.value = answer.ok ? undefined : answer.problem;
      if (!answer.ok) return;
      view.value = answer.value;
      model.setSource(sourceOf(previewPieces(answer.value), wireOfPreview(answer.value)));
      model.fit();
    }, PAUSE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [asked]);

  const shown = view.value;
  return html`<section class="preview" aria-label="On the wire">
    <h3>On the wire ${shown ? html`<span class="dim">to scale, on line ${shown.request.line}, unit ${shown.request.unit}, function ${shown.request.function}</span>` : null}</h3>
    <${Strip} model=${model} label="What the rule will look like" />
    <p class=${refusal.value || shown?.matches === false ? 'long warn' : 'long dim'} role="status">${
      refusal.value ? `No preview: ${refusal.value.detail}` : shown ? summaryOf(shown) : 'Playing the rule.'
    }</p>
    ${shown && !refusal.value ? html`<${Steps} view=${shown} />` : null}
  </section>`;
}

function summaryOf({ matches, silence, faults }: FaultPreviewView): string {
  if (!matches) return 'The rule is not for this request: this is the reply without it.';
  const failed = faults.filter(({ outcome }) => outcome !== 'applied');
  const lost = failed.map(({ kind, reason }) => `${kind} can’t act: ${reason}`);
  const sent = silence === null ? [] : ['Nothing is sent.'];
  return [...sent, ...lost, 'Nothing has happened on the line.'].join(' ');
}

function Steps({ view }: { readonly view: FaultPreviewView }) {
  const { steps, omittedSteps } = view;
  if (steps.length === 0) return null;
  return html`<div class="steps"><table>
    <caption>Steps of the reply, after the request</caption>
    <thead><tr><th>step</th><th>begins</th><th>ends</th><th>bytes</th></tr></thead>
    <tbody class="mono">${steps.map(
      ({ kind, bytes = '', plannedUs, endedUs }) => html`<tr>
        <td>${kind}</td><td>${msText(plannedUs)}</td><td>${msText(endedUs)}</td><td class="long">${bytes}</td></tr>`,
    )}</tbody>
    ${omittedSteps > 0 ? html`<tfoot><tr><td colspan="4">and ${omittedSteps} more</td></tr></tfoot>` : null}
  </table></div>`;
}
