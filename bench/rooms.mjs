/** Rooms of the program that are told in parts, because bytes and time pass them in different ways. */
const IN_PARTS = new Set(['transport']);
/** `dispatch` begins and ends the profile. */
const NO_WORK = new Set(['(idle)', '(root)', 'dispatch']);
const OUTSIDE = 'Node, libuv and the system, outside of JavaScript';

/**
 * Shares of the time that a CPU profile of V8 has, without the time in which nothing was done.
 * @param {{nodes: readonly object[], samples: readonly number[], timeDeltas: readonly number[]}} profile
 * @param {string} dist the directory of the built program, as a URL
 * @returns {{rooms: Map<string, number>, functions: Map<string, number>}} from 0 to 1, the largest first
 */
export function sharesOf({ nodes, samples, timeDeltas }, dist) {
  const times = new Map();
  for (const [i, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + timeDeltas[i]);
  const [rooms, functions] = [new Map(), new Map()];
  let all = 0;
  for (const { id, callFrame } of nodes) {
    const time = times.get(id) ?? 0;
    const room = roomOf(callFrame, dist);
    if (time <= 0 || room === undefined) continue;
    all += time;
    rooms.set(room, (rooms.get(room) ?? 0) + time);
    const { functionName } = callFrame;
    const name = room.startsWith(functionName) ? room : `${functionName || '(anonymous)'}, ${room}`;
    functions.set(name, (functions.get(name) ?? 0) + time);
  }
  return { rooms: sorted(rooms, all), functions: sorted(functions, all) };
}

function sorted(times, all) {
  const shares = Array.from(times, ([what, time]) => /** @type {const} */ ([what, time / all]));
  return new Map(shares.toSorted(([, a], [, b]) => b - a));
}

/** The room that a function belongs to; undefined for no work. */
function roomOf({ url, functionName }, dist) {
  if (NO_WORK.has(functionName) && url === '') return undefined;
  if (functionName === '(program)') return OUTSIDE;
  if (functionName === '(garbage collector)') return 'garbage collector';
  if (url.startsWith(dist)) {
    const [room, part] = url.slice(dist.length).replace(/^\//, '').split('/');
    if (part === undefined) return room.replace(/\.js$/, '');
    return IN_PARTS.has(room) && !part.endsWith('.js') ? `${room}/${part}` : room;
  }
  if (url.includes('/node_modules/')) return `package ${url.split('/node_modules/').at(-1).split('/')[0]}`;
  if (url.startsWith('node:')) return "Node's JavaScript";
  // A function of C++ that JavaScript has called: its time is that of its system call, for the most part.
  return `${functionName}, called from JavaScript`;
}
