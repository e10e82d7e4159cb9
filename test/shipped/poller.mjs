// A Modbus TCP client that bears with everything: it reads register 0 of unit 1 five times a second, and connects again
// whenever its connection or an answer is lost.
import { connect } from 'node:net';

const [host = '', port] = process.argv.slice(2);
const PERIOD_MS = 200;
const TIMEOUT_MS = 1000;
const REQUEST = Buffer.from('000100000006010300000001', 'hex');

function poll() {
  const socket = connect({ host, port: Number(port), noDelay: true });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(poll, PERIOD_MS));
  socket.on('connect', () => socket.write(REQUEST));
  socket.on('data', () => setTimeout(() => socket.write(REQUEST), PERIOD_MS));
}

poll();
