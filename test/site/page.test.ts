import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { pdusOf, type Shown } from '../../site/play/address.js';
import { play } from '../../site/play/bench.js';
import { bundle } from '../../site/play/build.mjs';
import { EXAMPLES, exampleFor } from '../../site/play/examples.js';
import { accessibilityFaults } from '../remote/web/browser.js';
import { browser, describeInBrowser } from '../remote/web/chromium.js';
import { makeTempDir } from '../support/program.mjs';

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

/** Builds the page, and serves it until the test ends. @returns its address */
async function served(): Promise<string> {
  const folder = makeTempDir();
  await bundle(['play.ts', 'bench.ts', 'examples.ts'], { outdir: folder });
  cpSync(fileURLToPath(new URL('../../site/play/index.html', import.meta.url)), `${folder}/index.html`);
  const server = createServer(({ url = '' }, response) => {
    const name = url === '/' ? 'index.html' : url.slice(1);
    response.setHeader('content-type', TYPES[name.split('.').at(-1) ?? ''] ?? '');
    response.end(readFileSync(`${folder}/${name}`));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describeInBrowser('the page to play on', () => {
  test('plays each fault and each entry as the program does', async () => {
    const address = await served();
    const page = await browser().newPage();
    await page.goto(address);
    const asked = (['fault', 'entry'] as const)
      .flatMap((kind) => EXAMPLES[kind].map((name) => exampleFor(kind, name) as Shown))
      .map((shown) => ({ ...shown, pdus: pdusOf(shown.pdu) as Uint8Array[] }));
    const all = JSON.stringify(asked.map((each) => ({ ...each, pdus: each.pdus.map((pdu) => [...pdu]) })));
    // As a text, because vitest has another import in the place of that of the page.
    const there = (await page.evaluate(`import(${JSON.stringify(`${address}bench.js`)}).then(({ play }) =>
      ${all}.map((each) => play(each.file, { ...each, pdus: each.pdus.map((pdu) => Uint8Array.from(pdu)) })))`)) as unknown[];
    await page.close();
    const here = asked.map((each) => JSON.parse(JSON.stringify(play(each.file, each))));
    expect(there.map((each) => JSON.parse(JSON.stringify(each)))).toEqual(here);
  });

  test('shows the reply, the mistakes of the file, and carries both in its address', async () => {
    const page = await browser().newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    const address = await served();
    await page.goto(`${address}#fault=crc`);
    const wire = page.getByRole('region', { name: 'On the wire' });
    await wire.getByText('CRC error: 6409, expected 9bf6').waitFor();
    const file = page.getByRole('textbox', { name: 'Devices, lines and faults, in YAML' });
    await file.fill((await file.inputValue()).replace('crc: invert', 'crx: invert'));
    await page.getByText('unknown kind of fault "crx", did you mean "crc"?').waitFor();
    await file.fill((await file.inputValue()).replace('crx: invert', 'truncate: 3'));
    await wire.getByText('3 of 9 bytes').waitFor();
    const again = await browser().newPage();
    await again.goto(page.url());
    await again.getByText('3 of 9 bytes').waitFor();
    expect(await accessibilityFaults(again)).toEqual([]);
    await again.goto(`${address}#entry=locks-up-after-bad-read`);
    await again.getByText('Its reports').waitFor();
    await again.getByText('no reply').first().waitFor();
    expect(errors).toEqual([]);
    await again.close();
    await page.close();
  });
});
