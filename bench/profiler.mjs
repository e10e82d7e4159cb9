import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

/*
 * Loaded into the program with `node --import`. SIGUSR2 begins a CPU profile, the next one ends it and writes it to the
 * file BENCH_PROFILE. So the start is not in it.
 */
const INTERVAL_US = 200;
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
let isProfiling = false;
process.on('SIGUSR2', () => {
  if (!isProfiling) {
    isProfiling = true;
    session.post('Profiler.start');
    return;
  }
  session.post('Profiler.stop', (error, { profile }) => {
    if (error) throw error;
    writeFileSync(process.env.BENCH_PROFILE, JSON.stringify(profile));
  });
});
