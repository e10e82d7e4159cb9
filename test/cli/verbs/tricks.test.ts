import { expect, it } from 'vitest';
import { play, TRICKS } from '../../../scripts/hostile/tricks.mjs';

/** Beside other tests, learning from 60,000 requests in a small heap takes minutes. */
const NET_MS = 600_000;

it.each(TRICKS.map((trick) => [trick.name, trick] as const))(
  '%s: the program holds',
  async (_, trick) => {
    const { held, seen } = await play(trick);
    expect(held, seen).toBe(true);
    expect(seen).toMatch(/./);
  },
  NET_MS,
);
