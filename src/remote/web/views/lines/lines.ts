import { computed, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { RemoteRefusal } from '../../../../common/rest-client/client.js';
import { ask, mayWrite } from '../../api.js';
import { summary } from '../../live.js';
import { Button, Empty, Field, into, put } from '../../ui/controls.js';
import { problemAt } from '../../ui/schema-form/schema-form.js';
import { say } from '../../ui/toast.js';
import { details } from './details.js';
import { LinePanel } from './line-panel.js';
import { type Settings, SettingsForm } from './settings-form.js';
import './lines.css';

/** Separates names. No name contains a control character. */
const SEPARATOR = '\n';

/**
 * The names of lines as one text, which differs only when a line has come or gone. So the list is not made
 * again every second.
 */
const names = computed(() => summary.value?.lines.map(({ name }) => name).join(SEPARATOR) ?? '');

const overview = computed(() => {
  const { lines = [] } = summary.value ?? {};
  const open = lines.filter(({ state }) => state === 'open').length;
  return `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}, ${open} open`;
});

/** The view `/lines`: every line with its state, its figures and its controls. */
export function LinesView() {
  useEffect(details.follow, []);
  const isAdding = useSignal(false);
  if (names.value === '') return html`<${Empty} title="Lines">Waiting for the simulator.<//>`;
  const known = details.current.value;
  const [device = ''] = [...(known?.values() ?? [])].flatMap(({ units }) => Object.values(units));
  return html`<div class="stack"><div class="flow apart">
      <span>${overview}</span>
      <${Button} kind="main" disabled=${!mayWrite() || !known} onClick=${put(isAdding, true)}>Add a line<//>
    </div>
    <div class="stack">
      ${names.value.split(SEPARATOR).map((name) => html`<${LinePanel} key=${name} name=${name} />`)}
    </div>
    ${isAdding.value ? html`<${AddLine} device=${device} onClose=${put(isAdding, false)} />` : null}</div>`;
}

/** The initial settings of a new line, by kind. The simulator has defaults for all others. */
const KINDS: Readonly<Record<string, Settings>> = {
  tcp: { tcp: { host: '127.0.0.1', port: 5020 } },
  serial: { serial: { path: 'virtual', baudRate: 19200, parity: 'even' } },
  udp: { udp: { host: '127.0.0.1', port: 5020 } },
  tls: { tls: { host: '127.0.0.1', port: 802, cert: 'server.pem', key: 'server.key' } },
};

/** A form for a new line. @param device device of the first unit; empty for none */
function AddLine({ device, onClose }: { readonly device: string; readonly onClose: () => void }) {
  const name = useSignal('');
  const kind = useSignal('tcp');
  const send = async (settings: Settings) => {
    const answer = await ask('POST', '/lines', { name: name.value, ...settings });
    if (answer.ok) say(`Line ${name.value} was added.`);
    return answer;
  };
  return html`<${SettingsForm} key=${kind.value} title="Add a line" action="Add" isNew
    first=${KINDS[kind.value]} units=${device === '' ? '' : `1: ${device}`} send=${send} onClose=${onClose}>
    ${(refusal: RemoteRefusal | undefined) => html`<div class="fields">
      <${Field} label="name" mono value=${name.value} problem=${problemAt(refusal, 'name', false)}
        onInput=${into(name)} />
      <${Field} label="kind" choices=${Object.keys(KINDS)} value=${kind.value}
        onInput=${into(kind)} />
    </div>`}
  <//>`;
}
