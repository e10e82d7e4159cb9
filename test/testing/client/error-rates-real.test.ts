import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { dist } from '../../support/program.mjs';
import { count, type Rates, ratesText } from './error-rates.js';
import { habitsOf, SUBJECTS, type Subject } from './subjects.js';
import { SEEN } from './virtual-bench.js';

/*
 * Tests model clients that are programs of their own, by the built program, on a pseudo-terminal and on loopback.
 * `MODBUS_SIM_REAL_RATES=10` measures what docs/error-rates.md says, beside a process that takes all it gets of one core; the file gets
 * the table after each round. `MODBUS_SIM_REAL_RATES_MINUTES` ends it earlier, after a round.
 */
const { MODBUS_SIM_REAL_RATES: rounds } = process.env;
const CLIENT_TESTS = Number(rounds ?? 1);
const MINUTES = Number(process.env.MODBUS_SIM_REAL_RATES_MINUTES ?? 1440);
const { MODBUS_SIM_REAL_RATES_FILE: file } = process.env;
/** More than this at a time would be what is measured. */
const TOGETHER = 3;
const BAUD_RATE = 19_200;

/** Those of a run that measures nothing: a faultless one, one on a terminal with a mistake that an observer tells, and one on TCP. */
const SHORT = [
  'serial faultless, two units, asked once',
  'serial ignores the unit, three questions, observed',
  'tcp ignores the transaction identifier, three questions, observed',
];
/** Subjects, and the checks that are run where not all of their own are. */
const CHOSEN: Readonly<Record<string, readonly string[] | undefined>> = {
  'serial faultless, three questions': ['time-out', 'retries', 'outage-5s', 'damaged', 'exceptions'],
  'serial faultless, two units, asked once': ['wrong-crc', 'truncated-reply', 'wrong-unit', 'exception-2'],
  'serial no CRC check, two units, asked once': ['wrong-crc', 'truncated-reply'],
  'serial no CRC check, three questions, observed': undefined,
  'serial ignores the byte count, three questions, observed': undefined,
  'serial ignores the unit, three questions, observed': undefined,
  'tcp ignores the transaction identifier, three questions, observed': undefined,
  'serial crashes at a bad reply (wrong-unit), three questions': undefined,
  'tcp never reconnects (closed-after-reply), three questions': undefined,
  'serial asks once, three questions': undefined,
};

const directory = mkdtempSync(join(process.env.TMPDIR ?? '/tmp', 'modbus-sim-real-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('passes no mistake and fails no faultless client on a pseudo-terminal', {
  timeout: 3_600_000,
}, async () => {
  const clientFile = join(directory, 'client.mjs');
  const serialport = createRequire(import.meta.url).resolve('serialport');
  buildSync({
    entryPoints: [new URL('real-client.ts', import.meta.url).pathname],
    outfile: clientFile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // It has parts that can't be bundled.
    alias: { serialport },
    external: [serialport],
  });
  // In CI, other files of tests take what there is.
  const busy =
    rounds === undefined ? undefined : spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
  const rates: Rates = { byCheck: new Map(), wrong: [] };
  const chosen = rounds === undefined ? SHORT : Object.keys(CHOSEN);
  const subjects = SUBJECTS.filter((subject) => chosen.includes(keyOf(subject)));
  expect(subjects).toHaveLength(chosen.length);
  const until = performance.now() + MINUTES * 60_000;
  try {
    for (let round = 0; round < CLIENT_TESTS && performance.now() < until; round++) {
      const left = [...subjects];
      const work = async () => {
        for (let next = left.shift(); next; next = left.shift()) {
          count(rates, next, await testRealClient(clientFile, next, round), round);
        }
      };
      await Promise.all(Array.from({ length: TOGETHER }, work));
      if (file) writeFileSync(file, ratesText(rates, subjects.length, round + 1));
    }
  } finally {
    busy?.kill();
  }
  expect(rates.wrong).toEqual([]);
});

function keyOf({ on, name, isObserved }: Subject): string {
  return `${on} ${name}${isObserved ? ', observed' : ''}`;
}

/** Tests one subject with the built program. */
async function testRealClient(clientFile: string, subject: Subject, seed: number) {
  const { on, name, isObserved, checks = [] } = subject;
  const own = mkdtempSync(join(directory, 'run-'));
  const [config, json, habits] = ['config.json', 'report.json', 'habits.json'].map((each) =>
    join(own, each),
  ) as [string, string, string];
  const values = { address: 0, value: Array.from({ length: 20 }, (_, i) => 1000 + i) };
  const meter = { registers: { holding: [values, { address: SEEN, write: true }] } };
  const line =
    on === 'serial'
      ? { serial: { path: 'virtual', link: join(own, 'port'), baudRate: BAUD_RATE } }
      : { tcp: { host: '127.0.0.1', port: 0 } };
  const bus = { ...line, units: { 1: 'meter', 2: 'relay' } };
  writeFileSync(config, JSON.stringify({ devices: { meter, relay: meter }, lines: { bus } }));
  const plain = (_: string, value: unknown) => (value instanceof Uint8Array ? [...value] : value);
  writeFileSync(habits, JSON.stringify({ ...habitsOf(subject), seed }, plain));
  const place = on === 'serial' ? `{lines.bus.path} ${BAUD_RATE}` : '{lines.bus.host} {lines.bus.port}';
  const args = [
    ...[join(dist, 'main.js'), 'test-client', 'bus', '--config', config, '--seed', `${seed}`, '--json', json],
    ...['--checks', (CHOSEN[keyOf(subject)] ?? checks).join(), '--limit', '10m'],
    ...(isObserved ? ['--observer-register', `relay.holding.${SEEN}`] : []),
    ...['--dut', `exec ${process.execPath} ${clientFile} ${habits} ${place}`],
  ];
  const code = await new Promise((resolve) =>
    spawn(process.execPath, args, { stdio: 'ignore' }).once('close', resolve),
  );
  expect([0, 1], `${name} ended with ${code}`).toContain(code);
  const { checks: found } = JSON.parse(readFileSync(json, 'utf8'));
  rmSync(own, { recursive: true, force: true });
  return { findings: found };
}
