import { html } from 'htm/preact';
import type { StripModel } from '../../strip/model.js';
import { Button } from '../../ui/button.js';

interface StripBarProps {
  readonly model: StripModel;
  readonly lines: readonly string[];
  readonly line: string;
  readonly onLine: (line: string) => void;
}

const ZOOM = 2;

/** Which line the strip shows, and its zoom for those without keys and wheel. */
export function StripBar({ model, lines, line, onLine }: StripBarProps) {
  return html`<div class="strip-bar">
    <label><span class="name">Strip of line</span> <select aria-label="Strip of line" onInput=${({ currentTarget }: { currentTarget: HTMLSelectElement }) => onLine(currentTarget.value)}>
      ${lines.map((each) => html`<option selected=${each === line}>${each}</option>`)}
    </select></label>
    <${Button} label="Zoom in" onClick=${() => model.zoom(ZOOM)}>+<//>
    <${Button} label="Zoom out" onClick=${() => model.zoom(1 / ZOOM)}>−<//>
    <${Button} label="All of it in view" onClick=${() => model.fit()}>All<//>
    <${Button} label="Follow the newest" disabled=${model.isFollowing.value} onClick=${() => model.follow()}>Follow<//>
  </div>`;
}
