import { connect } from 'node:net';

/*
 * tcp-load.mjs PORT CONNECTIONS SECONDS
 *
 * Function 3, 10 registers from address 0 of unit 1, one request under way on each connection. After half a second of
 * warming up it says so, measures for SECONDS and tells what it counted.
 */
const [, , port, connections, seconds] = process.argv;
const WARM_UP_MS = 500;
const ANSWER_LENGTH = 29;

let measuring = false;
const times = [];

for (let i = 0; i < Number(connections); i++) {
  const socket = connect(Number(port), '127.0.0.1');
  socket.setNoDelay(true);
  const request = Buffer.from('00000000000601030000000a', 'hex');
  let transaction = 0;
  let received = 0;
  let sentAt = 0;
  const ask = () => {
    transaction = (transaction + 1) & 0xffff;
    // A new buffer: the last one may still belong to the socket.
    const bytes = Buffer.from(request);
    bytes.writeUInt16BE(transaction);
    sentAt = performance.now();
    socket.write(bytes);
  };
  socket.on('connect', ask);
  socket.on('data', (answer) => {
    if (received === 0 && answer.length >= 8 && (answer.readUInt16BE(0) !== transaction || answer[7] !== 3)) {
      throw new Error(`a wrong answer: ${answer.toString('hex')}`);
    }
    received += answer.length;
    if (received < ANSWER_LENGTH) return;
    if (received > ANSWER_LENGTH) throw new Error(`${received} bytes, expected ${ANSWER_LENGTH}`);
    received = 0;
    if (measuring) times.push(performance.now() - sentAt);
    ask();
  });
}

setTimeout(() => {
  measuring = true;
  const startedAt = performance.now();
  const used = process.cpuUsage();
  process.send('measuring');
  setTimeout(() => {
    const elapsed = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(used);
    const sorted = Float64Array.from(times).sort();
    const report = {
      perSecond: (times.length / elapsed) * 1000,
      requests: times.length,
      median: sorted[sorted.length >> 1],
      p99: sorted[Math.floor(sorted.length * 0.99)],
      ownLoad: (user + system) / 1000 / elapsed,
    };
    process.send(report, () => process.exit(0));
  }, Number(seconds) * 1000);
}, WARM_UP_MS);
