import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {import('./good-client.mjs').Target} Target */
/** @typedef {import('./attacks.mjs').Attack} Attack */

/** Longer than any exchange of a server test, and than restoring written values. */
const STOPPED_MS = 60_000;
const DRIP_MS = 2;

/** A TCP server's correct answer to function 3, whatever was requested. @param {Buffer} asked */
const answerTo = (asked) => Buffer.from([...asked.subarray(0, 4), 0, 5, asked[6] ?? 0, 3, 2, 0, 7]);

/**
 * What servers do to a server test.
 * @type {readonly (readonly [name: string, serve: (socket: import('node:net').Socket) => void])[]}
 */
const SERVERS = [
  ['sends endless bytes', (socket) => flood(socket, Buffer.alloc(65_536, 0xff))],
  ['sends endless replies', (socket) => flood(socket, Buffer.alloc(65_536, answerTo(Buffer.alloc(7))))],
  ['sends single bytes slowly', (socket) => drip(socket)],
  [
    'answers and then sends endless bytes',
    (socket) => {
      socket.on('data', (asked) => {
        socket.write(answerTo(asked));
        flood(socket, Buffer.alloc(65_536, 0x3a));
      });
    },
  ],
  [
    'answers and sends single bytes slowly',
    (socket) => {
      drip(socket);
      socket.on('data', (asked) => socket.write(answerTo(asked)));
    },
  ],
];

/** @param {import('node:net').Socket} socket @param {Buffer} bytes */
function flood(socket, bytes) {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

/** @param {import('node:net').Socket} socket */
function drip(socket) {
  const timer = setInterval(() => socket.write('x'), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

/** Servers that are tested over REST. The same limits apply to them as to clients. @type {readonly Attack[]} */
export const SERVER_ATTACKS = SERVERS.map(([name, serve]) => ({
  name: `server test of a server that ${name}`,
  on: ['rest'],
  run: async (target, { ms }) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      serve(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const id = await inspect(target, { real: { tcp: { host: '127.0.0.1', port } } });
    await delay(ms);
    await ask(target, 'DELETE', `/runs/${id}`);
    const endsAt = performance.now() + STOPPED_MS;
    for (let isOver = false; !isOver; await delay(50)) {
      if (performance.now() > endsAt)
        throw new Error(`DELETE does not end the server test of a server that ${name}`);
      isOver = (await ask(target, 'GET', `/runs/${id}?report=false`)).state === 'over';
    }
    server.close();
    return 'one server test';
  },
}));

/** @param {Target} target @param {object} order @returns {Promise<number>} */
async function inspect(target, order) {
  const { id } = await ask(target, 'POST', '/runs', { kind: 'server', ...order });
  if (typeof id !== 'number') throw new Error('the server test did not start');
  return id;
}

/** @param {Target} target @param {string} method @param {string} path @param {object} [body] */
async function ask({ port, token }, method, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      connection: 'close',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return /** @type {{id?: number, state?: string}} */ (text === '' ? {} : JSON.parse(text));
}
