import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { trafficView } from '../../../src/simulator/traffic/view.js';
import { isoTime } from '../../../src/simulator/traffic/words.js';
import { fleetHtml, htmlReport, recordedHtml } from '../../../src/testing/report/html.js';
import type { RecordedRegisters } from '../../../src/testing/report/recorded-registers.js';
import { type Report, viewReport } from '../../../src/testing/report/report.js';
import { frameEvent, replyEvent } from '../../simulator/traffic/events.js';
import { ABOUT } from '../../testing/report/about.js';
import { accessibilityFaults, openPage, serve } from './browser.js';
import { browser, describeInBrowser } from './chromium.js';

const HOSTILE = '</script><script>document.title = "run"</script><!-- <b>\u2028\ud800';

/** Polls of a client every 500 ms, with replies, from a sequence number on. */
function polls(seq: number, count: number) {
  return Array.from({ length: count }, (_, i) => {
    const at = 1000 + 500 * (seq + i);
    return [
      frameEvent('03 0000 0001', { seq: seq + 2 * i, at, startedAt: at - 8, time: at }),
      replyEvent('03 0000 0001', '03 02 0007', {
        seq: seq + 2 * i + 1,
        at: at + 4,
        time: at + 4,
        requestedAt: at,
        request: seq + 2 * i,
      }),
    ];
  }).flat();
}

const RUN: Report = {
  kind: 'client',
  name: `the client ${HOSTILE}`,
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  durationMs: 2500,
  verdict: 'fail',
  isStopped: false,
  line: 'bench',
  seed: 4711,
  about: { client: 'gateway 2.1', tester: 'A. Bee', remark: HOSTILE },
  conclusions: ['Takes a late reply for the next one.', 'Gives up after 487 ± 3 ms.'],
  parameters: [{ name: 'response time-out', value: '487 ± 3 ms' }],
  findings: [
    {
      id: 'polls',
      title: 'polls',
      verdict: 'pass',
      summary: '',
      frames: polls(1, 3),
      durationMs: 1000,
      about: ABOUT,
    },
    {
      id: 'late',
      title: `takes late replies ${HOSTILE}`,
      verdict: 'fail',
      summary: `took it\n${HOSTILE}`,
      conclusion: 'takes a late reply for the next one',
      frames: polls(21, 4),
      durationMs: 1500,
      about: ABOUT,
    },
    {
      id: 'writes',
      title: 'writes',
      verdict: 'not run',
      summary: '',
      frames: [],
      durationMs: 0,
      about: ABOUT,
    },
  ],
  versions: [{ name: 'modbus-sim', version: '1.2.3' }],
};
const VIEW = viewReport(RUN, `devices: {}\n# ${HOSTILE}\n`, (event) => trafficView(event, () => undefined));

/** A register of unit 17 that was 5, and 7 from the first frame of the failure on. */
const REGISTERS: RecordedRegisters = {
  devices: [
    {
      device: {
        ...{ name: 'meter', power: 'on', clock: { time: 0, speed: 1, paused: false }, manners: {} },
        ...{ lines: { bench: ['17'] }, tables: { holding: 1 }, names: [] },
        defined: { holding: { registers: 1, ranges: [[0, 0]] } },
      },
      states: [
        {
          at: timeOf(21),
          replaced: [['holding', 0, 5]],
          registers: { holding: { bits: 16, words: { 0: 7 }, access: { 0: 'w' }, values: {} } },
        },
        { at: timeOf(1), registers: { holding: { words: { 0: 5 } } } },
      ],
    },
  ],
  missing: [],
};

/** The time of a poll. */
function timeOf(seq: number): string {
  return isoTime(polls(seq, 1)[0]?.time ?? 0);
}

/** Opens a document from a file, with the network off. When the test ends, the page must have had no error. */
async function openFile(text: string, { theme = 'light', width = 1280 } = {}): Promise<Page> {
  const directory = mkdtempSync(join(tmpdir(), 'report-'));
  const file = join(directory, 'a report.html');
  writeFileSync(file, text);
  const context = await browser().newContext({
    colorScheme: theme as 'light' | 'dark',
    viewport: { width, height: 800 },
    offline: true,
  });
  const page = await context.newPage();
  const mistakes: string[] = [];
  page.on('pageerror', (error) => mistakes.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') mistakes.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) mistakes.push(request.url());
  });
  onTestFinished(async () => {
    await context.close();
    rmSync(directory, { recursive: true });
    expect(mistakes).toEqual([]);
  });
  page.setDefaultTimeout(60_000);
  await page.goto(pathToFileURL(file).href);
  return page;
}

describeInBrowser('a report in a file', () => {
  test('is the console without a network, with the deciding frame two clicks away', async () => {
    const text = htmlReport([VIEW]);
    expect(text.length).toBeLessThan(1_000_000);
    const page = await openFile(text);
    const found = page.getByRole('region', { name: 'What was found' });
    await found.getByText('Takes a late reply for the next one.').waitFor();
    expect(await found.textContent()).toContain('It <does>.');
    await expect.poll(() => page.title()).toBe(`Report - Report on the client ${HOSTILE} - modbus-sim`);

    await found.getByRole('link', { name: 'Frame #28' }).click();
    const opened = page.getByRole('region', { name: 'Event 28' });
    await opened.getByText('read holding registers').first().waitFor();
    await page.getByRole('row', { selected: true }).getByText('28', { exact: true }).waitFor();
    await page.getByText('Fields').click();
    await page.getByLabel('kind').fill('request');
    await page.getByText('Fields').click();
    await page.getByLabel('kind').press('Enter');
    await expect
      .poll(() => page.getByRole('grid').getAttribute('aria-rowcount'), { timeout: 60_000 })
      .toBe('8');
    await page.getByRole('link', { name: 'Report' }).click();
    await page.getByText('What was done').first().waitFor();
  });

  test('shows the score and the conversations of its run, and each as of a moment', async () => {
    const page = await openFile(htmlReport([VIEW]));
    await page.getByRole('link', { name: 'Lines', exact: true }).click();
    const line = page.getByRole('article', { name: 'Line bench' });
    const lane = line.getByRole('slider', { name: 'Traffic on line bench' });
    await line.getByText('unit 17 fn 3', { exact: true }).waitFor();
    await lane.press('ArrowLeft');
    await expect.poll(() => lane.getAttribute('aria-valuetext')).toMatch(/, good 2$/);
    expect(await line.getByRole('button').count()).toBe(0);
    expect(await line.locator('svg.drawing .good').first().getAttribute('d')).toMatch(/^M-?\d+ /);
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('link', { name: 'Conversations', exact: true }).click();
    const talk = page.locator('details.talk');
    await talk.getByText('unit 17').waitFor();
    await talk.locator('summary').click();
    await talk.getByText('The last 7 exchanges, aligned').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    // The slider: at its beginning there was one request only.
    await page.getByRole('button', { name: /^Past/ }).click();
    const moment = page.getByRole('slider', { name: 'Moment' });
    await moment.press('Home');
    await talk.getByText('The last 1 exchange, aligned').waitFor();
    await page.getByRole('link', { name: 'Traffic', exact: true }).click();
    await page.getByRole('region', { name: 'Event 1' }).waitFor();
    await page.getByRole('link', { name: 'Lines', exact: true }).click();
    await page.getByRole('button', { name: 'The end' }).click();
    await expect.poll(() => page.url()).not.toContain('then=');

    // What is shown in the lanes leads to its frames: the deciding one is two clicks away from here, too.
    await line.getByRole('link', { name: /^Traffic/ }).click();
    await page.getByRole('row').getByText('28', { exact: true }).first().click();
    await page.getByRole('region', { name: 'Event 28' }).waitFor();
  });

  test('shows the registers at the time of a frame, before and after a write, and changes nothing', async () => {
    const page = await openFile(htmlReport([{ ...VIEW, registers: REGISTERS }]));
    await page.getByRole('link', { name: 'meter', exact: true }).click();
    const cell = (text: string) => page.getByRole('gridcell', { name: text, exact: true }).waitFor();
    await cell('7');
    await page.getByText('only read: this is a saved file').waitFor();
    expect(await page.getByRole('button', { name: /Undo|Edit|Freeze|Power/ }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('link', { name: 'Traffic', exact: true }).click();
    await page.getByRole('row').getByText('26', { exact: true }).first().click();
    await page.getByRole('link', { name: 'Registers then' }).click();
    await cell('5 → 7');
    const machine = page.getByRole('region', { name: 'Time machine' });
    await machine.getByText('As of the last write or frame before this time.').waitFor();
    await machine.getByRole('slider', { name: 'Moment' }).press('Home');
    await cell('5');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('has nothing that axe blames, in both themes and on a phone', async () => {
    for (const options of [{}, { theme: 'dark', width: 390 }]) {
      const page = await openFile(htmlReport([VIEW]), options);
      await page.getByText('Takes a late reply').first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  });

  test('says the same in plain words where no program may run', async () => {
    const context = await browser().newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.setContent(htmlReport([VIEW]));
    const words = await page.locator('body').textContent();
    expect(words).toContain('Takes a late reply for the next one.');
    expect(words).toContain('fail: takes late replies </script>');
  });

  test('of traffic alone opens with the traffic', async () => {
    const events = polls(1, 3).map((event) => trafficView(event, () => undefined));
    const page = await openFile(recordedHtml({ title: HOSTILE, reports: [], events }));
    await page.getByRole('row').getByText('6', { exact: true }).first().waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('7');
    expect(await page.title()).toBe(`Traffic - ${HOSTILE} - modbus-sim`);
    expect(await page.getByRole('link', { name: 'Report' }).count()).toBe(0);
  });

  test('is opened by the console, by a button that keys reach or dropped on it, and shows why one is not', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    const choose = async (name: string, text: string) => {
      const chosen = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: /^Open a file/ }).press('Enter');
      const buffer = Buffer.from(text);
      await (await chosen).setFiles({ name, mimeType: 'text/plain', buffer });
    };
    await choose('<b>.txt', 'hello');
    await page.getByText('<b>.txt: line 1: expected one JSON event per line').waitFor();
    await choose('run.html', htmlReport([VIEW]));
    await page.waitForURL('**/api/v1/view/*');
    await page.getByText('Takes a late reply').first().waitFor();
    await page.getByRole('link', { name: 'Lines', exact: true }).click();
    await page.getByText('unit 17 fn 3', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.goBack();
    await page.goBack();
    await page.getByRole('button', { name: /^Open a file/ }).waitFor();
    const events = polls(1, 3).map((event) => trafficView(event, () => undefined));
    await page.evaluate(
      (text) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([text], 'night.ndjson'));
        document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
      },
      events.map((event) => JSON.stringify(event)).join('\n'),
    );
    await page.waitForURL('**/api/v1/view/*');
    await page.getByRole('row').getByText('6', { exact: true }).first().waitFor();
  });

  test('on many benches links to pages of benches only', async () => {
    const row = { bench: HOSTILE, report: { ...VIEW, findings: [] } };
    const page = await openFile(
      fleetHtml([
        { ...row, url: 'http://bench/report.html' },
        { ...row, url: 'javascript:alert(1)' },
      ]),
    );
    await page.getByText('0 of 2 passed.').waitFor();
    expect(await page.locator('main a').count()).toBe(1);
  });
});
