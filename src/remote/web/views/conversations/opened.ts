import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { pathOf } from '../../../../common/rest-client/client.js';
import { counted } from '../../../../common/words.js';
import { functionOf } from '../../../../modbus/protocol/function-table.js';
import { ask } from '../../api.js';
import { recorded } from '../../recorded.js';
import { hrefOf } from '../../route.js';
import { Button, Field, put } from '../../ui/controls.js';
import { sayAnswer } from '../../ui/toast.js';
import { expectation, lengthOf, middle, type Pair, type Talk } from './model.js';

/** Height of a pair, and the width of a drawing, in the units of their view boxes. */
const PAIR = 8;
const WIDE = 1000;

/** The last pairs of a poll, aligned at the end of the request: late replies make a ragged edge. */
function Pairs({ pairs }: { readonly pairs: readonly Pair[] }) {
  const before = Math.max(1, ...pairs.map(({ startUs, endUs }) => endUs - startUs));
  const after = Math.max(1, ...pairs.map(({ endUs, repliedUs = endUs }) => repliedUs - endUs));
  const x = (us: number) => ((us + before) / (before + after)) * WIDE;
  const bar = (from: number, to: number, i: number) =>
    `M${x(from).toFixed(1)} ${i * PAIR + 1}h${Math.max(2, x(to) - x(from)).toFixed(1)}v${PAIR - 2}h${-Math.max(2, x(to) - x(from)).toFixed(1)}z`;
  return html`<figure>
    <figcaption class="dim">The last ${counted(pairs.length, 'exchange')}, aligned at the end of the request; the right edge is ${lengthOf(after)} later</figcaption>
    <svg class="drawing pairs" height=${pairs.length * PAIR} viewBox=${`0 0 ${WIDE} ${pairs.length * PAIR}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="asked" d=${pairs.map(({ startUs, endUs }, i) => bar(startUs - endUs, 0, i)).join('')} />
      ${pairs.map(({ endUs, replyUs, repliedUs, outcome }, i) =>
        replyUs === undefined
          ? html`<path class=${outcome} d=${`M${x(0)} ${i * PAIR + 1}h6v${PAIR - 2}h-6z`} />`
          : html`<path class=${outcome} d=${bar(replyUs - endUs, (repliedUs ?? replyUs) - endUs, i)} />`,
      )}
    </svg>
  </figure>`;
}

const BINS = 40;

/** The distribution of reply times. */
function Histogram({ times }: { readonly times: readonly number[] }) {
  if (times.length === 0) return html`<p class="dim">No reply yet.</p>`;
  const most = Math.max(...times, 1);
  const bins = new Array<number>(BINS).fill(0);
  for (const us of times) {
    const at = Math.min(BINS - 1, Math.floor((us / most) * BINS));
    bins[at] = (bins[at] ?? 0) + 1;
  }
  const high = Math.max(...bins);
  const words = [
    `half within ${lengthOf(middle(times) ?? 0)}`,
    `99 % within ${lengthOf(middle(times, 0.99) ?? 0)}`,
  ];
  return html`<figure>
    <figcaption class="dim">Turnaround of the last ${times.length}: ${words.join(', ')}; from 0 to ${lengthOf(most)}</figcaption>
    <svg class="drawing histogram" height="64" viewBox=${`0 0 ${BINS} 64`} preserveAspectRatio="none" aria-hidden="true">
      <path d=${bins.map((n, i) => `M${i} 64h.9v${(-64 * n) / high}h-.9z`).join('')} />
    </svg>
  </figure>`;
}

interface OpenedProps {
  readonly of: Talk;
  /** The device that is polled; undefined if it is not one of ours. */
  readonly device: string | undefined;
}

/** An opened poll: its last pairs, its reply times, and what to do about it. */
export function OpenedConversation({ of, device }: OpenedProps) {
  const isExpecting = useSignal(false);
  const { line, unit, code, address, quantity, pairs, times, exceptions } = of;
  const table = functionOf(code)?.table;
  const define = async () => {
    const body = { table, address, quantity, write: table === 'coils' || table === 'holding' };
    const path = pathOf('devices', device as string, 'registers');
    sayAnswer(await ask('POST', path, body), `${device} now defines the addresses of this request.`);
  };
  const aim = { line, unit: String(unit), function: String(code) };
  const range =
    address === undefined ? {} : { address: `${address}-${address + Math.max(1, quantity ?? 1) - 1}` };
  const last = pairs.at(-1)?.seq;
  return html`<div class="stack">
    <div class="flow">
      ${last === undefined || recorded ? null : html`<a href=${hrefOf('faults', [], { like: String(last) })}>Break this</a>`}
      ${
        device !== undefined && table !== undefined && exceptions.has(2) && address !== undefined && !recorded
          ? html`<${Button} writes onClick=${() => void define()}>Define these registers<//>`
          : null
      }
      <${Button} onClick=${put(isExpecting, !isExpecting.value)}>Expect this in a test<//>
      ${
        device === undefined || table === undefined
          ? null
          : html`<a href=${hrefOf('registers', [device, table], { from: String(address ?? 0) })}>${recorded ? 'The registers' : 'Watch the registers'}</a>`
      }
      <a href=${hrefOf('traffic', [], { ...aim, ...range })}>Its traffic</a>
    </div>
    ${
      isExpecting.value
        ? html`<${Field} label="scenario step to copy" mono rows=${3} value=${expectation(of)} onInput=${() => {}} />`
        : null
    }
    <div class="drawings columns"><${Pairs} pairs=${pairs} /><${Histogram} times=${times} /></div>
  </div>`;
}
