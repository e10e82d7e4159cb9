import { createServer } from 'node:net';
import { getHeapCodeStatistics, setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into the program with `node --import`. On SIGUSR2 it throws the garbage away, so that memory the program
 * holds is told from memory that Node has not looked through yet: that comes and goes by tens of MB at any load.
 * Whoever connects to HOSTILE_PROBE with `.lines` or `.desk` behind it has the garbage of that thread thrown away, and is
 * told what its heap holds then, and how much of this is code that V8 has compiled, in bytes. What is sent before is the path of a heap snapshot, which is written.
 */

setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

// Signals come to the main thread alone.
if (isMainThread) process.on('SIGUSR2', collectAll);

// A thread that replaces another one listens at the same place.
const server = createServer({ allowHalfOpen: true }, (socket) => {
  let path = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    path += chunk;
  });
  socket.on('end', () => {
    collectAll();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const { code_and_metadata_size: machine, bytecode_and_metadata_size: bytes } = getHeapCodeStatistics();
    if (path !== '') writeHeapSnapshot(path);
    socket.end(JSON.stringify({ heapUsed, arrayBuffers, code: machine + bytes }));
  });
});
server.on('error', () => {});
server.listen(`${process.env.HOSTILE_PROBE}.${isMainThread ? 'lines' : 'desk'}`);
// The program decides when it ends.
server.unref();

function collectAll() {
  // What the first run finds dead may have kept memory outside the heap, which goes with the second.
  collect();
  collect();
}
