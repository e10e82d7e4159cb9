import { renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { openPty } from '../../../src/modbus/transport/port/pty.js';
import { pause } from './clients.js';

/** A pseudo-terminal in the place of an adapter: the simulator opens `link`, this is the other end of its wire. */
export interface Wire {
  send(bytes: Uint8Array): void;
  /** What has come since the last call. */
  take(): Uint8Array;
  /** Sends a request again and again until `length` bytes have come; the newest of them, or fewer when it took too long. */
  ask(request: Uint8Array, length: number, limitMs: number): Promise<Uint8Array>;
  /** Has somebody the port open? */
  isOpened(): boolean;
  /** Hangs up, as a driver does whose adapter is gone; the link stays. */
  hangUp(): Promise<void>;
}

/** A client's pause before it asks again: longer than the discard gap of a pseudo-terminal at 9600 baud. */
const ASK_AGAIN_MS = 120;

/** Plugs in a new adapter under this name, in the place of the one that may be there. */
export async function plugIn(link: string): Promise<Wire> {
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  const { pty } = opened;
  const stream = new ReadStream(pty.masterFd);
  const received: number[] = [];
  stream.on('data', (chunk: Uint8Array) => received.push(...chunk));
  stream.on('error', () => {});
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  symlinkSync(pty.path, `${link}.new`);
  renameSync(`${link}.new`, link);

  const take = () => Uint8Array.from(received.splice(0));
  return {
    send: (bytes) => void stream.write(bytes),
    take,
    async ask(request, length, limitMs) {
      const giveUpAt = performance.now() + limitMs;
      while (performance.now() < giveUpAt) {
        take();
        stream.write(request);
        await pause(ASK_AGAIN_MS);
        // A busy machine answers several of them at once, or one that was asked before by now.
        const newest = received.slice(-length);
        if (newest.length === length && ((newest[1] ?? 0) & 0x7f) === request[1])
          return take().slice(-length);
      }
      return take();
    },
    isOpened: () => pty.hasClient(),
    hangUp: async () => {
      pty.close();
      stream.destroy();
      await closed;
    },
  };
}

/** Takes the adapter of this name out. */
export async function unplug(link: string, wire: Wire): Promise<void> {
  unlinkSync(link);
  await wire.hangUp();
}
