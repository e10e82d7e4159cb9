import { spawnSync } from 'node:child_process';

/*
 * Two benchmarks of one core whose results on a Raspberry Pi 4 Model B at 1.5 GHz are published, and that can be run on
 * this machine, too. Results are by processor time where the benchmark tells it.
 */

/**
 * @typedef {object} Published
 * @property {string} what
 * @property {number} pi its result there; more is faster
 * @property {string} source
 * @property {() => number | undefined} here the result of this machine; undefined when it is not installed
 */

/** @type {readonly Published[]} */
export const PUBLISHED = [
  {
    what: '7-zip, one thread (7zz b -mmt1), MIPS',
    pi: 1660,
    source:
      'github.com/ThomasKaiser/sbc-bench, results/reviews/RPi-4B-Rev1.1.md (28 February 2023, 32-bit, 1500 MHz)',
    here: sevenZip,
  },
  {
    what: 'sysbench 1.0.20 cpu, one thread, events/s',
    pi: 1477.83,
    source: 'leoncode.co.uk/articles/raspberry-pi-benchmarks',
    here: sysbench,
  },
];

/** The rating that 7-zip gives for the whole processor time of a core, so that other programs matter little. */
function sevenZip() {
  const { stdout, error } = spawnSync('7zz', ['b', '-mmt1'], { encoding: 'utf8' });
  const total = stdout?.match(/^Tot:\s+\d+\s+(\d+)\s+\d+/m)?.[1];
  return error || total === undefined ? undefined : Number(total);
}

const EVENTS = 6000;

function sysbench() {
  const options = ['cpu', '--threads=1', '--time=0', `--events=${EVENTS}`, 'run'];
  const script = `sysbench ${options.join(' ')} > /dev/null && times`;
  const { stdout, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  // The second line has the times of the programs that the shell has run: `0m1.337s 0m0.050s`.
  const times = [...(stdout.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  const seconds = times.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0);
  return status !== 0 || seconds === 0 ? undefined : EVENTS / seconds;
}
