import { connect } from 'node:net';

/*
 * paced-load.mjs PORT PER_SECOND
 *
 * Function 3, 10 registers from address 0 of unit 1, at the given rate over ten connections, until it is told to
 * end. It says so when it begins, and at the end how many were answered a second.
 */
const [, , port, perSecond] = process.argv;
const CONNECTIONS = 10;
const TICK_MS = 10;
const ANSWER_LENGTH = 29;

const request = Buffer.from('00010000000601030000000a', 'hex');
let bytes = 0;
const sockets = Array.from({ length: CONNECTIONS }, () => {
  const socket = connect(Number(port), '127.0.0.1').setNoDelay(true);
  socket.on('data', ({ length }) => {
    bytes += length;
  });
  return socket;
});

const startedAt = performance.now();
let sent = 0;
setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * Number(perSecond);
  for (; sent < due; sent++) sockets[sent % CONNECTIONS].write(request);
}, TICK_MS);
process.send('loading');
process.once('SIGTERM', () => {
  const seconds = (performance.now() - startedAt) / 1000;
  process.send({ perSecond: bytes / ANSWER_LENGTH / seconds }, () => process.exit(0));
});
