import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { dist, makeTempDir, startProgram } from '../test/support/program.mjs';
import { freePort, mosquitto } from './mqtt.mjs';
import { ms, printTable, say, spread } from './report.mjs';

const DEAD = 2;
const ROUNDS = 5;
const ANSWERS = 'modbus-sim/bench-answers';
const MEBIBYTE = 2 ** 20;
const START_LIMIT_MS = 120_000;

/** The memory of a process in bytes: what is resident, and its part of what several share (proc(5)). */
function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (name) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return { resident: 1024 * kilobytes('Rss'), proportional: 1024 * kilobytes('Pss') };
}

/** Runs the command and waits for its end. */
function fleet(port, ...args) {
  const command = [join(dist, 'main.js'), 'fleet', ...args, '--broker', `mqtt://127.0.0.1:${port}`];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'])
    child[stream].on('data', (text) => {
      output[stream] += text;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })));
}

/**
 * Everything on the broker, for a client that is not ours.
 * @returns how to wait until `count` benches are online (one is ready before it is on the broker), and how to ask one
 */
async function clientOf(port) {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 });
  client.stream.setNoDelay();
  const online = new Set();
  const waiting = new Map();
  client.on('message', (topic, payload, { properties }) => {
    if (topic === ANSWERS) waiting.get(properties?.correlationData?.toString())?.(JSON.parse(payload));
    else if (JSON.parse(payload).state === 'online') online.add(topic.slice(0, -'/state'.length));
  });
  await client.subscribeAsync([ANSWERS, 'modbus-sim/+/state'], { qos: 1 });
  return {
    async allOnline(count) {
      const until = performance.now() + START_LIMIT_MS;
      while (online.size < count) {
        if (performance.now() > until)
          throw new Error(`${online.size} of ${count} benches are on the broker`);
        await delay(100);
      }
      return [...online];
    },
    ask(bench, command, input) {
      const correlation = `${bench} ${performance.now()}`;
      const properties = { responseTopic: ANSWERS, correlationData: Buffer.from(correlation) };
      return new Promise((resolve) => {
        waiting.set(correlation, resolve);
        client.publish(`${bench}/command/${command}`, JSON.stringify(input), { qos: 1, properties });
      });
    },
    end: () => client.endAsync(),
  };
}

function configOf(port, number) {
  return {
    devices: { meter: { registers: { holding: [{ address: 0, name: 'voltage', value: 230 }] } } },
    lines: {
      bus: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
      lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    },
    mqtt: {
      url: `mqtt://127.0.0.1:${port}`,
      topic: `modbus-sim/bench-${String(number).padStart(3, '0')}`,
      commands: 'all',
      labels: { rack: number % 10 },
    },
  };
}

/**
 * Benches on one broker, each a process: their memory, a rule on all of them, and one test of all with two of them dead.
 * @param {number} count at least 3
 */
export async function benchFleet(count) {
  if (!(count > DEAD)) throw new Error(`--benches: expected a number above ${DEAD}`);
  const port = await freePort();
  const broker = await mosquitto(port);
  const startedAt = performance.now();
  const benches = [];
  // One after the other: on two cores, several would only wait for each other.
  for (let number = 0; number < count; number++)
    benches.push(await startProgram({ config: configOf(port, number), startLimit: START_LIMIT_MS }));
  const tookMs = performance.now() - startedAt;
  const memory = benches.map(({ pid }) => memoryOf(pid));
  const total = (name) => memory.reduce((sum, each) => sum + each[name], 0) / MEBIBYTE;
  const most = Math.max(...memory.map(({ resident }) => resident)) / MEBIBYTE;
  printTable(
    'Benches on one broker: memory in MiB',
    `${count} processes, each with a virtual line and one on TCP, all ready after ${(tookMs / 1000).toFixed(0)} s.`,
    ['of one, at most', 'of all', 'of all, shared pages counted once'],
    [
      {
        what: 'resident',
        values: [most.toFixed(0), total('resident').toFixed(0), total('proportional').toFixed(0)],
      },
    ],
  );

  const client = await clientOf(port);
  const all = await client.allOnline(count);
  const rows = [];
  const row = (what, times, budget) => {
    const { median, p99, max } = spread(times);
    const values = [times.length, ms(median), ms(p99), ms(max)];
    rows.push({
      what,
      values,
      ...(budget && { budget: { text: `p99 below ${budget}`, reached: p99 < budget } }),
    });
  };
  const arm = async (bench, delay) => {
    const sentAt = performance.now();
    const answer = await client.ask(bench, 'rule.replace', { rule: { name: 'fleet.slow', do: [{ delay }] } });
    if (!answer.ok) say(`${bench}: ${JSON.stringify(answer)}`);
    return performance.now() - sentAt;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const times = await Promise.all(all.map((bench) => arm(bench, 100 + round)));
    row(`all at once, round ${round + 1}`, times, 250);
  }
  const times = [];
  for (const bench of all) times.push(await arm(bench, 200));
  row('one after the other', times);
  await client.end();
  printTable(
    'One rule armed on all of them, in ms from the command until the acknowledgement',
    'Each bench answers for itself. Where one after the other is asked, it has the machine to itself, as on a machine of its own.',
    ['benches', 'median', 'p99', 'last'],
    rows,
  );

  for (const { pid } of benches.slice(0, DEAD)) process.kill(pid, 'SIGKILL');
  const directory = makeTempDir();
  const scenario = join(directory, 'all.yaml');
  const junit = join(directory, 'all.xml');
  writeFileSync(scenario, 'name: all\nsteps: [{wait: 1s}]\n');
  const testedAt = performance.now();
  const tested = await fleet(port, 'test', scenario, '--timeout', '60s', '--junit', junit);
  const suites = readFileSync(junit, 'utf8').match(/<testsuite /g)?.length ?? 0;
  say(
    `\nfleet test: exit code ${tested.code}, ${suites} suites in one JUnit file, ${ms(performance.now() - testedAt)} ms`,
  );
  say(tested.stdout.trimEnd().split('\n').at(-1));
  say(tested.stderr.trimEnd());
  await Promise.all(benches.slice(DEAD).map((bench) => bench.stop()));
  broker.kill();
}
