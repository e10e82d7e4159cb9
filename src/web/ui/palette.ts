/** The colours of drawings, by the names that they have in `tokens.css`. */
const INKS = [
  'ink',
  'dim',
  'edge',
  'panel',
  'accent',
  'accent-tint',
  'good',
  'good-tint',
  'warn',
  'warn-tint',
  'bad',
  'bad-tint',
] as const;

export type Ink = (typeof INKS)[number];
export type Palette = Readonly<Record<Ink, string>>;

/** The colours as they are in the theme of the moment. A canvas knows no variables, so its element tries each one on. */
export function paletteOf(canvas: HTMLElement): Palette {
  const entries = INKS.map((ink) => {
    canvas.style.color = `var(--${ink})`;
    return [ink, getComputedStyle(canvas).color];
  });
  return Object.fromEntries(entries) as Palette;
}
