// A Modbus TCP client that, like a gateway, writes the value that it reads: register 0 of unit 1 to register
// 0 of unit 2. It never looks at transaction identifiers.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const [host, port] = process.argv.slice(2);
const PERIOD_MS = 200;
const TIMEOUT_MS = 1000;

const socket = connect({ host, port: Number(port), noDelay: true });
let transaction = 0;
let answered = (/** @type {Buffer} */ _) => {};
socket.on('data', (bytes) => answered(bytes));

/**
 * @param {number} unit
 * @param {number[]} pdu
 * @returns {Promise<Buffer | void>} the response PDU; undefined if there is none
 */
function ask(unit, pdu) {
  const id = ++transaction & 0xffff;
  /** @type {Promise<Buffer>} */
  const response = new Promise((resolve) => {
    answered = (bytes) => resolve(bytes.subarray(7));
  });
  socket.write(Buffer.from([id >> 8, id & 0xff, 0, 0, 0, pdu.length + 1, unit, ...pdu]));
  return Promise.race([response, sleep(TIMEOUT_MS)]);
}

socket.on('connect', async () => {
  for (;;) {
    const read = await ask(1, [3, 0, 0, 0, 1]);
    if (read?.[0] === 3) await ask(2, [6, 0, 0, ...read.subarray(2, 4)]);
    await sleep(PERIOD_MS);
  }
});
