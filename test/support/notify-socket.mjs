import { closeSync, readSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

/**
 * The service manager's end of sd_notify(3). `messages` has every message so far, in order of arrival.
 * @typedef {{path: string, messages: () => readonly string[], close: () => void}} NotifySocket
 */

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;

/**
 * Opens a datagram socket at `path`. Node has no local datagram sockets, so the C library opens it.
 * @param {string} path @returns {NotifySocket}
 */
export function openNotifySocket(path) {
  const libc = koffi.load(null);
  /** @type {number} */
  const fd = libc.func('int socket(int, int, int)')(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  // struct sockaddr_un: the family, two bytes, and the path.
  const family = Buffer.from(Uint16Array.of(AF_UNIX).buffer);
  const address = Buffer.concat([family, Buffer.from(`${path}\0`)]);
  /** @type {number} */
  const bound = libc.func('int bind(int, void *, int)')(fd, address, address.length);
  if (fd < 0 || bound < 0) throw new Error(`${path}: ${getSystemErrorName(-koffi.errno())}`);
  /** @type {string[]} */
  const received = [];
  return {
    path,
    messages() {
      for (let message = receive(fd); message !== undefined; message = receive(fd)) received.push(message);
      return received;
    },
    close: () => closeSync(fd),
  };
}

/** @param {number} fd */
function receive(fd) {
  const buffer = Buffer.alloc(4096);
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer));
  } catch {
    return undefined;
  }
}
