import type { Random } from '../../common/random.js';

/** Draws something at random: the same numbers draw the same. */
export type Draw<Drawn> = (random: Random) => Drawn;

/** Draws one of these. */
export function oneOf<Drawn>(choices: readonly Drawn[]): Draw<Drawn> {
  return (random) => choices[random.below(choices.length)] as Drawn;
}

/** Draws by one of these, each as often as its weight says: one of 2 twice as often as one of 1. */
export function weighted<Drawn>(draws: readonly (readonly [weight: number, Draw<Drawn>])[]): Draw<Drawn> {
  const whole = draws.reduce((sum, [weight]) => sum + weight, 0);
  return (random) => {
    let left = random.below(whole);
    for (const [weight, draw] of draws) {
      if (left < weight) return draw(random);
      left -= weight;
    }
    throw new Error('nothing to draw');
  };
}

/** Draws by one of these, each as often. */
export function either<Drawn>(...draws: readonly Draw<Drawn>[]): Draw<Drawn> {
  return weighted(draws.map((draw) => [1, draw]));
}

/** Draws a whole number. */
export function wholeFrom(least: number, most: number): Draw<number> {
  return (random) => least + random.below(most - least + 1);
}

/** Draws a list of `least` to `most` items. */
export function listOf<Item>(item: Draw<Item>, least: number, most: number): Draw<Item[]> {
  const length = wholeFrom(least, most);
  return (random) => Array.from({ length: length(random) }, () => item(random));
}

/** Draws bytes in hexadecimal: `83 02`. */
export function bytesOf(least: number, most: number): Draw<string> {
  const bytes = listOf(wholeFrom(0, 0xff), least, most);
  return (random) =>
    bytes(random)
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join(' ');
}

/** How often something is drawn until it fits. */
const TRIES = 100;

/**
 * Draws only what fits. What fits may change while a simulator runs; if nothing does any more, the known one is drawn.
 * @param known something that fits
 */
export function fitting<Drawn>(
  draw: Draw<Drawn>,
  fits: (drawn: Drawn) => boolean,
  known: Drawn,
): Draw<Drawn> {
  return (random) => {
    for (let i = 0; i < TRIES; i++) {
      const drawn = draw(random);
      if (fits(drawn)) return drawn;
    }
    return known;
  };
}
