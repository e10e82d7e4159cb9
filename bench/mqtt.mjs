import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { dist, makeTempDir, startProgram } from '../test/support/program.mjs';
import { ms, printTable, say, spread } from './report.mjs';

const LOAD_MS = 20_000;
const AWAY_MS = 60_000;
const PAUSE_MS = 2;
const VALUES = 300;
const READ = Uint8Array.of(3, 0, 0, 0, 2);

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  server.close();
  return port;
}

/** Starts mosquitto and waits until it listens. */
export async function mosquitto(port) {
  const file = join(makeTempDir(), 'mosquitto.conf');
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n`);
  const broker = spawn('mosquitto', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise((resolve, reject) => {
    broker.once('error', () =>
      reject(new Error('mosquitto is not installed (apt-get install mosquitto mosquitto-clients)')),
    );
    broker.stderr.on('data', (text) => String(text).includes('running') && resolve());
  });
  broker.stderr.resume();
  return broker;
}

/** What a broker costs the lines, with it and while it is away, and how long a published value takes to a register. */
export async function benchMqtt() {
  const port = await freePort();
  let broker = await mosquitto(port);
  const holding = [
    { address: 0, name: 'voltage', value: 1, write: true },
    { address: 1, name: 'pv', signal: { mqtt: { topic: 'pv' } } },
    ...Array.from({ length: 50 }, (_, i) => ({
      address: 2 + i,
      name: `v${i}`,
      signal: { noise: { around: 9, amplitude: 5 } },
    })),
  ];
  const base = {
    devices: { meter: { registers: { holding } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  };
  const plain = await startProgram({ config: base });
  const bench = await startProgram({
    config: {
      ...base,
      mqtt: {
        url: `mqtt://127.0.0.1:${port}`,
        topic: 'modbus-sim/bench',
        commands: 'all',
        publish: { every: 200 },
      },
    },
  });
  const { newClient } = await import(`${dist}/client/client.js`);
  const clientOf = (program) =>
    newClient({ kind: 'tcp', host: '127.0.0.1', port: program.tcpPort('lan'), framing: 'socket' });
  const without = clientOf(plain);
  const client = clientOf(bench);

  const load = async (asked, lengthMs) => {
    const times = [];
    for (const end = performance.now() + lengthMs; performance.now() < end; ) {
      const startedAt = performance.now();
      const { kind } = await asked.ask({ unitId: 1, pdu: READ, timeout: 1000 });
      if (kind !== 'answered') say(`a request ended as ${kind}`);
      times.push(performance.now() - startedAt);
      await pause(PAUSE_MS);
    }
    return times;
  };
  const rows = [];
  const add = (what, times) => {
    const { median, p99 } = spread(times);
    rows.push({ what, values: [String(times.length), ms(median), ms(p99), ms(Math.max(...times))] });
  };
  add('no broker configured', await load(without, LOAD_MS));
  add('with its broker, 50 values every 200 ms', await load(client, LOAD_MS));
  broker.kill('SIGKILL');
  add('the broker killed for a minute', await load(client, AWAY_MS));
  broker = await mosquitto(port);
  const backAt = performance.now();
  const listener = spawn('mosquitto_sub', ['-p', port, '-t', 'modbus-sim/bench/state', '-C', '1']);
  const told = new Promise((resolve) => listener.once('exit', () => resolve(performance.now() - backAt)));
  add('the broker is back', await load(client, LOAD_MS));
  printTable(
    'A bench on a broker: requests on its line, in ms from before the request until the reply',
    `One client on TCP, ${PAUSE_MS} ms between two requests.`,
    ['requests', 'median', 'p99', 'longest'],
    rows,
  );
  say(`state published ${ms(await told)} after the broker was back`);

  const publisher = spawn('mosquitto_pub', ['-p', port, '-t', 'pv', '-l'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const latencies = [];
  for (let value = 1; value <= VALUES; value++) {
    await pause(20);
    const startedAt = performance.now();
    publisher.stdin.write(`${value}\n`);
    for (;;) {
      const { pdu } = await client.ask({ unitId: 1, pdu: Uint8Array.of(3, 0, 1, 0, 1), timeout: 1000 });
      if (256 * pdu[2] + pdu[3] === value) break;
      await pause(1);
    }
    latencies.push(performance.now() - startedAt);
  }
  publisher.kill();
  const { median, p99 } = spread(latencies);
  say(
    `${VALUES} values from mosquitto_pub to the register, as a Modbus client sees it: median ${ms(median)}, p99 ${ms(p99)}`,
  );
  broker.kill();
  await Promise.all([without.close(), client.close()]);
  await Promise.all([plain.stop(), bench.stop()]);
}
