import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { READY_SCENARIOS } from '../../../src/remote/web/views/tests/scenarios.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { nativeSetup } from '../../support/configuration.js';
import { rtuOverTcpMaster } from '../api/masters.js';
import { accessibilityFaults, openPage, poll, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

/** A bench whose first line has replies with a CRC. */
const RTU = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2] }] } } },
  lines: { 'a "line"': { tcp: { port: 0 }, framing: 'rtu', units: { 1: 'meter' } } },
});

const SCENARIO = `name: <b>reads, and never writes</b>
line: lan
steps:
  - name: reads
    expect: {function: 3}
    within: 10m
  - name: reads again
    expect: [{}, {same: true}]
    within: 10m
  - name: writes
    expect: {function: 6}
    within: 300ms
  - name: waits
    wait: 1h
`;

/** Types into a field in the moment in which it comes into the page, before the page is drawn. */
function typeAtOnce(page: Page, label: string, text: string): Promise<void> {
  return page.evaluate(
    ([wanted, value]) => {
      const observer = new MutationObserver(() => {
        const field = [...document.querySelectorAll('label')].find(
          ({ textContent }) => textContent === wanted,
        );
        if (!(field?.control instanceof HTMLInputElement)) return;
        observer.disconnect();
        field.control.value = value;
        field.control.dispatchEvent(new Event('input', { bubbles: true }));
      });
      observer.observe(document.body, { childList: true, subtree: true });
    },
    [label, text] as const,
  );
}

describeInBrowser('the view of the tests', () => {
  test('runs a scenario step by step, says why one fails, and hands out the report', async () => {
    const served = await serve();
    const page = await openPage(served, '/tests');
    const form = page.getByRole('form', { name: 'Run a scenario' });
    await form.getByLabel('scenario (YAML or JSON)').fill(SCENARIO);
    await form.getByRole('button', { name: 'Run the scenario' }).click();
    const run = page.getByRole('article', { name: 'Run 1' });
    await run.getByText('running', { exact: true }).waitFor();
    await run.getByText('no step has finished yet').waitFor();
    await run.getByText('Step 1 of 4, reads.', { exact: true }).waitFor();
    await run.getByText(/^Began at \d\d:\d\d:\d\d, .*\d s so far\.$/).waitFor();
    await page
      .getByRole('region', { name: 'Newest runs' })
      .getByText(/^\d\d:\d\d:\d\d, /)
      .waitFor();
    await poll(served);
    const steps = run.locator('.step');
    await steps.filter({ hasText: 'reads again' }).getByText('pass', { exact: true }).waitFor();
    const failed = steps.filter({ hasText: 'writes' });
    await failed
      .getByText(/expected +a request with function 6/)
      .first()
      .waitFor();
    await failed.getByText('fail', { exact: true }).waitFor();
    await failed.getByRole('application', { name: /Timing of writes/ }).waitFor();
    await run.getByText('running', { exact: true }).waitFor();
    await run.getByRole('button', { name: 'Stop run 1' }).click();
    await steps.filter({ hasText: 'waits' }).getByText('inconclusive', { exact: true }).waitFor();
    await run.locator('.head').getByText('fail', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const [title, content] of [
      ['HTML', '&lt;b&gt;reads'],
      ['JUnit', '<failure'],
      ['JSON', '"verdict":"fail"'],
    ] as const) {
      const started = page.waitForEvent('download');
      await run.getByRole('link', { name: `Report as ${title}` }).click();
      expect(readFileSync(await (await started).path(), 'utf8')).toContain(content);
    }
  });

  test('runs each ready-made scenario to its verdict, as it stands in the page', async () => {
    const served = await serve(RTU);
    const client = await rtuOverTcpMaster(served.port('a "line"'));
    client.setTimeout(600);
    const read = () => client.readHoldingRegisters(0, 2);
    let isOver = false;
    const polls = (async () => {
      // A client that asks again at once, long before its next poll, and goes on whatever comes back.
      while (!isOver) {
        await read().catch(() => read().catch(() => {}));
        await setTimeout(2000);
      }
    })();
    onTestFinished(async () => {
      isOver = true;
      await polls;
    });
    const page = await openPage(served, '/tests');
    const form = page.getByRole('form', { name: 'Run a scenario' });
    for (const [i, { title }] of READY_SCENARIOS.entries()) {
      await form.getByRole('button', { name: title }).click();
      await form.getByRole('button', { name: 'Run the scenario' }).click();
      const run = page.getByRole('article', { name: `Run ${i + 1}` });
      await run.locator('.head').getByText('pass', { exact: true }).waitFor();
    }
  });

  test('tells mistakes of a scenario with their lines', async () => {
    const page = await openPage(await serve(), '/tests');
    const form = page.getByRole('form', { name: 'Run a scenario' });
    await form.getByLabel('scenario (YAML or JSON)').fill('name: a\nsteps:\n  - expct: {}\n');
    await form.getByRole('button', { name: 'Run the scenario' }).click();
    await form.getByText(/line 3, column \d+: steps\[0\]/).waitFor();
  });

  test('fuzzes the client of a line, and plays again what made it fail', async () => {
    const served = await serve();
    const client = served.client('lan');
    let read = 0;
    const polling = setInterval(() => {
      const received = client.received;
      const isException = received.includes(Buffer.of(1, 0x83), read);
      read = received.length;
      // After an exception come bytes of another protocol, which are no request.
      client.send(bytesOf(`00 01 00 0${isException ? 7 : 0} 00 06 01 03 00 00 00 01`));
    }, 25);
    onTestFinished(() => clearInterval(polling));
    const page = await openPage(served, '/tests');
    await typeAtOnce(page, 'moves', 'none');
    await page.getByRole('button', { name: 'Fuzz', exact: true }).click();
    const form = page.getByRole('form', { name: 'Fuzz a client' });
    await form.getByRole('button', { name: 'Fuzz the client' }).click();
    await form.locator('.field.wrong', { hasText: 'moves' }).waitFor();
    expect(await form.getByText('replay').count()).toBe(0);
    const replay = [
      { after: 0, requests: 2, does: { fault: { when: { line: 'lan' }, do: [{ exception: 4 }] } } },
    ];
    await served.rest.send('POST', '/api/v1/runs', { kind: 'fuzz', line: 'lan', replay });
    await page.getByRole('link', { name: /fuzzed/ }).click();
    const run = page.getByRole('article', { name: 'Run 1' });
    await run.locator('.head').getByText('fail', { exact: true }).waitFor();
    await run.getByText(/Run 1, a fuzz run, on lan: 2 moves in 2 plays/).waitFor();
    await run.locator('.step').getByText('The client sent bytes that are not a request').waitFor();
    const started = page.waitForEvent('download');
    await run.getByRole('link', { name: 'Report as Scenario' }).click();
    expect(readFileSync(await (await started).path(), 'utf8')).toContain('{exception: 4}');
    expect(await accessibilityFaults(page)).toEqual([]);
    await run.getByRole('button', { name: 'Play again' }).click();
    await page
      .getByRole('article', { name: 'Run 2' })
      .locator('.head')
      .getByText('fail', { exact: true })
      .waitFor();
  });

  test('tests the client of a line', async () => {
    const served = await serve();
    await poll(served);
    const page = await openPage(served, '/tests');
    await page.getByRole('button', { name: 'Client', exact: true }).click();
    const form = page.getByRole('form', { name: 'Test a client' });
    await form.getByLabel('checks', { exact: true }).fill('nonsense');
    await form.getByRole('button', { name: 'Test the client' }).click();
    await form.locator('.field.wrong', { hasText: 'checks' }).waitFor();
    await form.getByLabel('checks', { exact: true }).fill('poll-period');
    await form.getByLabel('limit', { exact: true }).fill('30s');
    await form.getByRole('button', { name: 'Test the client' }).click();
    const run = page.getByRole('article', { name: 'Run 1' });
    await run.getByText(/Run 1, a client test, on lan/).waitFor();
  });
});
