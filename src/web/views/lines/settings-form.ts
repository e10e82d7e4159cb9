import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import type { Answer } from '../../../rest/client.js';
import { Button, Field, into, Refused, useRequest } from '../../ui/controls.js';
import { Dialog } from '../../ui/dialog.js';
import { plainValue } from '../../ui/schema-form/draft.js';

/** Settings of a line as paths and texts: `serial.baudRate` and `9600`. Units are written apart. */
export type SettingTexts = Readonly<Record<string, string>>;

interface SettingsFormProps {
  readonly title: string;
  /** What the button says. */
  readonly action: string;
  readonly before: SettingTexts;
  /** What the fields begin with. Default: `before`. */
  readonly first?: SettingTexts;
  readonly units: string;
  /** Sends what differs. */
  readonly send: (change: Readonly<Record<string, unknown>>) => Promise<Answer<unknown>>;
  readonly onClose: () => void;
  /** Fields before the settings. */
  readonly children?: (problems: Problems) => ComponentChildren;
}

/** What the simulator said about a setting. */
export type Problems = (path: string) => string | undefined;

/** A form of the settings that a line has, and of one more. The simulator checks them: the form knows none by its name. */
export function SettingsForm(props: SettingsFormProps) {
  const { title, action, before, first = before, onClose, children } = props;
  const texts = useSignal(first);
  const units = useSignal(props.units);
  const extra = useSignal({ path: '', text: '' });
  const { isBusy, refusal, send } = useRequest();

  const paths = Object.keys(texts.value);
  const shown = [...paths, ...(extra.value.path === '' ? [] : [extra.value.path])];
  const about = (wanted: string | undefined) =>
    refusal.value?.problems.filter(({ path }) => fieldOf(path, [...shown, 'units', 'name']) === wanted) ?? [];
  const problems: Problems = (path) =>
    about(path)
      .map(({ message }) => message)
      .join('; ') || undefined;

  const submit = async () => {
    const { path, text } = extra.value;
    const change = changeOf(before, { ...texts.value, ...(path !== '' && { [path]: text }) });
    const hasUnits = units.value !== props.units || first !== before;
    const answer = await send(props.send({ ...change, ...(hasUnits && { units: unitsOf(units.value) }) }));
    if (answer.ok) onClose();
  };

  const buttons = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="main" type="submit" disabled=${isBusy.value}>${action}<//>`;
  return html`<${Dialog} title=${title} onSubmit=${() => void submit()} onClose=${onClose} buttons=${buttons}>
    ${
      refusal.value && (about(undefined).length > 0 || refusal.value.problems.length === 0)
        ? html`<${Refused}>Refused: ${refusal.value.detail}<//>`
        : null
    }
    ${children?.(problems)}
    <div class="fields">
      ${paths.map(
        (
          path,
        ) => html`<${Field} key=${path} label=${path} mono value=${texts.value[path]} problem=${problems(path)}
          onInput=${(text: string) => {
            texts.value = { ...texts.value, [path]: text };
          }} />`,
      )}
    </div>
    <div class="fields">
      <${Field} label="another setting" mono value=${extra.value.path} hint="For example timing.gap"
        onInput=${(path: string) => {
          extra.value = { ...extra.value, path };
        }} />
      <${Field} label="its value" mono value=${extra.value.text}
        problem=${extra.value.path === '' ? undefined : problems(extra.value.path)}
        onInput=${(text: string) => {
          extra.value = { ...extra.value, text };
        }} />
    </div>
    <${Field} label="units, one per line, as 1: meter" mono rows=${4} value=${units.value}
      problem=${problems('units')}
      onInput=${into(units)} />
    <p class="dim">An empty field restores the default.</p>
  <//>`;
}

/** The field that a problem is about: the longest path that fits. `units.1` is about `units`. */
function fieldOf(problem: string, paths: readonly string[]): string | undefined {
  return paths
    .filter((path) => problem === path || problem.startsWith(`${path}.`) || problem.startsWith(`${path}[`))
    .sort((a, b) => b.length - a.length)[0];
}

type Tree = { [key: string]: unknown };

/** The settings of a line, each as text. */
export function textsOf(settings: Readonly<Record<string, unknown>>, prefix = ''): SettingTexts {
  const texts = Object.entries(settings).map(([key, value]): SettingTexts => {
    if (prefix === '' && key === 'units') return {};
    if (typeof value === 'object' && value !== null) return textsOf(value as Tree, `${prefix}${key}.`);
    return { [`${prefix}${key}`]: String(value) };
  });
  return Object.assign({}, ...texts);
}

/** What to send for the texts that differ. An empty text asks for the default. */
function changeOf(before: SettingTexts, after: SettingTexts): Tree {
  const change: Tree = {};
  for (const [path, text] of Object.entries(after)) {
    if (text !== before[path] && path.trim() !== '')
      putAt(change, path.trim().split('.'), text.trim() === '' ? null : plainValue(text.trim()));
  }
  return change;
}

function putAt(tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): void {
  // A key such as __proto__ is for the simulator to refuse, and must not act here.
  const own = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const child = typeof own === 'object' && own !== null ? (own as Tree) : {};
  if (rest.length > 0) putAt(child, rest, value);
  Object.defineProperty(tree, key, {
    value: rest.length > 0 ? child : value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Units as text, one a line: `1: meter`. */
export function unitsText(units: Readonly<Record<string, string>>): string {
  return Object.entries(units)
    .map(([unit, device]) => `${unit}: ${device}`)
    .join('\n');
}

/** The units of such a text. Ranges such as `20-29: meter` are for the simulator to read. */
function unitsOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split(/[\n,]/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
