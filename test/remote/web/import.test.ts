import { expect, test } from 'vitest';
import { tcpMaster } from '../api/masters.js';
import { accessibilityFaults, openPage, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

describeInBrowser('the view of an import', () => {
  test('shows what each column of a table holds, takes a change, and adds the device', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines', { width: 390 });
    await page.getByRole('link', { name: 'Import a table' }).click();
    const text = 'Adresse;Was;Form\n40001;Spannung;S16\n40002;Strom;S16\n';
    await page
      .getByLabel('Choose a file')
      .setInputFiles({ name: 'new meter.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    const table = page.getByRole('region', { name: 'Table of line 1' });
    await table.getByText('Spannung').waitFor();
    await page.getByText('expected a CSV file whose header has a column').waitFor();
    await table.getByLabel('Use of Was').selectOption('name');
    await table.getByText('register numbers: 40001').waitFor();
    expect(await table.getByLabel('Use of Adresse').inputValue()).toBe('address');
    await table.getByLabel('Use of Form').selectOption('type');
    const registers = page.getByRole('region', { name: 'Registers' });
    await registers.getByText('int16').first().waitFor();
    await registers.getByText('Spannung').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Add to the simulator' }).click();
    await page.waitForURL('**/registers/new-meter/**');
    const client = await tcpMaster(served.port('new-meter'));
    expect((await client.readHoldingRegisters(0, 2)).data).toEqual([0, 0]);

    // A file that is dropped a second time has a name that is taken: nothing is added.
    await page.goto(`${served.url}/import`);
    const transfer = await page.evaluateHandle((dropped) => {
      const data = new DataTransfer();
      data.items.add(new File([dropped], 'new meter.csv'));
      return data;
    }, 'Address;Name\n1;a\n');
    const others: string[] = [];
    page.on('request', (request) => others.push(new URL(request.url()).pathname));
    await page.getByRole('region', { name: 'File' }).dispatchEvent('drop', { dataTransfer: transfer });
    await page.getByRole('button', { name: 'Add to the simulator' }).click();
    await page.getByText('Nothing was added: ').waitFor();
    expect(others).toContain('/api/v1/import');
    expect(others).not.toContain('/api/v1/view');
    expect(served.simulator.lines.size).toBe(3);
  });
});
