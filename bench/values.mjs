import { startProgram } from '../test/support/program.mjs';
import { CORE, pin } from './processes.mjs';
import { ms, printTable } from './report.mjs';
import { best, load } from './tcp.mjs';

const ROUNDS = 3;
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
  const rows = [];
  for (const { what, holding } of CASES) {
    const program = await startProgram({
      config: {
        devices: { bench: { registers: { holding } } },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'bench' } } },
      },
    });
    pin(program.pid, CORE.server);
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await load({ port: program.tcpPort('lan'), pid: program.pid }));
    }
    await program.stop();
    const { perSecond, median, p99, serverTime } = best(rounds);
    rows.push({ what, values: [Math.round(perSecond), ms(median), ms(p99), serverTime.toFixed(1)] });
  }
  printTable(
    `Values that move, function 3 with ${READ} registers on TCP`,
    `A moving value is a sine. The best of ${ROUNDS} rounds is shown.`,
    ['requests/s', 'median ms', 'p99 ms', 'server µs each'],
    rows,
  );
}
