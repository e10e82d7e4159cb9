import { describe, expect, it } from 'vitest';
import { inVirtualTime } from '../client/virtual-bench.js';
import { playByHand } from './by-hand.js';
import { PLANTED } from './planted.js';

inVirtualTime();

it('there are forty planted mistakes, each of another name, that need two or three moves', () => {
  expect(new Set(PLANTED.map(({ on, name }) => `${on} ${name}`)).size).toBe(40);
  for (const { needs } of PLANTED) expect([2, 3]).toContain(needs.length);
});

describe.each(PLANTED)('$on: $name', (planted) => {
  const { needs, deed } = planted;

  it('shows when its moves are played one after the other', async () => {
    const { deeds } = await playByHand(planted, needs);
    expect(deeds).toEqual([deed]);
  });

  it('does not show when each of its moves is played alone, short or long', async () => {
    for (const move of needs) {
      for (const times of [1, 5]) {
        const { deeds, experiences } = await playByHand(planted, [move], times);
        expect(deeds).toEqual([]);
        expect(experiences.filter(({ effect }) => effect !== 'good' && effect !== 'connected')).not.toEqual(
          [],
        );
      }
    }
  });
});
