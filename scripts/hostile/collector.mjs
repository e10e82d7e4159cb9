import { createServer } from 'node:net';
import { getHeapCodeStatistics, setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into the program with `node --import`. On SIGUSR2 it collects the garbage, to distinguish memory
 * that the program holds from memory that Node has not collected yet, which varies by tens of MB under any
 * load. A client that connects to HOSTILE_PROBE with `.lines` or `.desk` appended triggers a collection in
 * that thread, and gets the size of its heap and of the compiled code in it, in bytes. If the client first
 * sends a path, a heap snapshot is written there.
 */

setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

// Only the main thread receives signals.
if (isMainThread) process.on('SIGUSR2', collectAll);

// A thread that replaces another one listens at the same path.
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
// This server must not keep the program running.
server.unref();

function collectAll() {
  // Objects found dead by the first run may hold memory outside the heap, which the second run frees.
  collect();
  collect();
}
