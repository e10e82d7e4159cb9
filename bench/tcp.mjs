import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileWithLibmodbus, findLibmodbus } from '../test/support/libmodbus.mjs';
import { makeTempDir, startProgram } from '../test/support/program.mjs';
import { message, processorTime, start, startProgramOf, stop } from './processes.mjs';
import { ms, printTable } from './report.mjs';

const CONNECTIONS = 20;
const SECONDS = 5;
const OF_FLOOR = 0.8;
const OF_LIBMODBUS = 1;

/** Modbus TCP: requests per second, side by side with the floor and libmodbus. */
export async function benchTcp() {
  const floor = await withFloor(load);
  const ours = await withOurs(load);
  const libmodbus = findLibmodbus();
  const peer = libmodbus.ok ? await withLibmodbus(libmodbus.flags, load) : undefined;

  const row = (what, measured, budget) => {
    const { perSecond, median, p99, serverLoad, serverTime, ownLoad } = measured;
    const shares = [serverLoad, ownLoad].map((share) => `${Math.round(100 * share)} %`);
    return {
      what,
      values: [Math.round(perSecond), ms(median), ms(p99), serverTime.toFixed(1), ...shares],
      budget,
    };
  };
  const atLeast = (reference, limit, name) => {
    const share = ours.perSecond / reference.perSecond;
    return { text: `>= ${limit} x ${name}, is ${share.toFixed(2)} x`, reached: share >= limit };
  };
  printTable(
    `Modbus TCP, ${CONNECTIONS} connections, function 3 with 10 registers, one request under way on each, ${SECONDS} s`,
    'The floor is a bare Node net server that answers fixed bytes. The load comes from one other Node process; where\n' +
      'that is at 100 % it is the limit, and the processor time of the server for a request tells more.',
    ['requests/s', 'median ms', 'p99 ms', 'server µs each', 'server', 'load'],
    [
      row('floor: net server, fixed bytes', floor),
      row('ours', ours, atLeast(floor, OF_FLOOR, 'floor')),
      ...(peer
        ? [
            row("libmodbus' C server", peer),
            row('ours, again', ours, atLeast(peer, OF_LIBMODBUS, 'libmodbus')),
          ]
        : []),
    ],
  );
  if (!libmodbus.ok) console.log(`not compared with libmodbus: ${libmodbus.missing}`);
  console.log('not compared with pymodbus: it is no part of this bench yet');
}

/** What the load saw, and what the server used meanwhile. */
async function load(port, serverPid) {
  const child = start('tcp-load.mjs', port, CONNECTIONS, SECONDS);
  await message(child);
  const startedAt = performance.now();
  const usedBefore = processorTime(serverPid);
  const report = await message(child);
  const used = processorTime(serverPid) - usedBefore;
  return {
    ...report,
    serverLoad: used / (performance.now() - startedAt),
    serverTime: (1000 * used) / report.requests,
  };
}

async function withFloor(use) {
  const server = start('tcp-floor.mjs');
  const { port } = await message(server);
  const result = await use(port, server.pid);
  await stop(server);
  return result;
}

async function withOurs(use) {
  const device = { registers: { holding: [{ address: 0, quantity: 10, value: 4711, write: true }] } };
  const program = await startProgram({
    config: { devices: { bench: device }, lines: { lan: { tcp: { port: 0 }, units: { 1: 'bench' } } } },
  });
  const result = await use(program.tcpPort('lan'), program.pid);
  await program.stop();
  return result;
}

async function withLibmodbus(flags, use) {
  const directory = makeTempDir();
  const binary = join(directory, 'server');
  compileWithLibmodbus(fileURLToPath(new URL('peers/server.c', import.meta.url)), binary, flags);
  const server = startProgramOf(binary);
  const [port] = await once(server.stdout, 'data');
  const result = await use(Number(port), server.pid);
  await stop(server);
  rmSync(directory, { recursive: true });
  return result;
}
