import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { Certificates } from '../../modbus/transport/socket/certificates.js';
import { nativeSetup } from '../../support/configuration.js';
import { accessibilityFaults, BENCH, openPage, poll, type Served, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const TOKEN = 'the-token-that-may-do-everything';
/** A name of the greatest length, of letters that no font breaks, and of text that means something elsewhere. */
const LONGEST = `${'W'.repeat(40)}<img src=x>&amp;"'\`ü`;

const rowCount = async (page: Page) => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;
const isTooWide = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
const units = { 1: 'meter' };
const devices = {
  meter: { registers: { holding: [{ address: 0, quantity: 65_536, value: 7, write: true }] } },
};

/** So many requests on TCP, and their answers. */
async function crowd(served: Served, count: number): Promise<void> {
  const client = served.client('lan');
  for (let sent = 0; sent < count; sent += 500) {
    const requests = Array.from({ length: 500 }, () => Buffer.from('000100000006010300000001', 'hex'));
    client.send(Buffer.concat(requests));
    await expect.poll(() => client.received.length).toBe((sent + 500) * 11);
  }
}

describeInBrowser('the console with much of everything', () => {
  test('follows one of 64 lines in the traffic, with the longest names, also at 360 pixels', async () => {
    const names = ['lan', LONGEST, ...Array.from({ length: 62 }, (_, i) => `line-${i}`)];
    const lines = Object.fromEntries(names.map((name) => [name, { tcp: { port: 0 }, units }]));
    const served = await serve(nativeSetup({ devices, lines }));
    await poll(served, LONGEST);
    for (const width of [1280, 360]) {
      const page = await openPage(served, '/traffic', { width, theme: 'dark' });
      await page.getByText('following').waitFor();
      const strips = page.getByLabel('Strip of line');
      await expect.poll(() => strips.locator('option').count()).toBe(64);
      await strips.selectOption(LONGEST);
      await page.getByRole('application', { name: `Timing of line ${LONGEST}` }).waitFor();
      await page.getByRole('row', { name: 'read holding registers' }).first().waitFor();
      expect(await isTooWide(page)).toBe(false);
    }
  });

  test('scrolls, jumps and filters in as many events as the simulator keeps', async () => {
    const served = await serve();
    await crowd(served, 51_000);
    const { last, first } = served.simulator.traffic;
    const page = await openPage(served, `/traffic?at=${first}`);
    const grid = page.getByRole('grid');
    await page.getByRole('region', { name: `Event ${first}` }).waitFor();
    await page.getByRole('button', { name: 'Newest', exact: true }).click();
    await page.getByRole('row', { name: new RegExp(`^${last} `) }).waitFor();
    await page.getByLabel('Jump to').fill('1h');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: `Event ${first}` }).waitFor();
    // What was before and after is read while it is scrolled to.
    for (let rows = await rowCount(page); rows < 3000; rows = await rowCount(page)) {
      await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await expect.poll(() => rowCount(page)).toBeGreaterThan(rows);
    }
    expect(await grid.getByRole('row').count()).toBeLessThan(60);
    await page.getByText('Fields').click();
    await page.getByLabel('direction').fill('none');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowCount(page)).toBeLessThan(10);
  });

  test('leads to one of 247 devices, and through all registers of one', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 246 }, (_, i) => [`device-${i}`, { registers: { holding: [{ address: i }] } }]),
    );
    const lan = { tcp: { port: 0 }, units: { 1: 'meter', 2: LONGEST } };
    const served = await serve(
      nativeSetup({ devices: { ...devices, ...many, [LONGEST]: devices.meter }, lines: { lan } }),
    );
    const page = await openPage(served, '/registers/meter/holding', { width: 360 });
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+End');
    await page.locator('[data-address="65535"]').getByText('7', { exact: true }).waitFor();
    const choice = page.getByRole('combobox', { name: 'Device' });
    await expect.poll(() => choice.locator('option').count()).toBe(248);
    await choice.selectOption('device-200');
    await page.waitForURL('**/registers/device-200/**');
    await choice.selectOption(LONGEST);
    await page.getByRole('grid', { name: `holding of ${LONGEST}` }).waitFor();
    expect(await isTooWide(page)).toBe(false);
  });

  test('shows a rule with 64 faults, and changes it', async () => {
    const faults = [{ name: 'many', do: Array.from({ length: 64 }, (_, i) => ({ delay: i + 1 })) }];
    const served = await serve(nativeSetup({ devices, lines: { lan: { tcp: { port: 0 }, units } }, faults }));
    const page = await openPage(served, '/faults', { width: 360 });
    const row = page.getByRole('article', { name: 'Rule many' });
    await row.getByText('delay 12 … 52 more').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('link', { name: 'Edit many' }).click();
    const editor = page.getByRole('form', { name: 'Rule many' });
    const delays = editor.getByLabel('ms', { exact: true });
    await expect.poll(() => delays.count()).toBe(64);
    expect(await isTooWide(page)).toBe(false);
    await delays.last().fill('9s');
    await editor.getByRole('button', { name: 'Change' }).click();
    await editor.waitFor({ state: 'detached' });
    const changed = await fetch(`${served.url}/api/v1/faults/many`);
    const { do: kept } = (await changed.json()) as { do: { delay: string | number }[] };
    expect([kept.length, kept.at(-1)]).toEqual([64, { delay: '9s' }]);
  });

  test('is live over HTTPS, after a token', async () => {
    const certificates = new Certificates();
    onTestFinished(() => certificates.remove());
    const { cert, key } = certificates.signed('server', {
      extension: 'subjectAltName=DNS:localhost,IP:127.0.0.1',
    });
    const credentials = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
    const served = await serve(BENCH, { rules: { host: '127.0.0.1', token: TOKEN, credentials } });
    const page = await openPage(served, '/traffic');
    expect(page.url()).toMatch(/^https:/);
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByText('following').waitFor();
    await poll(served);
    await page.getByRole('row', { name: 'read holding registers' }).first().waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ secure: true, httpOnly: true });
  });

  test('leads by keys alone from the beginning of a page through all five views', async () => {
    const page = await openPage(await serve(), '/lines');
    await page.getByText('live', { exact: true }).waitFor();
    for (const view of ['Registers', 'Traffic', 'Faults', 'Tests', 'Lines']) {
      const link = page.getByRole('link', { name: view, exact: true });
      await expect
        .poll(async () => {
          await page.keyboard.press('Tab');
          return link.evaluate((each) => each === document.activeElement);
        })
        .toBe(true);
      const outline = await link.evaluate((each) => getComputedStyle(each).outlineStyle);
      expect(outline).not.toBe('none');
      await page.keyboard.press('Enter');
      await page.locator(`main.view-${view.toLowerCase()}`).waitFor();
    }
  });
});
