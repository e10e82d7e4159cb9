import { type Signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Offer, offersFor, type SeenValues } from '../../../../simulator/filter/complete.js';
import { mistakeText, parseFilter } from '../../../../simulator/filter/parse.js';
import { serverNow } from '../../live.js';
import { typed } from '../../ui/controls.js';
import './filter-field.css';

/** A filter as the user types it. */
interface WrittenFilter {
  readonly draft: Signal<string>;
  /** What is wrong with it; undefined if nothing is, or while it is being typed. */
  readonly problem: Signal<string | undefined>;
  /** Puts the draft in force, unless something is wrong with it. */
  readonly apply: () => void;
}

/** @param applied the filter in force */
export function useFilter(applied: string, onChange: (text: string) => void): WrittenFilter {
  const draft = useSignal(applied);
  const problem = useSignal<string | undefined>(undefined);
  const check = () => {
    const parsed = parseFilter(draft.peek(), { now: serverNow() });
    problem.value = parsed.ok ? undefined : mistakeText(parsed.error);
    return parsed.ok;
  };
  useEffect(() => {
    draft.value = applied;
    check();
  }, [applied]);
  const apply = () => {
    if (check() && draft.peek().trim() !== applied) onChange(draft.peek().trim());
  };
  return { draft, problem, apply };
}

interface FilterFieldProps {
  readonly written: WrittenFilter;
  /** Why the simulator rejects the filter in force; undefined if it does not. */
  readonly refusal: string | undefined;
  /** Values suggested for fields. */
  readonly seen: () => SeenValues;
}

/**
 * The field for a filter. While the user types, it suggests what can come next: a combobox with a list, as in
 * the ARIA Authoring Practices. The filter takes effect on Enter, and when the field loses the focus.
 */
export function FilterField({ written, refusal, seen }: FilterFieldProps) {
  const { draft, problem } = written;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const offers = useSignal<readonly Offer[]>([]);
  const active = useSignal(-1);
  const close = () => {
    offers.value = [];
    active.value = -1;
  };
  const offer = () => {
    const caret = input.current?.selectionStart ?? draft.peek().length;
    offers.value = offersFor(draft.peek().slice(0, caret), seen());
    active.value = -1;
  };
  const type = (text: string) => {
    draft.value = text;
    problem.value = undefined;
    offer();
  };
  const apply = () => {
    close();
    written.apply();
  };
  const take = ({ from, text }: Offer) => {
    const field = input.current as HTMLInputElement;
    field.focus();
    field.setRangeText(text, from, field.selectionStart ?? field.value.length, 'end');
    type(field.value);
  };
  const pressed = (event: KeyboardEvent) => {
    const { length } = offers.value;
    const chosen = offers.value[active.value];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (length === 0) offer();
      else active.value = (active.value + (event.key === 'ArrowDown' ? 1 : length)) % length;
    } else if (event.key === 'Enter') chosen ? take(chosen) : apply();
    else if (event.key === 'Escape' && length > 0) close();
    else return;
    event.preventDefault();
  };
  const said = problem.value ?? refusal;
  const isOpen = offers.value.length > 0;
  return html`<div class="filter-field field">
    <label for=${id}>filter</label>
    <input id=${id} class="mono" ref=${input} role="combobox" aria-autocomplete="list" aria-expanded=${isOpen}
      aria-controls=${`${id}-offers`} aria-activedescendant=${active.value < 0 ? undefined : `${id}-${active.value}`}
      aria-invalid=${said !== undefined} aria-describedby=${said === undefined ? undefined : `${id}-note`}
      autocomplete="off" spellcheck=${false} placeholder="unit=1 fc=3 late>50ms" value=${draft.value}
      onInput=${typed(type)} onClick=${offer} onKeyDown=${pressed} onBlur=${apply} />
    <ul id=${`${id}-offers`} role="listbox" aria-label="suggestions" hidden=${!isOpen}>
      ${offers.value.map(
        (each, i) => html`<li id=${`${id}-${i}`} role="option" aria-selected=${i === active.value}
          onMouseDown=${(event: Event) => {
            event.preventDefault();
            take(each);
          }}><b class="mono">${each.text}</b> <span class="dim">${each.about}</span></li>`,
      )}
    </ul>
    ${said === undefined ? null : html`<p class="note refused long" id=${`${id}-note`} role="alert">${said}</p>`}
  </div>`;
}
