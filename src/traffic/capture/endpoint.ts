/** One end of a conversation on IP. */
export interface Endpoint {
  /** Four bytes (IPv4) or sixteen (IPv6). */
  readonly address: Uint8Array;
  readonly port: number;
}

/** The address of a client as events have it: `192.168.0.7:40112` or `[fe80::1%eth0]:40112`. */
export function endpointOf(client: string): Endpoint {
  const colon = client.lastIndexOf(':');
  return { address: addressOf(client.slice(0, colon)), port: Number(client.slice(colon + 1)) };
}

/** The bytes of an address; a name, which is no address, yields 0.0.0.0. */
export function addressOf(text: string): Uint8Array {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (IPV4.test(bare)) return Uint8Array.from(bare.split('.'), Number);
  return bare.includes(':') ? ipv6(bare) : new Uint8Array(4);
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Fills up what `::` stands for. The last four bytes may be written as an IPv4 address. */
function ipv6(text: string): Uint8Array {
  const [front = '', back] = text.split('::');
  const [head, tail] = [groups(front), groups(back ?? '')];
  const bytes = new Uint8Array(16);
  bytes.set(head.slice(0, 16));
  if (tail.length > 0) bytes.set(tail, Math.max(0, 16 - tail.length));
  return bytes;
}

function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (IPV4.test(group)) return group.split('.').map(Number);
    const word = Number.parseInt(group, 16) || 0;
    return [word >>> 8, word & 0xff];
  });
}
