import { createSocket } from 'node:dgram';
import { close, constants, open, write } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { secure } from './good-client.mjs';

/** @typedef {import('./good-client.mjs').Target} Target */

/**
 * Accepts bytes as fast as the line does. @typedef {{send: (bytes: Buffer) => Promise<void>, close: () =>
 * Promise<void>}} Sink
 */

/** TLS client contexts, which are costly to create. @type {Map<string, import('node:tls').SecureContext>} */
const contexts = new Map();

/**
 * A new connection, perhaps not open yet. Errors end it and are ignored: an attacker must expect to be
 * disconnected.
 * @param {Target} target
 * @param {{plain?: boolean}} [how] `plain`: no TLS, whatever the line requires
 */
export function dial({ port, tls }, { plain = false } = {}) {
  if (tls === undefined || plain) return connect(port, '127.0.0.1').on('error', () => {});
  const secureContext = contexts.get(tls.cert) ?? createSecureContext(secure(port, tls));
  contexts.set(tls.cert, secureContext);
  const { host, checkServerIdentity } = secure(port, tls);
  return connectTls({ port, host, secureContext, checkServerIdentity }).on('error', () => {});
}

/** Waits for the first of some events. @param {import('node:net').Socket} socket @param {...string} events */
export function oneOf(socket, ...events) {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) socket.off(event, done);
      resolve(undefined);
    };
    for (const event of events) socket.on(event, done);
  });
}

/** @param {import('node:net').Socket} socket */
export async function hangUp(socket) {
  const closed = socket.closed ? undefined : oneOf(socket, 'close');
  socket.destroy();
  await closed;
}

/**
 * Sends bytes to this line. On a socket, a closed connection is replaced by a new one.
 * @param {Target} target
 * @param {{plain?: boolean}} [how]
 * @returns {Promise<Sink>}
 */
export async function openSink(target, how) {
  switch (target.kind) {
    case 'serial':
      return serialSink(target);
    case 'udp':
      return udpSink(target);
    default:
      return streamSink(target, how);
  }
}

/** @param {Target} target @param {{plain?: boolean}} [how] @returns {Sink} */
function streamSink(target, how) {
  const call = () => dial(target, how).on('data', () => {});
  let socket = call();
  return {
    async send(bytes) {
      if (socket.destroyed || !socket.writable) {
        socket.destroy();
        socket = call();
      }
      if (!socket.write(bytes) && !socket.destroyed) {
        await oneOf(socket, 'drain', 'close');
      }
    },
    close: () => hangUp(socket),
  };
}

/** @param {Target} target @returns {Sink} */
function udpSink({ port }) {
  const socket = createSocket('udp4').on('error', () => {});
  return {
    send: (bytes) => new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', () => resolve())),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** Only writes: the line's answers stay in its buffer. @param {Target} target @returns {Promise<Sink>} */
async function serialSink({ path }) {
  const descriptor = await promisify(open)(path, constants.O_WRONLY | constants.O_NOCTTY);
  return {
    async send(bytes) {
      for (let written = 0; written < bytes.length; ) {
        ({ bytesWritten: written } = await writeFrom(descriptor, bytes, written));
      }
    },
    close: () => promisify(close)(descriptor),
  };
}

/** @param {number} descriptor @param {Buffer} bytes @param {number} from @returns {Promise<{bytesWritten: number}>} */
async function writeFrom(descriptor, bytes, from) {
  const { bytesWritten } = await promisify(write)(descriptor, bytes, from);
  return { bytesWritten: from + bytesWritten };
}
