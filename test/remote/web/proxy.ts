import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A network between browser and simulator that fails on demand. */
export class Network {
  url = '';
  readonly #target: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isDown = false;
  #isStalled = false;
  /** Bytes of answers that still pass before all connections are cut. */
  #left = Number.POSITIVE_INFINITY;

  constructor(target: string) {
    this.#target = Number(new URL(target).port);
  }

  /** Every connection is cut, and no other one comes about until `mend`. */
  cut(): void {
    this.#isDown = true;
    this.#destroyAll();
  }

  /** Every connection stays, and nothing passes any of them until `mend`. */
  stall(): void {
    this.#isStalled = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Cuts all connections after this many bytes of answers, wherever that is; no other begins until `mend`. */
  cutAfter(bytes: number): void {
    this.#left = bytes;
  }

  mend(): void {
    this.#isDown = false;
    this.#isStalled = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  async begin(): Promise<void> {
    const server = createServer((client) => this.#join(client));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not a TCP socket');
    this.url = `http://127.0.0.1:${address.port}`;
    onTestFinished(() => {
      this.#destroyAll();
      server.close();
    });
  }

  #join(client: Socket): void {
    if (this.#isDown) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
      if (this.#isStalled) socket.pause();
    }
    client.on('data', (bytes) => void server.write(bytes));
    server.on('data', (bytes: Buffer) => {
      client.write(bytes.subarray(0, this.#left));
      this.#left -= bytes.length;
      if (this.#left > 0) return;
      this.#left = Number.POSITIVE_INFINITY;
      this.#isDown = true;
      // What was written before still arrives.
      for (const [each, other] of this.#pairs) each.end(() => other.destroy());
    });
  }

  #destroyAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }
}

/** A network in front of a simulator, until the test ends. */
export async function networkTo({ url }: { readonly url: string }): Promise<Network> {
  const network = new Network(url);
  await network.begin();
  return network;
}
