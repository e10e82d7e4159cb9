import { connect } from 'node:net';
import { spread } from './report.mjs';
import { BODY, PATH } from './rest-rows.mjs';

/*
 * rest-client.mjs PORT SECONDS CONNECTIONS: asks for 100 rows again and again on each connection. After half a second of warming up it
 * says so, measures for SECONDS and tells what it counted. A bare socket: Node's own client takes longer than the servers.
 */
const [, , port, seconds, connections] = process.argv;
const WARM_UP_MS = 500;
const LAST_PART = Buffer.from('0\r\n\r\n');
const request = [
  `POST ${PATH} HTTP/1.1`,
  `host: 127.0.0.1:${port}`,
  'content-type: application/json',
  `content-length: ${BODY.length}`,
  '',
  BODY,
].join('\r\n');

let measuring = false;
const times = [];
for (let i = 0; i < Number(connections); i++) askAgainAndAgain();

function askAgainAndAgain() {
  let received = 0;
  let expected = Number.POSITIVE_INFINITY;
  let sentAt = 0;
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  const ask = () => {
    received = 0;
    expected = Number.POSITIVE_INFINITY;
    sentAt = performance.now();
    socket.write(request);
  };
  socket.on('connect', ask);
  socket.on('data', (chunk) => {
    if (received === 0) expected = lengthOf(chunk.toString('latin1'));
    received += chunk.length;
    // An answer that took long to make comes in parts.
    const isWhole = expected === undefined ? chunk.subarray(-5).equals(LAST_PART) : received >= expected;
    if (!isWhole) return;
    if (measuring) times.push(performance.now() - sentAt);
    ask();
  });
}

/** Head and body together; undefined for an answer in parts. A head comes in one piece. */
function lengthOf(head) {
  const end = head.indexOf('\r\n\r\n');
  if (!head.startsWith('HTTP/1.1 200') || end < 0) throw new Error(`REST: ${head.slice(0, 200)}`);
  const length = head.match(/^content-length: (\d+)/im)?.[1];
  return length === undefined ? undefined : end + 4 + Number(length);
}

setTimeout(() => {
  measuring = true;
  const startedAt = performance.now();
  const used = process.cpuUsage();
  process.send('measuring');
  setTimeout(() => {
    const elapsed = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(used);
    const { median, p99 } = spread(times);
    const perSecond = (times.length / elapsed) * 1000;
    const ownLoad = (user + system) / 1000 / elapsed;
    process.send({ requests: times.length, perSecond, median, p99, ownLoad }, () => process.exit(0));
  }, Number(seconds) * 1000);
}, WARM_UP_MS);
