import { html } from 'htm/preact';
import './plot.css';

interface SparklineProps {
  readonly label: string;
  readonly unit: string;
  /** Oldest first; undefined where nothing was measured. */
  readonly values: readonly (number | undefined)[];
  /** How many values the width is for; fewer stand at the right. */
  readonly width: number;
  readonly format: (value: number) => string;
}

const HEIGHT = 24;

/** The course of a value, with its newest and its greatest value in figures. */
export function Sparkline({ label, unit, values, width, format }: SparklineProps) {
  const known = values.filter((value) => value !== undefined);
  const max = Math.max(...known, 0);
  const now = values.at(-1);
  const text = (value: number | undefined) => (value === undefined ? '–' : format(value));
  return html`<figure class="sparkline">
    <figcaption><span class="dim">${label}</span>
      <span><b>${text(now)}</b> ${unit} <span class="dim">max ${text(known.length > 0 ? max : undefined)}</span></span>
    </figcaption>
    <svg viewBox=${`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d=${course(values, width, max)} vector-effect="non-scaling-stroke" />
    </svg>
  </figure>`;
}

/** The path through the values; broken where there is none. */
function course(values: readonly (number | undefined)[], width: number, max: number): string {
  const start = width - values.length;
  let [path, command] = ['', 'M'];
  values.forEach((value, i) => {
    const y = HEIGHT - 1 - ((value ?? 0) / (max || 1)) * (HEIGHT - 2);
    if (value !== undefined) path += `${command}${start + i} ${y.toFixed(1)}`;
    command = value === undefined ? 'M' : 'L';
  });
  return path;
}
