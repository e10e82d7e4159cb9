import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { DeviceView } from '../../../../simulator/commands/schemas/device.js';
import type { RegisterView, SignalKindView } from '../../../../simulator/commands/schemas/value.js';
import { ask, whyOff } from '../../api.js';
import { serverNow } from '../../live.js';
import { past } from '../../past.js';
import { resource } from '../../resource.js';
import { Button, Fact, Field, into, Refused, sent, useRequest } from '../../ui/controls.js';
import { count } from '../../ui/format.js';
import { Plot } from '../../ui/plot.js';
import { type Course, extended, LONGEST_S } from '../../ui/plot-layout.js';
import { type Draft, draftOf, plain, readDraft, shapeOf } from '../../ui/schema-form/draft.js';
import { SchemaPart } from '../../ui/schema-form/schema-form.js';
import { say } from '../../ui/toast.js';
import { hrefWith, pinOf } from '../panel/pins.js';
import { Bits } from './bits.js';
import { changeBit, editSelected, writerText } from './editing.js';
import { textOf } from './formats.js';
import { valueText, whyNot } from './layout.js';
import { detail, readNow } from './reading.js';
import { format, known, selected, target, version } from './state.js';

/** The choice for a value without a signal. */
const NONE = 'none';

const kinds = resource(
  () => '/signals',
  (body: { readonly kinds: readonly SignalKindView[] }) =>
    body.kinds.map((kind) => ({
      ...kind,
      shape: shapeOf({ schema: kind.schema, components: { schemas: {} } }),
    })),
);

interface SignalFormProps {
  readonly device: string;
  readonly about: RegisterView | undefined;
}

/** The signal of a value, and a form for another one. Only a named value can have a signal. */
function SignalForm({ device, about }: SignalFormProps) {
  useEffect(kinds.follow, []);
  const chosen = useSignal<string | undefined>(undefined);
  const draft = useSignal<Draft | undefined>(undefined);
  const { refusal, send } = useRequest();
  const name = about?.name;
  if (about == null || name == null) return null;

  const [moving] = Object.entries(about.signal ?? {});
  const now = chosen.value ?? moving?.[0] ?? NONE;
  const kind = kinds.current.value?.find((each) => each.name === now);
  const written = now === moving?.[0] ? moving[1] : undefined;
  const shown = draft.value ?? (kind && draftOf(kind.shape, written)) ?? '';
  const settle = async (method: 'PUT' | 'DELETE', body: object | undefined, done: string) => {
    const [kindSent, draftSent] = [chosen.peek(), draft.peek()];
    const answer = await send(ask(method, pathOf('devices', device, 'signals', name), body));
    if (!answer.ok) return;
    say(done);
    await readNow();
    // Anything chosen or typed in the meantime stays.
    if (chosen.peek() === kindSent && draft.peek() === draftSent)
      [chosen.value, draft.value] = [undefined, undefined];
  };
  const put = (next = shown) =>
    kind && settle('PUT', { [now]: readDraft(kind.shape, next) ?? {} }, `The signal of ${name} is ${now}.`);
  const isPlaced = refusal.value?.problems.some(({ path }) => path === now || path.startsWith(`${now}.`));
  return html`<form class="signal stack" onSubmit=${sent(put)}>
    <${Field} label="signal" choices=${[NONE, ...(kinds.current.value ?? []).map((each) => each.name)]} value=${now}
      hint=${plain(kind?.value ?? 'No signal: the value changes when it is written.')} onInput=${(
        value: string,
      ) => {
        chosen.value = value;
        draft.value = undefined;
        refusal.value = undefined;
      }} />
    ${
      kind
        ? html`<${SchemaPart} shape=${kind.shape} draft=${shown} path=${now} label=${kind.shape.kind === 'object' ? '' : now}
            refusal=${refusal.value} onChange=${into(draft)} onSlid=${whyOff() === undefined ? (next: Draft) => void put(next) : undefined} />`
        : null
    }
    ${refusal.value && !isPlaced ? html`<${Refused}>${refusal.value.detail}<//>` : null}
    <div class="flow">
      <${Button} type="submit" kind="main" writes disabled=${!kind}>${moving?.[0] === now ? 'Change' : 'Start the signal'}<//>
      <${Button} writes disabled=${!moving} label="Freeze: the value stays as it is now" onClick=${() =>
        void settle('DELETE', undefined, `${name} is frozen.`)}>Freeze<//>
    </div>
  </form>`;
}

/** Everything known about the selected register: its meaning, its last writer, and its signal. */
export function Details({ device }: { readonly device: DeviceView }) {
  const address = selected.value;
  const word = version.value >= 0 ? known.wordAt(address) : undefined;
  // The page shows a register before the answer about it arrives.
  const about = [detail.value, known.valueAt(address)].find((each) => each && holds(each, address));
  const why = whyNot(known, address, whyOff());
  const key = `${device.name} ${target.value?.table} ${about?.address ?? address}`;
  return html`<aside class="details panel stack" tabindex="0" aria-label="The selected register">
    <h2 class="long">${about?.name ?? `${target.value?.table} ${address}`}</h2>
    <p class="now mono long">${about ? cut(valueText(about)) : '–'}</p>
    <p class="dim long">${about?.description ?? ''}</p>
    <dl class="facts">
      <${Fact} term="address">${addressText(address)}${about && about.registers > 1 ? `, ${about.registers} registers from ${about.address}` : ''}<//>
      <${Fact} term="type">${about ? about.type : word === null ? 'not defined' : '–'}<//>
      <${Fact} term="raw">${about ? cut(String(about.raw)) : '–'}<//>
      <${Fact} term="register">${typeof word === 'number' ? allForms(word) : '–'}<//>
      <${Fact} term="clients may">${about ? (about.writable ? 'read and write' : 'only read') : '–'}<//>
      <${Fact} term="reads, writes">${about ? `${count(about.reads)}, ${count(about.writes)}` : '–'}<//>
      <${Fact} term="last writer">${about ? writerText(about) : '–'}<//>
      ${about?.action ? html`<${Fact} term="action">${about.action}<//>` : null}
      ${about?.violates ? html`<${Fact} term="limits">its ${about.violates} would reject this value from a client<//>` : null}
      ${about?.trouble ? html`<${Fact} term="trouble">${about.trouble}<//>` : null}
      ${about && about.saturated > 0 ? html`<${Fact} term="did not fit">${`${count(about.saturated)} times`}<//>` : null}
      <${Fact} term="here you may">${why === undefined ? 'change it' : `only read: ${why}`}<//>
    </dl>
    <div class="flow"><${Button} why=${why} onClick=${editSelected}>Edit<//>
      <a href=${hrefWith(pinOf(device.name, about, target.value?.table ?? '', address))}>Pin to the panel</a></div>
    ${about ? html`<${Bits} about=${about} isPlain=${isOfBits(about)} why=${why} onBit=${(bit: number) => changeBit(about, bit)} />` : null}
    ${about && about.type !== 'string' && past.value === undefined ? html`<${ValuePlot} key=${key} about=${about} />` : null}
    <${SignalForm} key=${`signal ${key}`} device=${device.name} about=${about} />
  </aside>`;
}

/** True for a register that is shown as bits. */
function isOfBits({ type, registers, raw }: RegisterView): boolean {
  return type === 'bits' || (format.value === 'bits' && registers === 1 && typeof raw === 'number');
}

function holds({ table, address, registers }: RegisterView, wanted: number): boolean {
  return table === target.value?.table && wanted >= address && wanted < address + registers;
}

const MOST_SHOWN = 120;

/** The start of a long text, with its length. */
function cut(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}… (${count(text.length)} characters)` : text;
}

function addressText(address: number): string {
  return `${address} (0x${address.toString(16).toUpperCase().padStart(4, '0')})`;
}

function allForms(word: number): string {
  if (known.bits === 1) return String(word);
  const signed = word > 0x7fff ? `, ${textOf('signed', [word], 16)}` : '';
  return `0x${textOf('hex', [word], 16)}, ${word}${signed}, "${textOf('text', [word], 16)}"`;
}

/** A plot of a value since it was selected. */
function ValuePlot({ about }: { readonly about: RegisterView }) {
  const course = useSignal<Course>({ times: [], values: [] });
  useEffect(() => {
    course.value = extended(course.peek(), serverNow() / 1000, about.value, LONGEST_S);
  }, [about]);
  const { name, unit } = about;
  const minutes = LONGEST_S / 60;
  return html`<${Plot} label=${`${name ?? 'The register'}, last ${minutes} minutes`} unit=${unit ?? ''}
    course=${course.value} longestS=${LONGEST_S}>${`Since it was selected, up to ${minutes} min${unit ? `, in ${unit}` : ''}`}<//>`;
}
