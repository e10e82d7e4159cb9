import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { startProgram } from '../../support/program.mjs';
import { openPage, poll, type Served, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';
import { networkTo } from './proxy.js';

const rowCount = async (page: Page) => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;

/** Every event up to the last one is a row of its own, and nothing was left out. */
async function hasAll(page: Page, served: Served): Promise<void> {
  await expect.poll(() => rowCount(page)).toBe(served.simulator.traffic.last);
  await page.getByRole('row', { name: new RegExp(`^${served.simulator.traffic.last} `) }).waitFor();
  expect(await page.getByText('left out').count()).toBe(0);
}

const lost = (page: Page) => page.getByRole('alert').getByText('Connection lost').waitFor();
const live = (page: Page) => page.getByText('live', { exact: true }).waitFor();

/** What a program is configured with that has one device and one line of this name. */
const benchOf = (name: string, port = 0) => ({
  api: { port },
  devices: {
    [`${name}-device`]: { registers: { holding: [{ address: 0, value: 7, name: `${name}_value` }] } },
  },
  lines: { [name]: { tcp: { port: 0 }, units: { 1: `${name}-device` } } },
});

describeInBrowser('the console on a network that fails', () => {
  test('loses no event and shows none twice, where connections are cut in the middle of an answer', async () => {
    const served = await serve();
    const network = await networkTo(served);
    const page = await openPage(network, '/traffic');
    await page.getByText('following').waitFor();
    const client = await poll(served);
    for (const bytes of [1, 5000, 20_001]) {
      const before = await rowCount(page);
      network.cutAfter(bytes);
      // The page tries again after a second; a busy machine may look at it more seldom.
      await lost(page);
      network.mend();
      await live(page);
      await expect.poll(() => rowCount(page)).toBeGreaterThan(before);
    }
    await client.stop();
    await hasAll(page, served);
  });

  test('notices a connection that is silent, and catches up', async () => {
    const served = await serve();
    const network = await networkTo(served);
    const page = await openPage(network, '/traffic');
    await page.getByText('following').waitFor();
    const client = await poll(served);
    await expect.poll(() => rowCount(page)).toBeGreaterThan(20);
    network.stall();
    await lost(page);
    network.mend();
    await live(page);
    await client.stop();
    await hasAll(page, served);
  });

  test('shows a view that was opened while the network was down, as soon as it is back', async () => {
    const served = await serve();
    const network = await networkTo(served);
    const page = await openPage(network, '/lines');
    await live(page);
    network.cut();
    await lost(page);
    for (const view of ['Faults', 'Tests', 'Registers', 'Traffic'])
      await page.getByRole('link', { name: view, exact: true }).click();
    await page.getByText('The simulator could not be reached.').waitFor();
    network.mend();
    await live(page);
    await page.getByText('following').waitFor();
    await hasAll(page, served);
  });

  test.each([
    ['/registers', '7'],
    ['/faults', 'No fault rules'],
    ['/faults?new', 'Arm'],
    ['/tests', 'No runs yet.'],
    ['/lines', 'Modbus TCP'],
  ])('shows %s where the network came back after it was opened', async (path, shown) => {
    const { devices, lines } = benchOf('lan');
    const network = await networkTo(await serve(nativeSetup({ devices, lines })));
    const page = await openPage(network, '/traffic');
    await live(page);
    network.cut();
    await lost(page);
    await page.evaluate((href) => {
      history.pushState(null, '', href);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
    await page.locator('main:not(.view-traffic)').waitFor();
    network.mend();
    await live(page);
    await page.locator('main').getByText(shown, { exact: true }).first().waitFor();
  });

  test('shows the lines and devices of a simulator that was killed and started with others', async () => {
    const first = await startProgram({ config: benchOf('old') });
    const port = Number(new URL(first.restUrl()).port);
    const url = first.restUrl();
    const pages = await Promise.all(
      ['/lines', '/registers/old-device/holding', '/traffic?line=old', '/faults'].map((path) =>
        openPage({ url }, path),
      ),
    );
    const [lines, registers, traffic, faults] = pages as [Page, Page, Page, Page];
    await Promise.all(pages.map(live));
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    await Promise.all(pages.map(lost));
    const second = await startProgram({ config: benchOf('new', port) });
    onTestFinished(async () => void (await second.stop()));
    await lines.getByRole('article', { name: 'Line new' }).waitFor();
    await expect.poll(() => lines.getByRole('article').count()).toBe(1);
    await registers.getByRole('heading', { name: 'There is no device old-device' }).waitFor();
    await registers.getByRole('link', { name: 'new-device' }).click();
    await registers.getByRole('grid').waitFor();
    await traffic.getByText('unknown line "old"').first().waitFor();
    await traffic.getByRole('button', { name: 'Clear' }).click();
    await traffic.getByRole('row', { name: 'line open' }).waitFor();
    await faults.getByRole('heading', { name: 'No fault rules' }).waitFor();
  });
});
