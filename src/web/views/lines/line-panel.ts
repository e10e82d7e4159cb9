import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import type { LineView } from '../../../control/schemas/line.js';
import type { Summary } from '../../../control/schemas/summary.js';
import { ask, pathOf } from '../../api.js';
import { summary } from '../../live.js';
import { hrefOf } from '../../route.js';
import { mayWrite } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { count, duration, measured } from '../../ui/format.js';
import { useSeen } from '../../ui/seen.js';
import { Sparkline } from '../../ui/sparkline.js';
import { State } from '../../ui/state.js';
import { say } from '../../ui/toast.js';
import { details } from './details.js';
import { formatText, unitsLine } from './facts.js';
import { histories, LENGTH } from './history.js';
import { textsOf, unitsText } from './settings.js';
import { SettingsForm } from './settings-form.js';

type LineSummary = Summary['lines'][number];

const TONES = { open: 'good', waiting: 'warn', failed: 'bad', stopped: 'off' } as const;
const COMMANDS = { start: 'was opened', stop: 'was closed', restart: 'was closed and opened again' };

/** `baudRate` of a counter's name as words: `damaged frames`. */
const words = (key: string) => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A line: how it is, what passes it, and what can be done with it. It stays as it was while nobody sees it. */
export function LinePanel({ name }: { readonly name: string }) {
  const self = useRef<HTMLElement>(null);
  const isSeen = useSeen(self);
  // A signal that is not read while rendering causes no rendering.
  const now = isSeen ? summary.value : summary.peek();
  const line = now?.lines.find((each) => each.name === name);
  const history = (isSeen ? histories.value : histories.peek()).get(name);
  const detail = (isSeen ? details.value : details.peek()).get(name);
  if (!line) return null;
  const { state, reason, place, uptime, clients, counters } = line;
  return html`<article ref=${self} class="line" aria-label=${`Line ${name}`}>
    <div class="head">
      <h2 class="long">${name}</h2>
      <${State} tone=${TONES[state]}>${state}<//>
      <span class="mono long">${place}</span>
      <a href=${`${hrefOf('traffic')}?${new URLSearchParams({ line: name })}`}>Traffic<span class="unseen"> of ${name}</span></a>
      <${Actions} line=${line} detail=${detail} />
    </div>
    ${reason === null ? null : html`<p class=${`reason long ${TONES[state]}`}>${reason}</p>`}
    <dl class="facts">
      <${Fact} term="format">${detail ? formatText(detail) : '–'}<//>
      <${Fact} term="t1.5">${detail?.times ? `${measured(detail.times.t15)} ms` : '–'}<//>
      <${Fact} term="t3.5">${detail?.times ? `${measured(detail.times.t35)} ms` : '–'}<//>
      <${Fact} term="clients">${clients === undefined ? '–' : count(clients)}<//>
      <${Fact} term="open for">${uptime === null ? '–' : duration(uptime)}<//>
      <${Fact} term="units">${detail ? unitsLine(detail.units) : '–'}<//>
    </dl>
    <div class="measured">
      <div class="courses">
        <${Sparkline} label="requests" unit="/s" values=${history?.requests ?? []} width=${LENGTH} format=${measured} />
        <${Sparkline} label="turnaround" unit="ms" values=${history?.turnaround ?? []} width=${LENGTH} format=${measured} />
      </div>
      <dl class="counters">
        ${Object.entries(counters).map(([key, value]) => {
          const rate = history?.rates?.[key as keyof typeof counters];
          return html`<div class=${value === 0 ? 'zero' : ''}><dt>${words(key)}</dt><dd>${count(value)}</dd>
            <dd class="rate">${rate ? `${measured(rate)}/s` : ''}</dd></div>`;
        })}
      </dl>
    </div>
  </article>`;
}

function Fact({ term, children }: { readonly term: string; readonly children: string }) {
  return html`<div><dt>${term}</dt><dd class="long">${children}</dd></div>`;
}

function Actions({ line, detail }: { readonly line: LineSummary; readonly detail: LineView | undefined }) {
  const { name, state } = line;
  const isBusy = useSignal(false);
  const dialog = useSignal<'change' | 'remove' | undefined>(undefined);
  const close = () => {
    dialog.value = undefined;
  };
  const act = async (command: keyof typeof COMMANDS) => {
    isBusy.value = true;
    const answer = await ask('POST', pathOf('lines', name, command));
    isBusy.value = false;
    if (answer.ok) say(`Line ${name} ${COMMANDS[command]}.`);
    else say(answer.problem.detail, 'refused');
  };
  const remove = async () => {
    close();
    const answer = await ask('DELETE', pathOf('lines', name));
    if (answer.ok) say(`Line ${name} was removed.`);
    else say(answer.problem.detail, 'refused');
  };
  const change = async (settings: object) => {
    const answer = await ask('PUT', pathOf('lines', name), settings);
    if (answer.ok) say(`Line ${name} was changed.`);
    return answer;
  };
  const isOff = isBusy.value || !mayWrite();
  const isStopped = state === 'stopped' || state === 'failed';
  return html`<div class="actions">
    <${Button} disabled=${isOff} label=${`${isStopped ? 'Start' : 'Stop'} ${name}`}
      onClick=${() => void act(isStopped ? 'start' : 'stop')}>${isStopped ? 'Start' : 'Stop'}<//>
    <${Button} disabled=${isOff} label=${`Restart ${name}`} onClick=${() => void act('restart')}>Restart<//>
    <${Button} disabled=${isOff || !detail} label=${`Change ${name}`} onClick=${() => {
      dialog.value = 'change';
    }}>Change<//>
    <${Button} kind="danger" disabled=${isOff} label=${`Remove ${name}`} onClick=${() => {
      dialog.value = 'remove';
    }}>Remove<//>
    ${
      dialog.value === 'change' && detail
        ? html`<${SettingsForm} title=${`Change ${name}`} action="Change" before=${textsOf(detail.settings)}
            units=${unitsText(detail.units)} send=${change} onClose=${close} />`
        : null
    }
    ${
      dialog.value === 'remove'
        ? html`<${Dialog} title=${`Remove ${name}?`} onSubmit=${() => void remove()} onClose=${close}
            buttons=${html`<${Button} onClick=${close}>Cancel<//><${Button} kind="danger" type="submit">Remove<//>`}>
            <p>It is closed, and its clients are disconnected. Its devices stay.</p>
          <//>`
        : null
    }
  </div>`;
}
