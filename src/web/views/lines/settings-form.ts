import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import type { Answer, Refusal } from '../../api.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { changeOf, type SettingTexts, unitsOf } from './settings.js';

interface SettingsFormProps {
  readonly title: string;
  /** What the button says. */
  readonly action: string;
  readonly before: SettingTexts;
  /** What the fields begin with; `before` where it is absent. */
  readonly first?: SettingTexts;
  readonly units: string;
  /** Sends what differs. */
  readonly send: (change: Readonly<Record<string, unknown>>) => Promise<Answer<unknown>>;
  readonly onClose: () => void;
  /** Fields before the settings. */
  readonly children?: (problems: Problems) => ComponentChildren;
}

/** What the server said about a place in the form. */
export type Problems = (path: string) => string | undefined;

/** A form of the settings that a line has, and of one more. The server checks them: here, none is known by its name. */
export function SettingsForm(props: SettingsFormProps) {
  const { title, action, before, first = before, send, onClose, children } = props;
  const texts = useSignal(first);
  const units = useSignal(props.units);
  const extra = useSignal({ path: '', text: '' });
  const refusal = useSignal<Refusal | undefined>(undefined);
  const isBusy = useSignal(false);

  const paths = Object.keys(texts.value);
  const shown = [...paths, ...(extra.value.path === '' ? [] : [extra.value.path])];
  const problems: Problems = (path) =>
    refusal.value?.problems
      .filter((each) => placed(each.path, [...shown, 'units', 'name']) === path)
      .map(({ message }) => message)
      .join('; ') || undefined;
  const unplaced = refusal.value?.problems.filter(
    (each) => placed(each.path, [...shown, 'units', 'name']) === undefined,
  );

  const submit = async () => {
    isBusy.value = true;
    const { path, text } = extra.value;
    const change = changeOf(before, { ...texts.value, ...(path !== '' && { [path]: text }) });
    const hasUnits = units.value !== props.units || first !== before;
    const answer = await send({ ...change, ...(hasUnits && { units: unitsOf(units.value) }) });
    isBusy.value = false;
    if (answer.ok) onClose();
    else refusal.value = answer.problem;
  };

  const buttons = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="main" type="submit" disabled=${isBusy.value}>${action}<//>`;
  return html`<${Dialog} title=${title} onSubmit=${() => void submit()} onClose=${onClose} buttons=${buttons}>
    ${
      refusal.value && (unplaced?.length !== 0 || refusal.value.problems.length === 0)
        ? html`<p class="refused long" role="alert">Refused: ${refusal.value.detail}</p>`
        : null
    }
    ${children?.(problems)}
    <div class="settings">
      ${paths.map(
        (
          path,
        ) => html`<${Field} key=${path} label=${path} mono value=${texts.value[path]} problem=${problems(path)}
          onInput=${(text: string) => {
            texts.value = { ...texts.value, [path]: text };
          }} />`,
      )}
    </div>
    <div class="settings">
      <${Field} label="another setting" mono value=${extra.value.path} hint="such as timing.gap"
        onInput=${(path: string) => {
          extra.value = { ...extra.value, path };
        }} />
      <${Field} label="its value" mono value=${extra.value.text}
        problem=${extra.value.path === '' ? undefined : problems(extra.value.path)}
        onInput=${(text: string) => {
          extra.value = { ...extra.value, text };
        }} />
    </div>
    <${Field} label="units, one a line: unit identifier and device" mono rows=${4} value=${units.value}
      problem=${problems('units')}
      onInput=${(text: string) => {
        units.value = text;
      }} />
    <p class="dim">An empty value restores the default.</p>
  <//>`;
}

/** The longest of the paths that a problem is about: `units.1` is about `units`. */
function placed(problem: string, paths: readonly string[]): string | undefined {
  return paths
    .filter((path) => problem === path || problem.startsWith(`${path}.`) || problem.startsWith(`${path}[`))
    .sort((a, b) => b.length - a.length)[0];
}
