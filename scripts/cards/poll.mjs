import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The behaviour shared by all pollers: two registers each from 0 and from 10, one request after another, and
 * then a rest.
 */
const ADDRESSES = [0, 10];
const QUANTITY = 2;
const REST_MS = 250;

/**
 * A connection or an open port of a library.
 * @typedef {object} Connection
 * @property {(address: number, quantity: number) => Promise<readonly number[]>} read
 * @property {() => boolean} isOpen
 * @property {() => void} close
 */

/**
 * Polls endlessly, and reconnects if the connection has closed.
 * @param {string} file Gets the values read last, after each accepted reply.
 * @param {() => Promise<Connection>} connect
 */
export async function poll(file, connect) {
  const values = ADDRESSES.map(() => Array(QUANTITY).fill(0).join());
  for (;;) {
    const connection = await connect().catch(() => undefined);
    while (connection?.isOpen()) {
      for (const [i, address] of ADDRESSES.entries()) {
        const read = await connection.read(address, QUANTITY).catch(() => undefined);
        if (read === undefined) continue;
        values[i] = read.join();
        show(file, values.join(' '));
      }
      await sleep(REST_MS);
    }
    connection?.close();
    await sleep(REST_MS);
  }
}

/**
 * Replaces the file, because a file written in place could be read half-written.
 * @param {string} file
 * @param {string} text
 */
function show(file, text) {
  writeFileSync(`${file}.next`, `${text}\n`);
  renameSync(`${file}.next`, file);
}
