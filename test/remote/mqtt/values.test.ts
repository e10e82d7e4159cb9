import { describe, expect, it } from 'vitest';
import type { Publication } from '../../../src/remote/mqtt/outbox.js';
import { Reported, ValuesOut } from '../../../src/remote/mqtt/values.js';

function valuesOut() {
  const published: Publication[] = [];
  const broker = { isBusy: false, publish: (message: Publication) => void published.push(message) };
  const values = new ValuesOut({ topic: 'b/devices', every: 0 }, broker);
  return {
    values,
    broker,
    heard: () => published.splice(0).map(({ topic, payload }) => `${topic} ${payload}`),
  };
}

describe('values that are told', () => {
  it('are told again when the broker is back', () => {
    const { values, heard } = valuesOut();
    for (let i = 0; i < 2; i++) values.report('meter', [{ name: 'voltage', value: 230 }]);
    expect(heard()).toEqual(['b/devices/meter/values/voltage 230']);
    values.forget();
    values.report('meter', [{ name: 'voltage', value: 230 }]);
    expect(heard()).toEqual(['b/devices/meter/values/voltage 230']);
  });

  it('wait while the broker is busy, and then the newest is told', () => {
    const { values, broker, heard } = valuesOut();
    broker.isBusy = true;
    for (const value of [1, 4711]) values.report('meter', [{ name: 'voltage', value }]);
    expect(heard()).toEqual([]);
    broker.isBusy = false;
    values.report('meter', [{ name: 'voltage', value: 4711 }]);
    expect(heard()).toEqual(['b/devices/meter/values/voltage 4711']);
  });

  it('are taken back when their device, or their name, is gone, though the broker was away meanwhile', () => {
    const { values, heard } = valuesOut();
    values.report('meter', [
      { name: 'voltage', value: 230 },
      { name: 'current', value: 1 },
    ]);
    values.report('old', [{ name: 'power', value: 2 }]);
    heard();
    values.forget();
    values.keepOnly(new Map([['meter', new Set(['voltage'])]]));
    expect(heard()).toEqual(['b/devices/meter/values/current ', 'b/devices/old/values/power ']);
    values.keepOnly(new Map());
    expect(heard()).toEqual(['b/devices/meter/values/voltage ']);
  });

  it('are 10,000 at most, of devices that are there', () => {
    const told = new Reported(0);
    const news = () =>
      Array.from({ length: 10_001 }, (_, i) => told.isNews('meter', `v${i}`, 0)).filter(Boolean);
    expect(news()).toHaveLength(10_000);
    told.keepOnly((device) => device !== 'meter');
    expect(news()).toHaveLength(10_000);
  });
});
