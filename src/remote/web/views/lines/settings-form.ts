import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Answer, RemoteRefusal } from '../../../../common/rest-client/client.js';
import type { ServedSchema } from '../../../api/v1/schemas.js';
import { resource } from '../../resource.js';
import { Button, Field, into, Refused, useRequest } from '../../ui/controls.js';
import { Dialog } from '../../ui/dialog.js';
import {
  type Draft,
  draftOf,
  isObject,
  type ObjectShape,
  readDraft,
  shapeOf,
} from '../../ui/schema-form/draft.js';
import { problemAt, SchemaPart } from '../../ui/schema-form/schema-form.js';

/** The settings of a line, as the native file has them. Units are edited apart from them. */
export type Settings = Readonly<Record<string, unknown>>;

/** The shape of the form for a line of each kind: `serial`, `tcp`, `udp`, `tls`. */
const shapes = resource(
  () => '/schemas/line',
  ({ schema, components }: ServedSchema) =>
    new Map(
      Object.entries(schema.properties ?? {}).map(([kind, line]) => {
        const { fields, ...shape } = shapeOf({
          schema: line as ServedSchema['schema'],
          components,
        }) as ObjectShape;
        return [kind, { ...shape, fields: fields.filter(({ key }) => key !== 'units') }];
      }),
    ),
);

interface SettingsFormProps {
  readonly title: string;
  /** The text of the button. */
  readonly action: string;
  /** The initial values of the fields. */
  readonly first: Settings;
  readonly units: string;
  /** Whether the line is new, so that all settings are sent, and not only changed ones. */
  readonly isNew?: boolean;
  readonly send: (change: Settings) => Promise<Answer<unknown>>;
  readonly onClose: () => void;
  /** Fields before the settings. */
  readonly children?: (refusal: RemoteRefusal | undefined) => ComponentChildren;
}

/** A form for the settings of a line. It is made from the schema, and the simulator checks the values. */
export function SettingsForm({ title, action, first, isNew = false, onClose, ...props }: SettingsFormProps) {
  useEffect(shapes.follow, []);
  const units = useSignal(props.units);
  const draft = useSignal<Draft | undefined>(undefined);
  const { isBusy, refusal, send } = useRequest();
  const shape = [...(shapes.current.value ?? [])].find(([kind]) => kind in first)?.[1];
  const begun = shape && draftOf(shape, first);
  const submit = async () => {
    if (!shape || begun === undefined) return;
    const before = isNew ? {} : readDraft(shape, begun);
    const change = changeOf(before as Settings, readDraft(shape, draft.value ?? begun) as Settings);
    const hasUnits = units.value !== props.units || isNew;
    const answer = await send(props.send({ ...change, ...(hasUnits && { units: unitsOf(units.value) }) }));
    if (answer.ok) onClose();
  };
  const problem = refusal.value ?? shapes.problem.value;
  const buttons = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="main" type="submit" disabled=${isBusy.value || !shape}>${action}<//>`;
  return html`<${Dialog} title=${title} onSubmit=${() => void submit()} onClose=${onClose} buttons=${buttons}>
    ${problem && html`<${Refused}>Refused: ${problem.detail}<//>`}
    ${props.children?.(refusal.value)}
    ${
      shape &&
      html`<${SchemaPart} shape=${shape} draft=${draft.value ?? begun} path="" label=""
      refusal=${refusal.value} onChange=${into(draft)} />`
    }
    <${Field} label="units, one per line, as 1: meter" mono rows=${4} value=${units.value}
      problem=${problemAt(refusal.value, 'units', true)} onInput=${into(units)} />
    <p class="dim">An empty field restores the default.</p>
  <//>`;
}

/**
 * The change from one set of settings to another. Settings that are gone are null, which restores their
 * defaults.
 */
function changeOf(before: Settings, after: Settings): Settings {
  const gone = Object.keys(before).filter((key) => !(key in after));
  const changed = Object.entries(after).flatMap(([key, value]) => {
    const old = before[key];
    if (JSON.stringify(old) === JSON.stringify(value)) return [];
    return [[key, isObject(old) && isObject(value) ? changeOf(old, value) : value]];
  });
  return Object.fromEntries([...gone.map((key) => [key, null]), ...changed]);
}

/** Units as text, one per line: `1: meter`. */
export function unitsText(units: Readonly<Record<string, string>>): string {
  return Object.entries(units)
    .map(([unit, device]) => `${unit}: ${device}`)
    .join('\n');
}

/** Parses the text of units. Ranges such as `20-29: meter` are left for the simulator to expand. */
function unitsOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split(/[\n,]/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
