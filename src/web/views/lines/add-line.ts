import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { ask } from '../../api.js';
import { Field } from '../../ui/field.js';
import { say } from '../../ui/toast.js';
import type { SettingTexts } from './settings.js';
import { type Problems, SettingsForm } from './settings-form.js';

/** What the form begins with. The server has a default for everything that is not here. */
const KINDS: Readonly<Record<string, SettingTexts>> = {
  tcp: { 'tcp.host': '127.0.0.1', 'tcp.port': '5020' },
  serial: { 'serial.path': 'virtual', 'serial.baudRate': '19200', 'serial.parity': 'even' },
  udp: { 'udp.host': '127.0.0.1', 'udp.port': '5020' },
  tls: { 'tls.host': '127.0.0.1', 'tls.port': '802', 'tls.cert': 'server.pem', 'tls.key': 'server.key' },
};
const NOTHING: SettingTexts = {};

/** A form for a new line. @param device the name of one that there is, for the first unit */
export function AddLine({ device, onClose }: { readonly device: string; readonly onClose: () => void }) {
  const name = useSignal('');
  const kind = useSignal('tcp');
  const send = async (settings: Readonly<Record<string, unknown>>) => {
    const answer = await ask('POST', '/lines', { name: name.value, ...settings });
    if (answer.ok) say(`Line ${name.value} was added and is open.`);
    return answer;
  };
  return html`<${SettingsForm} key=${kind.value} title="Add a line" action="Add" before=${NOTHING}
    first=${KINDS[kind.value]} units=${device === '' ? '' : `1: ${device}`} send=${send} onClose=${onClose}>
    ${(problems: Problems) => html`<div class="settings">
      <${Field} label="name" mono value=${name.value} problem=${problems('name')}
        onInput=${(value: string) => {
          name.value = value;
        }} />
      <${Field} label="kind" choices=${Object.keys(KINDS)} value=${kind.value}
        onInput=${(value: string) => {
          kind.value = value;
        }} />
    </div>`}
  <//>`;
}
