import { html } from 'htm/preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Box, boxesOf, boxPath, drawingOf, HEIGHT, RULER } from '../../../common/timeline/drawing.js';
import { LANES, LOOKS, type Look } from '../../../common/timeline/pieces.js';
import { TICK, ticksOf } from '../../../common/timeline/times.js';
import { followSize, textWidth, together } from '../ui/element.js';
import './strip.css';
import { followGestures, type StripModel, usAt, xOf } from './model.js';

interface StripProps {
  readonly model: StripModel;
  /** The name of the strip, for screen readers. */
  readonly label: string;
  /** Number of the event whose pieces are highlighted. */
  readonly selected?: number | undefined;
  readonly onSelect?: (id: number) => void;
}

/** The traffic of a line to scale, as on a logic analyser. Below it are the piece in focus and the measured time. */
export function Strip({ model, label, selected, onSelect }: StripProps) {
  const element = useRef<SVGSVGElement>(null);
  const help = useId();
  const drawn = useRef<readonly Box[]>([]);
  const select = useRef(onSelect);
  select.current = onSelect;
  useEffect(() => {
    const svg = element.current as SVGSVGElement;
    return together(
      followSize(svg, () => model.resize(svg.getBoundingClientRect().width)),
      followGestures(svg, model, {
        boxes: () => drawn.current,
        onPick: (piece) => {
          model.focusOn(piece);
          select.current?.(piece.id);
        },
      }),
    );
  }, [model]);

  const [scale, width, focus] = [model.scale.value, model.width.value, model.focus.value];
  const { wire, rulerAt, piecesIn } = model.source.value;
  const toUs = usAt(scale, width);
  const ruler = rulerAt((scale.fromUs + toUs) / 2);
  const { boxes, texts, grid, pauses } = drawingOf(piecesIn(scale.fromUs, toUs), {
    xOf: (us) => xOf(scale, us),
    width,
    characterUs: wire.characterUs,
    widthOf: textWidth,
    ticks: ruler ? ticksOf(ruler, scale.fromUs, toUs, TICK * scale.usPerPixel) : [],
  });
  drawn.current = boxes;
  const paths = pathsOf(boxes);
  const chosen = boxes.filter(({ piece }) => piece.id === selected).map((box) => boxPath(box));
  const focused = boxesOf(focus ? [focus] : [], (us) => xOf(scale, us), width).map((box) => boxPath(box, 2));
  return html`<div class="strip panel">
    <div class="lanes dim small" aria-hidden="true">${LANES.map((lane, i) => html`<span style=${{ gridRow: i < 2 ? i + 2 : i + 3 }}>${lane}</span>`)}</div>
    <div class="field-of-view" role="application" tabindex="0" aria-label=${label} aria-describedby=${help}
      aria-roledescription="timing strip"
      onKeyDown=${(event: KeyboardEvent) => {
        if (pressed(model, event, onSelect)) event.preventDefault();
      }}>
      <svg ref=${element} class="drawing" height=${HEIGHT} aria-hidden="true">
        <path class="grid" d=${grid} />
        ${PATHS.map((name) => html`<path class=${`piece ${name}`} d=${paths.get(name) ?? ''} />`)}
        <path class="selected" d=${chosen.join('')} />
        <path class="pauses" d=${pauses} />
        ${texts.map(({ kind, x, y, text }) => html`<text class=${kind} x=${x} y=${y}>${text}</text>`)}
        <path class="focus" d=${focused.join('')} />
        <${Cursors} xs=${model.cursors.value.map((us) => xOf(scale, us))} />
      </svg>
    </div>
    <p class="readout small" role="status">
      <span class="long">${focus?.words ?? (ruler ? HINT : 'Nothing to show.')}</span>
      <b class="mono">${model.measured.value === undefined ? '' : `A–B ${model.measured.value}`}</b>
    </p>
    <p class="unseen" id=${help}>${KEYS}</p>
  </div>`;
}

/** Boxes narrower than this have no outline, in pixels. */
const THIN = 3;
/** The classes of the paths, in the order in which they are drawn. */
const PATHS = LOOKS.flatMap((look) => [look, `${look} thin`]);

/** The boxes, joined into one path per class because there may be thousands. */
function pathsOf(boxes: readonly Box[]): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const box of boxes) {
    const name = box.width < THIN ? `${box.piece.look} thin` : box.piece.look;
    paths.set(name, (paths.get(name) ?? '') + boxPath(box));
  }
  return paths;
}

/** The cursors, and the span between them. */
function Cursors({ xs }: { readonly xs: readonly number[] }) {
  const [a, b] = xs;
  const between = a === undefined || b === undefined ? '' : `M${a} 0V${HEIGHT}H${b}V0z`;
  return html`<g class="cursors">
    <path class="between" d=${between} />
    <path d=${xs.map((x) => `M${Math.round(x) + 0.5} 0V${HEIGHT}`).join('')} />
    ${xs.map((x, i) => html`<text x=${x + 3} y=${RULER - 6}>${'AB'.charAt(i)}</text>`)}
  </g>`;
}

const MEANINGS: Partial<Record<Look, string>> = {
  request: 'received',
  reply: 'sent',
  spoilt: 'changed by a fault',
  damaged: 'damaged',
  foreign: 'between others',
  planned: 'planned',
  missing: 'not sent',
};

/** The legend of strips and traffic rows: their colours and what they mean. */
export function Legend() {
  return html`<ul class="legend flow dim small" aria-label="Colours">${Object.entries(MEANINGS).map(
    ([look, meaning]) =>
      html`<li><svg class="drawing" aria-hidden="true"><path class=${`piece ${look}`} d="M.5 .5h15v9h-15z" /></svg>${meaning}</li>`,
  )}</ul>`;
}

const HINT = 'Drag to move, turn the wheel or pinch to zoom, drag on the ruler to measure.';
const KEYS =
  'Left and Right go from piece to piece, with Shift they move the strip. Plus and minus zoom, 0 shows all, Home goes to the beginning, End follows the newest. M sets a cursor, Escape removes the cursors, Enter opens the event.';

const ZOOM = 1.5;
const MOVE = 0.25;

/** Handles a key. @returns false for keys without a function here */
function pressed(model: StripModel, event: KeyboardEvent, onSelect: StripProps['onSelect']): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const piece = model.focus.peek();
  const step = (direction: 1 | -1) => {
    if (event.shiftKey) model.move(-direction * MOVE * model.width.peek());
    else model.step(direction);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    '+': () => model.zoom(ZOOM),
    '=': () => model.zoom(ZOOM),
    '-': () => model.zoom(1 / ZOOM),
    '0': () => model.fit(),
    Home: () => model.look({ ...model.scale.peek(), fromUs: model.source.peek().oldestUs }),
    End: () => model.follow(),
    m: () => piece && model.setCursor(piece.startUs),
    M: () => piece && model.setCursor(piece.endUs),
    Escape: () => {
      model.cursors.value = [];
    },
    Enter: () => piece && onSelect?.(piece.id),
  };
  const act = keys[event.key];
  act?.();
  return act !== undefined;
}
