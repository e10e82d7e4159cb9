import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DueQueue } from '../../src/device/due-queue.js';

it('a queue has its items in the order of their numbers, then of their setting, whatever was changed between', () => {
  const change = fc.record({
    item: fc.integer({ min: 0, max: 20 }),
    key: fc.option(fc.constantFrom(0, 1, 2, 3, 5, 8, Number.POSITIVE_INFINITY)),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const queue = new DueQueue<number>();
      const model: { item: number; key: number }[] = [];
      for (const { item, key } of changes) {
        const known = model.findIndex((each) => each.item === item);
        if (key === null) expect(queue.delete(item)).toBe(known >= 0);
        else queue.set(item, key);
        if (key !== null && model[known]?.key === key) continue;
        if (known >= 0) model.splice(known, 1);
        if (key !== null) model.push({ item, key });
        expect(queue.size).toBe(model.length);
      }
      for (const { item } of model.toSorted((a, b) => (a.key === b.key ? 0 : a.key - b.key))) {
        expect(queue.first).toBe(item);
        queue.delete(item);
      }
      expect([queue.first, queue.size]).toEqual([undefined, 0]);
    }),
  );
});
