import { expect, test } from 'vitest';
import { READY_MADE } from '../../../src/remote/web/views/faults/texts.js';
import { nativeSetup } from '../../support/configuration.js';
import { serialMaster } from '../api/masters.js';
import { accessibilityFaults, gate, openPage, poll, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

describeInBrowser('the view of the faults', () => {
  test('spoils the next reply like a frame of the traffic once, and counts it', async () => {
    const served = await serve();
    const client = await serialMaster(served.path('bus'), 9600);
    const { data } = await client.readHoldingRegisters(0, 4);
    const request = served.simulator.traffic.last - 1;
    const page = await openPage(served, `/faults?like=${request}`);
    const editor = page.getByRole('form', { name: 'New rule' });
    await editor.getByText('For the next request like').waitFor();
    await editor.getByRole('button', { name: 'Wrong CRC once' }).click();
    await expect.poll(() => editor.getByLabel('line', { exact: true }).inputValue()).toBe('bus');
    await expect.poll(() => editor.getByLabel('quantity', { exact: true }).inputValue()).toBe('4');
    await editor.getByRole('cell', { name: /^01 03 08 00 01 00 02/ }).waitFor();
    const seen = served.simulator.traffic.last;
    await editor.getByRole('button', { name: 'Arm' }).click();
    const row = page.getByRole('article', { name: 'Rule wrong-crc-once' });
    await row.getByText('armed', { exact: true }).waitFor();
    expect(served.simulator.traffic.last).toBe(seen);
    await expect(client.readHoldingRegisters(0, 4)).rejects.toThrow(/CRC/i);
    expect((await client.readHoldingRegisters(0, 4)).data).toEqual(data);
    await row.getByText('spent', { exact: true }).waitFor();
    await row.locator('dl div', { hasText: 'hits' }).getByText('1', { exact: true }).waitFor();
  });

  test('draws what a rule will do, and nothing happens on the wire', async () => {
    const served = await serve();
    const page = await openPage(served, '/faults?new');
    const editor = page.getByRole('form', { name: 'New rule' });
    await editor.getByRole('button', { name: 'Gap in the middle' }).click();
    const steps = editor.getByRole('table', { name: /Steps of the reply/ });
    await expect.poll(() => steps.getByRole('row').count()).toBe(3);
    await editor.getByText('Preview only; nothing was sent.').waitFor();
    await editor.getByRole('application', { name: 'What the rule will look like' }).waitFor();
    expect(served.simulator.traffic.last).toBe(served.simulator.lines.size);
    expect(served.simulator.faults.rules.list()).toEqual([]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('arms each ready-made rule as it stands in the page', async () => {
    const served = await serve();
    const page = await openPage(served, '/faults');
    for (const [i, { title }] of READY_MADE.entries()) {
      await page.getByRole('button', { name: 'New rule' }).click();
      const editor = page.getByRole('form', { name: 'New rule' });
      await editor.getByRole('button', { name: title }).click();
      await editor.getByRole('button', { name: 'Arm' }).click();
      const name = title.toLowerCase().replaceAll(' ', '-');
      const row = page.getByRole('article', { name: `Rule ${name}`, exact: true });
      await row.getByText('armed', { exact: true }).waitFor();
      expect(served.simulator.faults.rules.list()).toHaveLength(i + 1);
    }
  });

  test('shows first what is used, and the preview beside all of it, on a phone too', async () => {
    const served = await serve();
    for (const width of [1280, 390]) {
      const page = await openPage(served, '/faults?new', { width });
      const editor = page.getByRole('form', { name: 'New rule' });
      await editor.getByText('Preview only; nothing was sent.').waitFor();
      expect(await editor.getByLabel('line', { exact: true }).isVisible()).toBe(true);
      expect(await editor.getByLabel('probability', { exact: true }).isVisible()).toBe(false);
      await editor.locator('summary', { hasText: 'probability' }).click();
      const last = editor.getByLabel('probability', { exact: true });
      await last.scrollIntoViewIfNeeded();
      const strip = editor.getByRole('application', { name: 'What the rule will look like' });
      await expect
        .poll(async () => {
          const { y = -1, height = 0 } = (await strip.boundingBox()) ?? {};
          return y >= 0 && y + height <= 800;
        })
        .toBe(true);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  });

  test('shows a refusal beside its field', async () => {
    const served = await serve();
    const page = await openPage(served, '/faults?new');
    const editor = page.getByRole('form', { name: 'New rule' });
    await editor.getByLabel('ms', { exact: true }).fill('soon');
    await editor.locator('summary', { hasText: 'probability' }).click();
    await editor.getByLabel('probability', { exact: true }).fill('2');
    await editor.getByRole('button', { name: 'Arm' }).click();
    await editor.locator('.field.wrong', { hasText: 'ms' }).getByText('got "soon"').waitFor();
    await editor.locator('.field.wrong', { hasText: 'probability' }).getByText('got 2').waitFor();
    expect(served.simulator.faults.rules.list()).toEqual([]);
  });

  test('switches a rule off and on, edits and removes it', async () => {
    const served = await serve();
    served.addRule({ name: 'slow', do: [{ delay: 1 }] });
    const page = await openPage(served, '/faults');
    const row = page.getByRole('article', { name: 'Rule slow' });
    const isOn = row.getByRole('checkbox', { name: 'Rule slow is on' });
    await isOn.uncheck();
    await row.getByText('off', { exact: true }).waitFor();
    expect(served.simulator.faults.rules.get('slow')?.rule.enabled).toBe(false);
    await isOn.check();
    await row.getByText('armed', { exact: true }).waitFor();
    await row.getByRole('link', { name: 'Edit slow' }).click();
    const editor = page.getByRole('form', { name: 'Rule slow' });
    await editor.getByLabel('ms', { exact: true }).fill('2s');
    await editor.getByRole('button', { name: 'Change' }).click();
    await row.getByText('delay 2s').waitFor();
    await row.getByRole('button', { name: 'Remove slow' }).click();
    const question = page.getByRole('dialog', { name: 'Remove slow?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(served.simulator.faults.rules.list()).toHaveLength(1);
    await row.getByRole('button', { name: 'Remove slow' }).click();
    await question.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'No fault rules' }).waitFor();
  });

  test('leaves a switch where it was put when rules are read before the answer', async () => {
    const served = await serve();
    served.addRule({ name: 'slow', do: [{ delay: 1 }] });
    const page = await openPage(served, '/faults');
    const [released, release] = gate();
    await page.route('**/faults/slow', (route) => released.then(() => route.continue()));
    const isOn = page.getByRole('checkbox', { name: 'Rule slow is on' });
    await isOn.uncheck();
    served.addRule({ name: 'other', do: [{ delay: 1 }] });
    await page.getByRole('article', { name: 'Rule other' }).waitFor();
    expect(await isOn.isChecked()).toBe(false);
    release();
    await page.getByRole('article', { name: 'Rule slow' }).getByText('off', { exact: true }).waitFor();
    expect(await isOn.isChecked()).toBe(false);
  });

  test('previews a new rule with the newest request that it is for', async () => {
    const served = await serve();
    const client = await serialMaster(served.path('bus'), 9600);
    await client.readHoldingRegisters(10, 2);
    const request = served.simulator.traffic.last - 1;
    await client.readHoldingRegisters(0, 1);
    const page = await openPage(served, '/faults?new');
    const editor = page.getByRole('form', { name: 'New rule' });
    await editor.getByText(/for a request like #\d+: line bus, unit 1, function 3/).waitFor();
    await editor.getByLabel('address', { exact: true }).fill('10');
    await editor.getByText(`for a request like #${request}: line bus`).waitFor();
    await editor.getByRole('cell', { name: '01 03 04 43 66 19 9a' }).waitFor();
    await editor.getByLabel('address', { exact: true }).fill('50');
    await editor.getByText('for a made-up request').waitFor();
  });

  test('stays usable with 256 rules, at 360 pixels', async () => {
    const faults = Array.from({ length: 256 }, (_, i) => ({
      name: `${'long-name-'.repeat(5)}${i}`,
      when: { unit: 9, address: Array.from({ length: 40 }, (_, at) => [10 * at, 10 * at + 3]) },
      do: [{ delay: 5 }],
    }));
    const served = await serve(nativeSetup({ ...SMALL, faults }));
    await poll(served);
    const page = await openPage(served, '/faults', { width: 360 });
    await page.getByText('256 rules, 256 on').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    const last = page.getByRole('checkbox', { name: 'long-name-255 is on' });
    await last.uncheck();
    await page.getByText('256 rules, 255 on').waitFor();
  });
});

const SMALL = {
  devices: { meter: { registers: { holding: [{ address: 0 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};
