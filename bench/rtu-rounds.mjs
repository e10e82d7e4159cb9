import { CORE, message, pin, stop } from './processes.mjs';
import { spread } from './report.mjs';
import { runTime } from './run-time.mjs';

/** MODBUS_SIM_BENCH_ROUNDS: fewer to see whether everything works, more on a noisy machine. */
export const ROUNDS = Number(process.env.MODBUS_SIM_BENCH_ROUNDS ?? 5);

/** 38.5 bits up to 19200 baud, and 1.75 ms above. */
export const t35Of = (baudRate) => (baudRate > 19200 ? 1.75 : 38_500 / baudRate);

/** What the clients ask for: 10 registers. */
export const device = {
  registers: { holding: [{ address: 0, quantity: 10, value: 4711, write: true }] },
};

/**
 * A server with its client.
 * @typedef {object} Contender
 * @property {string} what
 * @property {number} pid of the server
 * @property {import('node:child_process').ChildProcess} client
 * @property {() => Promise<unknown>} end
 */

/**
 * @typedef {object} Measured
 * @property {number[]} samples of all rounds, ms
 * @property {number[]} medians one of each round, ms
 * @property {number[]} times processor time of the server for a request, one of each round, µs
 * @property {number} lost
 */

/** Measures round by round, so that what else the machine does hits all contenders. */
export async function byTurns(contenders, load) {
  const measured = contenders.map(nothing);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, contender] of contenders.entries()) await measure(contender, load, measured[i]);
  }
  return measured;
}

/** @returns {Measured} */
export function nothing() {
  return { samples: [], medians: [], times: [], lost: 0 };
}

/** One round; adds what was measured to `measured`. */
export async function measure({ client, pid }, load, measured) {
  const told = message(client);
  const usedBefore = runTime(pid);
  client.send(load);
  const { samples, lost } = await told;
  measured.times.push((runTime(pid) - usedBefore) / load.transactions);
  measured.samples.push(...samples);
  measured.medians.push(spread(samples).median);
  measured.lost += lost;
}

/** @param {Measured} measured */
export function figures({ samples, medians, times, lost }) {
  const { p99, max } = spread(samples);
  return { median: spread(medians).median, p99, max, time: spread(times).median, lost };
}

/** A server and its client, each on its core. @returns {Contender} */
export function contender(what, client, pid, stopServer) {
  pin(client.pid, CORE.client);
  pin(pid, CORE.server);
  const end = async () => {
    await stopServer();
    await stop(client);
  };
  return { what, client, pid, end };
}
