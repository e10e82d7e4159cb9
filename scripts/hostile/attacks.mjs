import { randomBytes, randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { setTimeout as delay } from 'node:timers/promises';
import { adu, nonsense, READ, wrongLengths } from './frames.mjs';
import { dial, hangUp, oneOf, openSink } from './sinks.mjs';

/** @typedef {import('./good-client.mjs').Target} Target */

/**
 * An attack on a line.
 * @typedef {object} Attack
 * @property {string} name
 * @property {readonly Target['kind'][]} on
 * @property {(target: Target, options: {ms: number, count: number}) => Promise<string>} run Takes `ms` ms, or
 * does something `count` times; returns the amount in a few words.
 */

const FLOOD_BYTES_PER_S = 10_000_000;
/**
 * Small valid datagrams. If there are more than a program can read, the system drops any of them, and no
 * program can tell whose. A stream slows its sender down instead.
 */
const FLOOD_DATAGRAMS_PER_S = 20_000;
/** Below a line's limit of connections, with room for the well-behaved client. */
const HELD_CONNECTIONS = 200;
const GREEDY_CONNECTIONS = 20;
/** Connections in progress at the same time. */
const AT_ONCE = 40;
const CHUNK = 4096;
/** This includes datagrams larger than any message. */
const MAX_DATAGRAM = 2048;

/** @type {readonly Target['kind'][]} */
const ALL = ['tcp', 'tls', 'udp', 'serial'];
/** @type {readonly Target['kind'][]} */
const STREAMS = ['tcp', 'tls'];

const HALF_TLS_RECORD = Buffer.from([22, 3, 1]);

const noise = randomBytes(1 << 20);

/** @param {number} most */
function anyNoise(most) {
  const start = randomInt(noise.length - most);
  return noise.subarray(start, start + most);
}

/** @type {readonly Attack[]} */
export const ATTACKS = [
  {
    name: 'random bytes',
    on: ALL,
    run: (target, { ms }) =>
      flood(target, ms, () => anyNoise(target.kind === 'udp' ? randomInt(1, MAX_DATAGRAM) : CHUNK), {
        plain: true,
      }),
  },
  {
    name: 'random bytes inside TLS',
    on: ['tls'],
    run: (target, { ms }) => flood(target, ms, () => anyNoise(CHUNK)),
  },
  {
    name: 'valid frames with meaningless content',
    on: ALL,
    run: (target, { ms }) =>
      flood(
        target,
        ms,
        picker(target, () => nonsense(target.framing)),
      ),
  },
  { name: 'half a header, then silence', on: ALL, run: halfHeaders },
  { name: 'length fields that are 0 or too large', on: ALL, run: lengths },
  {
    name: 'connections opened and closed at once',
    on: STREAMS,
    run: (target, { count }) =>
      times(count, (i) => openAndClose(target, i, { plain: i % 20 > 0 })).then((n) => `${n} connections`),
  },
  {
    name: 'a new address for each request',
    on: ['udp'],
    run: (target, { count }) => times(count, () => fromNewAddress(target)).then((n) => `${n} addresses`),
  },
  { name: 'sends and never reads', on: ALL, run: neverReads },
];

/**
 * Sends the output of `make` at 10 MB/s, or as fast as it is accepted. @param {Target} target @param {number}
 * ms @param {() => Buffer} make @param {{plain?: boolean}} [how]
 */
async function flood(target, ms, make, how) {
  const sink = await openSink(target, how);
  const inDatagrams = target.kind === 'udp' && how === undefined;
  const perSecond = inDatagrams ? FLOOD_DATAGRAMS_PER_S : FLOOD_BYTES_PER_S;
  const startedAt = performance.now();
  let sent = 0;
  let paced = 0;
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - startedAt) {
    const due = (elapsed / 1000) * perSecond;
    const behind = performance.now() + 20;
    while (paced < due && performance.now() < behind) {
      const bytes = make();
      await sink.send(bytes);
      sent += bytes.length;
      paced += inDatagrams ? 1 : bytes.length;
    }
    await delay(1);
  }
  await sink.close();
  return `${(sent / 1000 / (performance.now() - startedAt)).toFixed(1)} MB/s`;
}

/** About 4 KiB of frames, for a stream, or one datagram. @param {Target} target @param {() => Buffer} make */
function picker(target, make) {
  const pool = Array.from({ length: 64 }, () => {
    if (target.kind === 'udp') return make();
    const frames = [make()];
    for (let length = 0; length < CHUNK; length += frames.at(-1)?.length ?? 0) frames.push(make());
    return Buffer.concat(frames);
  });
  return () => pool[randomInt(pool.length)] ?? make();
}

/** @type {Attack['run']} */
async function halfHeaders(target, { ms }) {
  const half = adu(target.framing, READ).subarray(0, target.framing === 'ascii' ? 5 : 3);
  if (target.kind === 'udp' || target.kind === 'serial') {
    const sink = await openSink(target);
    await sink.send(half);
    await delay(ms);
    await sink.close();
    return 'once';
  }
  // On a TLS line it sends half the header of a TLS record, because 200 handshakes would be an attack of
  // their own.
  const sockets = Array.from({ length: HELD_CONNECTIONS }, () => dial(target, { plain: true }));
  for (const socket of sockets) socket.write(target.tls ? HALF_TLS_RECORD : half);
  await delay(ms);
  await Promise.all(sockets.map(hangUp));
  return `${sockets.length} connections`;
}

/** @type {Attack['run']} */
async function lengths(target, { ms }) {
  const wrong = wrongLengths(target.framing);
  const datagrams = [Buffer.alloc(0), Buffer.alloc(65_507, 0xa5)];
  const each = target.kind === 'udp' ? [...wrong, ...datagrams] : wrong;
  const endsAt = performance.now() + ms;
  let count = 0;
  while (performance.now() < endsAt) {
    const sink = await openSink(target);
    await sink.send(each[count++ % each.length] ?? Buffer.alloc(0));
    await delay(target.kind === 'serial' ? 20 : 2);
    await sink.close();
  }
  return `${count} times`;
}

/** @type {Attack['run']} */
async function neverReads(target, { ms }) {
  const make = picker(target, () => adu(target.framing, READ));
  // There the kernel drops data that is not read.
  if (target.kind === 'udp' || target.kind === 'serial') return flood(target, ms, make);
  const sockets = Array.from({ length: GREEDY_CONNECTIONS }, () => dial(target).pause());
  const endsAt = performance.now() + ms;
  let sent = 0;
  while (performance.now() < endsAt) {
    for (const socket of sockets) {
      if (socket.writableLength > CHUNK) continue;
      const bytes = make();
      socket.write(bytes);
      sent += bytes.length;
    }
    await delay(1);
  }
  await Promise.all(sockets.map(hangUp));
  return `${(sent / 1e6).toFixed(1)} MB on ${sockets.length} connections`;
}

/** @param {number} count @param {(i: number) => Promise<unknown>} work */
async function times(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return count;
}

/**
 * One connection in three closes at once, one with a reset, one in the middle of a header. @param {Target}
 * target @param {number} i @param {{plain?: boolean}} how
 */
async function openAndClose(target, i, how) {
  const isPlain = target.tls === undefined || how.plain;
  const socket = dial(target, how);
  await oneOf(socket, !isPlain ? 'secureConnect' : 'connect', 'close');
  // A TLS socket can't do this.
  if (i % 3 === 1 && isPlain) socket.resetAndDestroy();
  else if (i % 3 === 2) socket.write(adu(target.framing, READ).subarray(0, 5));
  await hangUp(socket);
}

/** @param {Target} target */
async function fromNewAddress({ port, framing }) {
  const socket = createSocket('udp4').on('error', () => {});
  await new Promise((resolve) => socket.send(adu(framing, READ), port, '127.0.0.1', resolve));
  await new Promise((resolve) => socket.close(() => resolve(undefined)));
}
