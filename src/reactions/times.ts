/** The shortest time after which something ends, in ms. */
export const MIN_DELAY = 1;

/** The longest time until something happens: a day in ms. */
export const MAX_DELAY = 86_400_000;
