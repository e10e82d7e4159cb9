import { startProgram } from '../test/support/program.mjs';
import { fromSource } from './from-source.mjs';
import { ms, printTable, say, spread } from './report.mjs';

const ROUNDS = 5;
const REQUESTS = 400;
const METER = { registers: { holding: [{ address: 0, value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }] } };
const READ = Uint8Array.of(3, 0, 0, 0, 10);
const SERIAL = { baudRate: 115200 };

/** What it costs to stand between a client and a real device: the same requests directly and by way of a simulated one. */
export async function benchBetween() {
  const plant = await startProgram({
    config: {
      devices: { meter: METER },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
        bus: {
          serial: { path: 'virtual', ...SERIAL },
          timing: { turnaround: 'eager' },
          units: { 1: 'meter' },
        },
        direct: {
          serial: { path: 'virtual', ...SERIAL },
          timing: { turnaround: 'eager' },
          units: { 1: 'meter' },
        },
      },
    },
  });
  const front = await startProgram({
    config: {
      devices: {
        tcp: { real: { tcp: { host: '127.0.0.1', port: plant.tcpPort('lan') } } },
        rtu: { real: { serial: { path: plant.serialPath('bus'), ...SERIAL } } },
      },
      lines: {
        tcp: { tcp: { port: 0 }, units: { 1: 'tcp' } },
        toRtu: { tcp: { port: 0 }, units: { 1: 'rtu' } },
        rtu: { serial: { path: 'virtual', ...SERIAL }, timing: { turnaround: 'eager' }, units: { 1: 'rtu' } },
      },
    },
  });
  const { newClient } = await fromSource("export { newClient } from './src/modbus/client/client.js';");
  const tcp = (port) => newClient({ kind: 'tcp', host: '127.0.0.1', port, framing: 'socket' });
  const rtu = (path) =>
    newClient({ kind: 'serial', path, ...SERIAL, dataBits: 8, parity: 'even', stopBits: 1, framing: 'rtu' });
  const ways = [
    { what: 'TCP, asked directly', client: tcp(plant.tcpPort('lan')) },
    { what: 'TCP, behind a device on TCP', client: tcp(front.tcpPort('tcp')), than: 0 },
    { what: 'RTU 115200, asked directly', client: rtu(plant.serialPath('direct')) },
    { what: 'RTU, behind a device on RTU', client: rtu(front.serialPath('rtu')), than: 2 },
    { what: 'RTU, behind a device on TCP', client: tcp(front.tcpPort('toRtu')), than: 2 },
  ];
  const times = ways.map(() => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, { client }] of ways.entries()) {
      for (let n = 0; n < REQUESTS; n++) {
        const startedAt = performance.now();
        const { kind } = await client.ask({ unitId: 1, pdu: READ, timeout: 1000 });
        if (kind !== 'answered') say(`${ways[i].what}: a request ended as ${kind}`);
        // The first round is not counted: V8 compiles what it runs.
        if (round > 0) times[i].push(performance.now() - startedAt);
      }
    }
  }
  const spreads = times.map(spread);
  printTable(
    'Standing between: one request after another, in ms from before the request until the reply',
    'A serial line has t3.5 (1.75 ms) before each request, of the client and of the simulator, in all rows.',
    ['median', 'p99', 'added median', 'added p99'],
    ways.map(({ what, than }, i) => {
      const { median, p99 } = spreads[i];
      const direct = spreads[than];
      const added = direct ? [ms(median - direct.median), ms(p99 - direct.p99)] : ['', ''];
      return { what, values: [ms(median), ms(p99), ...added] };
    }),
  );
  for (const { client } of ways) await client.close();
  await front.stop();
  await plant.stop();
}
