import { html } from 'htm/preact';
import { useId } from 'preact/hooks';
import type { Refusal } from '../../api.js';
import { Button } from '../button.js';
import { Field } from '../field.js';
import { choiceOf, chosen, type Draft, draftOf, type ObjectDraft, withChoice } from './draft.js';
import type { ChoiceShape, ListShape, ObjectShape, Shape } from './shape.js';
import './schema-form.css';

interface PartProps<Kind extends Shape = Shape> {
  readonly shape: Kind;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  /** Where the part stands in the value, as the server names it: `do[0].delay.ms`. */
  readonly path: string;
  readonly label: string;
  readonly refusal: Refusal | undefined;
  /** Another place that the part stands for: that of the object whose plain value it is. */
  readonly also?: string | undefined;
  /** What is offered beside the values that the schema names, by path. */
  readonly offers?: Readonly<Record<string, readonly string[]>>;
}

/** A part of a form that is made of a schema. What the server refuses stands beside the part that it is about. */
export function SchemaPart(props: PartProps) {
  const { shape, draft, onChange, path, also, label, refusal, offers } = props;
  switch (shape.kind) {
    case 'fixed':
      return null;
    case 'leaf':
      return html`<${Field} label=${label} mono value=${String(draft)} hint=${shape.about} onInput=${onChange}
        problem=${problemAt(refusal, path, true) ?? (also === undefined ? undefined : problemAt(refusal, also, false))} choices=${shape.choices && ['', ...shape.choices]}
        offers=${offers?.[path] ?? (shape.offers.length > 0 && !shape.choices ? shape.offers : undefined)} />`;
    case 'object':
      return html`<${ObjectPart} ...${props} />`;
    case 'choice':
      return html`<${ChoicePart} ...${props} />`;
    case 'list':
      return html`<${ListPart} ...${props} />`;
  }
}

function ObjectPart({ shape, draft, onChange, path, label, refusal, offers }: PartProps<ObjectShape>) {
  const values = draft as ObjectDraft;
  const { plainKey } = shape;
  const problem = plainKey === undefined ? problemAt(refusal, path, false) : undefined;
  return html`<fieldset class="schema-part">
    <legend class=${label === '' ? 'unseen' : ''}>${label || 'parameters'}</legend>
    ${shape.about === '' || label === '' ? null : html`<p class="dim">${shape.about}</p>`}
    ${problem === undefined ? null : html`<p class="wrong long">${problem}</p>`}
    <div class="fields">${shape.fields.map(
      ({ key, shape: field }) => html`<${SchemaPart} key=${key} shape=${field} label=${key} refusal=${refusal}
        path=${path === '' ? key : `${path}.${key}`} draft=${values[key] ?? ''} offers=${offers} also=${key === plainKey ? path : undefined}
        onChange=${(next: Draft) => onChange({ ...values, [key]: next })} />`,
    )}</div>
  </fieldset>`;
}

function ChoicePart({ shape, draft, onChange, path, label, refusal, offers }: PartProps<ChoiceShape>) {
  const { key, of } = choiceOf(draft);
  const option = shape.options.find((each) => each.key === key);
  const isLeaf = option?.shape.kind === 'leaf';
  return html`<div class="schema-choice">
    <${Field} label=${label} mono value=${key} choices=${shape.options.map((each) => each.key)}
      problem=${problemAt(refusal, path, false)} onInput=${(next: string) => onChange(chosen(shape, next))} />
    <p class="dim does">${option?.about ?? ''}</p>
    ${
      option
        ? html`<${SchemaPart} key=${key} shape=${option.shape} label=${isLeaf ? key : ''} path=${`${path}.${key}`}
            draft=${of} refusal=${refusal} offers=${offers}
            onChange=${(next: Draft) => onChange(withChoice(draft, next))} />`
        : null
    }
  </div>`;
}

function ListPart({ shape, draft, onChange, path, label, refusal, offers }: PartProps<ListShape>) {
  const items = draft as readonly Draft[];
  const id = useId();
  const problem = problemAt(refusal, path, false);
  return html`<section class="schema-list" aria-labelledby=${id}>
    <h3 id=${id}>${label}</h3>
    ${shape.about === '' ? null : html`<p class="dim">${shape.about}</p>`}
    ${problem === undefined ? null : html`<p class="wrong long">${problem}</p>`}
    ${items.map(
      (item, i) => html`<div class="item" key=${i}>
        <${SchemaPart} shape=${shape.item} draft=${item} label=${`${label} ${i + 1}`} path=${`${path}[${i}]`}
          refusal=${refusal} offers=${offers} onChange=${(next: Draft) => onChange(items.with(i, next))} />
        <${Button} label=${`Leave out ${label} ${i + 1}`} onClick=${() => onChange(items.toSpliced(i, 1))}>×<//>
      </div>`,
    )}
    <${Button} onClick=${() => onChange([...items, draftOf(shape.item, undefined)])}>${`Add to ${label}`}<//>
  </section>`;
}

/** What was said about a place, and with `within` about what is in it. */
function problemAt(refusal: Refusal | undefined, path: string, within: boolean): string | undefined {
  const about = refusal?.problems.filter(
    (each) =>
      each.path === path ||
      (within && (each.path.startsWith(`${path}.`) || each.path.startsWith(`${path}[`))),
  );
  return about?.map(({ message }) => message).join('; ') || undefined;
}
