import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorSchema } from '../../../src/simulator/commands/schemas/problem.js';
import { startWithMortalDesk } from '../../cli/verbs/mortal-desk.js';
import { nativeSetup } from '../../support/configuration.js';
import { makeTempDir } from '../../support/program.mjs';
import { BENCH, openPage, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const TOKEN = 'the-token-that-may-do-everything';

const OTHER_BENCH = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0 }] } } },
  lines: { spare: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

describeInBrowser('the connection of the console', () => {
  test('is lost, says so, and comes back to a simulator that was started anew', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    await page.getByRole('article', { name: 'Line lan' }).waitFor();
    await served.stop();
    await page.getByRole('alert').getByText('Connection lost, trying again').waitFor();
    await serve(OTHER_BENCH, { port: Number(new URL(served.url).port) });
    await page.getByRole('article', { name: 'Line spare' }).getByText('Modbus TCP').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('brings a view when it is opened, and says so when it can not', async () => {
    const page = await openPage(await serve(), '/lines');
    await page.getByRole('article', { name: 'Line lan' }).waitFor();
    const scripts = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => /assets\/(\w+)-\w+\.js$/.exec(name)?.[1]),
    );
    expect(scripts.filter((name) => name !== undefined).toSorted()).toEqual(['app', 'chunk']);
    await page.route('**/assets/faults-*', (route) => route.abort());
    await page.getByRole('link', { name: 'Faults' }).click();
    await page.getByText('This view could not be loaded').waitFor();
    await page.unroute('**/assets/faults-*');
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByRole('button', { name: 'New rule' }).waitFor();
  });

  test('says that REST alone is away, while it is started again', async () => {
    const holdingFile = join(makeTempDir(), 'hold');
    const program = await startWithMortalDesk(0, holdingFile);
    const url = program.restUrl();
    const page = await openPage({ url }, '/lines');
    await page.getByText('live', { exact: true }).waitFor();
    writeFileSync(holdingFile, '');
    process.kill(program.pid, 'SIGUSR2');
    await page.getByText('REST is restarting. The lines continue to run.').waitFor();
    const answer = await fetch(`${url}/api/v1/lines`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    const body = errorSchema.parse(await answer.json());
    expect(body).toMatchObject({ code: 'rest.restarting', status: 503 });
    rmSync(holdingFile);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('article', { name: 'Line lan' }).waitFor();
    expect(await program.stop()).toBe(0);
  });

  test('that has lost its session asks for a token, over what was being done', async () => {
    const served = await serve(BENCH, { rules: { host: '127.0.0.1', token: TOKEN } });
    const page = await openPage(served, '/lines');
    const logIn = async () => {
      await page.getByLabel('Token').fill(TOKEN);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    await logIn();
    await page.getByRole('button', { name: 'Change bus' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change bus' });
    await dialog.getByLabel('baudRate', { exact: true }).fill('19200');
    const [cookie] = await page.context().cookies();
    const headers = { host: new URL(served.url).host, cookie: `${cookie?.name}=${cookie?.value}` };
    await served.rest.send('DELETE', '/api/v1/session', undefined, headers);
    // Sent by the button itself: where the stream of events has found out first, the log-in lies above the dialog and takes a click.
    await dialog.locator('button', { hasText: 'Change' }).dispatchEvent('click');
    await logIn();
    await expect.poll(() => dialog.getByLabel('baudRate', { exact: true }).inputValue()).toBe('19200');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await page.getByText('Line bus was changed.').waitFor();
  });

  test('shows the time of the simulator, not that of the browser', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines', { clockAheadMs: 3_600_000 });
    await page.getByText('live', { exact: true }).waitFor();
    const shown = await page.locator('header time', { hasText: ':' }).textContent();
    const [hours, minutes] = String(shown).split(':').map(Number);
    const now = new Date();
    // The browser and this process are in one time zone.
    const minutesApart = Math.abs(
      (hours as number) * 60 + (minutes as number) - now.getHours() * 60 - now.getMinutes(),
    );
    expect(Math.min(minutesApart, 1440 - minutesApart)).toBeLessThanOrEqual(5);
  });
});
