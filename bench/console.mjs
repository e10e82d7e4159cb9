import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, CHROMIUM_MISSING, chromiumPath } from '../test/support/chromium.mjs';
import { startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, processorTime, start, stepBack, stop } from './processes.mjs';
import { ms, printTable, say, spread } from './report.mjs';

const PAGES = 3;
const EXCHANGES_PER_SECOND = 1000;
const ROUNDS = 4;
const TRANSACTIONS_A_ROUND = 500;
const PAUSE_MS = 2;
const BAUD_RATE = 115_200;
const SETTLE_MS = 1500;
/** With MODBUS_SIM_BENCH_SECONDS the memory of a page is watched for longer or shorter. */
const HEAP_SECONDS = Number(process.env.MODBUS_SIM_BENCH_SECONDS ?? 180);
const HEAP_SAMPLES = 6;
const TRACE_MS = 5000;

/** Browsers are on other machines. Here they get the time that server and clients leave. */
const IDLE_PRIORITY = 19;

const WITH_TIMES_WITHOUT = 1.2;
const FRAMES_A_SECOND = 60;
const HEAP_GROWTH = 1.25;

/** What browsers that show the traffic cost the bus, and how well they show it. */
export async function benchConsole() {
  if (chromiumPath === undefined) {
    say(`\nconsole: skipped. ${CHROMIUM_MISSING}`);
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
  const client = start('rtu-client.mjs', program.serialPath('bench'));
  await message(client);
  for (const { pid } of [load, client]) pin(pid, CORE.client);
  stepBack(load.pid);
  try {
    await withPages(IDLE_PRIORITY, (pages) => benchBus(program, client, pages));
    await withPages(0, (pages) => benchPages(program, pages));
  } finally {
    const told = message(load);
    load.kill('SIGTERM');
    say(`\n${Math.round((await told).perSecond)} exchanges/s were answered on TCP meanwhile.`);
    await stop(client);
    await program.stop();
  }
}

/** Opens a browser with its pages for a while. @param niceness of all its processes */
async function withPages(niceness, use) {
  const options = { executablePath: chromiumPath, args: CHROMIUM_ARGUMENTS };
  const server = await chromium.launchServer(options);
  spawnSync('renice', ['-n', String(niceness), '-g', String(server.process().pid)], { stdio: 'ignore' });
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    await use(await Promise.all(Array.from({ length: PAGES }, () => browser.newPage())));
  } finally {
    await browser.close();
    await server.close();
  }
}

/** RTU turnaround by turns with nobody, with readers and with pages, so that what else the machine does hits all. */
async function benchBus(program, client, pages) {
  const url = program.restUrl();
  const show = (address) => Promise.all(pages.map((page) => page.goto(address)));
  const sides = [
    { what: 'nobody follows', begin: async () => async () => {} },
    {
      what: `${PAGES} readers that throw away what comes`,
      begin: async () => {
        const readers = start('event-readers.mjs', url, PAGES);
        pin(readers.pid, CORE.client);
        stepBack(readers.pid);
        await message(readers);
        return () => stop(readers);
      },
    },
    {
      what: `${PAGES} pages in a browser on this machine`,
      begin: async () => {
        await show(`${url}/traffic`);
        return () => show('about:blank');
      },
    },
  ].map((side) => ({ ...side, samples: [], lost: 0, busy: 0, lasted: 0 }));
  for (let round = 0; round < ROUNDS; round++) for (const side of sides) await measure(program, client, side);
  const reference = spread(sides[0].samples).p99;
  printTable(
    `RTU turnaround beside ${EXCHANGES_PER_SECOND} exchanges/s on TCP, ${ROUNDS * TRANSACTIONS_A_ROUND} x function 3, virtual line, ${BAUD_RATE}`,
    'ms from writing the request to the first byte of the answer, by turns. Server: share of a core. The readers cost the\n' +
      'server what pages on other machines would; a browser on this machine takes time from server and client besides.',
    ['median', 'p99', 'max', 'lost', 'server'],
    sides.map(({ what, samples, lost, busy, lasted }) => {
      const { median, p99, max } = spread(samples);
      const times = p99 / reference;
      const text = `p99 <= ${WITH_TIMES_WITHOUT} x, is ${times.toFixed(2)} x`;
      return {
        what,
        values: [ms(median), ms(p99), ms(max), lost, `${((100 * busy) / lasted).toFixed(0)} %`],
        ...(what !== sides[0].what && { budget: { text, reached: times <= WITH_TIMES_WITHOUT } }),
      };
    }),
  );
}

/** Adds a round to one side. */
async function measure(program, client, side) {
  const end = await side.begin();
  await sleep(SETTLE_MS);
  const [used, began] = [processorTime(program.pid), performance.now()];
  const told = message(client);
  client.send({ transactions: TRANSACTIONS_A_ROUND, pause: PAUSE_MS });
  const { samples, lost } = await told;
  side.samples.push(...samples);
  side.lost += lost;
  side.busy += processorTime(program.pid) - used;
  side.lasted += performance.now() - began;
  await end();
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
