import { expect, it } from 'vitest';
import { play, TRICKS } from '../../../scripts/hostile/tricks.mjs';

it.each(TRICKS.map((trick) => [trick.name, trick] as const))('%s: the program holds', async (_, trick) => {
  expect(await play(trick)).toEqual({ held: true, seen: expect.stringMatching(/./) });
});
