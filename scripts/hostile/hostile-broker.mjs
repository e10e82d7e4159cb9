import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from '../../test/support/program.mjs';
import { residentMb } from './plant.mjs';

/*
 * Tricks of an MQTT broker, and of its other clients, against a simulator. The broker supports as little MQTT
 * 3.1.1 as that needs.
 */

/** @typedef {import('../../test/support/program.mjs').RunningProgram} Program */
/** @typedef {{type: number, flags: number, body: Buffer}} Packet */
/** @typedef {(packet: Packet, socket: import('node:net').Socket) => void} Script */

export const TYPES = { connect: 1, publish: 3, subscribe: 8, ping: 12 };
const CONNACK = Buffer.from([0x20, 2, 0, 0]);
const OTHER_VERSION = Buffer.from([0x20, 2, 0, 1]);
const PINGRESP = Buffer.from([0xd0, 0]);
export const TOPIC = 'modbus-sim/b';
const ANSWERS_TO = 'modbus-sim/answers';
const LIMIT_MS = 60_000;
/** How much more memory a program may use while a broker floods it, in MB. */
const MORE_MB = 120;

/** @param {number} length */
function remaining(length) {
  const bytes = [];
  for (; length >= 0x80; length = Math.floor(length / 0x80)) bytes.push(0x80 | (length % 0x80));
  return [...bytes, length];
}

/** @param {string} topic @param {Buffer} payload @param {number} [id] for QoS 2; without it, QoS 0 */
export function publish(topic, payload, id) {
  const name = Buffer.from(topic);
  const length = 2 + name.length + (id === undefined ? 0 : 2) + payload.length;
  const head = [id === undefined ? 0x30 : 0x34, ...remaining(length), name.length >> 8, name.length & 0xff];
  const last = id === undefined ? [] : [id >> 8, id & 0xff];
  return Buffer.concat([Buffer.from(head), name, Buffer.from(last), payload]);
}

/**
 * A broker that accepts every MQTT 3.1.1 client, and handles its packets according to the script.
 * @param {Script} script
 */
async function broker(script) {
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        let [length, at, shift] = [0, 1, 0];
        for (; at < bytes.length && ((bytes[at] ?? 0) & 0x80) !== 0; at++, shift += 7)
          length += ((bytes[at] ?? 0) & 0x7f) << shift;
        length += (bytes[at] ?? 0) << shift;
        if (bytes.length < at + 1 + length || bytes.length < 2) return;
        const first = bytes[0] ?? 0;
        const packet = { type: first >> 4, flags: first & 15, body: bytes.subarray(at + 1, at + 1 + length) };
        bytes = bytes.subarray(at + 1 + length);
        answer(packet, socket, script);
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `mqtt://127.0.0.1:${port}`, close: () => server.close() };
}

/** @param {Packet} packet @param {import('node:net').Socket} socket @param {Script} script */
function answer(packet, socket, script) {
  const { type, body } = packet;
  if (type === TYPES.connect) {
    if (body[6] !== 4) return void socket.end(OTHER_VERSION);
    socket.write(CONNACK);
  } else if (type === TYPES.subscribe) {
    let topics = 0;
    for (let at = 2; at < body.length; at += 3 + body.readUInt16BE(at)) topics++;
    socket.write(Buffer.from([0x90, 2 + topics, body[0] ?? 0, body[1] ?? 0, ...Array(topics).fill(0)]));
  } else if (type === TYPES.ping) socket.write(PINGRESP);
  script(packet, socket);
}

/**
 * @template Result
 * @param {Script} script @param {object} mqtt @param {(program: Program) => Promise<Result>} use
 * @param {object} [holding]
 */
function withBench(script, mqtt, use, holding = [{ address: 0, name: 'level', value: 1 }]) {
  const devices = { meter: { registers: { holding } } };
  const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
  return withBroker(script, mqtt, { devices, lines }, use);
}

/**
 * @template Result
 * @param {Script} script @param {object} mqtt
 * @param {{devices: object, lines: object, env?: Record<string, string>}} bench @param {(program: Program) => Promise<Result>} use
 */
export async function withBroker(script, mqtt, { env, ...bench }, use) {
  const { url, close } = await broker(script);
  const program = await startProgram({
    config: { ...bench, mqtt: { url, topic: TOPIC, publish: { every: 100 }, ...mqtt } },
    ...(env && { env }),
  });
  try {
    return await use(program);
  } finally {
    await program.stop();
    close();
  }
}

/** Waits for a log message. @param {Program} program @param {RegExp} pattern */
async function said({ output }, pattern) {
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; await delay(50)) {
    const [found] = output.stderr.match(pattern) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error(`no match for ${pattern} in ${output.stderr.slice(-2000)}`);
}

/**
 * The maximum memory that the program uses while a broker sends as fast as it can, for at most 12 s.
 * @param {Generator<Buffer>} chunks @param {RegExp} sentence the log message that ends it
 */
async function flooded(chunks, sentence) {
  const sending = new Set();
  const script = (/** @type {Packet} */ { type }, /** @type {import('node:net').Socket} */ socket) => {
    if (type !== TYPES.subscribe || sending.has(socket)) return;
    sending.add(socket);
    const send = () => {
      while (!socket.destroyed) {
        const { value, done } = chunks.next();
        if (done || !socket.write(value)) break;
      }
    };
    socket.on('drain', send);
    send();
  };
  return withBench(script, { commands: 'all' }, async (program) => {
    const before = residentMb(program.pid);
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMb(program.pid));
    }, 20);
    const found = await said(program, sentence).finally(() => clearInterval(sampling));
    assert.ok(peak - before < MORE_MB, `memory grew by ${(peak - before).toFixed(0)} MB`);
    return `${found}; memory grew by at most ${(peak - before).toFixed(0)} MB`;
  });
}

export function sendWithoutEnd() {
  const chunks = function* () {
    // Announces 200 MB, on the topic of a value.
    yield Buffer.from([0x30, ...remaining(200_000_000)]);
    for (let sent = 0; sent < 200_000_000; sent += 65_536) yield Buffer.alloc(65_536);
  };
  return flooded(chunks(), /the broker sent a packet of 200000000 bytes[^"]*/);
}

export function neverRelease() {
  const chunks = function* () {
    const payload = Buffer.alloc(65_536);
    for (let id = 1; id < 0xffff; id++) yield publish(`${TOPIC}/devices/meter/set/level`, payload, id);
  };
  return flooded(chunks(), /the broker has not released \d+ QoS 2 messages[^"]*/);
}

const PINGS = 400;
const LONG_CORRELATION = 'x'.repeat(2 ** 20);

/**
 * The data for an answer are kept until it is complete. A program with a small heap gets 400 MB of them, and
 * keeps running.
 */
export async function pingAtLength() {
  /** @type {string[]} */
  const answers = [];
  let isSending = false;
  const script = (
    /** @type {Packet} */ { type, flags, body },
    /** @type {import('node:net').Socket} */ socket,
  ) => {
    if (type === TYPES.publish) {
      const end = 2 + body.readUInt16BE(0);
      if ((flags & 6) !== 0) socket.write(Buffer.from([0x40, 2, body[end] ?? 0, body[end + 1] ?? 0]));
      if (body.toString('utf8', 2, end) === ANSWERS_TO) answers.push(body.toString('utf8', end));
    }
    if (type !== TYPES.subscribe || isSending) return;
    isSending = true;
    const ping = (/** @type {string} */ correlation) => {
      const request = { responseTopic: ANSWERS_TO, correlation, input: {} };
      return publish(`${TOPIC}/command/program.ping`, Buffer.from(JSON.stringify(request)));
    };
    const long = ping(LONG_CORRELATION);
    let sent = 0;
    const send = () => {
      while (!socket.destroyed && sent < PINGS) {
        sent++;
        if (!socket.write(long)) return;
      }
      socket.off('drain', send).write(ping('short'));
    };
    socket.on('drain', send);
    send();
  };
  const devices = { meter: { registers: { holding: [{ address: 0 }] } } };
  const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
  const env = { NODE_OPTIONS: '--max-old-space-size=256' };
  return withBroker(script, { commands: 'all' }, { devices, lines, env }, async (program) => {
    const before = residentMb(program.pid);
    await until(() => answers.length > 0, 'the last ping is answered');
    const more = residentMb(program.pid) - before;
    assert.match(answers.join(''), /"correlation":"short"/);
    assert.equal(answers.length, 1, 'a ping with a long correlation was answered');
    assert.doesNotMatch(program.output.stderr, /REST thread/);
    return `${PINGS} pings with 1 MB of correlation refused, the next ping answered; memory grew by ${more.toFixed(0)} MB`;
  });
}

export async function takeTheName() {
  let connections = 0;
  const script = (/** @type {Packet} */ { type }, /** @type {import('node:net').Socket} */ socket) => {
    if (type !== TYPES.connect) return;
    connections++;
    // Like a broker does when another client connects with the same identifier.
    setTimeout(() => socket.destroy(), 50);
  };
  return withBench(script, { client: 'bench' }, async (program) => {
    const found = await said(
      program,
      /perhaps another client has the client identifier bench[^"]*connects and disconnects repeatedly[^"]*/,
    );
    const lines = () => program.output.stderr.split('\n').filter((line) => line.includes('MQTT')).length;
    const [told, made, since] = [lines(), connections, performance.now()];
    await until(() => connections >= made + 3, 'the program reconnects three times');
    // The pauses before the last two are at least 1 s and 2 s. The first one may have begun long ago.
    const took = performance.now() - since;
    assert.ok(took > 2500, `three connections in ${took.toFixed(0)} ms`);
    assert.equal(lines(), told, 'the log keeps growing');
    return `${found}; ${told} log entries`;
  });
}

/** More than fit in the message queue. */
const ANSWERS = 60;

export async function holdBack() {
  /** @type {string[]} */
  const values = [];
  /** @type {Buffer[]} */
  let held = [];
  let isHolding = false;
  /** @type {import('node:net').Socket | undefined} */
  let client;
  const script = (
    /** @type {Packet} */ { type, flags, body },
    /** @type {import('node:net').Socket} */ socket,
  ) => {
    client = socket;
    if (type !== TYPES.publish) return;
    const end = 2 + body.readUInt16BE(0);
    const isValue = body.toString('utf8', 2, end) === `${TOPIC}/devices/meter/values/level`;
    const hasId = (flags & 6) !== 0;
    if (isValue) values.push(body.toString('utf8', end + (hasId ? 2 : 0)));
    const ack = Buffer.from([0x40, 2, body[end] ?? 0, body[end + 1] ?? 0]);
    if (isHolding) held.push(ack);
    else if (hasId) socket.write(ack);
  };
  const holding = Array.from({ length: 2000 }, (_, address) => ({
    address,
    value: 1,
    ...(address === 0 && { name: 'level' }),
  }));
  return withBench(
    script,
    { commands: 'all' },
    async (program) => {
      await until(() => values.at(-1) === '1', 'the first value');
      isHolding = true;
      const body = JSON.stringify({ changes: [{ table: 'holding', address: 0, value: 4711 }] });
      const ask = (/** @type {number} */ count) => {
        for (let i = 0; i < count; i++) {
          const input = { device: 'meter', from: 0, to: 1999 };
          const request = JSON.stringify({
            responseTopic: 'modbus-sim/x',
            correlation: Math.random(),
            input,
          });
          client?.write(publish(`${TOPIC}/command/value.list`, Buffer.from(request)));
        }
      };
      ask(32);
      await until(() => held.length >= 32, 'the limit of unacknowledged messages is reached');
      const url = `${program.restUrl()}/api/v1/devices/meter/registers`;
      const headers = { 'content-type': 'application/json' };
      assert.equal((await fetch(url, { method: 'PATCH', body, headers })).status, 200);
      await until(async () => (await mqttOf(program)).waiting > 0, 'the new value waits');
      ask(ANSWERS);
      await until(async () => (await mqttOf(program)).lost > 0, 'a message is given up');
      isHolding = false;
      for (const ack of held) client?.write(ack);
      held = [];
      await until(() => values.at(-1) === '4711', 'the newest value');
      return `messages lost: ${(await mqttOf(program)).lost}; the newest value arrived`;
    },
    holding,
  );
}

/** @param {Program} program @returns {Promise<{waiting: number, lost: number}>} */
async function mqttOf(program) {
  const answer = await fetch(`${program.restUrl()}/api/v1/mqtt`);
  return /** @type {{mqtt: {waiting: number, lost: number}}} */ (await answer.json()).mqtt;
}

/** @param {() => boolean | Promise<boolean>} holds @param {string} what */
export async function until(holds, what) {
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; await delay(50))
    if (await holds()) return;
  throw new Error(`never: ${what}`);
}
