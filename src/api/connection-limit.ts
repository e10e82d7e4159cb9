import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The limit unless the configuration sets another. */
export const MAX_CONNECTIONS = 64;

/** Connections that the system may queue. */
export const BACKLOG = 32;

/** File descriptors that stay free for the lines. */
const RESERVED_DESCRIPTORS = 32;

/**
 * Limits the number of connections, and refuses one that would leave the lines too few file descriptors.
 * @param descriptors how many file descriptors the process may have
 * @returns a function that ends all connections, those in a TLS handshake too
 */
export function limitConnections(
  server: Server,
  maxConnections: number = MAX_CONNECTIONS,
  descriptors: number = descriptorLimit(),
): () => void {
  const open = new Set<Socket>();
  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (descriptorOf(socket) >= descriptors - RESERVED_DESCRIPTORS) socket.destroy();
  });
  return () => {
    for (const socket of open) socket.destroy();
  };
}

/** The file descriptor of a socket. The system gives the lowest one that is free, so it shows how many are in use. */
function descriptorOf(socket: Socket): number {
  const { _handle } = socket as { _handle?: { fd?: number } };
  return _handle?.fd ?? 0;
}

/** How many descriptors the process may have; no limit when the system does not report one. */
function descriptorLimit(): number {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
