import { afterEach, expect, it, vi } from 'vitest';
import { liveDevices } from './live.js';

const MINUTE = 60_000;

function meter() {
  return liveDevices({
    meter: {
      input: [
        { address: 0, name: 'power', signal: { sine: { period: '1m', amplitude: 5, offset: 100 } } },
        { address: 1, name: 'squared', signal: { expression: 'power * power / 100' } },
        {
          address: 2,
          name: 'energy',
          type: 'uint32',
          signal: { counter: { integral: 'squared', per: '1h' } },
        },
      ],
    },
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('a value that nobody reads is added up meanwhile, so that the next read has little to do', () => {
  const sines = vi.spyOn(Math, 'sin');
  const costOfRead = (bench: ReturnType<typeof meter>) => {
    sines.mockClear();
    return { value: bench.read('input', 2, 2), cost: sines.mock.calls.length };
  };
  const [left, kept] = [meter(), meter()];
  for (let minute = 0; minute < 5; minute++) {
    left.wait(MINUTE);
    kept.wait(MINUTE);
    for (const _ of kept.graph.updateAll()) sines.mockClear();
  }
  kept.wait(1000);
  left.wait(1000);
  const [alone, helped] = [costOfRead(left), costOfRead(kept)];
  expect(alone.cost).toBeGreaterThan(250);
  expect(helped.cost).toBeLessThan(10);
  expect(helped.value).toEqual(alone.value);
});
