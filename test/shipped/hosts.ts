import { once } from 'node:events';
import { createServer } from 'node:net';
import { hostname } from 'node:os';

/** The names that a machine may have for itself, beside localhost: its own, and those of Debian's /etc/hosts. */
const NAMES = [hostname(), 'ip6-localhost', 'ip6-loopback'];

/** Whether this machine knows the host as one of its own. */
async function isHere(host: string): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(0, host);
  try {
    await listening;
    server.close();
    return true;
  } catch {
    return false;
  }
}

/** What the machine that runs the tests lacks is not tried, and is said. */
async function found(what: string, candidates: readonly string[]): Promise<string[]> {
  for (const host of candidates) if (await isHere(host)) return [host];
  process.stderr.write(`test/shipped: ${what} left out: this machine has no ${candidates.join(', no ')}\n`);
  return [];
}

/** One host of each kind that people write: a name everyone has, a name of this machine, an address of IPv6 and one of IPv4. */
export const HOSTS = [
  'localhost',
  ...(await found('another name', NAMES)),
  ...(await found('IPv6', ['::1'])),
  '127.0.0.1',
];

/** A host as it is written before a colon and a port. */
export function beforePort(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
