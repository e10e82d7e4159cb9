import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { RegisterView, SignalKindView } from '../../../../simulator/commands/schemas/value.js';
import { ask, mayWrite } from '../../api.js';
import { resource } from '../../resource.js';
import { Button, Field, into, Refused, sent, useRequest } from '../../ui/controls.js';
import { type Draft, draftOf, readDraft } from '../../ui/schema-form/draft.js';
import { SchemaPart } from '../../ui/schema-form/schema-form.js';
import { plain, shapeOf } from '../../ui/schema-form/shape.js';
import { say } from '../../ui/toast.js';
import { readNow } from './reading.js';

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

/** The signal of a value, and a form for another one. Only a value with a name can have a signal. */
export function SignalForm({ device, about }: SignalFormProps) {
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
    const answer = await send(ask(method, pathOf('devices', device, 'signals', name), body));
    if (!answer.ok) return;
    [chosen.value, draft.value] = [undefined, undefined];
    say(done);
    await readNow();
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
            refusal=${refusal.value} onChange=${into(draft)} onSlid=${mayWrite() ? (next: Draft) => void put(next) : undefined} />`
        : null
    }
    ${refusal.value && !isPlaced ? html`<${Refused}>${refusal.value.detail}<//>` : null}
    <div class="flow">
      <${Button} type="submit" kind="main" disabled=${!mayWrite() || !kind}>${moving?.[0] === now ? 'Change' : 'Start the signal'}<//>
      <${Button} disabled=${!mayWrite() || !moving} label="Freeze: the value stays as it is now" onClick=${() =>
        void settle('DELETE', undefined, `${name} is frozen.`)}>Freeze<//>
    </div>
  </form>`;
}
