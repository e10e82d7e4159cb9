import { pbkdf2 } from 'node:crypto';
import { ReadStream } from 'node:tty';
import { afterEach, expect, it } from 'vitest';
import { type LibcResult, loadLibc, TCGETS2, TCSETS2 } from '../../../../src/modbus/transport/port/libc.js';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';
import { openRealPort } from '../../../../src/modbus/transport/port/real-port.js';
import { TERMIOS2_BYTES } from '../../../../src/modbus/transport/port/termios.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A port on a pseudo-terminal; what is sent is what arrives there. */
async function newPort(load?: () => Promise<LibcResult>) {
  const [loaded, opened] = [await loadLibc(), await openPty()];
  if (!loaded.ok || !opened.ok) throw new Error('no pseudo-terminal');
  const { pty } = opened;
  const master = new ReadStream(pty.masterFd);
  master.on('error', () => {});
  const hangUp = (): void => {
    master.destroy();
    pty.close();
  };
  ends.push(hangUp);
  const chunks: Uint8Array[] = [];
  const closings: string[] = [];
  const result = await openRealPort(
    { path: pty.path, baudRate: 19200, dataBits: 8, parity: 'none', stopBits: 1 },
    {
      onData: (chunk) => chunks.push(chunk),
      onDamaged() {},
      onClose: (reason) => closings.push(reason),
    },
    load,
  );
  if (!result.ok) throw new Error(result.error);
  ends.push(() => result.port.close());
  const received = (): number[] => chunks.flatMap((chunk) => [...chunk]);
  const send = (bytes: readonly number[]) => master.write(Uint8Array.from(bytes));
  return { libc: loaded.libc, pty, port: result.port, send, received, chunks, closings, hangUp };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it('hears bytes while every thread of the pool is busy', async () => {
  const { send, received } = await newPort();
  const order: string[] = [];
  // Four are at work, and the fifth waits for one of them; none of them is called off.
  const busy = Array.from(
    { length: 5 },
    () =>
      new Promise<void>((resolve) =>
        pbkdf2('', '', 500_000, 64, 'sha512', () => {
          order.push('thread');
          resolve();
        }),
      ),
  );
  send([1, 2, 3]);
  await expect.poll(received, { interval: 5 }).toEqual([1, 2, 3]);
  order.push('heard');
  await Promise.all(busy);
  expect(order[0]).toBe('heard');
});

it('loses none of many bytes, and overwrites none that were passed on', async () => {
  const { send, received } = await newPort();
  const all: number[] = [];
  for (let i = 0; i < 30; i++) {
    const some = Array.from({ length: 997 }, (_, j) => (i + j) % 251);
    all.push(...some);
    // A pseudo-terminal that is full would block this thread, which has both sides.
    send(some);
    await expect.poll(() => received().length, { interval: 1 }).toBe(all.length);
  }
  expect(received()).toEqual(all);
});

it('hears nothing more once it is closed', async () => {
  const { port, send, received, closings } = await newPort();
  send([1]);
  await expect.poll(received).toEqual([1]);
  await port.close();
  send([2]);
  await pause(20);
  expect(received()).toEqual([1]);
  expect(closings).toEqual([]);
});

it('is gone when it is hung up between two reads, whether or not the C library can be asked', async () => {
  for (const load of [undefined, async () => ({ ok: false, error: 'koffi did not load' }) as const]) {
    const { hangUp, closings, pty } = await newPort(load);
    hangUp();
    await expect.poll(() => closings).toEqual([expect.stringMatching(`^${pty.path}: hung up \\(`)]);
  }
});

it('stays when a program sets its terminal to deliver nothing in place of waiting', async () => {
  const { libc, pty, send, received, closings } = await newPort();
  const settings = Buffer.alloc(TERMIOS2_BYTES);
  expect(libc.ioctl(pty.masterFd, TCGETS2, settings)).toBe(0);
  // c_cc[VMIN], which serialport sets to 1.
  settings[17 + 6] = 0;
  expect(libc.ioctl(pty.masterFd, TCSETS2, settings)).toBe(0);
  for (const byte of [1, 2, 3]) {
    send([byte]);
    await expect.poll(() => received().length).toBe(byte);
  }
  expect(closings).toEqual([]);
});
