import { afterEach, expect, test, vi } from 'vitest';
import {
  connection,
  followTraffic,
  keepConnected,
  readUpTo,
  restarts,
  summary,
} from '../../../src/remote/web/live.js';
import type { StreamedView } from '../../../src/simulator/traffic/view-schema.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { poll, serve } from './browser.js';

// The page's address is read when its modules are loaded.
vi.hoisted(() => vi.stubGlobal('location', { pathname: '/lines', search: '', hash: '' }));

/** Where the page would have come from. */
let origin = '';
const realFetch = globalThis.fetch;
vi.stubGlobal('fetch', (path: string, options?: RequestInit) => realFetch(origin + path, options));
vi.stubGlobal('requestAnimationFrame', (drawn: () => void) => setTimeout(drawn, 16));
vi.stubGlobal('cancelAnimationFrame', clearTimeout);
// As a page has it: one connection, as long as the page lasts.
void keepConnected();

let release = () => {};
afterEach(() => release());

/** Follows the traffic, and keeps what it is told. */
function follow(filter: Record<string, string> = {}, after?: number): StreamedView[] {
  const told: StreamedView[] = [];
  release = followTraffic({
    filter: new URLSearchParams(filter),
    ...(after !== undefined && { after }),
    onBatch: (batch) => told.push(...batch),
  });
  return told;
}

const isOpen = () => connection.value.state === 'open';
const seqs = (told: readonly StreamedView[]) => told.map((event) => ('seq' in event ? event.seq : undefined));

test('a connection that breaks again and again misses no event and tells none twice', async () => {
  const served = await serve();
  origin = served.url;
  const told = follow({}, 0);
  const client = await poll(served);
  for (let i = 1; i <= 3; i++) {
    await until(() => isOpen() && told.length > 50 * i, 'traffic comes');
    served.rest.app.server.closeAllConnections();
    await until(() => !isOpen(), 'the connection is lost');
  }
  await until(isOpen, 'the connection is back');
  await client.stop();
  const { last } = served.simulator.traffic;
  await until(() => told.length >= last, 'all is told');
  expect(seqs(told)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
});

test('another filter takes effect at once, and the old one tells no more', async () => {
  const served = await serve();
  origin = served.url;
  const all = follow();
  await until(() => summary.value?.lines.length === 2 && isOpen(), 'the connection is there');
  await poll(served);
  await until(() => all.length > 0, 'traffic comes');
  const replies = follow({ kind: 'reply' });
  const before = all.length;
  await until(() => replies.length > 20, 'replies come');
  expect(new Set(replies.map(({ kind }) => kind))).toEqual(new Set(['reply']));
  expect(all.length).toBe(before);
});

test('fast traffic is handed over a few times a second, and the number read with it', async () => {
  const served = await serve();
  origin = served.url;
  const batches: number[] = [];
  const began = performance.now();
  release = followTraffic({
    filter: new URLSearchParams(),
    onBatch: (batch) => {
      expect(readUpTo.value).toBeGreaterThanOrEqual(Math.max(...seqs(batch).map(Number)));
      batches.push(batch.length);
    },
  });
  await poll(served);
  await until(() => batches.reduce((sum, many) => sum + many, 0) > 100, 'traffic comes');
  // At the beginning and with each summary one may come besides.
  const seconds = (performance.now() - began) / 1000;
  expect(batches.length).toBeLessThan(3 + 6.1 * seconds);
});

test('a simulator that was started anew is noticed', async () => {
  const served = await serve();
  origin = served.url;
  await until(() => isOpen() && summary.value?.lines.length === 2, 'the connection is there');
  const before = restarts.value;
  await served.stop();
  await until(() => !isOpen(), 'the connection is lost');
  origin = (await serve()).url;
  await until(() => restarts.value > before, 'the new one is there');
});

test('events of a simulator that was started anew are not told to who goes on after those of the other', async () => {
  const served = await serve();
  origin = served.url;
  await until(() => isOpen() && summary.value?.lines.length === 2, 'the connection is there');
  const { last } = served.simulator.traffic;
  const told = follow({}, last);
  await served.stop();
  await until(() => !isOpen(), 'the connection is lost');
  const next = await serve();
  // The new one has events after that number, too, before it is asked for its first summary.
  const client = await poll(next);
  await until(() => next.simulator.traffic.last > last + 20, 'events of the new one');
  const before = restarts.value;
  origin = next.url;
  await until(() => restarts.value > before, 'the new one is there');
  await client.stop();
  const seen = summary.value;
  await until(() => summary.value !== seen, 'another summary');
  expect(told).toEqual([]);
});

test('a filter that the simulator refuses leaves the page alive', async () => {
  const served = await serve();
  origin = served.url;
  await until(() => isOpen() && summary.value?.lines.length === 2, 'the connection is there');
  const before = summary.value;
  const refusals: string[] = [];
  release = followTraffic({
    filter: new URLSearchParams({ line: 'gone' }),
    onBatch: () => {},
    onRefused: ({ detail }) => refusals.push(detail),
  });
  await until(() => isOpen() && summary.value !== before, 'a summary comes');
  expect(refusals).toEqual([expect.stringContaining('unknown line "gone"')]);
  const told = follow({ line: 'lan' });
  await poll(served);
  await until(() => told.length > 0, 'another filter is followed');
});
