import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { Configuration } from '../../../src/document/configuration.js';
import type { ApiRules } from '../../../src/remote/api/app.js';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator } from '../../support/simulator.js';
import { type Master, tcpMaster } from '../api/masters.js';
import { browser } from './chromium.js';

/** The link of the line `bus`. */
export const BUS_LINK = join(mkdtempSync(join(tmpdir(), 'console-')), 'bus');

/** A bench that has something for each view to show. Its first line is `lan`, a TCP line on any free port. */
export const BENCH = nativeSetup({
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: 1, write: true, name: 'relay' }],
        holding: [
          { address: 0, value: [1, 2, 3, 4], write: true },
          { address: 10, type: 'float32', value: 230.1, name: 'voltage', unit: 'V', write: true },
        ],
      },
    },
  },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    bus: {
      serial: { path: 'virtual', link: BUS_LINK, baudRate: 9600, parity: 'none' },
      units: { 1: 'meter' },
    },
  },
});

const RULES: ApiRules = { host: '127.0.0.1' };

/** A simulator in this process that listens for browsers. */
export interface Served extends RunningSimulator {
  readonly url: string;
}

/** Starts a simulator and its REST interface, until the test ends. @param port any free one without it */
export async function serve(
  setup: Configuration = BENCH,
  { port = 0, rules = RULES }: { readonly port?: number; readonly rules?: ApiRules } = {},
): Promise<Served> {
  const running = await startSimulator(setup, rules);
  const url = await running.rest.app.listen({ port, host: '127.0.0.1' });
  onTestFinished(() => running.stop());
  return { ...running, url };
}

/** The pause between two requests of `poll`: a page on a busy machine keeps up with it. */
const POLL_PAUSE_MS = 20;

/** A client of a line that asks again and again. */
interface Polling {
  /** Asks no more. Resolves when no request is under way: from then on the traffic stands still. */
  readonly stop: () => Promise<void>;
}

/** A client that reads registers 0 to 3 of unit 1 again and again, until the test ends or `stop` is called. */
export async function poll(served: Served, line = 'lan'): Promise<Polling> {
  const master: Master = await tcpMaster(served.port(line));
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      await master.readHoldingRegisters(0, 4);
      await setTimeout(POLL_PAUSE_MS);
    }
  };
  // A request fails when the line or the whole simulator is stopped.
  const ended = ask().catch(() => {});
  const stop = () => {
    isOver = true;
    return ended;
  };
  onTestFinished(stop);
  return { stop };
}

/** A promise, and what resolves it: for a request that is held until something else has happened. */
export function gate(): [opened: Promise<void>, open: () => void] {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [opened, open];
}

interface PageOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  /** How much the clock of the browser is fast. */
  readonly clockAheadMs?: number;
}

/**
 * Opens a page of the console in a browser that has never been there. When the test ends, the page must have had no
 * error, and the Content-Security-Policy must have stopped nothing.
 */
export async function openPage(
  { url }: Pick<Served, 'url'>,
  path: string,
  { theme = 'light', width = 1280, clockAheadMs }: PageOptions = {},
): Promise<Page> {
  const page = await browser().newPage({
    colorScheme: theme,
    viewport: { width, height: 800 },
    reducedMotion: 'reduce',
    // No browser knows the certificates of a test.
    ignoreHTTPSErrors: true,
  });
  const mistakes: string[] = [];
  page.on('pageerror', (error) => mistakes.push(String(error)));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) mistakes.push(message.text());
  });
  onTestFinished(async () => {
    await page.close();
    expect(mistakes).toEqual([]);
  });
  page.setDefaultTimeout(60_000);
  if (clockAheadMs !== undefined) await page.clock.install({ time: Date.now() + clockAheadMs });
  await page.goto(`${url}${path}`);
  return page;
}

/** A word for each fault that axe finds in the page, with the elements that have it. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const require = createRequire(import.meta.url);
  // Playwright runs it as a debugger does, which the Content-Security-Policy of the page does not concern.
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}
