import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../common/rest-client/client.js';
import type { ExaminationSummary } from '../../../api/v1/examinations.js';
import type { TestSummary } from '../../../api/v1/tests.js';
import { ask, mayWrite } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { go, hrefOf } from '../../route.js';
import { Button, Field, into, Refused, sent, useRequest } from '../../ui/controls.js';
import { type Draft, draftOf, readDraft } from '../../ui/schema-form/draft.js';
import { SchemaPart } from '../../ui/schema-form/schema-form.js';
import { shapeOf } from '../../ui/schema-form/shape.js';
import { readRuns } from './runs.js';
import { READY_SCENARIOS } from './scenarios.js';

/** Shows a run that has begun. */
async function show(answer: Answer<TestSummary | ExaminationSummary>): Promise<void> {
  if (!answer.ok) return;
  await readRuns();
  go(hrefOf('tests', [String(answer.value.id)]));
}

const firstLine = () => summary.peek()?.lines[0]?.name ?? '';

/** A form for a scenario: written, opened from a file, or ready-made. */
export function ScenarioForm() {
  const text = useSignal('');
  const { isBusy, refusal, send } = useRequest();
  const set = (next: string) => {
    text.value = next;
    refusal.value = undefined;
  };
  const submit = async () => {
    const scenario = new Blob([text.value], { type: 'application/yaml' });
    await show(await send(ask<TestSummary>('POST', '/tests', scenario)));
  };
  const problems = refusal.value?.problems.map(({ path, message, line, column }) =>
    [
      line === undefined ? '' : `line ${line}, column ${column}: `,
      path === '' ? '' : `${path}: `,
      message,
    ].join(''),
  );
  return html`<form class="stack" aria-label="Run a scenario" onSubmit=${sent(submit)}>
    <div class="flow" role="group" aria-label="Ready-made scenarios">
      ${READY_SCENARIOS.map(
        ({ title, text: written }) =>
          html`<${Button} disabled=${summary.value === undefined} onClick=${() => set(written(firstLine()))}>${title}<//>`,
      )}
    </div>
    <${Field} label="scenario (YAML or JSON)" mono rows=${14} value=${text.value} onInput=${set}
      problem=${problems && problems.length > 0 ? problems.join('\n') : refusal.value?.detail} />
    <div class="flow apart">
      <label class="button file">Open a file
        <input class="unseen" type="file" accept=".yaml,.yml,.json" onChange=${async (event: Event) => {
          const input = event.target as HTMLInputElement;
          const [file] = input.files ?? [];
          if (file) set(await file.text());
          input.value = '';
        }} /></label>
      <${Button} kind="main" type="submit" disabled=${!mayWrite() || isBusy.value || text.value.trim() === ''}>Run the scenario<//>
    </div>
  </form>`;
}

const schema = resource(() => '/schemas/examination', shapeOf);
const checks = resource(
  () => '/checks',
  (body: { readonly checks: readonly { readonly id: string; readonly group: string }[] }) => [
    ...new Set(body.checks.flatMap(({ group, id }) => [group, id])),
  ],
);

/** A form for an examination of the client of a line. */
export function ExaminationForm() {
  useEffect(schema.follow, []);
  useEffect(checks.follow, []);
  const shape = schema.current.value;
  const draft = useSignal<Draft>({});
  const { isBusy, refusal, send } = useRequest();
  // The lines may become known after the schema.
  const isReady = shape !== undefined && summary.value !== undefined;
  useEffect(() => {
    if (shape) draft.value = draftOf(shape, { line: firstLine() });
  }, [isReady]);
  const submit = async () => {
    if (!shape) return;
    const order = readDraft(shape, draft.value) as object;
    await show(await send(ask<ExaminationSummary>('POST', '/examinations', order ?? {})));
  };
  const problem = refusal.value ?? schema.problem.value;
  const offers = {
    line: summary.value?.lines.map(({ name }) => name) ?? [],
    checks: checks.current.value ?? [],
  };
  return html`<form class="stack" aria-label="Run an examination" onSubmit=${sent(submit)}>
    <p class="dim">Disturbs the client of a line, one check after the other, and reports how it copes. The client must be polling.</p>
    ${problem && html`<${Refused}>Refused: ${problem.detail}<//>`}
    ${
      isReady
        ? html`<${SchemaPart} shape=${shape} draft=${draft.value} path="" label="" refusal=${refusal.value} offers=${offers}
            onChange=${into(draft)} />`
        : null
    }
    <div class="flow"><${Button} kind="main" type="submit" disabled=${!mayWrite() || isBusy.value || !isReady}>Examine the client<//></div>
  </form>`;
}
