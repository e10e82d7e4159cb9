import { expect, test } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { accessibilityFaults, gate, openPage, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const PLANT = nativeSetup({
  devices: {
    meter: {
      registers: { holding: [{ address: 10, type: 'float32', value: 230.1, name: 'voltage', unit: 'V' }] },
    },
    pump: {
      registers: {
        coils: [
          { address: 0, value: 0, name: 'run' },
          { address: 1, value: [1, 0, 1] },
        ],
        holding: [{ address: 0, name: 'status', value: 1, bits: { 0: 'running', 1: 'alarm' } }],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'pump' } } },
});

describeInBrowser('the panel', () => {
  test('watches values and tables of several devices side by side, and sets them', async () => {
    const served = await serve(PLANT);
    const raw = async (device: string, query: string) => {
      const answer = await served.rest.send('GET', `/api/v1/devices/${device}/registers?${query}`);
      return (answer.body as { registers: { raw: number }[] }).registers[0]?.raw;
    };
    const page = await openPage(served, '/registers/meter/holding?from=10');
    // Until the value is known, its address is pinned.
    await page.getByRole('heading', { name: 'voltage' }).waitFor();
    await page.getByRole('link', { name: 'Pin to the panel' }).click();
    const voltage = page.getByRole('region', { name: 'meter.voltage' });
    await voltage.getByText('230.1 V').waitFor();
    await voltage.getByRole('slider', { name: 'meter.voltage, the last few minutes' }).waitFor();
    const adding = page.getByRole('form', { name: 'Add to the panel' });
    for (const wanted of ['pump.run', 'pump.status', 'pump/coils/1-3', 'pump.nothing']) {
      await adding.getByLabel('Watch').fill(wanted);
      await adding.getByLabel('Watch').press('Enter');
      await page.getByRole('region', { name: wanted, exact: true }).waitFor();
    }
    // What is not there says so, and takes nothing else with it.
    await page.getByRole('region', { name: 'pump.nothing' }).getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Remove pump.nothing from the panel' }).click();
    expect(new URL(page.url()).searchParams.get('watch')).toBe(
      'meter.voltage,pump.run,pump.status,pump/coils/1-3',
    );
    await voltage.getByLabel('New value of voltage').fill('231.5');
    await voltage.getByRole('button', { name: 'Set' }).click();
    await voltage.getByText('231.5 V').waitFor();
    await voltage.getByLabel('New value of voltage').fill('nonsense');
    await voltage.getByRole('button', { name: 'Set' }).click();
    await page
      .getByText(/voltage: expected/)
      .first()
      .waitFor();
    await page.getByRole('switch', { name: 'run' }).press('Space');
    await expect.poll(() => raw('pump', 'names=run')).toBe(1);
    await page.getByLabel('alarm').check();
    await expect.poll(() => raw('pump', 'names=status')).toBe(3);
    await page.getByRole('switch', { name: 'coils 2' }).click();
    await expect.poll(() => raw('pump', 'table=coils&from=2&to=2')).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    // 200 % of 780 pixels.
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'Lines', exact: true }).click();
    await page.getByRole('article', { name: 'Line lan' }).waitFor();
    await page.getByRole('link', { name: 'Panel', exact: true }).click();
    await page.getByRole('region', { name: 'pump.status' }).getByText('running, alarm').waitFor();
  });

  test('keeps what was set when the answer to an earlier read arrives late', async () => {
    const served = await serve(PLANT);
    const page = await openPage(served, '/panel?watch=pump.run');
    const run = page.getByRole('region', { name: 'pump.run', exact: true });
    await run.getByText('0', { exact: true }).waitFor();
    const [isHeld, hold] = gate();
    const [isLate, sendLate] = gate();
    const [isNext, next] = gate();
    let reads = 0;
    await page.route('**/registers?names=**', async (route) => {
      reads++;
      // The first read began before the change; the second follows the change.
      if (reads === 2) return route.continue();
      if (reads > 2) return next();
      const response = await route.fetch();
      hold();
      await isLate;
      await route.fulfill({ response });
    });
    await isHeld;
    await run.getByRole('switch', { name: 'run' }).press('Space');
    await run.getByText('1', { exact: true }).waitFor();
    sendLate();
    // The page reads again only when it has taken the late answer.
    await isNext;
    expect(await run.getByRole('switch', { name: 'run' }).isChecked()).toBe(true);
    await run.getByText('1', { exact: true }).waitFor();
  });

  test('begins with all values of a device', async () => {
    const served = await serve(PLANT);
    const page = await openPage(served, '/panel');
    await page.getByRole('link', { name: 'pump', exact: true }).click();
    await page.getByRole('region', { name: 'pump.run' }).waitFor();
    await page.getByRole('region', { name: 'pump.status' }).getByText('running').first().waitFor();
    expect(await page.getByRole('region', { name: /^meter/ }).count()).toBe(0);
  });
});
