import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { type Master, rtuOverTcpMaster, serialMaster, tcpMaster } from '../api/masters.js';
import { accessibilityFaults, BUS_LINK, openPage, poll, serve } from './browser.js';
import { describeInBrowser } from './chromium.js';

const READER = 'the-only-token-that-may-just-read';
const HOSTILE = '<script>document.title=1</script>';

const REGISTERS = { registers: { holding: [{ address: 0, value: [1, 2, 3, 4] }] } };

/** Four lines on which five things are wrong, once their clients poll. */
const FIVE_WRONG = nativeSetup({
  devices: { boiler: REGISTERS, pump: REGISTERS, meter: REGISTERS, valve: REGISTERS, sensor: REGISTERS },
  lines: {
    boilers: { tcp: { port: 0 }, units: { 1: 'boiler', 2: 'pump' } },
    hall: { tcp: { port: 0 }, units: { 1: 'meter', 5: 'valve' } },
    yard: { tcp: { port: 0 }, framing: 'rtu', units: { 7: 'sensor' } },
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
  faults: [{ name: 'slow', when: { line: 'yard', nth: 3 }, do: [{ delay: 650 }] }],
});

/** Lets a client ask one question again and again, until the test ends. */
function asks(master: Master, unit: number, address: number, everyMs: number): void {
  master.setID(unit);
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      await master.readHoldingRegisters(address, 2).catch(() => {});
      await setTimeout(everyMs);
    }
  })();
  onTestFinished(() => {
    isOver = true;
    return asking;
  });
}

describeInBrowser('the view of the lines', () => {
  test('says on the start page which five things are wrong on four lines, each within a minute', async () => {
    const served = await serve(FIVE_WRONG);
    const port = (line: string) => served.port(line);
    asks(await tcpMaster(port('boilers')), 1, 0, 20);
    asks(await tcpMaster(port('boilers')), 2, 0, 4000);
    asks(await tcpMaster(port('hall')), 1, 0, 500);
    asks(await rtuOverTcpMaster(port('yard')), 7, 0, 300);
    asks(await tcpMaster(port('lan')), 1, 0, 500);
    asks(await tcpMaster(port('lan')), 1, 40, 500);
    served.client('yard').send(Buffer.from('070300000002ffff', 'hex'));
    const page = await openPage(served, '/');
    for (const [line, wrong] of [
      ['boilers', /^unit 1 boiler is polled \d+\/s, the others at most \d+\/(s|min)$/],
      ['hall', /^No client polls unit 5 valve$/],
      ['yard', /^Damage: \d+ messages?, /],
      ['yard', /^unit 7 sensor takes up to \d{3,} ms to reply$/],
      ['lan', /^unit 1 meter answers \d+ % of its requests with an exception$/],
    ] as const) {
      const found = page.getByRole('list', { name: `Problems on line ${line}` });
      await found.getByRole('listitem').filter({ hasText: wrong }).waitFor();
    }
    expect(await page.getByRole('list', { name: /^Problems on line/ }).count()).toBe(4);
  });

  test('shows what passes a line, with rates', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    const lan = page.getByRole('article', { name: 'Line lan' });
    await lan.getByText(`127.0.0.1:${served.port('lan')}`).waitFor();
    await poll(served);
    await lan.getByText('Facts and counters').click();
    await lan
      .locator('.counters div', { hasText: 'requests' })
      .getByText(/^[\d.]+\/s$/)
      .waitFor();
    await lan.locator('.sparkline', { hasText: 'turnaround' }).getByText(/^\d/).waitFor();
    await lan.locator('.about div', { hasText: 'clients' }).getByText('1', { exact: true }).waitFor();
    const bus = page.getByRole('article', { name: 'Line bus' });
    await bus.getByText('RTU 9600 8N1').waitFor();
    await bus.getByText('Facts and counters').click();
    await bus.getByText('4.01 ms').waitFor();
  });

  test('shows in a lane who asks what, how often, what became of it, and how full the wire is', async () => {
    const served = await serve();
    served.addRule({ name: 'odd', do: [{ exception: 4 }], when: { line: 'bus', address: 2 } });
    const page = await openPage(served, '/lines');
    const lane = page.getByRole('slider', { name: 'Traffic on line bus' });
    await lane.getByText('not polled').waitFor();
    const client = await serialMaster(served.path('bus'), 9600);
    for (let i = 0; i < 6; i++) await client.readHoldingRegisters(i % 3 === 2 ? 2 : 0, 1).catch(() => {});
    await client.readHoldingRegisters(99, 1).catch(() => {});
    await lane.getByText('unit 1 meter fn 3').waitFor();
    await lane.getByText(/^\d+\/\w+, exceptions 14 %, changed by a rule 29 %/).waitFor();
    await lane.getByText(/% on the wire, .*% t3.5, \d+ % quiet$/).waitFor();
    const bus = page.getByRole('article', { name: 'Line bus' });
    await bus.getByText('unit 1 meter answers 14 % of its requests with an exception').waitFor();
    for (const outcome of ['good', 'exceptions', 'ordered', 'speaking'])
      expect(await lane.locator(`path.${outcome}`).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: '24 h' }).click();
    await page.waitForURL('**/lines?span=86400');
    await lane.getByText(/exceptions 14 %/).waitFor();
    // By keys to the minute, and to its traffic.
    await lane.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => lane.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d:\d\d, /);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/traffic?line=bus&since=*');
    const { searchParams } = new URL(page.url());
    const length =
      Date.parse(String(searchParams.get('until'))) - Date.parse(String(searchParams.get('since')));
    expect(length).toBe(60_000);
  });

  test('zooms by keys and by the wheel, from a day to single bytes and back', async () => {
    const served = await serve();
    const client = await serialMaster(served.path('bus'), 9600);
    const page = await openPage(served, '/lines');
    for (let i = 0; i < 3; i++) await client.readHoldingRegisters(0, 4);
    const lane = page.getByRole('slider', { name: 'Traffic on line bus' });
    await lane.getByText('unit 1 meter fn 3').waitFor();
    const strip = page.getByRole('application', { name: 'Bytes on line bus' });
    await lane.focus();
    await page.keyboard.press('ArrowLeft');
    const zoomUntil = async (key: string, isThere: boolean) => {
      for (let i = 0; i < 60 && (await strip.isVisible()) !== isThere; i++) await page.keyboard.press(key);
    };
    await zoomUntil('+', true);
    await strip.waitFor();
    await page.waitForURL('**/lines?span=*&until=*');
    expect(await accessibilityFaults(page)).toEqual([]);
    await zoomUntil('-', false);
    await strip.waitFor({ state: 'detached' });
    const at = page.url();
    const box = await lane.locator('svg').first().boundingBox();
    await page.mouse.move((box?.x ?? 0) + 50, (box?.y ?? 0) + 5);
    await page.mouse.wheel(0, -400);
    await expect.poll(() => page.url()).not.toBe(at);
    await page.getByRole('button', { name: 'Follow the newest' }).click();
    await page.getByRole('button', { name: '10 min' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test('names the link of a virtual line, and counts only what there was', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    const bus = page.getByRole('article', { name: 'Line bus' });
    await bus.locator('.head').getByText(BUS_LINK, { exact: true }).waitFor();
    expect(await bus.locator('.head').textContent()).not.toContain('/dev/pts');
    await bus.getByText('Facts and counters').click();
    const rows = () => bus.locator('.counters dt').allTextContents();
    await bus.getByText(/^None: broadcasts, .*damaged frames/).waitFor();
    expect(await rows()).toEqual(['requests', 'replies']);
    const client = await serialMaster(served.path('bus'), 9600);
    client.setID(0);
    // No reply comes to a broadcast.
    client.writeRegister(0, 5).catch(() => {});
    await expect.poll(rows).toEqual(['requests', 'broadcasts', 'replies']);
  });

  test('stops, starts and restarts a line', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    const lan = page.getByRole('article', { name: 'Line lan' });
    await lan.getByRole('button', { name: 'Stop lan' }).click();
    await lan.getByText('stopped', { exact: true }).waitFor();
    expect(served.simulator.lines.get('lan')?.state.kind).toBe('stopped');
    await lan.getByRole('button', { name: 'Start lan', exact: true }).click();
    await lan.getByText('open', { exact: true }).waitFor();
    await lan.getByRole('button', { name: 'Restart lan' }).click();
    await page.getByText('Line lan was reopened.').waitFor();
  });

  test('changes settings, and shows beside a field why the simulator refuses it', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    const dialog = page.getByRole('dialog', { name: 'Change bus' });
    await page.getByRole('button', { name: 'Change bus' }).click();
    await dialog.getByLabel('baudRate').fill('ninety');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.locator('.field.wrong').getByText('got "ninety"').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByLabel('baudRate').fill('19200');
    await dialog.getByLabel('gap').fill('50');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.waitFor({ state: 'detached' });
    const bus = page.getByRole('article', { name: 'Line bus' });
    await bus.getByText('RTU 19200 8N1').waitFor();
    expect(served.simulator.lines.get('bus')?.definition).toMatchObject({
      baudRate: 19200,
      parity: 'none',
      timing: { gap: 50 },
    });
  });

  test('is handled by keys alone: a dialog has the focus, and Escape gives it back', async () => {
    const page = await openPage(await serve(), '/lines');
    const change = page.getByRole('button', { name: 'Change bus' });
    await change.and(page.locator(':enabled')).waitFor();
    await change.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Change bus' });
    await dialog.locator(':focus').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => change.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test('adds a line, and removes it', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    await page.getByRole('button', { name: 'Add a line' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a line' });
    await dialog.getByLabel('name', { exact: true }).fill('second');
    await dialog.getByLabel('port').fill('70000');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.locator('.field.wrong').getByText('got 70000').waitFor();
    await dialog.getByLabel('port').fill('0');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('article', { name: 'Line second' }).waitFor();
    expect(served.simulator.lines.get('second')?.definition.units.get(1)).toBe('meter');
    await page.getByRole('button', { name: 'Remove second' }).click();
    const question = page.getByRole('dialog', { name: 'Remove second?' });
    await question.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('article', { name: 'Line second' }).waitFor({ state: 'detached' });
    expect(served.simulator.lines.has('second')).toBe(false);
  });

  test('edits everything as a file: shows what that would do, does it, and takes it back', async () => {
    const served = await serve();
    const page = await openPage(served, '/lines');
    await page.getByRole('button', { name: 'Edit as file' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit as file' });
    const file = dialog.getByLabel('devices, lines and fault rules as they are now');
    await expect.poll(() => file.inputValue()).toContain('lines:\n');
    const text = await file.inputValue();
    await file.fill(text.replace(/^lines:$/m, 'lines:\n  more: {udp: {port: 0}, units: {1: nobody}}'));
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText(/^Refused, line \d+: .*nobody/).waitFor();
    await file.fill(text.replace(/^lines:$/m, 'lines:\n  more: {udp: {port: 0}, units: {1: meter}}'));
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('Would do: added line more.').waitFor();
    expect(served.simulator.lines.has('more')).toBe(false);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('article', { name: 'Line more' }).waitFor();
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    await page.getByText('Undone: removed line more.').waitFor();
    expect(served.simulator.lines.has('more')).toBe(false);
  });

  test('shows 64 lines with hostile names as they are', async () => {
    const names = [HOSTILE, 'ü'.repeat(64), ...Array.from({ length: 62 }, (_, i) => `line-${i}`)];
    const units = { 1: 'meter' };
    const served = await serve(
      nativeSetup({
        devices: { meter: { registers: { holding: [{ address: 0 }] } } },
        lines: Object.fromEntries(names.map((name) => [name, { tcp: { port: 0 }, units }])),
      }),
    );
    const page = await openPage(served, '/lines', { width: 360 });
    await page.getByText('64 lines, 64 open').waitFor();
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await page.getByRole('button', { name: `Stop ${HOSTILE}` }).click();
    await page.getByText('64 lines, 63 open').waitFor();
    expect(served.simulator.lines.get(HOSTILE)?.state.kind).toBe('stopped');
  });

  test('offers no change to a reader', async () => {
    const served = await serve(undefined, { rules: { host: '127.0.0.1', readTokens: [READER] } });
    const page = await openPage(served, '/lines');
    await page.getByLabel('Token').fill(READER);
    await page.getByRole('button', { name: 'Log in' }).click();
    const stop = page.getByRole('button', { name: 'Stop lan' });
    await stop.waitFor();
    await expect.poll(() => stop.isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole('button', { name: 'Add a line' }).isDisabled()).toBe(true);
  });
});
