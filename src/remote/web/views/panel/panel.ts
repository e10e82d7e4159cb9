import './panel.css';
import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import type { RegisterView } from '../../../../simulator/commands/schemas/value.js';
import { ask, whyOff } from '../../api.js';
import { serverNow } from '../../live.js';
import { go, hrefOf, route } from '../../route.js';
import { Button, Checkbox, Empty, into, sent, typed } from '../../ui/controls.js';
import { Plot } from '../../ui/plot.js';
import { type Course, extended, LONGEST_S } from '../../ui/plot-layout.js';
import { say } from '../../ui/toast.js';
import { Bits } from '../registers/bits.js';
import { sayOddities, typedValue, withBit } from '../registers/editing.js';
import { valueText, whyMoved } from '../registers/layout.js';
import { EVERY_MS, HIDDEN_EVERY_MS } from '../registers/reading.js';
import { devices, followDevices } from '../registers/state.js';
import { pinned } from './pins.js';
import {
  MOST_CARDS,
  type Question,
  questionsOf,
  valuesFor,
  type WatchedPart,
  watchedOf,
  watchList,
} from './watch.js';

/** What was read for a card, or why it could not be read. */
type CardContent = readonly RegisterView[] | string;

const shown = signal<ReadonlyMap<string, CardContent>>(new Map());

/** The courses of values by card. They are kept while other views are shown. */
const courses = signal<ReadonlyMap<string, Course>>(new Map());

/**
 * Reads some cards. If a device rejects a request for several cards, they are requested one by one: one name
 * may be wrong.
 */
async function answersTo({
  device,
  query,
  cards,
}: Question): Promise<readonly (readonly [string, CardContent])[]> {
  const path = `${pathOf('devices', device, 'registers')}?${new URLSearchParams(query)}`;
  const answer = await ask<{ registers: RegisterView[] }>('GET', path);
  if (!answer.ok && cards.length > 1)
    return (await Promise.all(cards.flatMap((card) => questionsOf([card])).map(answersTo))).flat();
  return cards.map((card) => [
    card.key,
    answer.ok ? valuesFor(card, answer.value.registers) : answer.problem.detail,
  ]);
}

/** Number of the last read that began, and of the newest one that is shown. */
let [begun, newest] = [0, 0];

/** Reads what all cards show, once. */
async function read(list: readonly WatchedPart[]): Promise<void> {
  const mine = ++begun;
  const next = new Map((await Promise.all(questionsOf(list).map(answersTo))).flat());
  // The answers to a later read may have arrived first.
  if (mine < newest) return;
  newest = mine;
  shown.value = next;
  const at = serverNow() / 1000;
  const empty: Course = { times: [], values: [] };
  courses.value = new Map(
    [...next].flatMap(([key, values]) => {
      const [value] = typeof values === 'string' ? [] : values;
      return value ? [[key, extended(courses.peek().get(key) ?? empty, at, value.value, LONGEST_S)]] : [];
    }),
  );
}

/** Reads the cards repeatedly, until the returned function is called. */
function follow(list: readonly WatchedPart[]): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const turn = async () => {
    await read(list);
    if (!isOver) timer = setTimeout(turn, document.hidden ? HIDDEN_EVERY_MS : EVERY_MS);
  };
  void turn();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** The cards in the address; for `/panel/DEVICE`, all named values of that device. */
function textOfAddress(): string {
  const { parts, query } = route.value;
  const device = devices.current.value?.find(({ name }) => name === parts[0]);
  if (!device) return query.get('watch') ?? '';
  const tables = Object.keys(device.tables).map((table) => `${device.name}/${table}`);
  const names = device.names.slice(0, MOST_CARDS).map((name) => `${device.name}.${name}`);
  return (names.length > 0 ? names : tables).join(',');
}

/** The cards in a list that are for existing devices. */
function listOf(text: string): readonly WatchedPart[] {
  return watchList(
    text,
    devices.current.value?.map(({ name }) => name),
  );
}

/** The view `/panel?watch=…`: a card for each value or table in the list, from any devices. */
export function PanelView() {
  useEffect(followDevices, []);
  const text = textOfAddress();
  const list = listOf(text);
  const keys = list.map(({ key }) => key);
  useEffect(() => {
    if (text !== '') pinned.value = text;
    else if (pinned.peek() !== '') watch(pinned.peek().split(','));
  }, [text]);
  useEffect(
    () => (keys.length > 0 ? follow(list) : undefined),
    [list.map(({ device, key }) => `${device} ${key}`).join()],
  );
  const all = devices.current.value ?? [];
  return html`<div class="stack">
    <${Adding} keys=${keys} />
    ${
      list.length === 0
        ? html`<${Empty} title="Panel">Watch values and tables of any devices, or start with all values of one device:
            <span class="flow">${all
              .slice(0, MOST_CARDS)
              .map(({ name }) => html`<a href=${hrefOf('panel', [name])}>${name}</a>`)}</span><//>`
        : null
    }
    <div class="cards">${list.map(
      (card) =>
        html`<${Card} key=${card.key} card=${card} onUnpin=${() => watch(keys.filter((key) => key !== card.key))} />`,
    )}</div>
  </div>`;
}

function watch(keys: readonly string[]): void {
  pinned.value = keys.join(',');
  go(hrefOf('panel', [], keys.length > 0 ? { watch: pinned.value } : {}), 'replace');
}

/** Maximum number of values that the field suggests. */
const MOST_OFFERED = 500;

/** A field that adds a card. */
function Adding({ keys }: { readonly keys: readonly string[] }) {
  const text = useSignal('');
  const all = devices.current.value ?? [];
  const offers = [
    ...all.flatMap(({ name, tables }) => Object.keys(tables).map((table) => `${name}/${table}`)),
    ...all.flatMap(({ name, names }) => names.map((each) => `${name}.${each}`)),
  ];
  const add = () => {
    const wanted = text.value.trim();
    if (!watchedOf(wanted))
      return say(`Expected a value or a table, such as meter.voltage or meter/holding/0-9.`, 'refused');
    if (keys.length >= MOST_CARDS) return say(`A panel has at most ${MOST_CARDS} cards.`, 'refused');
    watch([...keys.filter((key) => key !== wanted), wanted]);
    text.value = '';
  };
  return html`<form class="flow" aria-label="Add to the panel" onSubmit=${sent(add)}>
    <label>Watch <input class="mono" list="panel-offers" value=${text.value} onInput=${typed(into(text))} autocomplete="off"
      spellcheck=${false} placeholder="meter.voltage, meter/holding/0-9" /></label>
    <datalist id="panel-offers">${offers.slice(0, MOST_OFFERED).map((each) => html`<option value=${each} />`)}</datalist>
    <${Button} type="submit">Add<//>
  </form>`;
}

interface CardProps {
  readonly card: WatchedPart;
  readonly onUnpin: () => void;
}

/** A card: a value with its control and its course, or a part of a table. */
function Card({ card, onUnpin }: CardProps) {
  const { key, device } = card;
  const values = shown.value.get(key);
  const [first] = typeof values === 'object' ? values : [];
  const isTable = 'table' in card.part && card.part.to > card.part.from;
  return html`<section class="card panel stack" aria-label=${key}>
    <div class="flow apart">
      <h2 class="cut">${first ? html`<a href=${hrefOf('registers', [device, first.table], { from: String(first.address) })}>${key}</a>` : key}</h2>
      <${Button} label=${`Remove ${key} from the panel`} onClick=${onUnpin}>×<//>
    </div>
    ${typeof values === 'string' ? html`<p class="refused long" role="alert">${values}</p>` : null}
    ${typeof values === 'object' && !first ? html`<p class="dim">Nothing is defined there.</p>` : null}
    ${isTable && first ? html`<${Rows} device=${device} values=${values} label=${key} />` : null}
    ${!isTable && first ? html`<${Value} device=${device} about=${first} course=${courses.value.get(key)} label=${key} />` : null}
  </section>`;
}

interface RowsProps {
  readonly device: string;
  readonly values: readonly RegisterView[];
  readonly label: string;
}

function Rows({ device, values, label }: RowsProps) {
  return html`<div class="rows" tabindex="0" role="group" aria-label=${`Values of ${label}`}><table><tbody>${values.map(
    (about) => html`<tr><td class="mono dim">${about.address}</td><td class="long">${about.name ?? ''}</td>
      <td class="mono">${isSwitch(about) ? html`<${Switch} device=${device} about=${about} />` : valueText(about)}</td></tr>`,
  )}</tbody></table></div>`;
}

interface ValueProps {
  readonly device: string;
  readonly about: RegisterView;
}

/** A value, its course, and a control to set it. */
function Value({
  device,
  about,
  course,
  label,
}: ValueProps & { readonly course: Course | undefined; readonly label: string }) {
  const { bits, type, unit } = about;
  if (isSwitch(about)) return html`<${Switch} device=${device} about=${about} />`;
  return html`<p class="now mono long">${valueText(about)}</p>
    ${
      bits
        ? html`<${Bits} about=${about} isPlain=${false} why=${whyOff()} onBit=${(bit: number) => set(device, about, withBit(about, bit))} />`
        : html`<${Setting} device=${device} about=${about} />`
    }
    ${
      bits || type === 'string' || !course
        ? null
        : html`<${Plot} label=${`${label}, the last few minutes`} unit=${unit ?? ''} course=${course} longestS=${LONGEST_S}>
            ${`Since it was added to the panel, up to ${LONGEST_S / 60} min`}<//>`
    }`;
}

/** Coils and discrete inputs have one bit each. */
function isSwitch({ table, raw, registers, bits }: RegisterView): boolean {
  return (table === 'coils' || table === 'discrete') && registers === 1 && Number(raw) <= 1 && !bits;
}

function Switch({ device, about }: ValueProps) {
  const { name, table, address, raw } = about;
  const turn = (isOn: boolean) =>
    set(device, about, { table, address, value: isOn ? 1 : 0, raw: true, expected: raw });
  return html`<label class="switch"><${Checkbox} role="switch" isOn=${raw === 1} label=${name ?? `${table} ${address}`}
    why=${whyOff()} onTurn=${turn}>${valueText(about)}<//></label>`;
}

/** A field that sets a value. */
function Setting({ device, about }: ValueProps) {
  const text = useSignal('');
  const { name, table, address } = about;
  const why = whyOff() ?? whyMoved(about);
  const submit = async () => {
    const typedText = text.value;
    const value = typedValue(about, typedText);
    const isSet = await set(device, about, { table, address, value }, value);
    // Text that was typed in the meantime stays.
    if (isSet && text.peek() === typedText) text.value = '';
  };
  return html`<form class="flow" onSubmit=${sent(submit)}>
    <input class="mono" aria-label=${`New value of ${name ?? `${table} ${address}`}`} value=${text.value} onInput=${typed(into(text))}
      disabled=${why !== undefined} title=${why} autocomplete="off" spellcheck=${false} />
    <${Button} type="submit" why=${why} disabled=${text.value === ''}>Set<//>
  </form>`;
}

/** Sends a change to a value, then reads all cards. @returns whether the value was changed */
async function set(device: string, about: RegisterView, change: object, value?: unknown): Promise<boolean> {
  const answer = await ask<{ registers: RegisterView[] }>('PATCH', pathOf('devices', device, 'registers'), {
    changes: [change],
  });
  if (answer.ok) for (const register of answer.value.registers) sayOddities(register, value);
  else
    say(
      `${about.name ?? `${about.table} ${about.address}`}: ${answer.problem.problems[0]?.message ?? answer.problem.detail}`,
      'refused',
    );
  await read(listOf(pinned.peek()));
  return answer.ok;
}
