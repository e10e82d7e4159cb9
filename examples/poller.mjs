// A small Modbus TCP client to try scenarios on. It reads the voltage of unit 1 and the state of unit 2 twice a second,
// asks three times where there is no answer, and closes the relay (coil 0 of unit 2) above 250 V.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const [host, port, timeout = '200'] = process.argv.slice(2);
const PERIOD_MS = 500;
const TIMEOUT_MS = Number(timeout);
const ATTEMPTS = 3;

const socket = connect({ host, port: Number(port), noDelay: true });
let transaction = 0;
let answered = () => {};
socket.on('data', (bytes) => answered(bytes));
// It does not connect again. Node may report a reset as an orderly end, when bytes came right before it.
socket.on('close', () => {
  throw new Error('the connection has ended');
});

/** The response PDU; undefined when there is none after all attempts. */
async function ask(unit, pdu) {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const id = ++transaction & 0xffff;
    const response = new Promise((resolve) => {
      answered = (bytes) => bytes.length > 8 && bytes.readUInt16BE(0) === id && resolve(bytes.subarray(7));
    });
    socket.write(Buffer.from([id >> 8, id & 0xff, 0, 0, 0, pdu.length + 1, unit, ...pdu]));
    const result = await Promise.race([response, sleep(TIMEOUT_MS)]);
    if (result !== undefined) return result;
  }
  return undefined;
}

socket.on('connect', async () => {
  console.log('polling');
  let isClosed = false;
  for (let next = performance.now(); ; next += PERIOD_MS) {
    const voltage = await ask(1, [3, 0, 0, 0, 1]);
    if (voltage?.[0] === 3 && voltage.length === 4 && voltage.readUInt16BE(2) > 250 && !isClosed) {
      isClosed = (await ask(2, [5, 0, 0, 0xff, 0])) !== undefined;
    }
    await ask(2, [3, 0, 0, 0, 1]);
    next = Math.max(next, performance.now() - PERIOD_MS);
    await sleep(next + PERIOD_MS - performance.now());
  }
});
