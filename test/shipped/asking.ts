import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv6, type Socket } from 'node:net';

/** What the meters of benches, and the real device, hold from address 0 on. */
export const VALUES = [1, 2, 3];

/** Reads them from a unit, over Modbus TCP or UDP. */
const request = (unit: number) => Buffer.from([0, 1, 0, 0, 0, 6, unit, 3, 0, 0, 0, VALUES.length]);

/** The reply of a unit, in hexadecimal. */
export function reply(unit: number): string {
  const values = VALUES.flatMap((value) => [0, value]);
  return Buffer.from([0, 1, 0, 0, 0, 9, unit, 3, 6, ...values]).toString('hex');
}

/** What a unit replies on a connection that may still be opening, in hexadecimal. */
export async function asked(socket: Socket, unit: number): Promise<string> {
  socket.write(request(unit));
  const [bytes] = await once(socket, 'data');
  socket.destroy();
  return bytes.toString('hex');
}

/** What a unit replies to a datagram, in hexadecimal. */
export async function askedByUdp(host: string, port: number, unit: number): Promise<string> {
  const { address } = await lookup(host);
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  socket.send(request(unit), port, address);
  const [bytes] = await once(socket, 'message');
  socket.close();
  return bytes.toString('hex');
}
