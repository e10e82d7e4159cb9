import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { StreamedView } from '../../../api/v1/traffic-view.js';
import type { DeviceView } from '../../../control/schemas/device.js';
import type { FaultPreviewView } from '../../../control/schemas/fault.js';
import { pathOf, type Refusal } from '../../../rest/client.js';
import { msText } from '../../../strip/times.js';
import { ask } from '../../api.js';
import { summary } from '../../live.js';
import { StripModel, sourceOf } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import { details, lineNamed } from '../lines/details.js';
import {
  atDefined,
  isLike,
  madeUpLike,
  previewPieces,
  requestsLike,
  whenOf,
  wireOfPreview,
} from './preview-pieces.js';

/** After the last change of the form. */
const PAUSE_MS = 250;

interface PreviewProps {
  readonly rule: unknown;
  /** Sequence number of the request to whose reply the rule is applied; the newest one that fits without it. */
  readonly like: number | undefined;
}

/** What a rule will make of a reply, as a strip and as a table. */
export function Preview({ rule, like }: PreviewProps) {
  const view = useSignal<FaultPreviewView | undefined>(undefined);
  const seq = useSignal<number | undefined>(undefined);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const model = useMemo(() => new StripModel(), []);
  useEffect(details.follow, []);
  const text = JSON.stringify({ rule, like });
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(async () => {
      if (rule === undefined) return;
      const request = like ?? (await requestFor(rule));
      const answer = await ask<FaultPreviewView>('POST', '/faults/preview', { rule, like: request });
      if (isGone) return;
      refusal.value = answer.ok ? undefined : answer.problem;
      if (!answer.ok) return;
      view.value = answer.value;
      seq.value = typeof request === 'number' ? request : undefined;
      model.setSource(sourceOf(previewPieces(answer.value), wireOfPreview(answer.value), 0));
      model.fit();
    }, PAUSE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [text]);

  const shown = view.value;
  return html`<section class="stack" aria-label="Preview">
    <h3>Preview ${shown ? html`<span class="dim">${subject(shown, seq.value)}</span>` : null}</h3>
    <${Strip} model=${model} label="What the rule will look like" />
    <p class=${refusal.value || shown?.matches === false ? 'long warn' : 'long dim'} role="status">${
      refusal.value
        ? `No preview: ${refusal.value.detail}`
        : shown
          ? summaryOf(shown)
          : 'Waiting for the simulator.'
    }</p>
    ${shown && !refusal.value ? html`<${Steps} view=${shown} />` : null}
  </section>`;
}

/** The newest request in the traffic that a rule is for, or one that is made up. */
async function requestFor(rule: unknown): Promise<number | object> {
  const when = whenOf(rule);
  const answer = await ask<{ events: Exclude<StreamedView, { kind: 'left out' }>[] }>(
    'GET',
    `/traffic?${requestsLike(when)}`,
  );
  const found = answer.ok ? answer.value.events.findLast((event) => isLike(when, event as never)) : undefined;
  if (found) return found.seq;
  const request = madeUpLike(when);
  const line = lineNamed(String(request.line ?? summary.peek()?.lines[0]?.name));
  const [first] = Object.values(line?.units ?? {});
  const name = line?.units[String(request.unit)] ?? first;
  const device = name === undefined ? undefined : await ask<DeviceView>('GET', pathOf('devices', name));
  return atDefined(request, device?.ok ? device.value.defined : undefined);
}

function subject(
  { request: { line, unit, function: code } }: FaultPreviewView,
  seq: number | undefined,
): string {
  const which = seq === undefined ? 'a made-up request' : `a request like #${seq}`;
  return `for ${which}: line ${line}, unit ${unit}, function ${code}`;
}

function summaryOf({ matches, silence, faults }: FaultPreviewView): string {
  if (!matches) return 'The rule does not match this request. This is the reply without the rule.';
  const failed = faults.filter(({ outcome }) => outcome !== 'applied');
  const lost = failed.map(({ kind, reason }) => `${kind} can’t act: ${reason}.`);
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
