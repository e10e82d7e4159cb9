import { startProgram } from '../test/support/program.mjs';
import { CORE, memory, message, pin, processorTime, start, stop } from './processes.mjs';
import { ms, printTable } from './report.mjs';
import { hostsOf } from './scale-hosts.mjs';

const PORT = 1502;
const PACED_S = 300;
const FLAT_S = 20;
const SETTLE_MS = 2000;
const COUNTS = [1, 250, 1000, 4000];
const REQUESTS_PER_S = 1000;

/** A meter as they are: 40 values, four of which move. */
const meter = {
  registers: {
    holding: [
      { address: 0, quantity: 40, value: 7, write: true },
      ...Array.from({ length: 4 }, (_, i) => ({
        address: 100 + 2 * i,
        type: 'float32',
        name: `phase${i}`,
        signal: { noise: { around: 230, amplitude: 5 } },
      })),
    ],
  },
};

function configOf(count) {
  const hosts = hostsOf(count);
  const tcp = { hosts: `${hosts[0]}-${hosts.at(-1)}`, port: PORT };
  return { devices: { meter }, lines: { plant: { tcp, units: { 1: 'meter' }, each: { copyOf: 'meter' } } } };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

async function startWith(count) {
  const startedAt = performance.now();
  const program = await startProgram({ config: configOf(count) });
  const readyAfter = performance.now() - startedAt;
  pin(program.pid, CORE.server);
  await settled();
  return { program, readyAfter, idle: memory(program.pid).now };
}

/** Clients of the first `count` addresses, all at once. @param {'paced' | 'flat'} how */
async function load(program, count, seconds, how) {
  const client = start('scale-client.mjs', PORT, seconds, how, count);
  pin(client.pid, CORE.client);
  await message(client);
  const before = processorTime(program.pid);
  client.send('begin');
  const counted = await message(client);
  const used = processorTime(program.pid) - before;
  const { now } = memory(program.pid);
  await stop(client);
  for (const reason of counted.reasons) console.error(reason);
  return { ...counted, used, now };
}

/** What devices at addresses of their own cost, and what a thousand of them answer. */
export async function benchScale() {
  await benchAddresses();
  await benchThousand();
}

async function benchAddresses() {
  const rows = [];
  let first;
  for (const count of COUNTS) {
    const { program, readyAfter, idle } = await startWith(count);
    first ??= { count, idle };
    const each =
      count === first.count ? '' : ((1000 * (idle - first.idle)) / (count - first.count)).toFixed(1);
    const { asked, used, median, p99, now } = await load(program, Math.min(count, 1000), FLAT_S, 'flat');
    rows.push({
      what: `${count} addresses`,
      values: [
        readyAfter.toFixed(0),
        idle.toFixed(0),
        each,
        (asked / FLAT_S).toFixed(0),
        ((1000 * used) / asked).toFixed(1),
        ms(median),
        ms(p99),
        now.toFixed(0),
      ],
    });
    await program.stop();
  }
  printTable(
    'Devices at addresses of their own',
    'A client at each address, at most 1,000, asks again as soon as it is answered, all in one process on the other core.',
    ['ready ms', 'MB idle', 'KB each', 'requests/s', 'server µs each', 'median ms', 'p99 ms', 'MB then'],
    rows,
  );
}

async function benchThousand() {
  const { program, idle } = await startWith(1000);
  const { asked, answered, wrong, lost, median, p99, max, used, now } = await load(
    program,
    1000,
    PACED_S,
    'paced',
  );
  const misses = asked - answered + wrong + lost;
  printTable(
    `1,000 addresses, one connection of modbus-serial to each, one request a second each, ${PACED_S} s`,
    'Each client writes a number of its own and has to read it again.',
    ['asked', 'lost', 'wrong', 'median ms', 'p99 ms', 'most ms', 'server % of a core', 'MB idle', 'MB then'],
    [
      {
        what: `${REQUESTS_PER_S} requests/s`,
        values: [
          asked,
          lost,
          wrong,
          ms(median),
          ms(p99),
          ms(max),
          ((100 * used) / (1000 * PACED_S)).toFixed(1),
          idle.toFixed(0),
          now.toFixed(0),
        ],
        budget: { text: 'none lost', reached: misses === 0 && asked === 1000 * PACED_S },
      },
    ],
  );
  await program.stop();
}
