import { html } from 'htm/preact';
import { useId } from 'preact/hooks';
import type { RemoteRefusal } from '../../../../common/rest-client/client.js';
import { Button, Field, typed } from '../controls.js';
import {
  type ChoiceShape,
  chosen,
  type Draft,
  draftOf,
  type LeafShape,
  type ListShape,
  type ObjectDraft,
  type ObjectShape,
  type Shape,
} from './draft.js';

interface PartProps<Kind extends Shape = Shape> {
  readonly shape: Kind;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  /** The path of the part in the value, in the simulator's form: `do[0].delay.ms`. */
  readonly path: string;
  readonly label: string;
  readonly refusal: RemoteRefusal | undefined;
  /** Another path of the part: the path of the object that the part abbreviates. */
  readonly also?: string | undefined;
  /** Suggested values in addition to the schema's, by path. */
  readonly offers?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The fields of objects that are always shown, in order, by the object's path; all fields when absent. */
  readonly first?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Called when a slider is released. If present, numbers with two limits have sliders. */
  readonly onSlid?: ((draft: Draft) => void) | undefined;
}

/** A part of a form generated from a schema. A refusal is shown next to the part that it is about. */
export function SchemaPart(props: PartProps) {
  switch (props.shape.kind) {
    case 'fixed':
      return null;
    case 'leaf':
      return html`<${LeafPart} ...${props} />`;
    case 'object':
      return html`<${ObjectPart} ...${props} />`;
    case 'choice':
      return html`<${ChoicePart} ...${props} />`;
    case 'list':
      return html`<${ListPart} ...${props} />`;
  }
}

function LeafPart({
  shape,
  draft,
  onChange,
  onSlid,
  path,
  also,
  label,
  refusal,
  offers,
}: PartProps<LeafShape>) {
  const { about, choices, range } = shape;
  const known = shape.offers.length > 0 && !choices ? shape.offers : undefined;
  const problem =
    problemAt(refusal, path, true) ?? (also === undefined ? undefined : problemAt(refusal, also, false));
  const field = html`<${Field} label=${label} mono value=${String(draft)} hint=${about} problem=${problem}
    choices=${choices && ['', ...choices]} offers=${offers?.[path] ?? known} onInput=${onChange} />`;
  if (!range || !onSlid) return field;
  const [min, max] = range;
  return html`<div>${field}<input type="range" aria-label=${`${label}, slider`} min=${min} max=${max}
    step=${(max - min) / 200} value=${draft === '' ? (min + max) / 2 : draft}
    onInput=${typed(onChange)} onChange=${typed(onSlid)} /></div>`;
}

function ObjectPart(props: PartProps<ObjectShape>) {
  const { shape, draft, onChange, onSlid, path, label, refusal, offers, first } = props;
  const values = draft as ObjectDraft;
  const { plainKey } = shape;
  const problem = plainKey === undefined ? problemAt(refusal, path, false) : undefined;
  const always = first?.[path];
  const seldom = shape.fields.filter(({ key }) => always?.includes(key) === false);
  const shown =
    always?.flatMap((key) => shape.fields.find((field) => field.key === key) ?? []) ?? shape.fields;
  // A part with subparts takes the full width.
  const parts = shown.some(({ shape: { kind } }) => kind === 'list') ? 'stack' : 'fields';
  const part = ({ key, shape: field }: ObjectShape['fields'][number]) => {
    const withNext = (next: Draft) => ({ ...values, [key]: next });
    return html`<${SchemaPart} key=${key} shape=${field} label=${key} refusal=${refusal} first=${first}
      path=${pathOf(key)} draft=${values[key] ?? ''} offers=${offers} also=${key === plainKey ? path : undefined}
      onChange=${(next: Draft) => onChange(withNext(next))} onSlid=${onSlid && ((next: Draft) => onSlid(withNext(next)))} />`;
  };
  const pathOf = (key: string) => (path === '' ? key : `${path}.${key}`);
  const isOpen = ({ key }: ObjectShape['fields'][number]) =>
    !isBlank(values[key] ?? '') || problemAt(refusal, pathOf(key), true) !== undefined;
  return html`<fieldset class="schema-part">
    <legend class=${label === '' ? 'unseen' : ''}>${label || 'parameters'}</legend>
    ${shape.about === '' || label === '' ? null : html`<p class="dim">${shape.about}</p>`}
    ${problem === undefined ? null : html`<p class="bad long">${problem}</p>`}
    <div class=${parts}>${shown.map(part)}</div>
    ${
      seldom.length === 0
        ? null
        : html`<details open=${seldom.some(isOpen) || undefined}>
            <summary>${seldom.map(({ key }) => key).join(', ')}</summary>
            <div class=${parts}>${seldom.map(part)}</div>
          </details>`
    }
  </fieldset>`;
}

/** True if nothing was entered in a draft. */
function isBlank(draft: Draft): boolean {
  return draft === '' || (typeof draft === 'object' && Object.values(draft).every(isBlank));
}

function ChoicePart({ shape, draft, onChange, path, label, refusal, offers }: PartProps<ChoiceShape>) {
  const [[key, of] = ['', '']] = Object.entries(draft as ObjectDraft);
  const option = shape.options.find((each) => each.key === key);
  const isLeaf = option?.shape.kind === 'leaf';
  return html`<div class="schema-choice stack">
    <${Field} label=${label} mono value=${key} choices=${shape.options.map((each) => each.key)}
      problem=${problemAt(refusal, path, false)} onInput=${(next: string) => onChange(chosen(shape, next))} />
    <p class="dim small">${option?.about ?? ''}</p>
    ${
      option
        ? html`<${SchemaPart} key=${key} shape=${option.shape} label=${isLeaf ? key : ''} path=${`${path}.${key}`}
            draft=${of} refusal=${refusal} offers=${offers}
            onChange=${(next: Draft) => onChange({ [key]: next })} />`
        : null
    }
  </div>`;
}

/** The names of items, by the key of the list. */
const ITEMS: Readonly<Record<string, string>> = { do: 'fault', schedule: 'window', steps: 'step' };

function ListPart({ shape, draft, onChange, path, label, refusal, offers }: PartProps<ListShape>) {
  const items = draft as readonly Draft[];
  const id = useId();
  const problem = problemAt(refusal, path, false);
  const item = ITEMS[label] ?? label;
  return html`<section class="schema-list stack" aria-labelledby=${id}>
    <h3 id=${id}>${label}</h3>
    ${shape.about === '' ? null : html`<p class="dim">${shape.about}</p>`}
    ${problem === undefined ? null : html`<p class="bad long">${problem}</p>`}
    ${items.map(
      (each, i) => html`<div class="item" key=${i}>
        <${SchemaPart} shape=${shape.item} draft=${each} label=${`${item} ${i + 1}`} path=${`${path}[${i}]`}
          refusal=${refusal} offers=${offers} onChange=${(next: Draft) => onChange(items.with(i, next))} />
        <${Button} label=${`Remove ${item} ${i + 1}`} onClick=${() => onChange(items.toSpliced(i, 1))}>×<//>
      </div>`,
    )}
    <${Button} onClick=${() => onChange([...items, draftOf(shape.item, undefined)])}>${items.length === 0 ? 'Add a' : 'Add another'} ${item}<//>
  </section>`;
}

/** The message about a path; with `within`, also about paths inside it. */
export function problemAt(
  refusal: RemoteRefusal | undefined,
  path: string,
  within: boolean,
): string | undefined {
  const about = refusal?.problems.filter(
    (each) =>
      each.path === path ||
      (within && (each.path.startsWith(`${path}.`) || each.path.startsWith(`${path}[`))),
  );
  return about?.map(({ message }) => message).join('; ') || undefined;
}
