import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { hrefOf, route } from '../../route.js';
import { Empty, put, State } from '../../ui/controls.js';
import { details } from '../lines/details.js';
import { RunPanel, TONES } from './run-panel.js';
import { followRuns, runs, type ShownRun, unread } from './runs.js';
import { ExaminationForm, InspectionForm, ScenarioForm, ShakeForm } from './start.js';
import './tests.css';

/** The view `/tests`: what can be run, past runs, and one run step by step. */
export function TestsView() {
  useEffect(followRuns, []);
  useEffect(details.follow, []);
  const [tab, tabs] = useTabs();
  const [id] = route.value.parts;
  const all = runs.value;
  const run = all?.find((each) => String(each.id) === id);
  return html`<div class="columns">
    <div class="stack">
      <section class="panel" aria-label="Run">
        <div class="kinds" role="group" aria-label="What to run">
          ${tabs}
        </div>
        <${FORMS[tab]} />
      </section>
      <section class="panel" aria-label="Newest runs">
        <h2>Newest runs</h2>
        ${all?.length === 0 ? html`<p class="dim">No runs yet.</p>` : null}
        <ul class="runs">${all?.map((each) => html`<${RunLink} key=${each.id} run=${each} isShown=${each === run} />`)}</ul>
      </section>
    </div>
    <div class="right">
      ${run ? html`<${RunPanel} key=${run.id} run=${run} />` : html`<${Empty} title=${id === undefined ? 'Tests' : `Run ${id}`}>${whyNothing(id)}<//>`}
    </div>
  </div>`;
}

const FORMS = {
  Scenario: ScenarioForm,
  Examination: ExaminationForm,
  Shake: ShakeForm,
  Device: InspectionForm,
};
type Tab = keyof typeof FORMS;

/** The tab that is shown, and the buttons of all. */
function useTabs() {
  const shown = useSignal<Tab>('Scenario');
  const buttons = (Object.keys(FORMS) as Tab[]).map(
    (tab) =>
      html`<button type="button" class="tab" aria-pressed=${shown.value === tab} onClick=${put(shown, tab)}>${tab}</button>`,
  );
  return [shown.value, buttons] as const;
}

function whyNothing(id: string | undefined): string {
  if (unread.value) return unread.value.detail;
  if (runs.value === undefined) return 'Waiting for the simulator.';
  return id === undefined
    ? 'Run a scenario, an examination, a shake or an inspection, or select one of the newest runs.'
    : 'There is no such run. The simulator keeps the newest twenty runs of each kind until it ends.';
}

function RunLink({ run, isShown }: { readonly run: ShownRun; readonly isShown: boolean }) {
  const { id, name, isRunning, verdict } = run;
  return html`<li><a class="long" href=${hrefOf('tests', [String(id)])} aria-current=${isShown ? 'true' : undefined}>
    <span class="mono">${id}</span><span class="cut">${name}</span>
    ${isRunning ? html`<${State} tone="warn">running<//>` : html`<${State} tone=${TONES[verdict]}>${verdict}<//>`}</a></li>`;
}
