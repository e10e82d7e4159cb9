import { once } from 'node:events';
import { closeSync, constants, open, read, write } from 'node:fs';
import { connect } from 'node:net';
import { promisify } from 'node:util';

/** More at once would hide what a turn of the event loop costs. */
const CONNECTIONS = 16;
const READ = 10;
const ANSWER_LENGTH = 9 + 2 * READ;

/**
 * @typedef {object} Load
 * @property {readonly number[]} ports of the lines that are asked
 * @property {number} units they are asked one after the other, from 1
 * @property {number} addresses how many addresses a read may begin at
 */

/**
 * Clients that are connected.
 * @typedef {{ask: (requests: number) => Promise<unknown>, end: () => void}} Clients
 */

/**
 * Function 3 with 10 registers: 16 clients with one request under way each. They share the lines, and each asks its own in
 * turn.
 * @param {Load} load
 * @returns {Promise<Clients>}
 */
export async function onSockets({ ports, units, addresses }) {
  let left = 0;
  const nextRequest = () => {
    left--;
    const request = Buffer.from('00000000000601030000000a', 'hex');
    request[6] = 1 + (left % units);
    // A step that has no factor in common with the number of addresses meets all of them.
    request.writeUInt16BE((left * 7919) % addresses, 8);
    return request;
  };
  const clients = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const mine = ports.filter((_, line) => line % CONNECTIONS === i % ports.length);
    const sockets = [];
    for (const port of mine) sockets.push(await connected(port));
    clients.push(inTurn(sockets, () => (left > 0 ? nextRequest() : undefined)));
  }
  return {
    ask: (requests) => {
      left = requests;
      return Promise.all(clients.map(({ begin }) => begin()));
    },
    end: () => {
      for (const { end } of clients) end();
    },
  };
}

/** Asks its sockets one after the other, until there is no next request. */
function inTurn(sockets, nextRequest) {
  let [turn, received] = [0, 0];
  let over = () => {};
  const ask = () => {
    const request = nextRequest();
    if (request === undefined) over();
    else sockets[turn++ % sockets.length].write(request);
  };
  for (const socket of sockets) {
    socket.on('data', (answer) => {
      if (received === 0 && answer.length > 7 && answer[7] !== 3) throw new Error(answer.toString('hex'));
      received += answer.length;
      if (received < ANSWER_LENGTH) return;
      received = 0;
      ask();
    });
  }
  return {
    begin: () =>
      new Promise((resolve) => {
        over = () => resolve(undefined);
        ask();
      }),
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function connected(port) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

/** As RTU, with its check value. */
const RTU_REQUEST = Buffer.from('01030000000ac5cd', 'hex');
const RTU_ANSWER_LENGTH = 5 + 2 * READ;
const [openFile, writeFile, readFile] = [open, write, read].map(promisify);

/**
 * The same on terminals, one after the other: each can have one request under way, so more of them at once would be
 * cheaper for many lines than for one.
 * @param {readonly string[]} paths
 * @returns {Promise<Clients>}
 */
export async function onTerminals(paths) {
  const descriptors = [];
  for (const path of paths) descriptors.push(await openFile(path, constants.O_RDWR | constants.O_NOCTTY));
  const answer = Buffer.alloc(RTU_ANSWER_LENGTH);
  const ask = async (requests) => {
    for (let i = 0; i < requests; i++) {
      const fd = descriptors[i % descriptors.length];
      await writeFile(fd, RTU_REQUEST);
      for (let length = 0; length < RTU_ANSWER_LENGTH; ) {
        length += (await readFile(fd, answer, length, RTU_ANSWER_LENGTH - length, null)).bytesRead;
      }
    }
  };
  const end = () => {
    for (const descriptor of descriptors) closeSync(descriptor);
  };
  return { ask, end };
}

/**
 * Clients that say nothing.
 * @param {number} port
 * @param {number} count
 */
export async function idleClients(port, count) {
  const sockets = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
