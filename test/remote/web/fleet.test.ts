import { expect, test } from 'vitest';
import type { SeenBench } from '../../../src/simulator/commands/schemas/mqtt.js';
import { accessibilityFaults, openPage, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const BENCH: SeenBench = {
  topic: 'modbus-sim/bench-1',
  isOwn: true,
  state: 'online',
  version: '1.0.0',
  since: '2026-11-24T09:30:00.000Z',
  labels: { rack: '3' },
  lines: 2,
  openLines: 1,
  rules: ['slow'],
  running: ['meter reads'],
  rates: { requests: 42.5, faults: 0.2 },
  rest: 'http://192.168.1.8:8080',
};

const STATUS = { topic: BENCH.topic, connected: true, reason: null, since: BENCH.since };

describeInBrowser('the fleet', () => {
  test('has a tile for each bench on the broker, with a link to its console', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Fleet' }).count()).toBe(0);
    const others = [
      { ...BENCH, topic: 'modbus-sim/<b>', isOwn: false },
      { ...BENCH, topic: 'modbus-sim/bench-3', isOwn: false, state: 'offline', rates: null },
    ];
    await page.route('**/api/v1/mqtt', (route) => route.fulfill({ json: { mqtt: STATUS } }));
    await page.route('**/api/v1/mqtt/benches', (route) =>
      route.fulfill({ json: { benches: [BENCH, ...others] } }),
    );
    await page.reload();
    await page.getByRole('link', { name: 'Fleet' }).click();
    await page.getByText('3 benches, 2 online').waitFor();
    const tile = page.getByRole('article', { name: 'Bench <b>' });
    await tile.getByText('42.5/s').waitFor();
    await tile.getByText('1 of 2 open').waitFor();
    await tile.getByText('slow').waitFor();
    expect(await tile.getByRole('link', { name: 'Console of <b>' }).getAttribute('href')).toBe(BENCH.rest);
    expect(await page.getByRole('link', { name: /^Console of/ }).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('says without a broker what is missing', async () => {
    const page = await openPage(await serve(), '/fleet');
    await page.getByText('This bench is not connected to an MQTT broker.').waitFor();
  });
});
