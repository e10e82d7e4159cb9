import { fromSource } from './from-source.mjs';

/*
 * waiter.mjs turns|loop|kernel|none
 *
 * When told `{t35, lines, waits}`, waits that often in this way, on all lines at once, and tells how late each wait ended
 * (ms) and the processor time for one of them (ms).
 */
const [, , way] = process.argv;
const { systemClock, useKernelTimer } = await fromSource(`
  export { systemClock } from './src/modbus/transport/clock.js';
  export { useKernelTimer } from './src/modbus/transport/port/kernel-timer.js';`);
if (way === 'kernel') await useKernelTimer();

/** How the program waited before it used a timer of the kernel. */
const TURNS_MS = 1.2;

function byTurns(at, callback) {
  const wait = () => {
    const remaining = at - performance.now();
    if (remaining <= 0) callback();
    else if (remaining > TURNS_MS + 1) setTimeout(wait, remaining - TURNS_MS);
    else setImmediate(wait);
  };
  wait();
}

const waitUntil = { turns: byTurns, none: (_, callback) => callback() }[way] ?? systemClock.callAt;

process.on('message', ({ t35, lines, waits }) => {
  const late = [];
  let left = waits;
  let waiting = lines;
  const used = process.cpuUsage();
  const line = () => {
    if (left-- <= 0) {
      if (--waiting > 0) return;
      const { user, system } = process.cpuUsage(used);
      process.send({ late, spent: (user + system) / 1000 / late.length });
      return;
    }
    const due = performance.now() + t35;
    waitUntil(due, () => {
      late.push(performance.now() - due);
      setTimeout(line, 5 + 3 * Math.random());
    });
  };
  for (let i = 0; i < lines; i++) setTimeout(line, 8 * Math.random());
});
process.send('ready');
