import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openNotifySocket } from '../../test/support/notify-socket.mjs';
import { startProgram } from '../../test/support/program.mjs';
import { UNIT, VALUES } from './frames.mjs';
import { GoodClient } from './good-client.mjs';
import { publish, TOPIC, TYPES, until, withBroker } from './hostile-broker.mjs';
import { longestTurn } from './plant.mjs';

/* Files that take long to read, while a client polls a line. */

/** @typedef {import('../../test/support/program.mjs').RunningProgram} Program */

const LIMIT_MS = 120_000;
/**
 * Maximum processor time of one turn of the lines, in ms. A slow machine takes some tens of ms; before files
 * were read in pieces it was 2200.
 */
const TURN_MS = 250;

const ANSWERS = 'modbus-sim/answers';

const POLLED = {
  devices: { meter: { registers: { holding: [{ address: 0, value: VALUES, write: true }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { [UNIT]: 'meter' } } },
};

/** About 2.8 MB as JSON. */
const MANY = Object.fromEntries(
  Array.from({ length: 110 }, (_, device) => [
    `device-${device}`,
    {
      registers: {
        holding: Array.from({ length: 250 }, (_, i) => ({
          address: 2 * i,
          type: 'float32',
          name: `value_${i}`,
          unit: 'V',
          description: `a value of ${device}`,
          value: i,
        })),
      },
    },
  ]),
);

/**
 * Describes the longest turn of the lines during an action, alongside a client that polls.
 * @param {string} probe @param {Program} program @param {string} what @param {() => Promise<unknown>} act
 */
async function turnOf(probe, program, what, act) {
  const client = new GoodClient({
    line: 'lan',
    kind: 'tcp',
    framing: 'socket',
    path: '',
    port: program.tcpPort('lan'),
  });
  client.start();
  await delay(300);
  client.take();
  await longestTurn(probe);
  await act();
  const { work } = await longestTurn(probe);
  await client.settled();
  const { times, lost } = client.take();
  await client.stop();
  assert.equal(lost, 0, `${what}: requests were lost`);
  assert.ok(times.length > 0, `${what}: no request was answered`);
  assert.ok(work < TURN_MS, `${what}: turn took ${work.toFixed(0)} ms`);
  return `${what} ${work.toFixed(1)} ms`;
}

/** @param {string} directory */
const probed = (directory) => ({
  NODE_OPTIONS: `--import ${new URL('loop-probe.mjs', import.meta.url)}`,
  HOSTILE_PROBE: join(directory, 'probe'),
});

/** Reloads a file of 2.8 MB: unchanged, with one device more, with one device less. @param {string} directory */
export async function reloadLarge(directory) {
  // Under a service manager SIGHUP asks for a reload.
  const manager = openNotifySocket(join(directory, 'notify'));
  const env = { ...probed(directory), NOTIFY_SOCKET: manager.path };
  const config = { ...POLLED, devices: { ...POLLED.devices, ...MANY } };
  const program = await startProgram({ config, env, startLimit: LIMIT_MS });
  const file = join(program.directory, 'config.json');
  const before = JSON.parse(readFileSync(file, 'utf8'));
  const reload = (/** @type {object} */ devices) => async () => {
    writeFileSync(file, JSON.stringify({ ...before, devices }));
    const count = () => program.output.stderr.split(/"msg":"(?:changed: |nothing has changed)/).length;
    const saidBefore = count();
    process.kill(program.pid, 'SIGHUP');
    await until(() => count() > saidBefore, 'the file is reloaded');
  };
  const { 'device-7': left, ...fewer } = before.devices;
  const turn = (/** @type {string} */ what, /** @type {object} */ devices) =>
    turnOf(env.HOSTILE_PROBE, program, what, reload(devices));
  try {
    const turns = [
      await turn('unchanged', before.devices),
      await turn('one device removed', fewer),
      await turn('one device added', { ...fewer, 'device-7': left }),
    ];
    return `${(readFileSync(file).length / 1e6).toFixed(1)} MB, longest turns: ${turns.join(', ')}`;
  } finally {
    await program.stop();
    manager.close();
  }
}

/** Short files with much content, in commands from a broker. @param {string} directory */
export function checkByBroker(directory) {
  const env = probed(directory);
  const units = { '1-247': { copyOf: 'meter' } };
  const copies = {
    devices: POLLED.devices,
    lines: Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`line-${i}`, { tcp: { port: 20_000 + i }, units }]),
    ),
  };
  const holding = [
    { address: 0, quantity: 65_535, follows: { name: 'x' } },
    { address: 65_535, name: 'x', write: true },
  ];
  const followers = { ...POLLED, devices: { meter: { registers: { holding } } } };
  /** @type {import('node:net').Socket | undefined} */
  let client;
  let isSubscribed = false;
  let answered = 0;
  /** @type {import('./hostile-broker.mjs').Script} */
  const script = ({ type, flags, body }, socket) => {
    client = socket;
    isSubscribed ||= type === TYPES.subscribe;
    if (type !== TYPES.publish) return;
    const end = 2 + body.readUInt16BE(0);
    if ((flags & 6) !== 0) socket.write(Buffer.from([0x40, 2, body[end] ?? 0, body[end + 1] ?? 0]));
    if (body.toString('utf8', 2, end) === ANSWERS) answered++;
  };
  return withBroker(script, { commands: 'read' }, { ...POLLED, env }, async (program) => {
    await until(() => isSubscribed, 'the program subscribes to commands');
    const ask = (/** @type {object} */ configuration) => async () => {
      const told = answered;
      const request = { responseTopic: ANSWERS, input: { configuration } };
      client?.write(publish(`${TOPIC}/command/configuration.check`, Buffer.from(JSON.stringify(request))));
      await until(() => answered > told, 'configuration.check is answered');
    };
    const turns = [
      await turnOf(env.HOSTILE_PROBE, program, 'sixty lines with copies', ask(copies)),
      await turnOf(env.HOSTILE_PROBE, program, '65,535 registers that follow one register', ask(followers)),
    ];
    return `longest turns: ${turns.join(', ')}`;
  });
}
