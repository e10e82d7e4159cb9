import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { startProgram } from '../../../support/program.mjs';
import { serialMaster } from '../../api/masters.js';
import { accessibilityFaults, openPage, poll, type Served, serve } from '../browser.js';
import { describeInBrowser } from '../chromium.js';

/** A net for what hangs. */
const PATIENT = { timeout: 60_000 };
const SCRIPT = '<script>alert(1)</script>';

const rowCount = async (page: Page) => Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;

/** What the API tells of the traffic. */
async function eventsOf({ url }: Served, query: string) {
  const response = await fetch(`${url}/api/v1/traffic?${query}`);
  return ((await response.json()) as { events: { seq: number; request?: number }[] }).events;
}

/** Requests to unit 1 of the serial line, one after the other. */
async function ask(served: Served, count: number): Promise<void> {
  const master = await serialMaster(served.path('bus'), 9600);
  for (let i = 0; i < count; i++) await master.readHoldingRegisters(0, 2);
}

/** So many requests on TCP at once, and their answers. */
async function crowd(served: Served, count: number): Promise<void> {
  const client = served.client('lan');
  client.send(
    Buffer.concat(Array.from({ length: count }, () => Buffer.from('000100000006010300000001', 'hex'))),
  );
  await expect.poll(() => client.received.length, PATIENT).toBe(count * 11);
}

describeInBrowser('the Traffic view', () => {
  test('opens a reply byte by byte, with the fault that acted, and hands its request to the faults', async () => {
    const served = await serve();
    served.addRule({ name: 'flip', do: [{ crc: 'invert' }], when: { line: 'bus', count: 1 } });
    const page = await openPage(served, '/traffic?line=bus');
    await page.getByText('following').waitFor();
    await ask(served, 3).catch(() => {});
    await page.getByRole('row', { name: /flip.*CRC error/ }).click();
    const opened = page.getByRole('region', { name: /Event \d+/ });
    await opened.getByText(/^CRC$/).waitFor();
    expect(await opened.textContent()).toMatch(
      /read holding registers.*register 0.*register 1.*expected [0-9a-f]{4}/s,
    );
    const [event] = await eventsOf(served, 'rule=flip');
    expect(new URL(page.url()).searchParams.get('at')).toBe(String(event?.seq));
    const like = await opened
      .getByRole('link', { name: 'New fault rule for this request' })
      .getAttribute('href');
    expect(like).toBe(`/faults?like=${event?.request}`);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('tells the pieces of the strip in words, measures, and opens them, by keys alone', async () => {
    const served = await serve();
    await ask(served, 2);
    const page = await openPage(served, '/traffic?line=bus');
    await page.getByText('following').waitFor();
    const strip = page.getByRole('application', { name: 'Timing of line bus' });
    await strip.focus();
    await page.keyboard.press('0');
    const readout = page.locator('.readout');
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowRight');
        return readout.textContent();
      }, PATIENT)
      .toMatch(/^request \d+, 8 bytes: unit 1 read holding registers 0–1/);
    await page.keyboard.press('m');
    await page.keyboard.press('M');
    await page.getByText(/A–B \d+\.\d{3} ms · \d+\.\d ch/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: /Event \d+/ }).waitFor();
    for (const key of ['+', '-', 'Home', 'Shift+ArrowRight', 'Escape', 'End']) await page.keyboard.press(key);
    await expect
      .poll(() => page.getByRole('button', { name: 'Follow the newest' }).isDisabled(), PATIENT)
      .toBe(true);
  });

  test('loses nothing while it is paused', async () => {
    const served = await serve();
    const page = await openPage(served, '/traffic');
    await page.getByText('following').waitFor();
    const client = await poll(served);
    await expect.poll(() => rowCount(page), PATIENT).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/paused, \d[\d,]* behind/).waitFor();
    const paused = await rowCount(page);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => rowCount(page), PATIENT).toBeGreaterThan(paused);
    await client.stop();
    await expect.poll(() => rowCount(page), PATIENT).toBe(served.simulator.traffic.last);
    expect(await page.getByText('left out').count()).toBe(0);
  });

  test('reads what was before, when somebody goes there, and jumps to a time', async () => {
    const served = await serve();
    await crowd(served, 1500);
    const page = await openPage(served, '/traffic?line=lan');
    const before = await expect
      .poll(() => rowCount(page))
      .toBeGreaterThan(500)
      .then(() => rowCount(page));
    expect(before).toBeLessThan(1500);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    await expect.poll(() => rowCount(page), PATIENT).toBeGreaterThan(before);
    await page.getByLabel('Jump to').fill('1h');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: /Event \d+/ }).waitFor();
    await expect
      .poll(() => page.locator('.row[aria-selected=true] .kind').textContent(), PATIENT)
      .toMatch(/line|client/);
    await page.getByText('paused').waitFor();
    await page.getByRole('button', { name: 'Newest', exact: true }).click();
    await page.getByText('following').waitFor();
  });

  test('says what is wrong with a filter beside it, and downloads what is filtered', async () => {
    const served = await serve();
    await crowd(served, 30);
    const page = await openPage(served, '/traffic?direction=out&line=lan');
    await expect.poll(() => rowCount(page), PATIENT).toBe(30);
    const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
    expect((await (await fetch(served.url + csv)).text()).trim().split('\r\n')).toHaveLength(31);
    const pcapng = await page.getByRole('link', { name: 'pcapng' }).getAttribute('href');
    expect((await fetch(served.url + pcapng)).status).toBe(200);
    const places = () =>
      page
        .locator('.strip, .table, .controls, .opened')
        .evaluateAll((all) => all.map((each) => JSON.stringify(each.getBoundingClientRect())));
    await page.getByText('Fields').click();
    const before = await places();
    await page.getByLabel('unit').fill('300');
    await page.keyboard.press('Enter');
    await page
      .getByText(/expected a unit identifier from 0 to 255/)
      .first()
      .waitFor();
    expect(await places()).toEqual(before);
    const filter = page.getByRole('combobox', { name: 'filter' });
    expect(await filter.inputValue()).toBe('line=lan direction=out unit=300');
    expect(await filter.getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('unit').fill('1');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => new URL(page.url()).searchParams.get('filter'), PATIENT)
      .toBe('line=lan direction=out unit=1');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => new URL(page.url()).search, PATIENT).toBe('');
  });

  test('completes a filter as it is typed, by keys alone, and has it in the address', async () => {
    const served = await serve();
    await crowd(served, 30);
    const page = await openPage(served, '/traffic');
    await expect.poll(() => rowCount(page), PATIENT).toBeGreaterThan(60);
    const filter = page.getByRole('combobox', { name: 'filter' });
    await filter.focus();
    expect(await filter.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'line= the line' }).waitFor();
    await page.keyboard.type('dire');
    await expect
      .poll(() => page.locator('[role=option]').allTextContents(), PATIENT)
      .toEqual(['direction= the direction']);
    await page.keyboard.press('ArrowDown');
    const active = await filter.getAttribute('aria-activedescendant');
    expect(await page.locator('[role=option][aria-selected=true]').getAttribute('id')).toBe(active);
    await page.keyboard.press('Enter');
    await expect.poll(() => filter.inputValue(), PATIENT).toBe('direction=');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type(' fc=');
    // What was seen comes first.
    await page.getByRole('option', { name: '3 read holding registers' }).waitFor();
    await page.keyboard.type('3');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowCount(page), PATIENT).toBe(30);
    expect(new URL(page.url()).searchParams.get('filter')).toBe('direction=out fc=3');
    await page.keyboard.type(' unt');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText(/^expected a field: .*, got "unt" \(at character 20 of the filter\)$/)
      .waitFor();
    expect(await rowCount(page)).toBe(30);
    await page.reload();
    await expect
      .poll(() => page.getByRole('combobox', { name: 'filter' }).inputValue(), PATIENT)
      .toBe('direction=out fc=3');
  });

  test('has one row for a request and its reply when asked, opened to both frames', async () => {
    const served = await serve();
    await crowd(served, 30);
    const page = await openPage(served, '/traffic?filter=fc%3D3');
    await expect.poll(() => rowCount(page), PATIENT).toBe(60);
    await page.getByRole('checkbox', { name: 'Join request and reply' }).check();
    await expect.poll(() => rowCount(page), PATIENT).toBe(30);
    expect(new URL(page.url()).searchParams.get('join')).toBe('true');
    await page.getByRole('row', { name: 'exchange' }).last().click();
    await page.getByRole('heading', { name: /^request #/ }).waitFor();
    await page.getByRole('heading', { name: /^reply #/ }).waitFor();
    await page.getByText('following').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Join request and reply' }).uncheck();
    await expect.poll(() => rowCount(page), PATIENT).toBe(60);
  });

  test('shows only problems when asked, and what its colours mean', async () => {
    const served = await serve();
    served.addRule({ name: 'flip', do: [{ crc: 'invert' }], when: { line: 'bus', address: 2 } });
    const master = await serialMaster(served.path('bus'), 9600);
    await master.readHoldingRegisters(0, 2);
    await master.readHoldingRegisters(99, 1).catch(() => {});
    await master.readHoldingRegisters(2, 1).catch(() => {});
    const page = await openPage(served, '/traffic?line=bus');
    await page.getByRole('row', { name: 'flip' }).waitFor();
    expect(await page.getByRole('row', { name: 'exception 02' }).getAttribute('class')).toContain('out');
    expect(await page.getByRole('row', { name: 'flip' }).getAttribute('class')).toContain('spoilt');
    await page.getByRole('list', { name: 'Colours' }).getByText('changed by a fault').waitFor();
    const show = (which: string) => page.getByRole('combobox', { name: 'Show' }).selectOption(which);
    const filter = page.getByRole('combobox', { name: 'filter' });
    await show('only problems');
    await expect.poll(() => rowCount(page), PATIENT).toBe(2);
    expect(new URL(page.url()).searchParams.get('filter')).toBe('line=bus problem');
    expect(await filter.inputValue()).toBe('line=bus problem');
    // What a rule has ordered, and what went wrong by itself.
    await show('only effects of fault rules');
    await expect.poll(() => rowCount(page), PATIENT).toBe(1);
    await page.getByRole('row', { name: 'flip' }).waitFor();
    await show('only unordered problems');
    await page.getByRole('row', { name: 'exception 02' }).waitFor();
    expect(await rowCount(page)).toBe(1);
    await show('everything');
    await expect.poll(() => rowCount(page), PATIENT).toBeGreaterThan(5);
    expect(await filter.inputValue()).toBe('line=bus');
  });

  test('has no times on the strip of a line on which nothing has passed', async () => {
    const served = await serve();
    const page = await openPage(served, '/traffic?kind=request');
    await page.getByText('No event passes the filter.').waitFor();
    expect(await page.locator('.strip .tick').count()).toBe(0);
    await ask(served, 1);
    await page.goto(`${served.url}/traffic?line=bus`);
    await page.locator('.strip .tick').first().waitFor();
  });

  test('shows names for what they are', async () => {
    const devices = {
      [SCRIPT]: { registers: { holding: [{ address: 0, type: 'float64', name: 'level', value: 1 }] } },
    };
    const lines = { [SCRIPT]: { tcp: { port: 0 }, units: { 1: SCRIPT } } };
    const served = await serve(nativeSetup({ devices, lines }));
    await poll(served, SCRIPT);
    const page = await openPage(served, '/traffic?kind=request');
    await page.getByRole('row', { name: SCRIPT }).first().click();
    await page
      .getByRole('region', { name: /Event \d+/ })
      .getByText(`${SCRIPT}.level`)
      .waitFor();
  });

  test('keeps what passed before the simulator was started again, above a line', async () => {
    const config = {
      devices: { meter: { registers: { coils: [{ address: 0 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    };
    const first = await startProgram({ config });
    const url = first.restUrl();
    const page = await openPage({ url }, '/traffic');
    await page.getByRole('row', { name: 'line open' }).click();
    await first.stop();
    await page.getByText('Connection lost').waitFor();
    expect(await page.getByText('following').count()).toBe(0);
    await page.getByText('not connected').waitFor();
    // Effects come after the next frame: here, so late that the new run is known before they act.
    const restore = await page.evaluateHandle(() => {
      const { requestAnimationFrame, setTimeout } = globalThis;
      const late = (ms = 0) => (ms <= 100 ? 3000 : ms);
      globalThis.setTimeout = ((act: () => void, ms?: number) =>
        setTimeout(act, late(ms))) as typeof setTimeout;
      globalThis.requestAnimationFrame = (act) => setTimeout(() => act(performance.now()), 3000) as never;
      return () => Object.assign(globalThis, { requestAnimationFrame, setTimeout });
    });
    const second = await startProgram({ config: { ...config, api: { port: Number(new URL(url).port) } } });
    onTestFinished(async () => void (await second.stop()));
    await expect
      .poll(() => page.getByRole('row', { name: `:${second.tcpPort('lan')}` }).count(), PATIENT)
      .toBe(1);
    await page.getByText('following').waitFor();
    const rows = await page.locator('.rows .row').allTextContents();
    expect(rows.map((row) => /line open|was restarted/.exec(row)?.[0]).filter(Boolean)).toEqual([
      'line open',
      'was restarted',
      'line open',
    ]);
    await restore.evaluate((act) => void act());
    // The event that was open still is.
    await page.getByText('From the previous run of the simulator.').waitFor();
    expect(await page.locator('.rows .row').first().getAttribute('aria-selected')).toBe('true');
    await page.getByRole('row', { name: 'line open' }).last().click();
    await expect.poll(() => new URL(page.url()).searchParams.get('at'), PATIENT).toBe('1');
    await page.getByRole('button', { name: 'Newest', exact: true }).click();
    await expect.poll(() => page.getByRole('row', { name: 'line open' }).count(), PATIENT).toBe(1);
  });

  test('reads nothing while it is hidden, goes on with what is new, and shows the rest when asked', async () => {
    const served = await serve();
    const page = await openPage(served, '/traffic');
    await page.getByText('following').waitFor();
    const show = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await expect.poll(() => rowCount(page), PATIENT).toBe(served.simulator.traffic.last);
    const before = await rowCount(page);
    await show(true);
    for (let i = 0; i < 11; i++) await crowd(served, 500);
    expect(await rowCount(page)).toBe(before);
    await show(false);
    await expect.poll(() => rowCount(page), PATIENT).toBeGreaterThan(before + 1000);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    const skipped = page.getByRole('row', { name: `Events ${before + 1} to` });
    await skipped.getByRole('button', { name: 'Show them' }).click();
    await page.getByText('paused').waitFor();
    await page.keyboard.press('Home');
    await page
      .getByRole('row', { name: String(before + 1) })
      .first()
      .waitFor();
  });

  test('zooms by wheel and pinch, moves by a drag, and measures by a drag on the ruler', async () => {
    const served = await serve();
    await ask(served, 4);
    const page = await openPage(served, '/traffic?line=bus');
    await page.getByRole('row', { name: 'reply' }).last().waitFor();
    await page.getByRole('application', { name: 'Timing of line bus' }).focus();
    await page.keyboard.press('0');
    const box = await page.locator('.strip .field-of-view').boundingBox();
    if (!box) throw new Error('the strip has no place');
    const [x, y] = [box.x + box.width / 2, box.y + 40];
    const picture = () => page.locator('.strip .field-of-view').screenshot();
    const changes = async (act: () => Promise<void>) => {
      const before = await picture();
      await act();
      await expect.poll(async () => (await picture()).equals(before), PATIENT).toBe(false);
    };
    await changes(async () => {
      await page.mouse.move(x, y);
      await page.mouse.wheel(0, -300);
    });
    await changes(async () => {
      await page.mouse.down();
      await page.mouse.move(x + 120, y, { steps: 4 });
      await page.mouse.up();
    });
    const touch = await page.context().newCDPSession(page);
    const fingers = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...xs: number[]) =>
      touch.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: xs.map((each, id) => ({ x: each, y, id })),
      });
    await changes(async () => {
      await fingers('touchStart', x - 40, x + 40);
      await fingers('touchMove', x - 120, x + 120);
      await fingers('touchEnd');
    });
    await page.mouse.move(x, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(x + 80, box.y + 8, { steps: 4 });
    await page.mouse.up();
    await page.getByText(/A–B \d+\.\d{3} ms/).waitFor();
  });
});
