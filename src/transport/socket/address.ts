import type { Socket } from 'node:net';

/** `127.0.0.1:502`, `[::1]:502`, `pi.local:502`. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The client as people know it; IPv4 clients of a dual-stack socket without their IPv6 prefix. */
export function clientName(address: string, port: number): string {
  return hostPort(address.replace(/^::ffff:(?=\d+\.)/i, ''), port);
}

/** The client at the other end of a TCP connection. */
export function clientAddress({ remoteAddress, remotePort }: Socket): string {
  // A client that reset its connection before it was accepted has none.
  if (remoteAddress === undefined || remotePort === undefined) return 'unknown';
  return clientName(remoteAddress, remotePort);
}
