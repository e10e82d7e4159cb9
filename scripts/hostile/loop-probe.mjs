import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into the program with `node --import`. A client that connects to the path HOSTILE_PROBE gets, in ms,
 * the longest stall of the event loop since the last query, and the greatest processor time of one of its
 * turns. The difference is time that the machine gave to other processes.
 */

const TICK_MS = 1;

// Node also loads this into the program's worker threads.
if (isMainThread) watch();

function watch() {
  // The first number is the running time of the main thread, in ns.
  const schedstat = openSync('/proc/self/schedstat', 'r');
  const buffer = Buffer.alloc(64);
  const processorMs = () => {
    const length = readSync(schedstat, buffer, 0, buffer.length, 0);
    return Number.parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
  };

  let stall = 0;
  let work = 0;
  let tickedAt = performance.now();
  let ranFor = processorMs();
  setInterval(() => {
    const now = performance.now();
    const ran = processorMs();
    stall = Math.max(stall, now - tickedAt - TICK_MS);
    work = Math.max(work, ran - ranFor);
    tickedAt = now;
    ranFor = ran;
  }, TICK_MS).unref();

  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(JSON.stringify({ stall, work }));
    stall = 0;
    work = 0;
  });
  server.listen(process.env.HOSTILE_PROBE);
  // This server must not keep the program running.
  server.unref();
}
