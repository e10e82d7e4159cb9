import assert from 'node:assert/strict';
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempDir, startProgram } from '../../test/support/program.mjs';
import { checkByBroker, reloadLarge } from './dear-files.mjs';
import { foolMonitor, foolTest, foolTestClient } from './foreign-simulator.mjs';
import { holdFiles } from './held-files.mjs';
import {
  holdBack,
  neverRelease,
  pingAtLength,
  sendWithoutEnd,
  takeTheName,
  until,
} from './hostile-broker.mjs';
import { beginAndCallOff, learnMuch } from './small-heap.mjs';

/*
 * Attacks that need no flood and no well-behaved client: on files, on names, and on the terminal of a user
 * who trusts a foreign simulator.
 */

const METER = { registers: { holding: [{ address: 0, value: [1, 2], write: true }] } };
const UNITS = { 1: 'meter' };
const CONFIG = { devices: { meter: METER }, lines: { lan: { tcp: { port: 0 }, units: UNITS } } };
const VIRTUAL = { serial: { path: 'virtual' }, units: UNITS };

/** A user that is neither root nor ours. */
const SOMEBODY = 12_345;

/** Number of clients that write at the same time, one register each. */
const WRITERS = 24;
/** Number of clients that leave one after another, each slightly later. */
const LEAVERS = 40;
/** Number of our REST connections that may still be open. */
const CONNECTIONS = 4;

/** @typedef {import('../../test/support/program.mjs').RunningProgram} Program */
/** @typedef {{name: string, play: (directory: string) => Promise<string>}} Trick */

/**
 * Each resolves with what was seen if the program withstood it, and rejects if it did not.
 * @type {readonly Trick[]}
 */
export const TRICKS = [
  { name: 'a second program with the same state directory', play: shareState },
  { name: 'one character changed in a state file', play: changeState },
  {
    name: 'a register defined, a clock stopped with the power off, a device replaced, and a restart',
    play: keepAll,
  },
  { name: 'a stop while 24 clients write over REST, and a restart', play: stopAmidWrites },
  { name: "a file whose entries take each other's addresses", play: overlap },
  { name: 'a file of 2.8 MB is reloaded', play: reloadLarge },
  { name: 'a broker asks to check small files that expand greatly', play: checkByBroker },
  { name: 'devices and lines named "." and ".."', play: nameDots },
  { name: 'lines x/y, x%2Fy, x-y and ../x', play: nameLikePaths },
  { name: 'half a surrogate pair as a name', play: nameHalves },
  { name: "a state directory that can't be created", play: stateInProc },
  { name: 'a link directory that belongs to another user', play: takeLinks },
  { name: 'hidden characters in the output of test --url', play: foolTest },
  { name: 'hidden characters in the output of test-client --url', play: foolTestClient },
  { name: 'hidden characters in the output of monitor', play: foolMonitor },
  { name: 'the traffic file is removed', play: removeTraffic },
  { name: 'line clients that use up all file descriptors', play: holdFiles },
  { name: 'learning from 60,000 requests in a heap of 256 MB', play: learnMuch },
  { name: '2,100 client tests cancelled in a heap of 256 MB', play: beginAndCallOff },
  { name: 'clients that disconnect while the learning thread loads its code', play: leaveLearner },
  { name: 'a broker that sends a packet of 200 MB', play: sendWithoutEnd },
  { name: 'a broker that never releases QoS 2 messages', play: neverRelease },
  { name: '400 MQTT pings with 1 MB of correlation each in a heap of 256 MB', play: pingAtLength },
  { name: 'a broker with another client of the same identifier', play: takeTheName },
  { name: 'a broker that acknowledges nothing while many messages wait', play: holdBack },
];

/**
 * Plays a trick in a new directory. Returns whether the program withstood it, and what was seen. @param
 * {Trick} trick
 */
export async function play(trick) {
  const directory = makeTempDir();
  try {
    return { held: true, seen: await trick.play(directory) };
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    return { held: false, seen: message.replaceAll(/\n+/g, ' | ') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** @param {string} directory */
async function shareState(directory) {
  const args = ['--state', directory];
  const refusal = await withProgram({ config: CONFIG, args }, async (first) => {
    const second = await refusalOf({ config: CONFIG, args });
    await setValue(first, 4711);
    const [holder] = second.match(/.*keeps its state there.*/) ?? [];
    assert.match(holder ?? '', new RegExp(`process ${first.pid} `), second);
    return holder;
  });
  await withProgram({ config: CONFIG, args }, async (next) =>
    assert.equal(await value(next), 4711, 'the state of the first program was lost'),
  );
  return `${refusal}`;
}

/** @param {string} directory */
async function changeState(directory) {
  const args = ['--state', directory];
  await withProgram({ config: CONFIG, args }, (first) => setValue(first, 4711));
  const [name = ''] = readdirSync(directory).filter((file) => file.startsWith('device-'));
  const text = readFileSync(join(directory, name), 'utf8');
  // 4711 is 0x1267, in base64 `ZxI`; 0x1266 is the value that is then written.
  assert.match(text, /"ZxIC/);
  writeFileSync(join(directory, name), text.replace('"ZxIC', '"ZhIC'));
  return withProgram({ config: CONFIG, args }, async (next) => {
    assert.equal(await value(next), 1, 'the damaged state was restored');
    const aside = readdirSync(directory).find((file) => file.startsWith(`${name}.damaged-`));
    assert.ok(aside, 'the file was not set aside');
    assert.match(next.output.stdout, /1 file set aside/);
    await next.stop();
    return said(next, /state set aside: [^"]*checksum[^"]*/);
  });
}

/** Values that REST has confirmed are still there after the restart, for each client. @param {string} directory */
async function stopAmidWrites(directory) {
  const options = {
    config: {
      ...CONFIG,
      devices: { meter: { registers: { holding: [{ address: 0, quantity: WRITERS }] } } },
    },
    args: ['--state', directory],
  };
  /** @type {number[]} */
  const answered = Array(WRITERS).fill(0);
  const program = await startProgram(options);
  const write = async (/** @type {number} */ address) => {
    for (let value = 1; ; value++) {
      const changes = [{ table: 'holding', address, value }];
      const { status } = await rest(program, 'devices/meter/registers', 'PATCH', { changes });
      if (status === 200) answered[address] = value;
    }
  };
  const writers = Promise.allSettled(answered.map((_, address) => write(address)));
  await delay(2000);
  const code = await program.stop();
  assert.equal(
    code,
    0,
    `the program exited with code ${code}: ${program.output.stderr.match(/FATAL.*/)?.[0]}`,
  );
  await writers;
  return withProgram(options, async (next) => {
    const path = `devices/meter/registers?table=holding&from=0&to=${WRITERS - 1}`;
    const answer = /** @type {{registers: {value: number}[]}} */ (await (await rest(next, path)).json());
    const { registers } = answer;
    const lost = answered.filter((value, address) => (registers[address]?.value ?? 0) < value);
    assert.equal(lost.length, 0, `acknowledged writes were lost in ${lost.length} of ${WRITERS} registers`);
    return `${answered.reduce((sum, value) => sum + value)} writes answered, and the last value of each register kept`;
  });
}

/** @param {string} directory */
async function keepAll(directory) {
  const args = ['--state', directory];
  const done = async (/** @type {Promise<Response>} */ asked) => {
    const answer = await asked;
    assert.ok(answer.ok, `${answer.status} ${answer.url}`);
    return answer;
  };
  await withProgram({ config: CONFIG, args }, async (first) => {
    const extra = { name: 'extra', ...METER };
    await setValue(first, 4711);
    await done(rest(first, 'devices/meter/registers', 'POST', { table: 'holding', address: 2 }));
    await done(rest(first, 'devices', 'POST', extra));
    const changes = [{ table: 'holding', address: 0, value: 4712 }];
    await done(rest(first, 'devices/extra/registers', 'PATCH', { changes }));
    // Long enough for the state to be written.
    await delay(2500);
    await done(rest(first, 'devices/extra', 'DELETE'));
    await done(rest(first, 'devices', 'POST', extra));
    await done(rest(first, 'devices/extra/power', 'POST', { state: 'off' }));
    await done(rest(first, 'devices/extra/clock', 'POST', { speed: 0 }));
    await done(rest(first, 'devices/extra'));
    // The program is writing at the same time, so a listed file may be gone.
    for (const file of readdirSync(directory)) rmSync(join(directory, file), { force: true });
  });
  return withProgram({ config: CONFIG, args }, async (next) => {
    assert.doesNotMatch(next.output.stderr, /set aside/);
    assert.equal(await value(next), 4711, 'defining a register lost the values of the device');
    const { registers } = /** @type {{registers: {value: number}[]}} */ (
      await (await done(rest(next, 'devices/meter/registers?table=holding&from=2&to=2'))).json()
    );
    assert.equal(registers[0]?.value, 0, 'the defined register was lost');
    const answer = await done(rest(next, 'devices/extra/registers?table=holding&from=0&to=0'));
    const { registers: others } = /** @type {{registers: {value: number}[]}} */ (await answer.json());
    assert.equal(others[0]?.value, 1, 'a new device has the values of the removed one');
    return 'everything was restored';
  });
}

async function overlap() {
  const holding = [{ address: 26, quantity: 10 }, { address: 27 }, { address: 0, quantity: 100 }];
  const refusal = await refusalOf({ config: { ...CONFIG, devices: { meter: { registers: { holding } } } } });
  const mistakes = refusal.match(/address \d+ is already defined by .*/g) ?? [];
  assert.equal(mistakes.length, 2, refusal);
  assert.doesNotMatch(refusal, /^ +at /m, 'a stack is shown');
  return mistakes.join('; ');
}

/** @param {string} directory */
async function removeTraffic(directory) {
  const files = () => readdirSync(directory);
  return withProgram({ config: { ...CONFIG, traffic: { file: directory } } }, async (program) => {
    const [first = ''] = files();
    rmSync(join(directory, first));
    await until(() => files().length > 0, 'there is a new file');
    await rest(program, 'lines/lan/restart', 'POST');
    const text = () => files().map((name) => readFileSync(join(directory, name), 'utf8'));
    await until(() => text().join('').includes('"kind":"line"'), 'the new file has traffic');
    await program.stop();
    return said(program, /[^"]*was removed or moved[^"]*/);
  });
}

async function nameDots() {
  const names = ['.', '..'];
  const config = {
    devices: Object.fromEntries([...names, 'meter'].map((name) => [name, METER])),
    lines: Object.fromEntries(names.map((name) => [name, VIRTUAL])),
  };
  const refusal = await refusalOf({ config });
  const refused = refusal.match(/expected a (device|line) name of .*/g) ?? [];
  assert.equal(refused.length, 2 * names.length, refusal);
  await withProgram({ config: CONFIG }, async (program) => {
    for (const name of names) {
      const device = await rest(program, 'devices', 'POST', { name, ...METER });
      assert.match(await device.text(), /expected a device name of/);
      const line = await rest(program, 'lines', 'POST', { name, ...VIRTUAL });
      assert.match(await line.text(), /expected a line name of/);
    }
  });
  return `${refused[0]}`;
}

async function nameHalves() {
  return withProgram({ config: CONFIG }, async (program) => {
    const device = await (await rest(program, 'devices', 'POST', { name: '\ud800', ...METER })).text();
    assert.match(device, /half a character/);
    const line = await (await rest(program, 'lines', 'POST', { name: 'x\udfff', ...VIRTUAL })).text();
    assert.match(line, /half a character/);
    return line;
  });
}

async function stateInProc() {
  const refusal = await refusalOf({ config: CONFIG, args: ['--state', '/proc/modbus-sim'] });
  assert.match(refusal, /the state directory can't be used: ENOENT/);
  return refusal;
}

async function leaveLearner() {
  return withProgram({ config: CONFIG }, async (program) => {
    const openFiles = () => readdirSync(`/proc/${program.pid}/fd`).length;
    const before = openFiles();
    for (let i = 0; i < LEAVERS; i++) {
      const signal = AbortSignal.timeout(4 * i);
      await fetch(`${program.restUrl()}/api/v1/learned.yaml`, { signal }).catch(() => {});
    }
    await until(() => openFiles() <= before + CONNECTIONS, 'the thread has closed its files');
    return `${LEAVERS} clients disconnected; open files: ${before} before, ${openFiles()} after`;
  });
}

/** The content of a links directory, without the socket for reloads. @param {string} directory */
const linksIn = (directory) => readdirSync(directory).filter((name) => !/^reload-.*\.sock$/.test(name));

/** @param {string} directory */
async function nameLikePaths(directory) {
  const links = join(directory, 'modbus-sim');
  const lines = Object.fromEntries(['x/y', 'x%2Fy', 'x-y', '../x'].map((name) => [name, VIRTUAL]));
  const env = { TMPDIR: directory };
  return withProgram({ config: { ...CONFIG, lines }, env }, async () => {
    assert.deepEqual(readdirSync(directory), ['modbus-sim'], 'a link was created outside its directory');
    const found = linksIn(links);
    assert.equal(found.length, Object.keys(lines).length, `lines share a link: ${found.join(', ')}`);
    return `links ${found.join(', ')}`;
  });
}

/** @param {string} directory */
async function takeLinks(directory) {
  if (process.geteuid?.() !== 0) return 'skipped: only root can give a directory to another user';
  const links = join(directory, 'modbus-sim');
  mkdirSync(links);
  chownSync(links, SOMEBODY, SOMEBODY);
  const config = { ...CONFIG, lines: { bench: VIRTUAL } };
  return withProgram({ config, env: { TMPDIR: directory } }, async (program) => {
    assert.deepEqual(readdirSync(links), [], 'there is a link');
    assert.deepEqual(
      linksIn(`${links}-${process.geteuid?.()}`),
      ['bench'],
      'the link is not in the other directory',
    );
    await program.stop();
    return said(program, /[^"]*belongs to another user[^"]*/);
  });
}

/**
 * @template Result
 * @param {import('../../test/support/program.mjs').ProgramOptions} options @param {(program: Program) => Promise<Result>} use
 */
async function withProgram(options, use) {
  const program = await startProgram(options);
  try {
    return await use(program);
  } finally {
    await program.stop();
  }
}

/**
 * The reason why a program does not start. @param {import('../../test/support/program.mjs').ProgramOptions}
 * options @returns {Promise<string>}
 */
async function refusalOf(options) {
  return withProgram(options, async () => 'the program started').catch(({ message }) => message);
}

/** @param {Program} program @param {string} path @param {string} [method] @param {object} [body] */
function rest(program, path, method = 'GET', body) {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return fetch(`${program.restUrl()}/api/v1/${path}`, { method, ...(body && json) });
}

/** @param {Program} program @param {number} value */
async function setValue(program, value) {
  const changes = [{ table: 'holding', address: 0, value }];
  assert.equal((await rest(program, 'devices/meter/registers', 'PATCH', { changes })).status, 200);
}

/** @param {Program} program */
async function value(program) {
  const answer = await rest(program, 'devices/meter/registers?table=holding&from=0&to=0');
  return /** @type {{registers: {value: number}[]}} */ (await answer.json()).registers[0]?.value;
}

/** Waits for a log message. @param {Program} program @param {RegExp} pattern */
function said({ output }, pattern) {
  const [found] = output.stderr.match(pattern) ?? [];
  assert.ok(found, `no match for ${pattern} in ${output.stderr}`);
  return found;
}
