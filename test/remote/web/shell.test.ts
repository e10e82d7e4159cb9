import { expect, test } from 'vitest';
import { VIEW_NAMES } from '../../../src/remote/api/console/paths.js';
import { accessibilityFaults, BENCH, gate, openPage, poll, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const READER = 'the-only-token-that-may-just-read';
const TOKEN = 'the-token-that-may-do-everything';

describeInBrowser('the console', () => {
  test.each(VIEW_NAMES)(
    'shows /%s, in 360 pixels too, without a serious fault of accessibility, light and dark',
    async (view) => {
      const served = await serve();
      await poll(served);
      const page = await openPage(served, `/${view}`, { width: 360 });
      await page.getByText('live', { exact: true }).waitFor();
      const widest = () => page.evaluate(() => document.documentElement.scrollWidth);
      expect(await widest()).toBeLessThanOrEqual(360);
      await page.setViewportSize({ width: 1280, height: 800 });
      await expect.poll(widest).toBe(1280);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityFaults(page)).toEqual([]);
      }
      // A bench without a broker has no link to its fleet.
      if (view === 'fleet') return;
      expect(await page.locator('nav a[aria-current=page]').getAttribute('href')).toBe(`/${view}`);
    },
  );

  test('has themes by name', async () => {
    const page = await openPage(await serve(), '/lines');
    for (const name of ['Theme: auto', 'Theme: light', 'Theme: dark'])
      await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: 'Theme: auto', exact: true }).waitFor();
  });

  test.each(['registers', 'panel/meter', 'faults', 'catalogue', 'lines', 'tests'])(
    'says on /%s why each grey control is off in a session that may only read',
    async (view) => {
      const served = await serve(BENCH, { rules: { host: '127.0.0.1', readTokens: [READER] } });
      served.addRule({ name: 'slow', do: [{ delay: 1 }] });
      const page = await openPage(served, `/${view}`);
      await page.getByLabel('Token').fill(READER);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('read only', { exact: true }).waitFor();
      const grey = page.locator('main :is(button, select, input):disabled');
      await grey.first().waitFor();
      const titles = () =>
        grey.evaluateAll((all) => all.map((each) => `${each.textContent} ${(each as HTMLElement).title}`));
      await expect
        .poll(async () => (await titles()).filter((each) => !each.includes('this session is read-only')))
        .toEqual([]);
      expect(await accessibilityFaults(page)).toEqual([]);
    },
  );

  test('asks for a token, and goes on where it was', async () => {
    const rules = { host: '127.0.0.1', token: TOKEN };
    const served = await serve(BENCH, { rules });
    const page = await openPage(served, '/faults?x=1');
    await page.getByLabel('Token').waitFor();
    await page.getByText('or one of api.readTokens to look without changing anything').waitFor();
    await page.getByText('waiting for a token').waitFor();
    expect(await page.locator('.banner').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('not a configured token').waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('live', { exact: true }).waitFor();
    expect(page.url()).toBe(`${served.url}/faults?x=1`);
  });

  test('asks for no token again when the answer to a request from before the log-in comes after it', async () => {
    const served = await serve(BENCH, { rules: { host: '127.0.0.1', token: TOKEN } });
    const page = await openPage(served, '/lines');
    await page.getByLabel('Token').waitFor();
    const [opened, open] = gate();
    await page.route('**/api/v1/session', async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      expect(response.status()).toBe(401);
      await opened;
      await route.fulfill({ response });
    });
    const asked = page.waitForRequest(
      (request) => /\/session$/.test(request.url()) && request.method() === 'GET',
    );
    await page.reload();
    const request = await asked;
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('live', { exact: true }).waitFor();
    open();
    await (await request.response())?.finished();
    // A request that is made now is answered after that.
    await page.evaluate(() => fetch('/api/v1/lines').then((response) => response.text()));
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await page.getByLabel('Token').count()).toBe(0);
  });
});
