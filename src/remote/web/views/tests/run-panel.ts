import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import { pathOf } from '../../../../common/rest-client/client.js';
import { piecesOf } from '../../../../common/timeline/pieces.js';
import type { FindingView, ShakeSummary } from '../../../api/v1/reports.js';
import { ask, mayWrite } from '../../api.js';
import { go, hrefOf } from '../../route.js';
import { StripModel, sourceOf } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import { Button, into, State, type Tone } from '../../ui/controls.js';
import { sayAnswer } from '../../ui/toast.js';
import { details, lineNamed, wireOf } from '../lines/details.js';
import { findings, type RunStep, readFindings, readRuns, type ShownRun, type Verdict } from './runs.js';

export const TONES: Readonly<Record<Verdict, Tone>> = {
  pass: 'good',
  fail: 'bad',
  error: 'bad',
  inconclusive: 'warn',
  'not run': 'off',
  conforms: 'good',
  violates: 'bad',
  unsupported: 'off',
  fact: 'off',
  'not-run': 'off',
};

const FILES = [
  ['report.html', 'HTML'],
  ['junit.xml', 'JUnit'],
  ['report.json', 'JSON'],
] as const;
const SCENARIO = ['scenario.yaml', 'Scenario'] as const;

/** A run: its steps as they end, and its evidence. */
export function RunPanel({ run }: { readonly run: ShownRun }) {
  const { id, kind, called, name, isRunning, verdict, lines, steps, conclusions, schedule } = run;
  const ended = steps.filter(({ verdict }) => verdict !== 'not run' && verdict !== 'not-run').length;
  useEffect(() => {
    void readFindings(run);
    // A shake shortens what it has found.
  }, [id, isRunning, ended, steps.at(-1)?.message]);
  const stop = async () => {
    sayAnswer(await ask('DELETE', pathOf(kind, id)), `${name} was stopped.`);
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
        ${isRunning ? html`<${Button} kind="danger" label=${`Stop run ${id}`} disabled=${!mayWrite()} onClick=${() => void stop()}>Stop<//>` : null}
        ${schedule && !isRunning ? html`<${Button} disabled=${!mayWrite()} onClick=${() => void playAgain(lines[0] ?? '', schedule)}>Play again<//>` : null}
        ${files.map(
          ([file, title]) =>
            html`<a download href=${`/api/v1${pathOf(kind, id, file)}`} aria-label=${`Report as ${title}`}>${title}</a>`,
        )}
      </div>
    </div>
    <p class="dim" role="status">${called} ${id} on ${lines.join(', ')}: ${tried}</p>
    ${conclusions.length > 0 ? html`<ul class="conclusions">${conclusions.map((each) => html`<li class="long">${each}</li>`)}</ul>` : null}
    <ol class="steps">
      ${steps.map(
        (step, i) => html`<${Step} key=${i} step=${step} number=${i + 1} finding=${known[i]}
          isFirst=${step.group !== '' && step.group !== steps[i - 1]?.group} />`,
      )}
      ${isRunning && kind === 'tests' ? html`<li class="dim">The next step is running.</li>` : null}
    </ol>
  </article>`;
}

/** Plays the moves at which a client has failed, and shows that. */
async function playAgain(line: string, replay: readonly object[]): Promise<void> {
  const answer = await ask<ShakeSummary>('POST', '/shakes', { line, replay });
  sayAnswer(answer, 'The moves are played again.');
  if (!answer.ok) return;
  await readRuns();
  go(hrefOf('tests', [String(answer.value.id)]));
}

function countsOf(steps: readonly RunStep[]): string {
  const counts = Object.keys(TONES).flatMap((verdict) => {
    const count = steps.filter((step) => step.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  return counts.length > 0 ? counts.join(', ') : 'no step has ended yet';
}

interface StepProps {
  readonly step: RunStep;
  readonly number: number;
  /** The finding with its frames; undefined before they are read. */
  readonly finding: FindingView | undefined;
  /** Whether the step is the first of its group. */
  readonly isFirst: boolean;
}

/** A step with its verdict, and when it is open, with its frames. */
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
                <summary>${finding.frames.length} ${finding.frames.length === 1 ? 'event' : 'events'} of the traffic</summary>
                ${isOpen.value ? html`<${Evidence} finding=${finding} />` : null}
              </details>`
            : null
        }
      </div>
      <${State} tone=${TONES[verdict]}>${verdict}<//>
    </li>`;
}

/** The frames of a step, to scale and in words. */
function Evidence({ finding }: { readonly finding: FindingView }) {
  const model = useMemo(() => new StripModel(), []);
  const selected = useSignal<number | undefined>(undefined);
  const { frames, title } = finding;
  useEffect(() => {
    const pieces = frames.flatMap((frame) => piecesOf(frame, wireOf(lineNamed(frame.line))));
    // Pauses are in characters if all frames passed one line.
    const [line = '', ...others] = new Set(frames.map((frame) => frame.line));
    model.setSource(sourceOf(pieces, wireOf(others.length === 0 ? lineNamed(line) : undefined)));
    model.fit();
  }, [frames, details.current.value, model.width.value > 0]);
  return html`<${Strip} model=${model} label=${`Timing of ${title}`} selected=${selected.value}
      onSelect=${into(selected)} />
    <div class="frames"><table><tbody>
      ${frames.map(
        ({ seq, time, line, text, bytes = '' }) => html`<tr class=${seq === selected.value ? 'selected' : ''}>
          <td class="mono"><a href=${hrefOf('traffic', [], { at: String(seq), strip: line })}>#${seq}</a></td>
          <td class="mono">${time.slice(11, 26)}</td>
          <td class="long">${text}${bytes === '' ? null : html`<br /><span class="mono dim">${bytes}</span>`}</td></tr>`,
      )}
    </tbody></table></div>`;
}
