import type { Socket, SocketOptions } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { cannotListen, type Listening, refused, STOPPED } from './listen.js';

/**
 * For `createSocket`: IP addresses are not looked up, so that a reply leaves within the call that sends it and not
 * one turn later.
 */
export const lookupNames: NonNullable<SocketOptions['lookup']> = (host, options, found) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, found);
  else found(null, host, family);
};

/** Binds `socket`; every way to fail is a sentence that names the place, and leaves the socket closed. */
export function listenUdp(socket: Socket, host: string, port: number): Promise<Listening> {
  return new Promise((resolve) => {
    const settle = (listening: Listening) => {
      socket.off('listening', bound).off('error', fail).off('close', close);
      resolve(listening);
    };
    const bound = () => {
      const { address, port } = socket.address();
      settle({ ok: true, address, port });
    };
    const fail = (error: Error) => {
      settle(refused(host, port, error));
      socket.close();
    };
    const close = () => settle(cannotListen(host, port, STOPPED));
    socket.on('listening', bound).on('error', fail).on('close', close);
    // Not shared with another process of a cluster.
    socket.bind({ address: host, port, exclusive: true });
  });
}
