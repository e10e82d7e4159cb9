import { connect } from 'node:net';
import { startProgram } from '../test/support/program.mjs';
import { memory } from './processes.mjs';
import { printTable } from './report.mjs';

const RUNS = 5;
const START_LIMIT_MS = 1200;
const MEMORY_LIMIT_MB = 300;
const DEVICES = 247;
const ADDRESSES = 65536;
/** The big configuration may take its time; how long is part of the result. */
const PATIENCE_MS = 120_000;

/** Time from the start of the process to `ready`. */
export async function benchStart() {
  const times = [];
  const sizes = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    const program = await startProgram({ config: smallConfig() });
    times.push(performance.now() - startedAt);
    sizes.push(memory(program.pid).now);
    await program.stop();
  }
  times.sort((a, b) => a - b);
  const worst = times.at(-1);
  printTable(
    `Start to "ready", ${RUNS} runs`,
    'One device on a virtual serial line and on TCP, and REST: as the demo, on free ports.',
    ['least ms', 'median ms', 'most ms', 'MB RSS'],
    [
      {
        what: 'ours',
        values: [times[0], times[RUNS >> 1], worst, Math.max(...sizes)].map((value) => value.toFixed(0)),
        budget: { text: `most <= ${START_LIMIT_MS}`, reached: worst <= START_LIMIT_MS },
      },
    ],
  );
}

/** Memory with every address of every table of every unit defined. */
export async function benchMemory() {
  const rows = [];
  for (const { what, differ } of [
    { what: 'all devices alike', differ: false },
    { what: 'every device different', differ: true },
  ]) {
    const startedAt = performance.now();
    const program = await startProgram({ config: bigConfig(differ), startLimit: PATIENCE_MS });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const add = (when) => {
      const { now, peak } = memory(program.pid);
      const budget = { text: `<= ${MEMORY_LIMIT_MB} MB`, reached: now <= MEMORY_LIMIT_MB };
      rows.push({ what: `${what}, ${when}`, values: [now.toFixed(0), peak.toFixed(0), seconds], budget });
    };
    add('ready');
    await writeOneRegisterOfEach(program.tcpPort('lan'));
    add('one holding register of each written');
    await program.stop();
  }
  printTable(
    `Memory, ${DEVICES} devices x 4 tables x ${ADDRESSES} addresses`,
    'MB of 10^6 bytes. A different device has other values in each table.',
    ['MB RSS', 'peak MB', 's to ready'],
    rows,
  );
}

function smallConfig() {
  const device = {
    registers: {
      coils: [{ address: 0, quantity: 16, write: true }],
      holding: [{ address: 0, quantity: 100, write: true }],
      input: [{ address: 0, type: 'float32', value: [230.1, 49.98] }],
    },
  };
  return {
    devices: { meter: device },
    lines: {
      demo: { serial: { path: 'virtual', baudRate: 9600 }, units: { 1: 'meter' } },
      lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    },
  };
}

function bigConfig(differ) {
  const names = Array.from({ length: DEVICES }, (_, i) => `device ${i + 1}`);
  const table = (i) => {
    const first = differ ? i + 1 : 1;
    return [
      { address: 0, quantity: first, value: 1, write: true },
      { address: first, quantity: ADDRESSES - first, value: 0, write: true },
    ];
  };
  const device = (i) => ({
    registers: { coils: table(i), discrete: table(i), holding: table(i), input: table(i) },
  });
  return {
    devices: Object.fromEntries(names.map((name, i) => [name, device(i)])),
    lines: { lan: { tcp: { port: 0 }, units: Object.fromEntries(names.map((name, i) => [i + 1, name])) } },
  };
}

/** Function 6 to the last register of each unit, one after the other. */
function writeOneRegisterOfEach(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let unitId = 1;
    const write = () => {
      const request = Buffer.from('000000000006000600001234', 'hex');
      request[6] = unitId;
      request.writeUInt16BE(ADDRESSES - 1, 8);
      socket.write(request);
    };
    socket.on('connect', write);
    socket.on('error', reject);
    socket.on('data', (answer) => {
      if (answer[7] !== 6) reject(new Error(`unit ${unitId}: ${answer.toString('hex')}`));
      unitId++;
      if (unitId <= DEVICES) write();
      else socket.end(resolve);
    });
  });
}
