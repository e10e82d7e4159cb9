import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { RemoteRefusal } from '../../../common/rest-client/client.js';
import { countOf, type Piece, piecesOf, type Wire } from '../../../common/timeline/pieces.js';
import { msText } from '../../../common/timeline/times.js';
import type { FaultPreviewView } from '../../../simulator/commands/schemas/fault-preview.js';
import { ask } from '../api.js';
import { Folded } from '../ui/controls.js';
import { StripModel, sourceOf } from './model.js';
import { Strip } from './strip.js';

/** Time between the last change of the form and the preview, in ms. */
const PAUSE_MS = 250;

interface PreviewProps {
  readonly rule: unknown;
  /** Sequence number of the request whose reply is previewed; the newest matching request when absent. */
  readonly like: number | undefined;
}

/** Shows how a rule would change a reply, as a strip and as a table. */
export function Preview({ rule, like }: PreviewProps) {
  const view = useSignal<FaultPreviewView | undefined>(undefined);
  const refusal = useSignal<RemoteRefusal | undefined>(undefined);
  const model = useMemo(() => new StripModel(), []);
  const text = JSON.stringify({ rule, like });
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(async () => {
      if (rule === undefined) return;
      const answer = await ask<FaultPreviewView>('POST', '/faults/preview', { rule, like });
      if (isGone) return;
      refusal.value = answer.ok ? undefined : answer.problem;
      if (!answer.ok) return;
      view.value = answer.value;
      const wire = wireOf(answer.value);
      model.setSource(sourceOf(previewPieces(answer.value, wire), wire, 0));
      model.fit();
    }, PAUSE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text]);

  const shown = view.value;
  return html`<section class="stack" aria-label="Preview">
    <h3>Preview ${shown ? html`<span class="dim">${subject(shown)}</span>` : null}</h3>
    <${Strip} model=${model} label="What the rule will look like" />
    <p class=${refusal.value || shown?.matches === false ? 'long warn' : 'long dim'} role="status">${
      refusal.value
        ? `No preview: ${refusal.value.detail}`
        : shown
          ? summaryOf(shown)
          : 'Waiting for the simulator.'
    }</p>
    ${shown && !refusal.value ? html`<${Folded} summary="Steps of the reply"><${Steps} view=${shown} /><//>` : null}
  </section>`;
}

function wireOf({ characterUs, t35Us }: FaultPreviewView): Wire {
  return { characterUs: characterUs ?? undefined, t35Us: t35Us ?? undefined };
}

/** Width of a character in µs, on lines that are not serial. */
const NO_CHARACTER_US = 20;

/** The pieces of the request, which ends at 0, and of the reply that would follow. */
function previewPieces({ request, steps, silence, faults }: FaultPreviewView, wire: Wire): Piece[] {
  const { bytes } = request;
  const text = `function ${request.function}`;
  const never = { seq: 0, text, monotonicUs: 0, requestedUs: 0 };
  const sent = steps.map((step) => ({
    ...step,
    achievedUs: step.plannedUs,
    endedUs: Math.max(step.endedUs, step.plannedUs + (wire.characterUs ? 0 : NO_CHARACTER_US)),
  }));
  const startedUs = -countOf(bytes) * (wire.characterUs ?? NO_CHARACTER_US);
  return [
    ...piecesOf({ ...never, kind: 'request', startedUs, bytes }, wire),
    ...piecesOf({ ...never, kind: 'reply', steps: sent, silence, faults }, wire),
  ];
}

function subject({ request: { line, unit, function: code, seq } }: FaultPreviewView): string {
  const which = seq === null ? 'a made-up request' : `a request like #${seq}`;
  return `for ${which}: line ${line}, unit ${unit}, function ${code}`;
}

function summaryOf({ matches, silence, faults }: FaultPreviewView): string {
  if (!matches) return 'The rule does not match this request. This is the reply without the rule.';
  const failed = faults.filter(({ outcome }) => outcome !== 'applied');
  const lost = failed.map(({ kind, reason }) => `${kind} can't act: ${reason}.`);
  const sent = silence === null ? [] : ['No reply is sent.'];
  return [...sent, ...lost, 'Preview only; nothing was sent.'].join(' ');
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
