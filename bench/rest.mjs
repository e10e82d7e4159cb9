import { startProgram } from '../test/support/program.mjs';
import { CORE, message, pin, start, stop } from './processes.mjs';
import { ms, printTable } from './report.mjs';
import { rateBudget, restLoad, sideBySide } from './side-by-side.mjs';

const ROUNDS = 5;
const SECONDS = 1;
/** How many clients ask at once, and our least share of the rate of a bare Fastify then. */
const CASES = [
  { clients: 1, ofFastify: 0.7 },
  { clients: 16, ofFastify: 0.9 },
];

/** REST: a hundred rows of registers, beside a bare Fastify that sends the same body. */
export async function benchRest() {
  const ours = await startOurs();
  const servers = [ours, await startFloor(ours, 'object'), await startFloor(ours, 'text')];
  for (const { pid } of servers) pin(pid, CORE.server);
  for (const each of CASES) await printCase(servers, each);
  for (const { end } of servers) await end();
}

async function printCase(servers, { clients, ofFastify }) {
  const [ours] = servers;
  const loads = await sideBySide(servers, ROUNDS, (server) => restLoad(server, SECONDS, clients));
  printTable(
    `REST, 100 rows of registers, ${clients === 1 ? 'one client' : `${clients} clients`}`,
    `The bare servers send the body of our answer, made from an object each time, or as fixed text. By turns ${ROUNDS} x ${SECONDS} s\n` +
      'each, medians of the rounds.',
    ['requests/s', 'median ms', 'p99 ms', 'server µs each'],
    servers.map((server) => {
      const { perSecond, median, p99, serverTime } = loads.get(server);
      const values = [Math.round(perSecond), ms(median), ms(p99), serverTime.toFixed(0)];
      const { what, sends } = server;
      if (sends !== 'object') return { what, values };
      return { what, values, budget: rateBudget(loads.get(ours), loads.get(server), ofFastify) };
    }),
  );
}

async function startOurs() {
  const holding = [{ address: 0, quantity: 100, value: 4711, write: true }];
  const program = await startProgram({
    config: {
      devices: { bench: { registers: { holding } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'bench' } } },
    },
  });
  return { what: 'ours', port: Number(new URL(program.restUrl()).port), pid: program.pid, end: program.stop };
}

async function startFloor({ port }, sends) {
  const server = start('rest-floor.mjs', port, sends);
  const { port: own } = await message(server);
  return { what: `a bare Fastify, ${sends}`, sends, port: own, pid: server.pid, end: () => stop(server) };
}
