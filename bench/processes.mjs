import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The helper programs that run now; none may stay behind, whatever happens. */
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts one of the small programs beside this file as a process of its own.
 * @param {string} name
 * @param {readonly (string | number)[]} args
 */
export function start(name, ...args) {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), args.map(String));
  return keep(child);
}

/**
 * Starts another program; its standard output is for messages.
 * @param {string} command
 * @param {readonly (string | number)[]} args
 */
export function startCommand(command, ...args) {
  return keep(spawn(command, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] }));
}

function keep(child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** The next message of a helper; rejects when it ends instead. */
export async function message(child) {
  const ended = new AbortController();
  const failed = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`${child.spawnargs.slice(1).join(' ')} ended with ${code}`);
  });
  try {
    return await Promise.race([
      once(child, 'message', { signal: ended.signal }).then(([value]) => value),
      failed,
    ]);
  } finally {
    ended.abort();
    failed.catch(() => {});
  }
}

export async function stop(child) {
  if (!running.has(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Processor time that a process has used so far, in ms (proc(5): utime and stime, in hundredths of a second). */
export function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Memory that a process holds in RAM, in MB of 10^6 bytes: at the moment, and at most so far. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name) =>
    (Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1]) * 1024) / 1e6;
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** Whether processes can be given a core. Where client and server happen to share one, everything takes twice as long. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).error === undefined;

/** Which core a client or a server gets. */
export const CORE = { server: 0, client: 1 };

/**
 * Gives a process and its threads some cores.
 * @param {number} pid
 * @param {number | string} core or cores, as taskset takes them
 */
export function pin(pid, core) {
  if (canPin) spawnSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

const LOAD_NICENESS = 10;

/**
 * Programs that load the machine get the time that the measuring ones leave: they stand for clients on other machines.
 * Those that come first need no more, and then the load must not step back behind other programs.
 * @param {number} pid
 */
export function stepBack(pid) {
  if (process.env.MODBUS_SIM_CHRT !== undefined) return;
  spawnSync('renice', ['-n', String(LOAD_NICENESS), '-p', String(pid)], { stdio: 'ignore' });
}

/**
 * With MODBUS_SIM_CHRT=20, the main thread of a process comes before all programs that have no real-time priority, as the
 * thread of the lines does in the units. It needs the right to do so.
 * @param {number} pid
 */
export function comeFirst(pid) {
  const priority = process.env.MODBUS_SIM_CHRT;
  if (priority === undefined) return;
  const { status, stderr } = spawnSync('chrt', ['--reset-on-fork', '--rr', '-p', priority, String(pid)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`MODBUS_SIM_CHRT=${priority}: ${stderr}`);
}
