import { expect, test } from 'vitest';
import { tcpMaster } from '../api/masters.js';
import { accessibilityFaults, openPage, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

describeInBrowser('the view of the catalogue', () => {
  test('finds an entry, plays it, and Lines and Traffic say so until it is taken back', async () => {
    const served = await serve();
    const manners = () => served.simulator.devices.get('meter')?.manners;
    const page = await openPage(served, '/faults');
    await page.getByRole('link', { name: 'What real devices do wrong' }).click();
    await page.getByLabel('Search').fill('many registers');
    await page.getByRole('link', { name: /^few-registers/ }).click();
    const few = page.getByRole('article', { name: 'few-registers' });
    await few.getByLabel('Where').selectOption('device meter');
    await few.getByRole('button', { name: 'Play' }).click();
    await few.getByText('In use now: meter.').waitFor();
    expect(manners()).toMatchObject({ most: { registers: 40 } });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Search').fill('');
    await page.getByRole('link', { name: /^exception-zero/ }).click();
    const zero = page.getByRole('article', { name: 'exception-zero' });
    await zero.getByLabel('Where').selectOption('line lan');
    await zero.getByRole('application', { name: 'What the rule will look like' }).waitFor();
    await zero.getByRole('button', { name: 'Play' }).click();
    await zero.getByText('In use now: lan.').waitFor();
    await page.getByRole('link', { name: 'Lines', exact: true }).click();
    const lan = page.getByRole('article', { name: 'Line lan' });
    await lan.getByRole('link', { name: 'exception-zero', exact: true }).waitFor();
    await lan.getByRole('link', { name: 'few-registers', exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const client = await tcpMaster(served.port('lan'));
    // It is each tenth reply.
    for (let i = 0; i < 10; i++) await client.readHoldingRegisters(0, 1).catch(() => {});
    const seq = served.simulator.traffic.last;
    await page.goto(`${served.url}/traffic?at=${seq}`);
    await page.getByText(/^As exception-zero: /).waitFor();
    await page.goto(`${served.url}/catalogue/few-registers`);
    await few.getByRole('button', { name: 'Take back' }).click();
    await few.getByText('In use now: meter.').waitFor({ state: 'detached' });
    expect(manners()).toBeUndefined();
  });

  test('says why an entry can not be played somewhere', async () => {
    const page = await openPage(await serve(), '/catalogue/newcomer-evicts');
    const shown = page.getByRole('article', { name: 'newcomer-evicts' });
    await shown.getByLabel('Where').selectOption('line bus');
    await shown.getByRole('button', { name: 'Play' }).click();
    await page.getByText('Refused:').waitFor();
  });
});
