import { readdirSync, readFileSync } from 'node:fs';

/**
 * Processor time that the threads of a process have used, in µs, by the scheduler's own count (proc(5), schedstat: ns).
 * That of `processes.mjs` counts hundredths of a second, and also threads that have ended.
 * @param {number} pid
 */
export function runTime(pid) {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce(
    (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000,
    0,
  );
}
