import './tests.css';
import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import { longDuration } from '../../../../testing/report/words.js';
import { RUN_KINDS } from '../../../../testing/run-kinds.js';
import type { FindingView, FuzzSummary } from '../../../api/v1/reports.js';
import { ask } from '../../api.js';
import { go, hrefOf, route } from '../../route.js';
import { Button, Empty, put, State } from '../../ui/controls.js';
import { timeOfDay } from '../../ui/format.js';
import { sayAnswer } from '../../ui/toast.js';
import { TONES } from '../../ui/verdict.js';
import { details } from '../lines/details.js';
import { Evidence, framesText } from './evidence.js';
import {
  findings,
  followRuns,
  type RunStep,
  readFindings,
  readRuns,
  runs,
  type ShownRun,
  unread,
} from './runs.js';
import { ClientForm, FuzzForm, ScenarioForm, ServerForm } from './start.js';

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
  Client: ClientForm,
  Fuzz: FuzzForm,
  Server: ServerForm,
};
type Tab = keyof typeof FORMS;

/** The tab shown, and the buttons of all tabs. */
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
    ? 'Run a scenario, test a client or a server, or fuzz a client; or select one of the newest runs.'
    : 'There is no such run. The simulator keeps the newest twenty runs of each kind while it is running.';
}

function RunLink({ run, isShown }: { readonly run: ShownRun; readonly isShown: boolean }) {
  const { id, name, isRunning, verdict } = run;
  return html`<li><a class="long" href=${hrefOf('tests', [String(id)])} aria-current=${isShown ? 'true' : undefined}>
    <span class="mono">${id}</span>
    <span class="cut">${name} <span class="dim small">${whenText(run)}</span></span>
    ${isRunning ? html`<${State} tone="warn">running<//>` : html`<${State} tone=${TONES[verdict]}>${verdict}<//>`}</a></li>`;
}

/** Formats when a run started and how long it took: `14:03:07, 2 min 5 s`. */
function whenText({ startedAt, durationMs }: ShownRun): string {
  return `${timeOfDay(Date.parse(startedAt))}, ${longDuration(durationMs / 1000)}`;
}

const FILES = [
  ['report.html', 'HTML'],
  ['junit.xml', 'JUnit'],
  ['report.json', 'JSON'],
] as const;
const SCENARIO = ['scenario.yaml', 'Scenario'] as const;

/** A run: its steps as they complete, and its evidence. */
function RunPanel({ run }: { readonly run: ShownRun }) {
  const { id, kind, name, isRunning, verdict, lines, steps, conclusions, schedule, doing } = run;
  const ended = steps.filter(({ verdict }) => verdict !== 'not run' && verdict !== 'not-run').length;
  useEffect(() => {
    void readFindings(run);
    // A fuzz run shortens its result later.
  }, [id, isRunning, ended, steps.at(-1)?.message]);
  const stop = async () => {
    sayAnswer(await ask('DELETE', pathOf('runs', id)), `${name} was stopped.`);
    await readRuns();
  };
  const known = findings.value.id === id ? findings.value.list : [];
  const { tried = countsOf(steps) } = run;
  const files = schedule ? [...FILES, SCENARIO] : FILES;
  return html`<article class="run panel" aria-label=${`Run ${id}`}>
    <div class="head flow">
      <h2 class="long">${name}</h2>
      ${isRunning ? html`<${State} tone="warn">running<//>` : html`<${State} tone=${TONES[verdict]}>${verdict}<//>`}
      <div class="flow end">
        ${isRunning ? html`<${Button} kind="danger" label=${`Stop run ${id}`} writes onClick=${() => void stop()}>Stop<//>` : null}
        ${schedule && !isRunning ? html`<${Button} writes onClick=${() => void playAgain(lines[0] ?? '', schedule)}>Play again<//>` : null}
        <span class="dim">Save</span>
        ${files.map(
          ([file, title]) =>
            html`<a download href=${`/api/v1${pathOf('runs', id, file)}`} aria-label=${`Report as ${title}`}>${title}</a>`,
        )}
      </div>
    </div>
    <p class="dim" role="status">Run ${id}, a ${RUN_KINDS[kind]}, on ${lines.join(', ')}: ${tried}</p>
    <p class="dim">${isRunning ? 'Began' : 'Ran'} at ${whenText(run)}${isRunning ? ' so far' : ''}.</p>
    ${doing === undefined ? null : html`<p class="doing long">${doing}.</p>`}
    ${conclusions.length > 0 ? html`<ul class="conclusions">${conclusions.map((each) => html`<li class="long">${each}</li>`)}</ul>` : null}
    <ol class="steps">
      ${steps.map(
        (step, i) => html`<${Step} key=${i} step=${step} number=${i + 1} finding=${known[i]}
          isFirst=${step.group !== '' && step.group !== steps[i - 1]?.group} />`,
      )}
    </ol>
  </article>`;
}

/** Plays the moves that made a client fail, and shows that run. */
async function playAgain(line: string, replay: readonly object[]): Promise<void> {
  const answer = await ask<FuzzSummary>('POST', '/runs', { kind: 'fuzz', line, replay });
  sayAnswer(answer, 'The moves are being replayed.');
  if (!answer.ok) return;
  await readRuns();
  go(hrefOf('tests', [String(answer.value.id)]));
}

function countsOf(steps: readonly RunStep[]): string {
  const counts = Object.keys(TONES).flatMap((verdict) => {
    const count = steps.filter((step) => step.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  return counts.length > 0 ? counts.join(', ') : 'no step has finished yet';
}

interface StepProps {
  readonly step: RunStep;
  readonly number: number;
  /** The finding with its frames; undefined until they are read. */
  readonly finding: FindingView | undefined;
  /** Whether the step is the first one in its group. */
  readonly isFirst: boolean;
}

/** A step with its verdict and, when it is open, its frames. */
function Step({ step, number, finding, isFirst }: StepProps) {
  const { name, group, verdict, message } = step;
  const isOpen = useSignal(verdict === 'fail' || verdict === 'violates');
  const hasFrames = finding !== undefined && finding.frames.length > 0;
  return html`${isFirst ? html`<li class="group">${group}</li>` : null}
    <li class="step">
      <span class="mono dim">${number}</span>
      <div>
        <b class="long">${name}</b>
        ${message === '' ? null : html`<p class=${`long ${TONES[verdict] === 'bad' ? 'bad' : 'dim'}`}>${message}</p>`}
        ${
          hasFrames
            ? html`<details open=${isOpen.value} onToggle=${(event: Event) => {
                isOpen.value = (event.target as HTMLDetailsElement).open;
              }}>
                <summary>${framesText(finding)}</summary>
                ${isOpen.value ? html`<${Evidence} finding=${finding} />` : null}
              </details>`
            : null
        }
      </div>
      <${State} tone=${TONES[verdict]}>${verdict}<//>
    </li>`;
}
