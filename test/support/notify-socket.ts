import { closeSync, readSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

/** The service manager's end of sd_notify(3). */
export interface NotifySocket {
  readonly path: string;
  /** Every message so far, in the order of arrival. */
  messages(): readonly string[];
  close(): void;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;

/** Opens a socket for datagrams at `path`. Node has none of the local kind, so the C library opens it. */
export function openNotifySocket(path: string): NotifySocket {
  const libc = koffi.load(null);
  const fd: number = libc.func('int socket(int, int, int)')(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  // struct sockaddr_un: the family, two bytes, and the path.
  const address = Buffer.concat([Uint16Array.of(AF_UNIX), Buffer.from(`${path}\0`)].map(bytesOf));
  const bound: number = libc.func('int bind(int, void *, int)')(fd, address, address.length);
  if (fd < 0 || bound < 0) throw new Error(`${path}: ${getSystemErrorName(-koffi.errno())}`);
  const received: string[] = [];
  return {
    path,
    messages() {
      for (let message = receive(fd); message !== undefined; message = receive(fd)) received.push(message);
      return received;
    },
    close: () => closeSync(fd),
  };
}

function bytesOf(view: Uint8Array | Uint16Array): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function receive(fd: number): string | undefined {
  const buffer = Buffer.alloc(4096);
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer));
  } catch {
    return undefined;
  }
}
