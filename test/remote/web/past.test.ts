import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { tcpMaster } from '../api/masters.js';
import { accessibilityFaults, openPage, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

/** More than the resolution of the slider. */
const aWhile = () => setTimeout(500);

describeInBrowser('the time machine', () => {
  test('shows registers, traffic and rules of one moment, and what a write replaced, and changes nothing there', async () => {
    const served = await serve();
    const client = await tcpMaster(served.port('lan'));
    await aWhile();
    await client.writeRegister(1, 222);
    await aWhile();
    await served.rest.send('PUT', '/api/v1/faults/late', { do: [{ delay: 5 }] });
    await aWhile();
    await client.writeRegister(1, 61333);
    // The rule is there well before and after the write, however busy the machine is.
    await aWhile();
    await served.rest.send('DELETE', '/api/v1/faults/late');
    const page = await openPage(served, '/registers/meter/holding?as=unsigned');
    const cell = (text: string) => page.getByRole('gridcell', { name: text, exact: true }).waitFor();
    await cell('61333');
    await page.getByRole('button', { name: 'Past', exact: false }).click();
    const machine = page.getByRole('region', { name: 'Time machine' });
    await machine.getByText('Nothing can be changed here.').waitFor();
    await cell('222 → 61333');
    // The first click leads to the newest write itself.
    const before = machine.getByRole('button', { name: 'Write before' });
    const first = await before.getAttribute('aria-label');
    await before.click();
    await expect.poll(() => before.getAttribute('aria-label')).not.toBe(first);
    await before.click();
    await cell('2 → 222');
    expect(new URL(page.url()).searchParams.get('then')).toMatch(/^\d{4}-.*Z$/);
    await page.getByText("only read: the past can't be changed").waitFor();
    // The slider itself, by keys: ten seconds back there is nothing yet.
    await machine.getByRole('button', { name: 'Write after' }).click();
    await cell('222 → 61333');
    const slider = machine.getByRole('slider', { name: 'Moment' });
    await slider.press('ArrowLeft');
    await slider.press('ArrowLeft');
    await cell('2 → 222');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d:\d\d\.\d{3}, .* ago$/);
    await page.getByRole('link', { name: 'Faults', exact: true }).click();
    await page.getByRole('article', { name: 'Rule late' }).getByText('armed').waitFor();
    expect(await page.getByRole('button', { name: 'Remove late' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Traffic', exact: true }).click();
    await page.locator('[role="row"][aria-selected="true"]', { hasText: '222' }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Play this again/ }).click(),
    ]);
    const again = await readFile(await saved.path(), 'utf8');
    expect(loadNative(again, '.').ok).toBe(true);
    // No port has this number.
    expect(again).not.toContain('61333');
    await page.getByRole('link', { name: 'Conversations', exact: true }).click();
    await page.locator('.talk', { hasText: 'write single register' }).getByText('222').waitFor();
    await page.getByRole('link', { name: 'Lines', exact: true }).click();
    await machine.getByText('The lanes end here; everything else is current.').waitFor();
    await page.getByRole('button', { name: 'Follow the newest' }).waitFor();
    await page.getByRole('link', { name: 'Registers', exact: true }).click();
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await cell('61333');
    expect(await machine.count()).toBe(0);
  });
});
