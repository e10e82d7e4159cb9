import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import { piecesOf } from '../../../../common/timeline/pieces.js';
import { counted } from '../../../../common/words.js';
import type { FindingView } from '../../../api/v1/reports.js';
import { hrefOf } from '../../route.js';
import { fitted, StripModel, sourceOf } from '../../strip/model.js';
import { Strip } from '../../strip/strip.js';
import { into } from '../../ui/controls.js';
import { details, lineNamed, wireOf } from '../lines/details.js';
import { decidingSpan } from './deciding-span.js';
import './evidence.css';

interface EvidenceProps {
  readonly finding: FindingView;
  /** Whether the table of the frames is collapsed: the strip shows enough. */
  readonly isFolded?: boolean;
}

/** The frames of a finding, to scale around the last one, and as text. */
export function Evidence({ finding, isFolded = false }: EvidenceProps) {
  const model = useMemo(() => new StripModel(), []);
  const { frames, title, missed } = finding;
  const selected = useSignal<number | undefined>(missed?.frame ?? frames.at(-1)?.seq);
  const isMeasured = model.width.value > 0;
  useEffect(() => {
    const pieces = frames.flatMap((frame) => piecesOf(frame, wireOf(lineNamed(frame.line))));
    // Pauses are in characters if all frames are from one line.
    const [line = '', ...others] = new Set(frames.map((frame) => frame.line));
    model.setSource(sourceOf(pieces, wireOf(others.length === 0 ? lineNamed(line) : undefined)));
    const { from, to } = decidingSpan(pieces, missed?.frame);
    const aside = Math.max(LEAST_US, to - from) / 8;
    if (isMeasured) model.look(fitted(from - aside, to + aside, model.width.peek()));
  }, [frames, details.current.value, isMeasured]);
  const table = html`<div class="frames"><table><tbody>
    ${frames.map(
      ({
        seq,
        time,
        line,
        text,
        bytes = '',
      }) => html`<tr class=${seq === selected.value ? 'selected' : ''} aria-current=${seq === missed?.frame}>
        <td class="mono"><a href=${hrefOf('traffic', [], { at: String(seq), strip: line })}>#${seq}</a></td>
        <td class="mono">${time.slice(11, 26)}</td>
        <td class="long">${seq === missed?.frame ? html`<b>decides: </b>` : null}${text}${bytes === '' ? null : html`<br /><span class="mono dim">${bytes}</span>`}</td></tr>`,
    )}
  </tbody></table></div>`;
  return html`<div class="evidence">
    <${Strip} model=${model} label=${`Timing of ${title}`} selected=${selected.value} onSelect=${into(selected)} />
    ${isFolded ? html`<details><summary>${framesText(finding)}</summary>${table}</details>` : table}
  </div>`;
}

export function framesText({ frames }: FindingView): string {
  return `${counted(frames.length, 'event')} of the traffic`;
}

/** The shortest time span in the initial view. */
const LEAST_US = 1000;
