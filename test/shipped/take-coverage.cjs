const { existsSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { takeCoverage } = require('node:v8');
const { threadId } = require('node:worker_threads');

/*
 * A thread writes which files it has loaded when it ends, and nothing if the program ends it while it writes, which it does after
 * 1.5 s. So the thread of REST writes it when a file asks for it, and removes that file.
 */
const asked = join(process.env.RUNTIME_DIRECTORY ?? '.', 'write-loaded');
const REST_THREAD = 1;

if (threadId === REST_THREAD) {
  setInterval(() => {
    if (!existsSync(asked)) return;
    takeCoverage();
    rmSync(asked);
  }, 50).unref();
}
