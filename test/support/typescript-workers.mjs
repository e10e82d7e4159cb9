import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Vitest compiles what a test imports, but not what a worker thread imports that the program starts.
if (!isMainThread) register('./typescript-hooks.mjs', import.meta.url);
