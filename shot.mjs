import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './test/support/chromium.mjs';
const [,, url, out, width = '1280', height = '820', scheme = 'light', ...does] = process.argv;
const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme: scheme });
page.on('console', (m) => m.type() === 'error' && console.log('console', m.text()));
page.on('pageerror', (e) => console.log('pageerror', e.message));
await page.goto(url); await page.waitForTimeout(2500);
for (const each of does) { const [what, ...rest] = each.split('='); const v = rest.join('=');
  if (what === 'fill') { await page.getByRole('combobox', { name: 'filter' }).click(); await page.getByRole('combobox', { name: 'filter' }).pressSequentially(v); }
  if (what === 'key') await page.keyboard.press(v);
  if (what === 'click') await page.getByText(v, { exact: true }).first().click();
  if (what === 'wait') await page.waitForTimeout(Number(v));
}
await page.screenshot({ path: out });
console.log(page.url(), await page.evaluate(() => `${document.documentElement.scrollHeight} of ${innerHeight}`));
await browser.close();
