import { expect, test } from 'vitest';
import { tcpMaster } from '../api/masters.js';
import { accessibilityFaults, openPage, poll, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

describeInBrowser('the view of conversations', () => {
  test('has a row for each question with what a rule did and what went wrong, and opens by key', async () => {
    const served = await serve();
    served.addRule({ name: 'busy', when: { line: 'lan', address: 10 }, do: [{ exception: 6 }] });
    await poll(served);
    const client = await tcpMaster(served.port('lan'));
    const page = await openPage(served, '/conversations?line=lan');
    const row = (text: string) => page.locator('.talk', { hasText: text });
    await row('read holding registers 0–3').getByText('1 2 3 4').waitFor();
    // From now on the page reads each event; at its start it reads only the newest.
    for (let i = 0; i < 3; i++) {
      await client.readHoldingRegisters(10, 2).catch(() => {});
      await client.readHoldingRegisters(90, 2).catch(() => {});
    }
    await row('registers 0–3')
      .getByText(/^every [\d.]+ ms · \d+\/s · slowest/)
      .waitFor();
    await row('registers 10–11').getByText('busy: exception in 100 %').waitFor();
    const refused = row('registers 90–91');
    await refused.getByText('exception 02 in 100 %').waitFor();
    await refused.locator('summary').focus();
    await page.keyboard.press('Enter');
    await refused.getByText(/^The last 3 exchanges, aligned/).waitFor();
    await refused.getByText(/^Turnaround of the last 3: half within/).waitFor();
    await refused.getByRole('button', { name: 'Expect this in a test' }).click();
    expect(await refused.getByLabel('scenario step to copy').inputValue()).toContain('address: 90');
    expect(await accessibilityFaults(page)).toEqual([]);
    await refused.getByRole('button', { name: 'Define these registers' }).click();
    await page.getByText('meter now defines the addresses of this request.').waitFor();
    expect((await client.readHoldingRegisters(90, 2)).data).toEqual([0, 0]);
    await refused.getByRole('link', { name: 'Break this' }).click();
    await page.waitForURL('**/faults?like=*');
    await page.getByRole('form', { name: 'New rule' }).waitFor();
  });

  test('shows what the filter of the address lets pass, and why one is refused', async () => {
    const served = await serve();
    await poll(served);
    const page = await openPage(served, '/conversations?function=5');
    await page.getByText('No client sends a request that passes the filter.').waitFor();
    await page.goto(`${served.url}/conversations?unit=x`);
    await page.getByRole('alert').getByText('expected a unit identifier').waitFor();
  });

  test('reads on at the newest events when it is shown again, and not all that passed meanwhile', async () => {
    const served = await serve();
    const polling = await poll(served);
    const page = await openPage(served, '/conversations?filter=unit%3D1');
    await page.locator('.talk', { hasText: 'registers 0–3' }).waitFor();
    const hide = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await hide(true);
    await expect.poll(() => served.simulator.traffic.last).toBeGreaterThan(300);
    await polling.stop();
    const { last } = served.simulator.traffic;
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname.endsWith('/events') && url.searchParams.has('filter'))
        asked.push(url.searchParams.get('after'));
    });
    await hide(false);
    await expect.poll(() => asked).toEqual([String(last)]);
    // What was counted before is not counted again.
    const summary = page.locator('.talk summary', { hasText: 'registers 0–3' });
    await summary.click();
    await page.getByText(/^Turnaround of the last \d+/).waitFor();
  });
});
