import { startProgram } from '../test/support/program.mjs';
import { CORE, pin } from './processes.mjs';
import { ms, printTable, say } from './report.mjs';
import { hasCompiler, sideBySide, tcpClients } from './side-by-side.mjs';

const ROUNDS = 5;
const SECONDS = 1;
const MOVING = 1000;
/** A read asks for the registers 0 to 9. */
const READ = 10;

const still = { address: 0, quantity: READ, value: 4711 };

/** @param {number} address the first of the values */
const moving = (address) => ({
  address,
  quantity: MOVING,
  signal: { sine: { period: '10s', amplitude: 1000, offset: 2000 } },
});

const CASES = [
  { what: 'no moving values', holding: [still] },
  { what: `${MOVING} moving values, none of them read`, holding: [still, moving(READ)] },
  { what: `${MOVING} moving values, ${READ} of them read`, holding: [moving(0)] },
];

/** What values that move cost a read: a value is computed when it is read, and never else. */
export async function benchValues() {
  if (!hasCompiler) {
    say('\nValues that move are not measured: there is no C compiler cc (apt-get install gcc libc6-dev)');
    return;
  }
  const clients = tcpClients();
  const servers = [];
  for (const { what, holding } of CASES) {
    const program = await startProgram({
      config: {
        devices: { bench: { registers: { holding } } },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'bench' } } },
      },
    });
    pin(program.pid, CORE.server);
    servers.push({ what, port: program.tcpPort('lan'), pid: program.pid, end: program.stop });
  }
  const loads = await sideBySide(servers, ROUNDS, (server) =>
    clients.load(server, { connections: 20, seconds: SECONDS }),
  );
  for (const { end } of servers) await end();
  clients.end();
  printTable(
    `Values that move, function 3 with ${READ} registers on TCP`,
    `A moving value is a sine. By turns ${ROUNDS} x ${SECONDS} s each, medians of the rounds.`,
    ['requests/s', 'median ms', 'p99 ms', 'server µs each'],
    servers.map((server) => {
      const { perSecond, median, p99, serverTime } = loads.get(server);
      return {
        what: server.what,
        values: [Math.round(perSecond), ms(median), ms(p99), serverTime.toFixed(1)],
      };
    }),
  );
}
