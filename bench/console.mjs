import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, CHROMIUM_MISSING, chromiumPath } from '../test/support/chromium.mjs';
import { dist, startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, processorTime, start, stop } from './processes.mjs';
import { ms, printTable, spread } from './report.mjs';

const PAGES = 3;
const EXCHANGES_PER_SECOND = 1000;
const ROUNDS = 4;
const TRANSACTIONS_A_ROUND = 500;
const BAUD_RATE = 115_200;
const T35 = 1.75;
const SETTLE_MS = 2000;
/** With MODBUS_SIM_BENCH_SECONDS the memory of a page is watched for longer or shorter. */
const HEAP_SECONDS = Number(process.env.MODBUS_SIM_BENCH_SECONDS ?? 180);
const HEAP_SAMPLES = 6;
const TRACE_MS = 5000;

const WITH_TIMES_WITHOUT = 1.2;
const FRAMES_A_SECOND = 60;
const HEAP_GROWTH = 1.25;

/** What browsers that show the traffic cost the bus, and how well they show it. */
export async function benchConsole() {
  if (chromiumPath === undefined) {
    console.log(`\nconsole: skipped. ${CHROMIUM_MISSING}`);
    return;
  }
  const program = await startProgram({
    config: {
      devices: { bench: { registers: { holding: [{ address: 0, quantity: 10, value: 4711 }] } } },
      lines: {
        bench: { serial: { path: 'virtual', baudRate: BAUD_RATE, parity: 'none' }, units: { 1: 'bench' } },
        lan: { tcp: { port: 0 }, units: { 1: 'bench' } },
      },
    },
  });
  pin(program.pid, CORE.server);
  const load = start('paced-load.mjs', program.tcpPort('lan'), EXCHANGES_PER_SECOND);
  await message(load);
  const client = start('rtu-client.mjs', program.serialPath('bench'), T35, dist);
  await message(client);
  for (const { pid } of [load, client]) pin(pid, CORE.client);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS });
  const pages = await Promise.all(Array.from({ length: PAGES }, () => browser.newPage()));
  try {
    await benchBus(program, client, pages);
    await benchPages(program, pages);
  } finally {
    await browser.close();
    const told = message(load);
    load.kill('SIGTERM');
    console.log(`\n${Math.round((await told).perSecond)} exchanges/s were answered on TCP meanwhile.`);
    await stop(client);
    await program.stop();
  }
}

/** RTU turnaround by turns without and with the pages, so that what else the machine does hits both. */
async function benchBus(program, client, pages) {
  const without = { what: 'no page open', address: 'about:blank', samples: [], lost: 0, busy: 0, lasted: 0 };
  const open = { ...without, what: `${PAGES} pages that follow`, address: '', samples: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of [without, open]) {
      await Promise.all(pages.map((page) => page.goto(side.address || `${program.restUrl()}/traffic`)));
      await sleep(SETTLE_MS);
      const [used, began] = [processorTime(program.pid), performance.now()];
      const told = message(client);
      client.send(TRANSACTIONS_A_ROUND);
      const { samples, lost } = await told;
      side.samples.push(...samples);
      side.lost += lost;
      side.busy += processorTime(program.pid) - used;
      side.lasted += performance.now() - began;
    }
  }
  const reference = spread(without.samples).p99;
  printTable(
    `RTU turnaround beside ${EXCHANGES_PER_SECOND} exchanges/s on TCP, ${ROUNDS * TRANSACTIONS_A_ROUND} x function 3, virtual line, ${BAUD_RATE}`,
    'ms from writing the request to the first byte of the answer, by turns. Server: share of a core. The browser has the\n' +
      'cores that it gets, so it also delays the client, which then measures itself.',
    ['median', 'p99', 'max', 'lost', 'server'],
    [without, open].map(({ what, samples, lost, busy, lasted }) => {
      const { median, p99, max } = spread(samples);
      const times = p99 / reference;
      return {
        what,
        values: [ms(median), ms(p99), ms(max), lost, `${((100 * busy) / lasted).toFixed(0)} %`],
        ...(what !== without.what && {
          budget: {
            text: `p99 <= ${WITH_TIMES_WITHOUT} x, is ${times.toFixed(2)} x`,
            reached: times <= WITH_TIMES_WITHOUT,
          },
        }),
      };
    }),
  );
}

/** Frames and memory of pages that follow all traffic. */
async function benchPages(program, pages) {
  await Promise.all(pages.map((page) => page.goto(`${program.restUrl()}/traffic`)));
  await sleep(SETTLE_MS);
  const [page] = pages;
  const frames = spread(await page.evaluate(frameTimes, TRACE_MS));
  const tasks = spread(await tracedTasks(page));
  const heap = await heapOf(page);
  const progress = await page.locator('.progress').textContent();
  const perSecond = 1000 / frames.median;
  printTable(
    `A page of ${PAGES} that follow ${2 * EXCHANGES_PER_SECOND} events/s`,
    `Frames by requestAnimationFrame, tasks of the main thread by a trace, each over ${TRACE_MS / 1000} s. The page says: ${progress}`,
    ['median', 'p99', 'max'],
    [
      {
        what: 'ms between frames',
        values: [frames.median, frames.p99, frames.max].map(ms),
        budget: {
          text: `${FRAMES_A_SECOND}/s, is ${perSecond.toFixed(0)}/s`,
          reached: perSecond >= FRAMES_A_SECOND - 1,
        },
      },
      { what: 'ms of a task', values: [tasks.median, tasks.p99, tasks.max].map(ms) },
    ],
  );
  printTable(
    `Memory of that page after a collection, over ${HEAP_SECONDS} s`,
    'MB of the JavaScript heap.',
    heap.map((_, i) => `${Math.round((i * HEAP_SECONDS) / (HEAP_SAMPLES - 1))} s`),
    [
      {
        what: 'heap',
        values: heap.map((bytes) => (bytes / 1e6).toFixed(1)),
        budget: {
          text: `second half <= ${HEAP_GROWTH} x`,
          reached: heap.at(-1) <= HEAP_GROWTH * heap[HEAP_SAMPLES / 2],
        },
      },
    ],
  );
}

/** Runs in the page. @returns the times between its frames in ms */
function frameTimes(lastsMs) {
  return new Promise((resolve) => {
    const times = [];
    let last = performance.now();
    const end = last + lastsMs;
    const frame = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(frame);
      else resolve(times);
    };
    requestAnimationFrame(frame);
  });
}

/** How long each task of the page's main thread took, in ms, as a trace of Chromium has it. */
async function tracedTasks(page) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline', 'devtools.timeline'] },
  });
  await sleep(TRACE_MS);
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  return events.filter(({ name, dur }) => name === 'RunTask' && dur > 100).map(({ dur }) => dur / 1000);
}

async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  const samples = [];
  for (let i = 0; i < HEAP_SAMPLES; i++) {
    if (i > 0) await sleep((1000 * HEAP_SECONDS) / (HEAP_SAMPLES - 1));
    await session.send('HeapProfiler.collectGarbage');
    samples.push((await session.send('Runtime.getHeapUsage')).usedSize);
  }
  await session.detach();
  return samples;
}
