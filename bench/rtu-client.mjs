import { constants, openSync, readSync, writeSync } from 'node:fs';
import koffi from 'koffi';
import { fromSource } from './from-source.mjs';

/*
 * rtu-client.mjs master|PATH
 *
 * When told `{transactions, pause}`, sends the same request again and again, `pause` ms after each answer, and measures
 * the time from writing it to the first byte of the answer. Its end of the line is the master side of a new
 * pseudo-terminal (it then tells the path of the other side), or the terminal PATH. It waits inside poll(2), so no event
 * loop of its own is measured.
 */
const [, , place] = process.argv;

/** Function 3, 10 registers from address 0 of unit 1; 25 bytes are the answer. */
const REQUEST = Buffer.from('01030000000ac5cd', 'hex');
const ANSWER_LENGTH = 25;
const TIMEOUT_MS = 1000;
const POLLIN = 1;

const poll = koffi.load(null).func('poll', 'int', ['void *', 'ulong', 'int']);
const entry = Buffer.alloc(8);
const answer = Buffer.alloc(256);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

const { fd, path } = await open();
process.send({ path });
process.on('message', ({ transactions, pause }) => {
  const samples = [];
  let lost = 0;
  for (let i = 0; i < transactions; i++) {
    // Not in step with anything: up to half a pause, and half a millisecond at most, more or less.
    const apart = Math.min(0.5, pause / 2);
    Atomics.wait(sleeper, 0, 0, pause + apart * (2 * Math.random() - 1));
    const turnaround = exchange();
    if (turnaround === undefined) lost++;
    else samples.push(turnaround);
  }
  process.send({ samples, lost });
});

async function open() {
  if (place !== 'master') {
    const flags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
    return { fd: openSync(place, flags), path: place };
  }
  const { openPty } = await fromSource("export { openPty } from './src/modbus/transport/port/pty.js';");
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  return { fd: opened.pty.masterFd, path: opened.pty.path };
}

/** Time to the first byte in ms, or undefined when the answer did not come. */
function exchange() {
  const sentAt = performance.now();
  writeSync(fd, REQUEST);
  let firstAt;
  for (let length = 0; length < ANSWER_LENGTH; ) {
    if (!waitForBytes()) return undefined;
    firstAt ??= performance.now();
    length += readSync(fd, answer);
  }
  return firstAt - sentAt;
}

function waitForBytes() {
  entry.writeInt32LE(fd, 0);
  entry.writeInt16LE(POLLIN, 4);
  return poll(entry, 1, TIMEOUT_MS) === 1;
}
