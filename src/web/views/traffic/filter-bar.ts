import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { Refusal } from '../../../rest/client.js';
import { summary } from '../../live.js';
import { Button } from '../../ui/controls.js';
import { Field } from '../../ui/field.js';
import { FILTERS, type FilterName } from './filter.js';

interface FilterBarProps {
  readonly filter: URLSearchParams;
  readonly refusal: Refusal | undefined;
  readonly onChange: (values: Readonly<Record<FilterName, string>>) => void;
}

const HINTS: Partial<Record<FilterName, readonly string[]>> = {
  direction: ['in', 'out', 'none'],
  kind: [
    'request',
    'reply',
    'foreign request,foreign response',
    'damaged,discarded',
    'broadcast',
    'duplicate',
    'dropped',
    'collision',
    'line',
    'client,client gone,client rejected',
    'test',
  ],
  since: ['30s', '5m', '1h'],
};

const NONE = Object.fromEntries(FILTERS.map((name) => [name, ''])) as Record<FilterName, string>;

/** The filters of the API. A field takes effect when it is left, or on Enter. */
export function FilterBar({ filter, refusal, onChange }: FilterBarProps) {
  const text = filter.toString();
  const values = useSignal(valuesOf(filter));
  useEffect(() => {
    values.value = valuesOf(filter);
  }, [text]);
  const set = FILTERS.filter((name) => filter.has(name));
  const problemOf = (name: FilterName) => refusal?.problems.find(({ path }) => path === name)?.message;
  const offers = { ...HINTS, line: summary.value?.lines.map(({ name }) => name) ?? [] };
  const apply = () => onChange(values.value);
  return html`<details class="filters" open=${isWide}>
    <summary>Filter: ${set.length === 0 ? 'off' : set.map((name) => `${name} ${filter.getAll(name).join()}`).join(', ')}</summary>
    <form onChange=${apply} onSubmit=${(event: Event) => {
      event.preventDefault();
      apply();
    }}>
      ${FILTERS.map(
        (
          name,
        ) => html`<${Field} key=${name} label=${name} mono value=${values.value[name]} problem=${problemOf(name)}
          offers=${offers[name]} onInput=${(value: string) => {
            values.value = { ...values.value, [name]: value };
          }} />`,
      )}
      <${Button} disabled=${set.length === 0} onClick=${() => onChange(NONE)}>Clear<//>
    </form>
  </details>`;
}

/** A phone shows them when asked. */
const isWide = matchMedia('(min-width: 900px)').matches;

function valuesOf(filter: URLSearchParams): Record<FilterName, string> {
  return Object.fromEntries(FILTERS.map((name) => [name, filter.getAll(name).join()])) as typeof NONE;
}
