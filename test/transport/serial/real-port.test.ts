import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { afterEach, describe, expect, it } from 'vitest';
import type { BytePort, OpenResult, SerialSettings } from '../../../src/transport/serial/port.js';
import { openPty } from '../../../src/transport/serial/pty.js';
import { openRealPort } from '../../../src/transport/serial/real-port.js';

// Permissions can't be tested here: tests run as root, whom no mode keeps out.

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The other end of the wire: what is written to it arrives at the port under `path`. */
async function newWire() {
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  const { pty } = opened;
  const stream = new ReadStream(pty.masterFd);
  const received: number[] = [];
  stream.on('data', (chunk: Uint8Array) => received.push(...chunk));
  stream.on('error', () => {});
  const hangUp = async (): Promise<void> => {
    if (stream.closed) return;
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.destroy();
    pty.close();
    await closed;
  };
  ends.push(hangUp);
  const pauseReading = (): unknown => stream.pause();
  return { path: pty.path, received, hangUp, pauseReading, send: (bytes: Uint8Array) => stream.write(bytes) };
}

const settingsOf = (path: string): SerialSettings => ({
  path,
  baudRate: 19200,
  dataBits: 8,
  parity: 'even',
  stopBits: 1,
});

async function open(settings: SerialSettings) {
  const received: number[] = [];
  const closings: string[] = [];
  const result = await openRealPort(settings, {
    onData: (chunk) => received.push(...chunk),
    onClose: (reason) => closings.push(reason),
  });
  if (result.ok) ends.push(() => result.port.close());
  return { result, received, closings };
}

function portOf(result: OpenResult): BytePort {
  if (!result.ok) throw new Error(result.error);
  return result.port;
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'real-port-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  return directory;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const all256 = Array.from({ length: 256 }, (_, value) => value);

describe('an open port', () => {
  it('passes all 256 byte values unchanged, both ways', async () => {
    const wire = await newWire();
    const { result, received } = await open(settingsOf(wire.path));
    const port = portOf(result);
    expect(port.path).toBe(wire.path);

    wire.send(Uint8Array.from(all256));
    await expect.poll(() => received).toEqual(all256);
    port.write(Uint8Array.from(all256));
    await expect.poll(() => wire.received).toEqual(all256);
  });

  it('writes everything in order when the driver takes only a part at once', async () => {
    const wire = await newWire();
    const { result } = await open(settingsOf(wire.path));
    const port = portOf(result);
    const expected = Array.from({ length: 200 * 256 }, (_, index) => (index >> 8) % 251);
    for (let count = 0; count < 200; count += 1) port.write(new Uint8Array(256).fill(count % 251));
    await expect.poll(() => wire.received.length, { timeout: 4000 }).toBe(expected.length);
    expect(wire.received).toEqual(expected);
  });

  it('is given up when the driver takes nothing for good, instead of filling the memory', async () => {
    const wire = await newWire();
    const { result, closings } = await open(settingsOf(wire.path));
    wire.pauseReading();
    for (let count = 0; count < 500; count += 1) portOf(result).write(new Uint8Array(256));
    await expect.poll(() => closings).toEqual([expect.stringContaining('takes no more bytes')]);
  });

  it('does not deliver bytes that arrived before it was opened', async () => {
    const wire = await newWire();
    wire.send(Uint8Array.of(1, 2, 3));
    await pause(50);
    const { received } = await open(settingsOf(wire.path));
    wire.send(Uint8Array.of(4));
    await expect.poll(() => received).toEqual([4]);
  });

  it('on a pseudo-terminal says that settings are not verified, and has no break', async () => {
    const wire = await newWire();
    const { result } = await open(settingsOf(wire.path));
    expect(result).toMatchObject({ ok: true, notes: [expect.stringContaining('is a pseudo-terminal')] });
    expect(portOf(result).sendBreak).toBeUndefined();
  });

  it('can be closed twice, without a report, and opened again', async () => {
    const wire = await newWire();
    const first = await open(settingsOf(wire.path));
    await Promise.all([portOf(first.result).close(), portOf(first.result).close()]);
    portOf(first.result).write(Uint8Array.of(9));
    const second = await open(settingsOf(wire.path));
    wire.send(Uint8Array.of(5));
    await expect.poll(() => second.received).toEqual([5]);
    portOf(second.result).write(Uint8Array.of(6));
    await expect.poll(() => wire.received).toEqual([6]);
    expect(first.closings).toEqual([]);
  });
});

describe('a path that is no free serial port is refused', () => {
  const errorOf = async (path: string): Promise<string> => {
    const { result } = await open(settingsOf(path));
    return result.ok ? 'opened' : result.error;
  };

  it('when nothing is there', async () => {
    expect(await errorOf('/dev/ttyNotThere')).toMatch(/^\/dev\/ttyNotThere: does not exist; /);
  });

  it('when a part of it is a file', async () => {
    expect(await errorOf('/etc/passwd/tty')).toMatch(
      /^\/etc\/passwd\/tty: (can't be looked at|does not exist)/,
    );
  });

  it('when it is a directory', async () => {
    expect(await errorOf('/dev')).toBe('/dev: is a directory, not a serial port');
  });

  it('when it is a regular file', async () => {
    const path = join(newDirectory(), 'file');
    writeFileSync(path, '');
    expect(await errorOf(path)).toBe(`${path}: is not a character device, so it is no serial port`);
  });

  it('when it is another kind of device, which is not even opened', async () => {
    expect(await errorOf('/dev/null')).toBe("/dev/null: is a device of the kind 'mem', not a serial port");
  });

  it('when another line of the simulator has it', async () => {
    const wire = await newWire();
    const first = await open(settingsOf(wire.path));
    expect(await errorOf(wire.path)).toBe(`${wire.path}: is in use by another line of this program`);
    wire.send(Uint8Array.of(1));
    await expect.poll(() => first.received).toEqual([1]);
  });

  it('when another program has it, which is named', async () => {
    const wire = await newWire();
    const serialport = JSON.stringify(createRequire(import.meta.url).resolve('serialport'));
    const code = `const { SerialPort } = require(${serialport});
      const port = new SerialPort({ path: ${JSON.stringify(wire.path)}, baudRate: 9600 });
      port.on('open', () => console.log('open'));
      setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    ends.push(() => holder.kill());
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(await errorOf(wire.path)).toMatch(
      new RegExp(`^${wire.path}: is in use by \\S+ \\(process ${holder.pid}\\); end it first$`),
    );
  });
});

describe('a port that goes away', () => {
  it('is reported once when its other end hangs up', async () => {
    const wire = await newWire();
    const { result, closings } = await open(settingsOf(wire.path));
    await wire.hangUp();
    await expect.poll(() => closings.length, { timeout: 3000 }).toBe(1);
    expect(closings[0]).toContain(wire.path);
    await pause(700);
    portOf(result).write(Uint8Array.of(1));
    await portOf(result).close();
    expect(closings).toHaveLength(1);
  });

  it('is reported when its name leads to another device', async () => {
    const [before, after] = [await newWire(), await newWire()];
    const link = join(newDirectory(), 'adapter');
    symlinkSync(before.path, link);
    const { result, closings } = await open(settingsOf(link));
    expect(result.ok).toBe(true);
    unlinkSync(link);
    symlinkSync(after.path, link);
    await expect.poll(() => closings, { timeout: 3000 }).toEqual([`${link}: is another device now`]);
  });

  it('is reported when its name vanishes, and can be opened again when it is back', async () => {
    const wire = await newWire();
    const link = join(newDirectory(), 'adapter');
    symlinkSync(wire.path, link);
    const first = await open(settingsOf(link));
    unlinkSync(link);
    await expect.poll(() => first.closings, { timeout: 3000 }).toEqual([`${link}: vanished`]);
    if (first.result.ok) await first.result.port.close();
    symlinkSync(wire.path, link);
    const second = await open(settingsOf(link));
    wire.send(Uint8Array.of(7));
    await expect.poll(() => second.received).toEqual([7]);
    expect(first.received).toEqual([]);
  });
});
