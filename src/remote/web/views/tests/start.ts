import { signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Answer } from '../../../../common/rest-client/client.js';
import type { RunKind } from '../../../../testing/run-kinds.js';
import { ask } from '../../api.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';
import { go, hrefOf } from '../../route.js';
import { Button, Field, into, Refused, sent, useRequest } from '../../ui/controls.js';
import { type Draft, draftOf, readDraft, shapeOf } from '../../ui/schema-form/draft.js';
import { SchemaPart } from '../../ui/schema-form/schema-form.js';
import { readRuns } from './runs.js';
import { READY_SCENARIOS } from './scenarios.js';

/** A run that has started, as far as it is needed here. */
interface RunSummary {
  readonly id: number;
}

/** Shows a run that has started. */
async function show(answer: Answer<RunSummary>): Promise<void> {
  if (!answer.ok) return;
  await readRuns();
  go(hrefOf('tests', [String(answer.value.id)]));
}

const firstLine = () => summary.peek()?.lines[0]?.name ?? '';

/** A form for a scenario: written by the user, opened from a file, or a template. */
export function ScenarioForm() {
  const text = useSignal('');
  const { isBusy, refusal, send } = useRequest();
  const set = (next: string) => {
    text.value = next;
    refusal.value = undefined;
  };
  const submit = async () => {
    const scenario = new Blob([text.value], { type: 'application/yaml' });
    await show(await send(ask<RunSummary>('POST', '/runs?kind=scenario', scenario)));
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
      <${Button} kind="main" type="submit" writes disabled=${isBusy.value || text.value.trim() === ''}>Run the scenario<//>
    </div>
  </form>`;
}

interface OrderedRun {
  /** The kind of run that the form starts; its schema has the same name. */
  readonly kind: RunKind;
  readonly label: string;
  readonly text: string;
  readonly button: string;
  /** The content of a new form. */
  readonly draft: () => object;
  /** The suggestions for a field. */
  readonly offers: () => Readonly<Record<string, readonly string[]>>;
  readonly offered?: { readonly follow: () => () => void };
  /** A field that is not in the form. */
  readonly hidden?: string;
}

/** Makes a form from the schema of an order. */
function formOf({ kind, label, text, button, draft: begin, offers, offered, hidden }: OrderedRun) {
  const schema = resource(
    () => `/schemas/${kind}`,
    (served: Parameters<typeof shapeOf>[0]) => {
      const shape = shapeOf(served);
      if (shape.kind !== 'object') return shape;
      return { ...shape, fields: shape.fields.filter(({ key }) => key !== hidden) };
    },
  );
  return function OrderForm() {
    useEffect(schema.follow, []);
    useEffect(() => offered?.follow(), []);
    const shape = schema.current.value;
    const { isBusy, refusal, send } = useRequest();
    // The lines may become known after the schema.
    const isReady = shape !== undefined && summary.value !== undefined;
    // Not in an effect: it would run after the paint, and replace anything typed by then.
    const draft = useMemo(() => signal<Draft>(shape ? draftOf(shape, begin()) : {}), [isReady]);
    const submit = async () => {
      if (!shape) return;
      const order = readDraft(shape, draft.value) as object;
      await show(await send(ask<RunSummary>('POST', '/runs', { ...order, kind })));
    };
    const problem = refusal.value ?? schema.problem.value;
    return html`<form class="stack" aria-label=${label} onSubmit=${sent(submit)}>
      <p class="dim">${text}</p>
      ${problem && html`<${Refused}>Refused: ${problem.detail}<//>`}
      ${
        isReady
          ? html`<${SchemaPart} shape=${shape} draft=${draft.value} path="" label="" refusal=${refusal.value} offers=${offers()}
              onChange=${into(draft)} />`
          : null
      }
      <div class="flow"><${Button} kind="main" type="submit" writes disabled=${isBusy.value || !isReady}>${button}<//></div>
    </form>`;
  };
}

const checks = resource(
  () => '/checks',
  (body: { readonly checks: readonly { readonly id: string; readonly group: string }[] }) => [
    ...new Set(body.checks.flatMap(({ group, id }) => [group, id])),
  ],
);

/** A form for a client test. */
export const ClientForm = formOf({
  kind: 'client',
  label: 'Test a client',
  text: 'Disturbs the client of a line, one check after another, and reports how it copes. The client must be polling.',
  button: 'Test the client',
  draft: () => ({ line: firstLine() }),
  offers: () => ({
    line: summary.value?.lines.map(({ name }) => name) ?? [],
    checks: checks.current.value ?? [],
  }),
  offered: checks,
});

/** A form for a fuzz run on a line's client. Moves are replayed from the run that found them. */
export const FuzzForm = formOf({
  kind: 'fuzz',
  label: 'Fuzz a client',
  text: 'Disturbs the client of a line at random until it fails, and looks for the shortest schedule that reproduces the failure. The client must be polling.',
  button: 'Fuzz the client',
  draft: () => ({ line: firstLine() }),
  offers: () => ({ line: summary.value?.lines.map(({ name }) => name) ?? [] }),
  hidden: 'replay',
});

const realDevices = resource(
  () => '/devices',
  (body: { readonly devices: readonly { readonly name: string; readonly real?: object }[] }) =>
    body.devices.filter(({ real }) => real).map(({ name }) => name),
);

export const ServerForm = formOf({
  kind: 'server',
  label: 'Test a server',
  text: 'Sends a server all requests that clients may send, and reports how it behaves. The server is a real device of this bench, or is listed in api.mayReach. Nothing is written without scratch addresses.',
  button: 'Test the server',
  draft: () => ({}),
  offers: () => ({ device: realDevices.current.value ?? [] }),
  offered: realDevices,
});
