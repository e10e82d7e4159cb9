import { once } from 'node:events';
import { connect } from 'node:net';

/** More at once would hide what a turn of the event loop costs. */
const CONNECTIONS = 16;
const READ = 10;
const ANSWER_LENGTH = 9 + 2 * READ;

/**
 * @typedef {object} Load
 * @property {readonly number[]} ports of the lines that are asked
 * @property {number} units they are asked one after the other, from 1
 * @property {number} addresses the first of a read is one of so many
 * @property {number} requests
 */

/**
 * Function 3 with 10 registers, one request under way on each of 16 connections, which the lines share.
 * @param {Load} load
 */
export async function readRegisters({ ports, units, addresses, requests }) {
  let left = requests;
  const clients = Array.from({ length: CONNECTIONS }, async (_, i) => {
    const port = ports[Math.floor((i * ports.length) / CONNECTIONS)] ?? 0;
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await once(socket, 'connect');
    let received = 0;
    const ask = () => {
      if (left <= 0) {
        socket.destroy();
        return;
      }
      left--;
      const request = Buffer.from('00000000000601030000000a', 'hex');
      request[6] = 1 + (left % units);
      // A step that has no factor in common with the number of addresses meets all of them.
      request.writeUInt16BE((left * 7919) % addresses, 8);
      socket.write(request);
    };
    socket.on('data', (answer) => {
      if (received === 0 && answer.length > 7 && answer[7] !== 3) throw new Error(answer.toString('hex'));
      received += answer.length;
      if (received < ANSWER_LENGTH) return;
      received = 0;
      ask();
    });
    ask();
    await once(socket, 'close');
  });
  await Promise.all(clients);
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
