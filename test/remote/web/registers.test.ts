import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { holding } from '../../support/simulator.js';
import { tcpMaster } from '../api/masters.js';
import { accessibilityFaults, gate, openPage, poll, type Served, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const READER = 'the-only-token-that-may-just-read';
const HOSTILE = '<script>document.title=1</script>';
const LONG = `${HOSTILE}${'long '.repeat(790)}`;

const SETUP = nativeSetup({
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: 1, write: true, name: 'relay', labels: { 0: 'open', 1: 'closed' } }],
        holding: [
          { address: 0, value: [1, 2, 3, 4], write: true },
          { address: 10, type: 'float32', value: 230.5, name: 'voltage', unit: 'V', write: true },
          { address: 12, name: 'level', signal: { square: { period: '2s', amplitude: 5, offset: 50 } } },
          { address: 13, name: 'setpoint', scale: 0.1, unit: '°C', value: 215, write: true },
          { address: 14, name: 'state', bits: { 0: 'running', 3: 'alarm' }, value: 0x81, write: true },
          { address: 16, name: 'speed', limits: { min: 0, max: 100 }, value: 5, write: true },
          { address: 20, quantity: 30_000, value: 0x4142 },
          { address: 65_535, value: 7, write: true },
        ],
        input: [
          { address: 0, type: 'string', length: 2000, value: LONG, name: 'plate', description: HOSTILE },
          { address: 2000, value: 1 },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const cell = (page: Page, address: number) => page.locator(`[data-address="${address}"]`);
const text = (page: Page, address: number, wanted: string) =>
  cell(page, address).locator('.text').getByText(wanted, { exact: true }).waitFor();

/** A search gives the focus to the grid with the next frame, after it has shown what it found. */
const gridHasFocus = (page: Page) => page.locator('[role=grid]:focus').waitFor();

/** Opens a table, and waits until the page has measured it and read all of what it shows. */
async function open(served: Served, path = '/registers/meter/holding', options = {}): Promise<Page> {
  const page = await openPage(served, path, options);
  // Before it is measured it has three rows, and its form and columns may still change.
  await page.locator('.row:not(.top)').nth(4).waitFor();
  await page.locator('[role=grid]:not(:has(.unread))').waitFor();
  return page;
}

/** Selects a register by a click, and types. A register takes no key before it is read. */
async function type(page: Page, address: number, typed: string): Promise<void> {
  await cell(page, address).and(page.locator(':not(.unread)')).click();
  await page.keyboard.type(typed);
  await page.keyboard.press('Enter');
}

describeInBrowser('the view of the registers', () => {
  test('leads to the first device, and keeps device, table, form and place in the address', async () => {
    const served = await serve(SETUP);
    const page = await openPage(served, '/registers');
    await page.waitForURL('**/registers/meter/holding');
    await page.getByLabel('Show as').selectOption('hexadecimal');
    await cell(page, 10).click();
    await page.waitForURL('**/registers/meter/holding?as=hex&from=10');
    await page.getByRole('link', { name: 'coils' }).click();
    await page.waitForURL('**/registers/meter/coils?as=hex');
    await page.getByRole('grid', { name: 'coils of meter' }).waitFor();
    await text(page, 0, '1');
  });

  test('flashes what a client reads and what it writes, differently, and follows the values', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    await poll(served);
    await page.locator('[data-address="3"].read').waitFor();
    expect(await page.locator('[data-address="10"].read').count()).toBe(0);
    const master = await tcpMaster(served.port('lan'));
    let value = 100;
    const writing = setInterval(() => void master.writeRegister(2, ++value).catch(() => {}), 200);
    await page.locator('[data-address="2"].written').waitFor();
    await page.locator('[data-address="1"].read').waitFor();
    clearInterval(writing);
    await expect.poll(() => holding(served, 'meter', 2, 1)[0]).toBe(value);
    await text(page, 2, String(value));
    await cell(page, 2).click();
    await page.getByRole('complementary').getByText('line lan').waitFor();
  });

  test('marks what a client polls for as long as it polls, not only once', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    await poll(served);
    const polled = page.locator('[data-address="3"]');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.locator('[data-address="3"].read').waitFor();
    const names = new Set<string>();
    const look = async () => {
      names.add(await polled.evaluate((element) => getComputedStyle(element, '::after').animationName));
      return names.has('fade-out') && names.has('fade-out-again');
    };
    await expect.poll(look).toBe(true);
  });

  test('shows registers in each of the forms', async () => {
    const page = await open(await serve(SETUP));
    for (const [as, address, wanted] of [
      ['unsigned', 10, '17254'],
      ['hex', 10, '4366'],
      ['bits', 0, '0000 0000 0000 0001'],
      ['float', 10, '230.5'],
      ['float-swapped', 10, '-2.4178e-41'],
      ['text', 20, 'AB'],
      ['values', 10, '230.5 V'],
    ] as const) {
      await page.getByLabel('Show as').selectOption(as);
      await text(page, address, wanted);
    }
  });

  test('an edit reaches the wire, is taken back, and made again', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const master = await tcpMaster(served.port('lan'));
    const onTheWire = async () => (await master.readHoldingRegisters(0, 4)).data;
    await type(page, 1, '4660');
    await text(page, 1, '4660');
    // The register may be read before the answer to the edit comes, and a field that is open takes the key to undo for itself.
    await page.getByLabel('Register 1').waitFor({ state: 'detached' });
    expect(await onTheWire()).toEqual([1, 4660, 3, 4]);
    await page.waitForFunction('document.activeElement !== document.body');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('77');
    await page.keyboard.press('Enter');
    await text(page, 2, '77');
    await page.getByLabel('Register 2').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await text(page, 2, '3');
    await page.keyboard.press('Control+z');
    await text(page, 1, '2');
    expect(await onTheWire()).toEqual([1, 2, 3, 4]);
    await page.keyboard.press('Control+Shift+z');
    await text(page, 1, '4660');
    expect(await onTheWire()).toEqual([1, 4660, 3, 4]);
  });

  test('asks before it takes back what a client has written over', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const master = await tcpMaster(served.port('lan'));
    for (const typed of ['50', '60']) {
      await type(page, 1, typed);
      await text(page, 1, typed);
      await page.getByLabel('Register 1').waitFor({ state: 'detached' });
    }
    await page.keyboard.press('Control+z');
    await text(page, 1, '50');
    await master.writeRegister(1, 99);
    await page.keyboard.press('Control+z');
    const dialog = page.getByRole('dialog', { name: 'Written meanwhile' });
    await dialog
      .getByText(/^meter, holding 1, has since been written by line lan, 127\.0\.0\.1:\d+, .*It is now 99\.$/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keep it' }).click();
    expect(holding(served, 'meter', 1, 1)).toEqual([99]);
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    await page.getByRole('button', { name: 'Overwrite it' }).click();
    await text(page, 1, '2');
    expect(holding(served, 'meter', 1, 1)).toEqual([2]);
  });

  test('takes nothing back when a client writes just before', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const master = await tcpMaster(served.port('lan'));
    await type(page, 1, '50');
    await text(page, 1, '50');
    // A field that is open takes the key to undo for itself.
    await page.getByLabel('Register 1').waitFor({ state: 'detached' });
    await page.route('**/registers', async (route) => {
      if (route.request().method() === 'PATCH') await master.writeRegister(1, 99);
      await route.continue();
    });
    await page.keyboard.press('Control+z');
    await page
      .getByText('The change to meter, holding 1, was not undone: another write came first.')
      .waitFor();
    expect(holding(served, 'meter', 1, 1)).toEqual([99]);
    await page.keyboard.press('Control+z');
    await page.getByRole('dialog', { name: 'Written meanwhile' }).waitFor();
  });

  test('defines with one click what a client asked for in vain', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const master = await tcpMaster(served.port('lan'));
    await expect(master.readHoldingRegisters(40_000, 2)).rejects.toThrow();
    const section = page.getByRole('region', { name: 'Requested but not defined' });
    await section.getByText('holding 40000–40001').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await section.getByRole('button', { name: 'Define holding 40000–40001' }).click();
    await text(page, 40_001, '0');
    await section.waitFor({ state: 'detached' });
    await type(page, 40_001, '7');
    await text(page, 40_001, '7');
    expect((await master.readHoldingRegisters(40_000, 2)).data).toEqual([0, 7]);
  });

  test('follows devices that come and go, whatever they are called', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const rest = (method: string, path: string, body?: object) =>
      fetch(`${served.url}/api/v1/devices${path}`, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
    const added = await rest('POST', '', {
      name: HOSTILE,
      registers: { coils: [{ address: 0, value: 1, write: true }] },
    });
    expect(added.status).toBe(201);
    await page.getByRole('combobox', { name: 'Device' }).selectOption(HOSTILE);
    await page.waitForURL(`**/registers/${encodeURIComponent(HOSTILE)}/**`);
    await page.getByRole('link', { name: 'coils' }).click();
    await text(page, 0, '1');
    await rest('DELETE', `/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('heading', { name: `There is no device ${HOSTILE}` }).waitFor();
    await page.getByRole('link', { name: 'meter' }).click();
    await text(page, 1, '2');
    await expect.poll(() => page.getByRole('combobox', { name: 'Device' }).locator('option').count()).toBe(1);
  });

  test('edits a value in its unit, and a float by its words', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=values');
    await type(page, 13, '19.5');
    await text(page, 13, '19.5 °C');
    expect(holding(served, 'meter', 13, 1)).toEqual([195]);
    await page.getByLabel('Show as').selectOption('float 32, high word first');
    await type(page, 10, '-1.5');
    await text(page, 10, '-1.5');
    expect(holding(served, 'meter', 10, 2)).toEqual([0xbfc0, 0]);
  });

  test('sets bits by their names, and by boxes', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=values&from=14');
    await text(page, 14, 'running');
    await cell(page, 14).click();
    await page.keyboard.press('F2');
    await expect.poll(() => page.getByLabel('Register 14').inputValue()).toBe('running');
    await page.getByLabel('Register 14').fill('running, alarm');
    await page.keyboard.press('Enter');
    await text(page, 14, 'running, alarm');
    // The bit without a name is as it was.
    expect(holding(served, 'meter', 14, 1)).toEqual([0x89]);
    const bits = page.getByRole('group', { name: 'bits' });
    await bits.getByLabel('running').uncheck();
    await text(page, 14, 'alarm');
    expect(holding(served, 'meter', 14, 1)).toEqual([0x88]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+z');
    await text(page, 14, 'running, alarm');
    await cell(page, 0).click();
    await page.getByLabel('Show as').selectOption('bits');
    await bits.getByLabel('4', { exact: true }).check();
    await text(page, 0, '0000 0000 0001 0001');
    expect(holding(served, 'meter', 0, 1)).toEqual([0x11]);
  });

  test('a bit is switched in the value of the edit before it, and stays, however late older answers come', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=values&from=14');
    const [late, sendLate] = gate();
    const [isRead, read] = gate();
    await page.route('**/registers?table=holding&from=14&to=14', async (route) => {
      const response = await route.fetch();
      read();
      await late;
      await route.fulfill({ response });
    });
    await isRead;
    await type(page, 14, 'running, alarm');
    await expect.poll(() => holding(served, 'meter', 14, 1)).toEqual([0x89]);
    sendLate();
    await page.getByLabel('Register 14').waitFor({ state: 'detached' });
    const [answered, answer] = gate();
    await page.route('**/registers', (route) => answered.then(() => route.continue()));
    const bit = page.getByRole('group', { name: 'bits' }).getByLabel('running');
    await bit.uncheck();
    for (let reads = 0; reads < 2; reads++) await page.waitForResponse('**/words?**');
    expect(await bit.isChecked()).toBe(false);
    answer();
    await text(page, 14, 'alarm');
    expect(holding(served, 'meter', 14, 1)).toEqual([0x88]);
  });

  test('warns of a value that clients could not write, and says what was rounded', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=values');
    await type(page, 16, '500');
    await page.getByText("speed is 500, which clients can't write: its limits reject it.").waitFor();
    await page.getByRole('complementary').getByText('its limits would reject this value').waitFor();
    await type(page, 13, '19.57');
    await page.getByText('setpoint is 19.6 °C: 19.57 was rounded to fit the type.').waitFor();
    await type(page, 10, '0.1');
    await text(page, 10, '0.1 V');
    expect(await page.getByText('voltage is').count()).toBe(0);
  });

  test('says beside the cell why a value is refused, and keeps what was typed', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=values');
    await type(page, 13, '99999');
    await cell(page, 13).getByRole('alert').getByText('a number that uint16 can hold').waitFor();
    await expect.poll(() => page.getByLabel('Register 13').inputValue()).toBe('99999');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await text(page, 13, '21.5 °C');
    await expect
      .poll(() => page.getByRole('grid').evaluate((grid) => grid === document.activeElement))
      .toBe(true);
    await type(page, 12, '1');
    await cell(page, 12).getByText('a signal (square) sets this value').waitFor();
    await type(page, 15, '1');
    await cell(page, 15).getByText('15 is not defined').waitFor();
  });

  test('has rows only for what is seen, and asks only for that', async () => {
    const served = await serve(SETUP);
    const page = await openPage(served, '/lines');
    const asked: number[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (!pathname.endsWith('/words')) return;
      asked.push(Number(searchParams.get('to')) - Number(searchParams.get('from')));
    });
    await page.goto(`${served.url}/registers/meter/holding?as=unsigned`);
    const grid = page.getByRole('grid');
    await text(page, 3, '4');
    for (const top of [1000, 50_000, 70_000]) {
      await grid.evaluate((element, y) => element.scrollTo(0, y), top);
      const address = Math.ceil(top / 26) * 10;
      await cell(page, address).waitFor();
      expect(await grid.getByRole('row').count()).toBeLessThan(40);
    }
    await page.keyboard.press('Tab');
    await grid.focus();
    await page.keyboard.press('Control+End');
    await text(page, 65_535, '7');
    await page.keyboard.press('ArrowUp');
    await text(page, 30_015, '16706');
    await page.keyboard.press('Control+Home');
    await text(page, 0, '1');
    expect(Math.max(...asked)).toBeLessThan(400);
  });

  test('a key that comes while the address of the page follows the one before is not undone', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=unsigned');
    const followed: string[] = [];
    await page.exposeFunction('follows', (address: string) => void followed.push(address));
    // The first key comes when the address of the page has followed, and the page is not yet drawn with it.
    await page.evaluate(() => {
      const replace = history.replaceState.bind(history);
      let isFirst = true;
      history.replaceState = (data, unused, address) => {
        replace(data, unused, address);
        (window as unknown as { follows(address: string): void }).follows(String(address));
        const home = new KeyboardEvent('keydown', { key: 'Home', ctrlKey: true, bubbles: true });
        if (isFirst) queueMicrotask(() => document.querySelector('[role=grid]')?.dispatchEvent(home));
        isFirst = false;
      };
    });
    await cell(page, 13).click();
    await expect.poll(() => followed.length).toBe(2);
    expect(followed[0]).toBe('/registers/meter/holding?as=unsigned&from=13');
    expect(followed[1]).toBe('/registers/meter/holding?as=unsigned');
    await page.locator('[data-address="0"].selected').waitFor();
  });

  test('copies a range of cells as text', async () => {
    const page = await open(await serve(SETUP), '/registers/meter/holding?as=unsigned');
    await cell(page, 1).click();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    await page.locator('[data-address="12"].range').waitFor();
    const copied = await page.getByRole('grid').evaluate((grid) => {
      const clipboardData = new DataTransfer();
      grid.dispatchEvent(new ClipboardEvent('copy', { clipboardData, cancelable: true, bubbles: true }));
      return clipboardData.getData('text/plain');
    });
    const lines = copied.split('\n').map((line) => line.split('\t'));
    expect(lines[0]).toEqual(['2', '3', '4', '–', '–', '–', '–', '–', '–']);
    expect(lines[1]?.slice(0, 2)).toEqual(['17254', '32768']);
  });

  test('plots a signal, changes its parameters, and freezes it', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?from=12');
    const details = page.getByRole('complementary');
    const plot = details.getByRole('slider', { name: 'level, last 5 minutes' });
    await expect.poll(async () => Number(await plot.getAttribute('aria-valuemax'))).toBeGreaterThan(1);
    await details.getByText('for the first share duty (0 to 1, default 0.5)').waitFor();
    await plot.focus();
    await page.keyboard.press('Home');
    await details.getByText(/^(45|55) {2}at \d\d:\d\d:\d\d$/).waitFor();
    await expect.poll(() => plot.getAttribute('aria-valuenow')).toBe('0');
    await page.keyboard.press('Escape');
    await plot.hover();
    await details.getByText(/^(45|55) {2}at/).waitFor();
    await details.getByLabel('amplitude').fill('many');
    await details.getByRole('button', { name: 'Change' }).click();
    await details.locator('.field.wrong').getByText('a number').waitFor();
    await details.getByLabel('amplitude').fill('7');
    await details.getByRole('button', { name: 'Change' }).click();
    await page.getByText('The signal of level is square.').waitFor();
    const point = served.simulator.devices.get('meter')?.points.named.get('level');
    expect(point?.placedSignal?.definition.written).toMatchObject({ amplitude: 7, offset: 50 });
    await details.getByLabel('duty, slider').fill('0.25');
    await expect.poll(() => point?.placedSignal?.definition.written).toMatchObject({ duty: 0.25 });
    expect(await accessibilityFaults(page)).toEqual([]);
    await details.getByRole('button', { name: 'Freeze' }).click();
    await page.getByText('level is frozen.').waitFor();
    expect(point?.signal).toBeUndefined();
    await details.getByText('No signal: the value changes when it is written.').waitFor();
  });

  test('switches the power off and on, pauses the clock, and resets the device', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const device = served.simulator.devices.get('meter');
    await page.getByRole('button', { name: 'Switch the power off' }).click();
    await page.locator('.machine').getByText('off', { exact: true }).waitFor();
    expect(device?.power.state).toBe('off');
    await page.getByRole('button', { name: 'Switch the power on' }).click();
    await page.locator('.machine').getByText('on', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause the clock' }).click();
    await page.getByText('paused at').waitFor();
    await type(page, 0, '9');
    await text(page, 0, '9');
    const reset = page.getByRole('button', { name: 'Reset the device' });
    await reset.click();
    const question = page.getByRole('dialog', { name: 'Reset meter?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(holding(served, 'meter', 0, 1)).toEqual([9]);
    await reset.click();
    await question.getByRole('button', { name: 'Reset' }).click();
    await text(page, 0, '1');
  });

  test('shows hostile names and 4,000 characters as they are, at 360 pixels', async () => {
    const page = await open(await serve(SETUP), '/registers/meter/input?as=values', { width: 360 });
    await page.getByRole('complementary').getByText(HOSTILE, { exact: true }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByText('Shown as values').click();
    await page.getByLabel('Go to').fill('2000');
    await page.keyboard.press('Enter');
    await text(page, 2000, '1');
  });

  test('counts the registers that are defined, and shows no rows without any', async () => {
    const scattered = {
      registers: {
        coils: [{ address: 0, quantity: 3 }],
        input: [{ address: 3000, type: 'float32', value: 230.5, name: 'voltage', unit: 'V' }],
        holding: [
          { address: 100, value: [1, 2] },
          { address: 400, value: 3 },
        ],
      },
    };
    const served = await serve(
      nativeSetup({
        devices: { meter: scattered },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      }),
    );
    const page = await openPage(served, '/registers');
    await page.waitForURL('**/registers/meter/coils');
    const tables = page.getByRole('navigation', { name: 'Tables' });
    await tables.getByText('holding 3').waitFor();
    await expect
      .poll(() => tables.getByRole('link').allTextContents())
      .toEqual(
        expect.arrayContaining([expect.stringMatching(/coils\s+3/), expect.stringMatching(/input\s+2/)]),
      );
    await tables.getByRole('link', { name: 'holding' }).click();
    await text(page, 100, '1');
    await text(page, 400, '3');
    await page.getByRole('heading', { name: 'holding 100' }).waitFor();
    expect(await page.locator('.cell.undefined').count()).toBeLessThan(20);
    await page.keyboard.press('Tab');
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 'holding 400' }).waitFor();
    await tables.getByRole('link', { name: 'input' }).click();
    await text(page, 3000, '230.5 V');
  });

  test('shows a float in one row on a phone', async () => {
    const page = await open(await serve(SETUP), '/registers/meter/holding?from=10', { width: 390 });
    await text(page, 10, '230.5 V');
    expect(await cell(page, 11).count()).toBe(0);
  });

  test('says nothing about the course of what has none', async () => {
    const page = await open(await serve(SETUP), '/registers/meter/holding?as=unsigned&from=15');
    await page.getByRole('heading', { name: 'holding 15' }).waitFor();
    await page.getByRole('complementary').getByText('not defined', { exact: true }).waitFor();
    expect(await page.getByRole('slider').count()).toBe(0);
  });

  test('puts what is typed after "Go to" into the register', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    await page.getByLabel('Go to').fill('2');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'holding 2' }).waitFor();
    await gridHasFocus(page);
    await page.keyboard.type('77');
    await page.keyboard.press('Enter');
    await text(page, 2, '77');
    expect(holding(served, 'meter', 2, 1)).toEqual([77]);
    await page.getByLabel('Go to').fill('relay');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/registers/meter/coils');
    await gridHasFocus(page);
    await page.getByLabel('Go to').fill('9000');
    await page.keyboard.press('Enter');
    await page.getByText('meter defines nothing near coils 9000.').waitFor();
  });

  test('changes no cell before it is read', async () => {
    const served = await serve(SETUP);
    // Another table: the page may have read any part of the table that it shows first.
    const page = await openPage(served, '/registers/meter/coils');
    await text(page, 0, 'closed');
    const [released, release] = gate();
    await page.route('**/words?**', (route) => released.then(() => route.continue()));
    await page.evaluate(() => history.pushState({}, '', '/registers/meter/holding?from=10'));
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')));
    await page.getByRole('heading', { name: 'holding 10' }).waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('F2');
    await page.getByRole('alert').getByText('its value has not arrived yet').waitFor();
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    release();
    await text(page, 10, '230.5 V');
    expect(holding(served, 'meter', 10, 2)).toEqual([0x4366, 0x8000]);
  });

  test('undoes a text that was longer than what is shown', async () => {
    const served = await serve(SETUP);
    const page = await open(served, '/registers/meter/holding?as=text&from=20');
    await text(page, 20, 'AB');
    await type(page, 20, 'x'.repeat(246));
    await expect.poll(() => holding(served, 'meter', 142, 1)).toEqual([0x7878]);
    await page.getByLabel('Register 20').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await expect.poll(() => holding(served, 'meter', 20, 123)).toEqual(Array(123).fill(0x4142));
  });

  test('takes no key for the register before while a name is looked up', async () => {
    const served = await serve(SETUP);
    const page = await open(served);
    const [released, release] = gate();
    await page.route('**/registers?names=**', (route) => released.then(() => route.continue()));
    await cell(page, 1).click();
    await page.getByLabel('Go to').fill('setpoint');
    await page.keyboard.press('Enter');
    await page.keyboard.type('9');
    release();
    await gridHasFocus(page);
    await page.keyboard.type('30');
    await page.keyboard.press('Enter');
    await text(page, 13, '30 °C');
    expect([holding(served, 'meter', 0, 4), holding(served, 'meter', 13, 1)]).toEqual([[1, 2, 3, 4], [300]]);
  });

  test('finds a value by its name', async () => {
    const page = await open(await serve(SETUP), '/registers/meter/holding');
    await page.getByLabel('Go to').fill('relay');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/registers/meter/coils');
    await page.getByRole('heading', { name: 'relay' }).waitFor();
    await gridHasFocus(page);
    await page.getByLabel('Go to').fill('relais');
    await page.keyboard.press('Enter');
    await page.getByText('did you mean "relay"').waitFor();
  });

  test('lets a reader look, and nothing else', async () => {
    const served = await serve(SETUP, { rules: { host: '127.0.0.1', readTokens: [READER] } });
    const page = await openPage(served, '/registers/meter/holding');
    await page.getByLabel('Token').fill(READER);
    await page.getByRole('button', { name: 'Log in' }).click();
    await text(page, 0, '1');
    await expect.poll(() => page.getByRole('button', { name: 'Reset the device' }).isDisabled()).toBe(true);
    await type(page, 0, '5');
    await cell(page, 0).getByText('this session is read-only').waitFor();
    expect(holding(served, 'meter', 0, 1)).toEqual([1]);
  });
});
