import { closeSync, constants, openSync, readSync, statSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { loadLibc, TCGETS2, TIOCEXCL, TIOCGEXCL } from '../../../../src/modbus/transport/port/libc.js';
import { openPty, type Pty } from '../../../../src/modbus/transport/port/pty.js';
import { parseTermios2, TERMIOS2_BYTES } from '../../../../src/modbus/transport/port/termios.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function newPty(): Promise<Pty> {
  const result = await openPty();
  if (!result.ok) throw new Error(result.error);
  ends.push(() => {
    result.pty.close();
    closeSync(result.pty.masterFd);
  });
  return result.pty;
}

const openClient = (pty: Pty): number =>
  openSync(pty.path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);

function readAll(fd: number): number[] {
  const buffer = Buffer.alloc(8192);
  try {
    return [...buffer.subarray(0, readSync(fd, buffer))];
  } catch {
    return [];
  }
}

const all256 = Uint8Array.from({ length: 256 }, (_, value) => value);

describe('a pseudo-terminal pair', () => {
  it('passes all 256 byte values unchanged, both ways', async () => {
    const pty = await newPty();
    const client = openClient(pty);
    ends.push(() => closeSync(client));

    writeSync(pty.masterFd, all256);
    const atClient: number[] = [];
    await expect.poll(() => atClient.push(...readAll(client)) && atClient.length).toBe(256);
    expect(atClient).toEqual([...all256]);

    writeSync(client, all256);
    const atMaster: number[] = [];
    await expect.poll(() => atMaster.push(...readAll(pty.masterFd)) && atMaster.length).toBe(256);
    expect(atMaster).toEqual([...all256]);
  });

  it.each([
    [0o007, 0o660],
    [0o077, 0o600],
  ])('is for the group of the process, as far as the umask %o allows', async (umask, mode) => {
    const before = process.umask(umask);
    const pty = await newPty().finally(() => process.umask(before));
    const stats = statSync(pty.path);
    expect(stats.mode & 0o777).toBe(mode);
    expect(stats.gid).toBe(process.getegid?.());
  });

  it('knows whether a client has it open', async () => {
    const pty = await newPty();
    expect(pty.hasClient()).toBe(false);
    const first = openClient(pty);
    const second = openClient(pty);
    expect(pty.hasClient()).toBe(true);
    closeSync(first);
    expect(pty.hasClient()).toBe(true);
    closeSync(second);
    expect(pty.hasClient()).toBe(false);
  });

  it('loses nothing of what a client wrote before it closed', async () => {
    const pty = await newPty();
    const client = openClient(pty);
    writeSync(client, Buffer.from('abc'));
    closeSync(client);
    expect(pty.hasClient()).toBe(false);
    await expect.poll(() => readAll(pty.masterFd)).toEqual([...Buffer.from('abc')]);
  });

  it('throws away what nobody read, even when its buffers were full', async () => {
    const pty = await newPty();
    const fill = (): void => {
      for (;;) writeSync(pty.masterFd, all256);
    };
    expect(fill).toThrow('EAGAIN');
    await expect.poll(() => pty.unread()).toBeGreaterThan(4000);
    pty.discardUnread();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pty.unread()).toBe(0);
    const client = openClient(pty);
    expect(readAll(client)).toEqual([]);
    closeSync(client);
  });

  it('keeps the exclusive mode of a client that is there, and ends that of one that left', async () => {
    const pty = await newPty();
    const loaded = await loadLibc();
    if (!loaded.ok) throw new Error(loaded.error);
    const flag = Buffer.alloc(4);
    const exclusive = (fd: number): boolean =>
      loaded.libc.ioctl(fd, TIOCGEXCL, flag) === 0 && flag.readInt32LE() === 1;

    const client = openClient(pty);
    loaded.libc.ioctl(client, TIOCEXCL, null);
    expect(pty.hasClient()).toBe(true);
    expect(exclusive(client)).toBe(true);
    closeSync(client);
    expect(pty.hasClient()).toBe(false);
    const next = openClient(pty);
    expect(exclusive(next)).toBe(false);
    closeSync(next);
  });

  it('is set to 8 bits without parity', async () => {
    const pty = await newPty();
    const loaded = await loadLibc();
    if (!loaded.ok) throw new Error(loaded.error);
    const client = openClient(pty);
    const settings = Buffer.alloc(TERMIOS2_BYTES);
    expect(loaded.libc.ioctl(client, TCGETS2, settings)).toBe(0);
    closeSync(client);
    expect(parseTermios2(settings)).toMatchObject({ dataBits: 8, parity: 'none' });
  });
});
