import type { Random } from '../../common/random.js';

/** Draws something at random. Equal random numbers give equal results. */
export type Draw<Drawn> = (random: Random) => Drawn;

/** Draws one of the choices. */
export function oneOf<Drawn>(choices: readonly Drawn[]): Draw<Drawn> {
  return (random) => choices[random.below(choices.length)] as Drawn;
}

/** Uses one of the draws, with a probability in proportion to its weight. */
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

/** Uses one of the draws, all with the same probability. */
export function either<Drawn>(...draws: readonly Draw<Drawn>[]): Draw<Drawn> {
  return weighted(draws.map((draw) => [1, draw]));
}

/** Draws a whole number from `least` to `most`. */
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

/** How many times to draw until something fits. */
const TRIES = 100;

/**
 * Draws only what fits. What fits may change while a simulator runs; if nothing fits any more, returns
 * `known`.
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
