import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import ModbusRTU from 'modbus-serial';
import { hostsOf } from './scale-hosts.mjs';

/*
 * scale-client PORT SECONDS HOW COUNT: clients of many addresses in a process of its own, one connection each.
 *
 * `paced`: with modbus-serial, one request a second each. Every client writes a number of its own first, and each answer has
 * to have it: so no two addresses share a register. `flat`: plain sockets, each sends its next request when the answer to
 * the last has come. It says `{connected}`, begins at the next message, and says what it has counted in the end.
 */
const [port, seconds, how, count] = process.argv.slice(2);
const hosts = hostsOf(Number(count));
const TIMEOUT_MS = 5000;
const EVERY_MS = 1000;
/** No more connections at once than a listening socket lets wait. */
const AT_ONCE = 64;
const READ = Uint8Array.of(0, 1, 0, 0, 0, 6, 1, 3, 0, 0, 0, 4);
const ANSWER = 17;

const counts = { asked: 0, answered: 0, wrong: 0, lost: 0, reasons: [] };
const times = [];

function lost(host, error) {
  counts.lost++;
  if (counts.reasons.length < 5) counts.reasons.push(`${host}: ${error.message}`);
}

async function modbusSerial(host) {
  const client = new ModbusRTU();
  await client.connectTCP(host, { port: Number(port) });
  client.setTimeout(TIMEOUT_MS);
  client.setID(1);
  return client;
}

async function paced(client, host, i) {
  await pause((i * EVERY_MS) / hosts.length);
  await client.writeRegister(0, i).catch((error) => lost(host, error));
  const startedAt = performance.now();
  for (let turn = 0; turn < Number(seconds); turn++) {
    await pause(Math.max(0, startedAt + turn * EVERY_MS - performance.now()));
    const askedAt = performance.now();
    counts.asked++;
    try {
      const { data } = await client.readHoldingRegisters(0, 4);
      times.push(performance.now() - askedAt);
      counts.answered++;
      if (data[0] !== i) counts.wrong++;
    } catch (error) {
      lost(host, error);
    }
  }
}

async function plainSocket(host) {
  const socket = connect({ host, port: Number(port), noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

function flat(socket, host) {
  const endsAt = performance.now() + 1000 * Number(seconds);
  return new Promise((resolve) => {
    let askedAt = performance.now();
    let received = 0;
    const ask = () => {
      askedAt = performance.now();
      counts.asked++;
      socket.write(READ);
    };
    socket.on('error', (error) => lost(host, error)).once('close', resolve);
    socket.on('data', ({ length }) => {
      received += length;
      if (received < ANSWER) return;
      received -= ANSWER;
      counts.answered++;
      times.push(performance.now() - askedAt);
      if (performance.now() < endsAt) ask();
      else socket.end();
    });
    ask();
  });
}

const [open, run] = how === 'paced' ? [modbusSerial, paced] : [plainSocket, flat];
const clients = [];
for (let i = 0; i < hosts.length; i += AT_ONCE) {
  clients.push(...(await Promise.all(hosts.slice(i, i + AT_ONCE).map(open))));
}
process.send({ connected: clients.length });
await new Promise((resolve) => process.once('message', resolve));
await Promise.all(clients.map((client, i) => run(client, hosts[i], i)));
times.sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
process.send({ ...counts, median: at(0.5), p99: at(0.99), max: at(1) });
process.disconnect();
process.exit(0);
