/** The colours of the strip, by the names that they have in `tokens.css`. */
export const INKS = [
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

/** The colours as they are in the theme of the moment: those of samples in the page, because a canvas knows no variables. */
export function paletteOf(samples: Element): Palette {
  const entries = INKS.map((ink, i) => {
    const sample = samples.children[i];
    return [ink, sample ? getComputedStyle(sample).color : 'gray'];
  });
  return Object.fromEntries(entries) as Palette;
}
