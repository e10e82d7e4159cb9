import { counted } from '../../../../common/words.js';
import { longDuration } from '../../../../testing/report/words.js';
import './lines.css';
import { computed, effect, signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, pathOf, type RemoteRefusal } from '../../../../common/rest-client/client.js';
import type { LineView } from '../../../../simulator/commands/schemas/line.js';
import type { Summary } from '../../../../simulator/commands/schemas/program.js';
import type { ServedSchema } from '../../../api/v1/schemas.js';
import { ask } from '../../api.js';
import { summary } from '../../live.js';
import { OpenFile } from '../../open-file.js';
import { recorded } from '../../recorded.js';
import { resource } from '../../resource.js';
import { hrefOf } from '../../route.js';
import {
  Button,
  Empty,
  Fact,
  Field,
  into,
  OfFile,
  put,
  Refused,
  State,
  useRequest,
} from '../../ui/controls.js';
import { AskingButton, Dialog } from '../../ui/dialog.js';
import { useSeen } from '../../ui/element.js';
import { count, measured } from '../../ui/format.js';
import { Sparkline } from '../../ui/plot.js';
import {
  type Draft,
  draftOf,
  isObject,
  type ObjectShape,
  readDraft,
  shapeOf,
} from '../../ui/schema-form/draft.js';
import { problemAt, SchemaPart } from '../../ui/schema-form/schema-form.js';
import { say, sayAnswer } from '../../ui/toast.js';
import { followPlayed, playedEntries } from '../catalogue/playing.js';
import { ConfigurationButtons } from './configuration.js';
import { details, formatText, lineNamed, unitsLine } from './details.js';
import { Lane, ScoreBar, useScore } from './score.js';
import { followScore } from './score-sums.js';

type LineSummary = Summary['lines'][number];
type Rates = LineSummary['counters'];

/** Measurements of a line for each of the last seconds, oldest first. */
interface LineHistory {
  readonly requests: readonly (number | undefined)[];
  /** The mean turnaround of each second, in ms; undefined for a second without replies. */
  readonly turnaround: readonly (number | undefined)[];
  /** Events per second over the last five seconds; undefined until there are two summaries. */
  readonly rates: Rates | undefined;
}

/** Length of the history, in s. */
const LENGTH = 120;
const RATE_OVER = 5;

/** Histories by line. They are kept while other views are shown. */
const histories = signal<ReadonlyMap<string, LineHistory>>(new Map());

/** The last summaries, newest last. */
let recent: readonly Summary[] = [];

effect(() => {
  const now = summary.value;
  if (now) {
    const last = recent.at(-1);
    // A simulator counts from zero after a restart.
    const isNewRun = last !== undefined && last.program.run !== now.program.run;
    recent = isNewRun ? [now] : [...recent.slice(-RATE_OVER), now];
    const before = isNewRun ? new Map<string, LineHistory>() : histories.peek();
    histories.value = new Map(now.lines.map((line) => [line.name, extended(before.get(line.name), line)]));
  }
});

function extended(before: LineHistory | undefined, line: LineSummary): LineHistory {
  const { requests = [], turnaround = [] } = before ?? {};
  const last = since(recent.at(-2), line);
  const first = since(recent[0], line);
  return {
    requests: added(requests, last && (line.counters.requests - last.line.counters.requests) / last.seconds),
    turnaround: added(turnaround, last && meanBetween(last.line, line)),
    rates: first && ratesBetween(first.line.counters, line.counters, first.seconds),
  };
}

/** The line in an earlier summary; undefined if it was not there, or was another line with the same name. */
function since(earlier: Summary | undefined, line: LineSummary) {
  const now = recent.at(-1);
  const found = earlier?.lines.find(({ name }) => name === line.name);
  if (!now || !earlier || earlier === now || !found) return undefined;
  if (found.counters.requests > line.counters.requests) return undefined;
  return { line: found, seconds: (now.monotonicUs - earlier.monotonicUs) / 1e6 };
}

function meanBetween(from: LineSummary, to: LineSummary): number | undefined {
  const count = to.turnaround.count - from.turnaround.count;
  return count > 0 ? (to.turnaround.sumMs - from.turnaround.sumMs) / count : undefined;
}

function ratesBetween(from: Rates, to: Rates, seconds: number): Rates {
  const entries = Object.entries(to) as [keyof Rates, number][];
  return Object.fromEntries(entries.map(([key, value]) => [key, (value - from[key]) / seconds])) as Rates;
}

function added<Value>(values: readonly Value[], value: Value): readonly Value[] {
  return [...values.slice(1 - LENGTH), value];
}

const TONES = { open: 'good', waiting: 'warn', failed: 'bad', stopped: 'off' } as const;
const COMMANDS = { start: 'opened', stop: 'closed', restart: 'reopened' };

/** A line: its state, its figures and its buttons. It is not redrawn while it is not visible. */
function LinePanel({ name }: { readonly name: string }) {
  const self = useRef<HTMLElement>(null);
  const isSeen = useSeen(self);
  const isOpen = useSignal(false);
  // Peeking at a signal while rendering does not cause a rendering.
  const now = isSeen ? summary.value : summary.peek();
  const line = now?.lines.find((each) => each.name === name);
  const history = (isSeen ? histories.value : histories.peek()).get(name);
  const detail = isSeen ? lineNamed(name) : details.current.peek()?.get(name);
  if (!line) return null;
  const { state, reason, place } = line;
  return html`<article ref=${self} class="line panel" aria-label=${`Line ${name}`}>
    <div class="head flow">
      <h2 class="long">${name}</h2>
      ${
        recorded
          ? null
          : html`<${State} tone=${TONES[state]}>${state}<//>
      <span class="dim">${detail ? formatText(detail) : ''}</span>
      <span class="mono long" title=${place}>${detail ? (detail.link ?? place) : ''}</span>`
      }
      <a href=${hrefOf('conversations', [], { line: name })}>Conversations<span class="unseen"> of ${name}</span></a>
      <a href=${hrefOf('traffic', [], { line: name })}>Traffic<span class="unseen"> of ${name}</span></a>
      ${recorded ? null : html`<${Actions} line=${line} detail=${detail} />`}
    </div>
    <${Played} line=${name} />
    ${reason === null ? null : html`<p class=${`refused long ${state}`}>${reason}</p>`}
    ${isSeen ? html`<${Passed} line=${name} detail=${detail} />` : null}
    ${
      recorded
        ? null
        : html`<details class="more" onToggle=${({ currentTarget }: Event) => {
            isOpen.value = (currentTarget as HTMLDetailsElement).open;
          }}>
      <summary>Facts and counters<span class="unseen"> of ${name}</span></summary>
      ${isOpen.value ? html`<${More} line=${line} detail=${detail} history=${history} />` : null}
    </details>`
    }
  </article>`;
}

/** The catalogue entries in use on a line, with links. */
function Played({ line }: { readonly line: string }) {
  const played = playedEntries(line);
  if (played.length === 0) return null;
  return html`<p class="warn long">Played from the catalogue: ${played.map(
    ({ id }, i) => html`${i > 0 ? ', ' : ''}<a class="mono" href=${hrefOf('catalogue', [id])}>${id}</a>`,
  )}</p>`;
}

interface PassedProps {
  readonly line: string;
  readonly detail: LineView | undefined;
}

/** What is wrong on a line, and its lane. */
function Passed({ line, detail }: PassedProps) {
  const score = useScore(line, detail);
  const { troubles } = score;
  return html`${
    troubles.length === 0
      ? null
      : html`<ul class="troubles long" aria-label=${`Problems on line ${line}`}>${troubles.map(
          (each) => html`<li>${each}</li>`,
        )}</ul>`
  }
    <${Lane} line=${line} score=${score} />`;
}

interface MoreProps {
  readonly line: LineSummary;
  readonly detail: LineView | undefined;
  readonly history: LineHistory | undefined;
}

/** The facts, the charts and the counters of a line. */
function More({ line: { clients, uptime, counters }, detail, history }: MoreProps) {
  return html`<dl class="about flow">
      ${detail?.times ? html`<${Fact} term="t1.5">${`${measured(detail.times.t15)} ms`}<//>` : null}
      ${detail?.times ? html`<${Fact} term="t3.5">${`${measured(detail.times.t35)} ms`}<//>` : null}
      ${clients === undefined ? null : html`<${Fact} term="clients">${count(clients)}<//>`}
      ${uptime === null ? null : html`<${Fact} term="open for">${longDuration(uptime)}<//>`}
      <${Fact} term="units">${detail ? unitsLine(detail.units) : '–'}<//>
    </dl>
    <div class="measured columns">
      <div class="stack">
        <${Sparkline} label="requests" unit="/s" values=${history?.requests ?? []} width=${LENGTH} format=${measured} />
        <${Sparkline} label="turnaround" unit="ms" values=${history?.turnaround ?? []} width=${LENGTH} format=${measured} />
      </div>
      <${Counters} counters=${counters} rates=${history?.rates} />
    </div>`;
}

interface CountersProps {
  readonly counters: LineSummary['counters'];
  readonly rates: LineHistory['rates'];
}

/** Counters that are shown even at zero. */
const ALWAYS = ['requests', 'replies'];

/** Converts a key to words: `damagedFrames` becomes `damaged frames`. */
const inWords = (key: string) => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The counters that are not zero, and a sentence that names the others. */
function Counters({ counters, rates }: CountersProps) {
  const entries = Object.entries(counters) as [keyof typeof counters, number][];
  const isShown = ([key, value]: [string, number]) => value > 0 || ALWAYS.includes(key);
  const zero = entries.filter((entry) => !isShown(entry)).map(([key]) => inWords(key));
  return html`<div class="counters stack">
    <dl>${entries.filter(isShown).map(([key, value]) => {
      const rate = rates?.[key];
      return html`<div><dt>${inWords(key)}</dt><dd>${count(value)}</dd>
        <dd class="dim">${rate ? `${measured(rate)}/s` : ''}</dd></div>`;
    })}</dl>
    ${zero.length === 0 ? null : html`<p class="dim">None: ${zero.join(', ')}</p>`}
  </div>`;
}

function Actions({ line, detail }: { readonly line: LineSummary; readonly detail: LineView | undefined }) {
  const { name, state } = line;
  const isBusy = useSignal(false);
  const isChanging = useSignal(false);
  const act = async (command: keyof typeof COMMANDS) => {
    isBusy.value = true;
    sayAnswer(await ask('POST', pathOf('lines', name, command)), `Line ${name} was ${COMMANDS[command]}.`);
    isBusy.value = false;
  };
  const remove = async () =>
    sayAnswer(await ask('DELETE', pathOf('lines', name)), `Line ${name} was removed.`);
  const change = async (settings: object) => {
    const answer = await ask('PUT', pathOf('lines', name), settings);
    if (answer.ok) say(`Line ${name} was changed.`);
    return answer;
  };
  const isOff = isBusy.value;
  const isStopped = state === 'stopped' || state === 'failed';
  return html`<div class="actions flow end">
    <${Button} writes disabled=${isOff} label=${`${isStopped ? 'Start' : 'Stop'} ${name}`}
      onClick=${() => void act(isStopped ? 'start' : 'stop')}>${isStopped ? 'Start' : 'Stop'}<//>
    <${Button} writes disabled=${isOff} label=${`Restart ${name}`} onClick=${() => void act('restart')}>Restart<//>
    <${Button} writes disabled=${isOff || !detail} label=${`Change ${name}`} onClick=${put(isChanging, true)}>Change<//>
    <${AskingButton} writes disabled=${isOff} label=${`Remove ${name}`} title=${`Remove ${name}?`} onYes=${() => void remove()}
      text="The line is closed, and its clients are disconnected. Its devices stay.">Remove<//>
    ${
      isChanging.value && detail
        ? html`<${SettingsForm} title=${`Change ${name}`} action="Change" first=${detail.settings}
            units=${unitsText(detail.units)} send=${change} onClose=${put(isChanging, false)} />`
        : null
    }
  </div>`;
}

/** Separates names. No name contains a control character. */
const SEPARATOR = '\n';

/**
 * The names of lines as one text, which changes only when a line was added or removed. So the list is not
 * rebuilt every second.
 */
const names = computed(() => summary.value?.lines.map(({ name }) => name).join(SEPARATOR) ?? '');

const overview = computed(() => {
  const { lines = [] } = summary.value ?? {};
  const open = lines.filter(({ state }) => state === 'open').length;
  return `${counted(lines.length, 'line')}, ${open} open`;
});

/** The view `/lines`: every line with its state, its figures and its controls. */
export function LinesView() {
  useEffect(details.follow, []);
  useEffect(followScore, []);
  useEffect(followPlayed, []);
  const isAdding = useSignal(false);
  if (names.value === '') return html`<${Empty} title="Lines">Waiting for the simulator.<//>`;
  const known = details.current.value;
  const [device = ''] = [...(known?.values() ?? [])].flatMap(({ units }) => Object.values(units));
  return html`<div class="stack"><div class="flow apart">
      ${
        recorded
          ? html`<${OfFile} />`
          : html`<span>${overview}</span>
      <span class="flow end"><${OpenFile} /><a href=${hrefOf('import')}>Import a table</a><${ConfigurationButtons} />
        <${Button} kind="main" writes disabled=${!known} onClick=${put(isAdding, true)}>Add a line<//></span>`
      }
    </div>
    <${ScoreBar} />
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

/** The settings of a line, in the form of a native file. Units are edited separately. */
type Settings = Readonly<Record<string, unknown>>;

/** The form for each kind of line: `serial`, `tcp`, `udp`, `tls`. */
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
  /** Whether the line is new. If so, all settings are sent, and not only changed ones. */
  readonly isNew?: boolean;
  readonly send: (change: Settings) => Promise<Answer<unknown>>;
  readonly onClose: () => void;
  /** Fields above the settings. */
  readonly children?: (refusal: RemoteRefusal | undefined) => ComponentChildren;
}

/** A form for the settings of a line. It is generated from the schema, and the simulator checks the values. */
function SettingsForm({ title, action, first, isNew = false, onClose, ...props }: SettingsFormProps) {
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
    <${Field} label="units, one per line, such as 1: meter" mono rows=${4} value=${units.value}
      problem=${problemAt(refusal.value, 'units', true)} onInput=${into(units)} />
    <p class="dim">An empty field restores the default.</p>
  <//>`;
}

/** The change from one set of settings to another. Removed settings are null, which restores their defaults. */
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
function unitsText(units: Readonly<Record<string, string>>): string {
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
