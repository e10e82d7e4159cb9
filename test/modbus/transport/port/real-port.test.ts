import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Libc,
  type LibcResult,
  loadLibc,
  TCGETS2,
  TCSETS2,
  TIOCGRS485,
  TIOCMBIC,
  TIOCMBIS,
  TIOCMGET,
  TIOCSRS485,
} from '../../../../src/modbus/transport/port/libc.js';
import type { BytePort, OpenResult } from '../../../../src/modbus/transport/port/port.js';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';
import { openRealPort } from '../../../../src/modbus/transport/port/real-port.js';
import { explainOpenError } from '../../../../src/modbus/transport/port/real-port-run.js';
import {
  hasParityMarks,
  rawTermios2,
  TERMIOS2_BYTES,
} from '../../../../src/modbus/transport/port/termios.js';
import type { PortSettings } from '../../../../src/modbus/transport/settings.js';
import { rs485 } from './rs485-settings.js';

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
  return {
    path: pty.path,
    masterFd: pty.masterFd,
    received,
    hangUp,
    pauseReading,
    /** How many bytes wait for whoever opens the port. */
    unread: () => pty.unread(),
    send: (bytes: Uint8Array) => stream.write(bytes),
  };
}

const settingsOf = (path: string): PortSettings => ({
  path,
  baudRate: 19200,
  dataBits: 8,
  parity: 'even',
  stopBits: 1,
});

async function open(settings: PortSettings, load?: () => Promise<LibcResult>) {
  const received: number[] = [];
  const closings: string[] = [];
  const chunks: (number[] | string)[] = [];
  const listener = {
    onData: (chunk: Uint8Array) => {
      received.push(...chunk);
      chunks.push([...chunk]);
    },
    onDamaged: ({ length }: Uint8Array) => chunks.push(`damaged ${length}`),
    onClose: (reason: string) => closings.push(reason),
  };
  const result = await openRealPort(settings, listener, load);
  if (result.ok) ends.push(() => result.port.close());
  return { result, received, closings, chunks };
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
    await expect.poll(() => wire.received.length).toBe(expected.length);
    expect(wire.received).toEqual(expected);
  });

  it('is given up when the driver takes nothing for good, instead of filling the memory', async () => {
    const wire = await newWire();
    const { result, closings } = await open(settingsOf(wire.path));
    wire.pauseReading();
    for (let count = 0; count < 500; count += 1) portOf(result).write(new Uint8Array(256));
    await expect.poll(() => closings).toEqual([expect.stringContaining('accepts no more bytes')]);
  });

  it('does not deliver bytes that arrived before it was opened', async () => {
    const wire = await newWire();
    wire.send(Uint8Array.of(1, 2, 3));
    await expect.poll(wire.unread).toBe(3);
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

  it('tells what is known of it', async () => {
    const wire = await newWire();
    const { result } = await open(settingsOf(wire.path));
    expect(portOf(result).facts()).toEqual({
      adapter: expect.objectContaining({ kind: 'pty' }),
      settings: undefined,
      lowLatency: undefined,
      parityMarks: true,
      direction: expect.stringMatching(/^the adapter itself/),
    });
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

async function libc(): Promise<Libc> {
  const loaded = await loadLibc();
  if (!loaded.ok) throw new Error(loaded.error);
  return loaded.libc;
}

/** The terminal settings of the port, which its other end may ask for and change. */
async function termiosOf(masterFd: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(TERMIOS2_BYTES);
  (await libc()).ioctl(masterFd, TCGETS2, bytes);
  return bytes;
}

describe('marks for damaged characters', () => {
  it('pass all 256 byte values unchanged, wherever the marks are cut', async () => {
    const wire = await newWire();
    const { received } = await open(settingsOf(wire.path));
    expect(hasParityMarks(await termiosOf(wire.masterFd))).toBe(true);
    const sent: number[] = [];
    for (let length = 1; length <= 40; length++) {
      const bytes = Array.from({ length }, (_, i) => (i % 3 === 0 ? 0xff : (length * 31 + i) & 0xff));
      wire.send(Uint8Array.from(bytes));
      sent.push(...bytes);
      if (length % 4 === 0) await pause(1);
    }
    // More than one read(2) of the line discipline's buffer, less than what makes the wire wait.
    const many = Array.from({ length: 3_000 }, (_, i) => (i % 5 === 0 ? i & 0xff : 0xff));
    wire.send(Uint8Array.from(many));
    sent.push(...many);
    await expect.poll(() => received.length).toBe(sent.length);
    expect(received.findIndex((byte, index) => byte !== sent[index])).toBe(-1);
  });

  it('are told in the order of arrival, between the bytes before and after', async () => {
    const wire = await newWire();
    const { chunks } = await open(settingsOf(wire.path));
    // Without the marks of the line discipline, the wire can send what a UART's driver would make of damage.
    (await libc()).ioctl(wire.masterFd, TCSETS2, rawTermios2(await termiosOf(wire.masterFd)));
    wire.send(Uint8Array.of(1, 2, 0xff, 0, 0x41, 0xff, 0, 0, 3, 0xff, 0xff, 0xff));
    wire.send(Uint8Array.of(0, 0xff, 4));
    const flat = (): unknown[] => chunks.flat();
    await expect.poll(flat).toEqual([1, 2, 'damaged 2', 3, 0xff, 'damaged 1', 4]);
  });

  it('can be left off', async () => {
    const wire = await newWire();
    const { result, received } = await open({ ...settingsOf(wire.path), parityMarks: false });
    expect(portOf(result).facts().parityMarks).toBe(false);
    expect(hasParityMarks(await termiosOf(wire.masterFd))).toBe(false);
    wire.send(Uint8Array.of(0xff, 0, 1));
    await expect.poll(() => received).toEqual([0xff, 0, 1]);
  });

  it('start anew when the port is opened again in the middle of one', async () => {
    const wire = await newWire();
    const first = await open(settingsOf(wire.path));
    wire.send(Uint8Array.of(0xff));
    await expect.poll(() => first.received).toEqual([0xff]);
    await portOf(first.result).close();
    wire.send(Uint8Array.of(0xff));
    await expect.poll(wire.unread).toBeGreaterThan(0);
    const second = await open(settingsOf(wire.path));
    wire.send(Uint8Array.of(0xff, 0xff, 7));
    await expect.poll(() => second.received).toEqual([0xff, 0xff, 7]);
  });
});

describe('RS-485 direction that a port can not switch is refused', () => {
  it('by the kernel, when its driver has no such mode', async () => {
    const wire = await newWire();
    const { result } = await open({ ...settingsOf(wire.path), rs485: rs485('kernel') });
    expect(result).toEqual({
      ok: false,
      error: `${wire.path}: this driver has no RS-485 mode; use an adapter that switches direction on its own (rs485: {mode: auto}), or rs485: {mode: rts}`,
      unfit: true,
    });
    expect((await open(settingsOf(wire.path))).result.ok, 'the port was let go').toBe(true);
  });

  it('by RTS, when it has no modem lines', async () => {
    const wire = await newWire();
    const { result } = await open({ ...settingsOf(wire.path), rs485: rs485('rts') });
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/has no modem lines \(TIOCMGET: E/),
    });
  });
});

/** Plays modem lines and the RS-485 mode, which no port without hardware has, and writes down what becomes of them. */
function newHardware(path: string) {
  const log: string[] = [];
  const before = timesOpen(path);
  let mode: Uint8Array = new Uint8Array(32);
  const load = async (): Promise<LibcResult> => {
    const loaded = await loadLibc();
    if (!loaded.ok) return loaded;
    log.push(timesOpen(path) > before ? 'open already' : 'not open yet');
    const { libc } = loaded;
    const ioctl: Libc['ioctl'] = (fd, request, argument) => {
      if (request === TIOCMGET) return 0;
      if (request === TIOCGRS485) argument?.set(mode);
      else if (request === TIOCSRS485) {
        mode = Uint8Array.from(argument ?? []);
        log.push(`RS-485 mode ${mode[0]}`);
      } else if (request === TIOCMBIS || request === TIOCMBIC) {
        log.push(`RTS ${request === TIOCMBIS ? 'high' : 'low'}`);
      } else {
        if (log.length === 1) log.push('something else');
        return libc.ioctl(fd, request, argument);
      }
      return 0;
    };
    return { ok: true, libc: { ...libc, ioctl } };
  };
  return { load, log };
}

/** How many of this process's descriptors lead there; the wire may have one of its own. */
function timesOpen(path: string): number {
  const target = (fd: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter((fd) => target(fd) === path).length;
}

describe('a port that is being opened', () => {
  it('has everything ready before, and lets go of the bus before anything else', async () => {
    const wire = await newWire();
    const { load, log } = newHardware(wire.path);
    const { result } = await open({ ...settingsOf(wire.path), rs485: rs485('rts') }, load);
    portOf(result);
    expect(log).toEqual(['not open yet', 'RTS low']);
  });

  it('listens before the kernel begins to switch, and after', async () => {
    const wire = await newWire();
    const { load, log } = newHardware(wire.path);
    const { result } = await open({ ...settingsOf(wire.path), rs485: rs485('kernel') }, load);
    await portOf(result).close();
    expect(log).toEqual(['not open yet', 'RTS low', 'RS-485 mode 3', 'RS-485 mode 0']);
  });

  it.each<[string, PortSettings['rs485'], boolean]>([
    ['is lowered where that is listening', rs485('rts'), true],
    ['stays where low is sending', rs485('rts', { rtsOnSend: 'low' }), false],
    ['stays where low is sending, with the kernel switching', rs485('kernel', { rtsOnSend: 'low' }), false],
    ['is lowered as ever where nobody switches', undefined, true],
  ])('decides about RTS after its end: it %s', async (_, rs485, hangsUp) => {
    const HUPCL = 0x04;
    const wire = await newWire();
    const { load } = newHardware(wire.path);
    const { result } = await open({ ...settingsOf(wire.path), ...(rs485 && { rs485 }) }, load);
    expect(result).toMatchObject({ ok: true, notes: [expect.stringContaining('is a pseudo-terminal')] });
    expect(((await termiosOf(wire.masterFd))[9] ?? 0) & HUPCL).toBe(hangsUp ? HUPCL : 0);
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
      /^\/etc\/passwd\/tty: (can't be accessed|does not exist)/,
    );
  });

  it('when it is a directory', async () => {
    expect(await errorOf('/dev')).toBe('/dev: is a directory, not a serial port');
  });

  it('when it is a regular file', async () => {
    const path = join(newDirectory(), 'file');
    writeFileSync(path, '');
    expect(await errorOf(path)).toBe(`${path}: is not a character device, so it is not a serial port`);
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
      new RegExp(`^${wire.path}: is in use by \\S+ \\(process ${holder.pid}\\); stop it first$`),
    );
  });

  it('when a program has it that /proc/locks does not name, and none of its settings is touched', async () => {
    const wire = await newWire();
    const fd = openSync(wire.path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
    ends.push(() => closeSync(fd));
    // flock(1) ends and the lock stays with the descriptor: the process that /proc/locks names is gone.
    expect(spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'inherit', fd] }).status).toBe(0);
    const before = await termiosOf(wire.masterFd);
    expect(await errorOf(wire.path)).toMatch(/: is in use by another program; stop it first/);
    expect(await termiosOf(wire.masterFd)).toEqual(before);
  });

  it('when the device policy of a service forbids it, which is no matter of groups', () => {
    const told = explainOpenError("EPERM: operation not permitted, open '/dev/ttyUSB0'");
    expect(told).toMatch(/^forbidden by the service's device policy.*DeviceAllow=.*EPERM/);
    expect(told).not.toContain('dialout');
    expect(explainOpenError("EACCES: permission denied, open '/dev/ttyUSB0'")).toContain('group dialout');
  });
});

describe('a port that goes away', () => {
  it('is reported once when its other end hangs up', async () => {
    const wire = await newWire();
    const { result, closings } = await open(settingsOf(wire.path));
    await wire.hangUp();
    await expect.poll(() => closings.length).toBe(1);
    expect(closings[0]).toContain(wire.path);
    await pause(700);
    portOf(result).write(Uint8Array.of(1));
    await portOf(result).close();
    expect(closings).toHaveLength(1);
  });

  // As after an unplugged adapter: the name may still be there, and reads deliver nothing for ever, which sets
  // serialport's binding spinning without an event. Only root may hang up a terminal that is not its own.
  it.skipIf(process.getuid?.() !== 0)('is reported when only the device is dead', async () => {
    const TIOCVHANGUP = 0x5437;
    const wire = await newWire();
    const { closings } = await open(settingsOf(wire.path));
    const other = openSync(wire.path, constants.O_RDWR | constants.O_NOCTTY);
    expect((await libc()).ioctl(other, TIOCVHANGUP, null)).toBe(0);
    closeSync(other);
    expect(existsSync(wire.path)).toBe(true);
    await expect.poll(() => closings).toEqual([`${wire.path}: hung up (POLLHUP)`]);
  });

  it('is reported when its name leads to another device', async () => {
    const [before, after] = [await newWire(), await newWire()];
    const link = join(newDirectory(), 'adapter');
    symlinkSync(before.path, link);
    const { result, closings } = await open(settingsOf(link));
    expect(result.ok).toBe(true);
    unlinkSync(link);
    symlinkSync(after.path, link);
    await expect.poll(() => closings).toEqual([`${link}: is now a different device`]);
  });

  it('is reported when its name vanishes, and can be opened again when it is back', async () => {
    const wire = await newWire();
    const link = join(newDirectory(), 'adapter');
    symlinkSync(wire.path, link);
    const first = await open(settingsOf(link));
    unlinkSync(link);
    await expect.poll(() => first.closings).toEqual([`${link}: vanished`]);
    if (first.result.ok) await first.result.port.close();
    symlinkSync(wire.path, link);
    const second = await open(settingsOf(link));
    wire.send(Uint8Array.of(7));
    await expect.poll(() => second.received).toEqual([7]);
    expect(first.received).toEqual([]);
  });
});
