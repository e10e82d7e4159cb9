import {
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import modbusSerial from 'modbus-serial';
import { SerialPort } from 'serialport';
import { afterEach, describe, expect, it } from 'vitest';
import { type Libc, loadLibc, TCGETS2, TCSETS2 } from '../../../../src/modbus/transport/port/libc.js';
import { TERMIOS2_BYTES } from '../../../../src/modbus/transport/port/termios.js';
import {
  openVirtualPort,
  type VirtualPort,
  type VirtualPortOptions,
} from '../../../../src/modbus/transport/port/virtual-port.js';

/** Characters of 11 bits. */
const EVEN = { dataBits: 8, parity: 'even', stopBits: 1 } as const;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Line {
  port: VirtualPort;
  received: number[];
  chunks: number[][];
  closings: string[];
}

async function newLine(
  options: VirtualPortOptions = {},
  answer?: (request: number[]) => number[],
): Promise<Line> {
  const line = { received: [] as number[], chunks: [] as number[][], closings: [] as string[] };
  const opened = await openVirtualPort(options, {
    onData: (chunk) => {
      line.chunks.push([...chunk]);
      line.received.push(...chunk);
      if (answer && opened.ok) opened.port.write(Uint8Array.from(answer([...chunk])));
    },
    onDamaged: () => {},
    onClose: (reason) => line.closings.push(reason),
  });
  if (!opened.ok) throw new Error(opened.error);
  ends.push(() => opened.port.close());
  return { ...line, port: opened.port };
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'virtual-port-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  return directory;
}

const openClient = (path: string): number =>
  openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);

function readAll(fd: number): number[] {
  const buffer = Buffer.alloc(65536);
  const found: number[] = [];
  try {
    for (;;) {
      const length = readSync(fd, buffer);
      if (length === 0) return found;
      found.push(...buffer.subarray(0, length));
    }
  } catch {
    return found;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('the virtual line and its client', () => {
  it('pass all 256 byte values unchanged, both ways, through serialport', async () => {
    const line = await newLine();
    const client = new SerialPort({ path: line.port.path, baudRate: 9600, autoOpen: false });
    await new Promise<void>((resolve, reject) => client.open((error) => (error ? reject(error) : resolve())));
    ends.push(() => new Promise<void>((resolve) => client.close(() => resolve())));
    const atClient: number[] = [];
    client.on('data', (chunk: Buffer) => atClient.push(...chunk));
    const all = Array.from({ length: 256 }, (_, value) => value);

    client.write(Buffer.from(all));
    await expect.poll(() => line.received).toEqual(all);
    line.port.write(Uint8Array.from(all));
    await expect.poll(() => atClient).toEqual(all);
  });

  it('serve a modbus-serial client that opens the line by its stable name, closes it and opens it again', async () => {
    const link = join(newDirectory(), 'meter');
    // Holding registers 0 and 1 of unit 1 are 0x0a0d and 0x1113.
    await newLine({ link }, () => [0x01, 0x03, 0x04, 0x0a, 0x0d, 0x11, 0x13, 0x25, 0xb5]);
    for (let round = 0; round < 5; round += 1) {
      const client = new modbusSerial.default();
      client.setTimeout(30_000);
      await client.connectRTUBuffered(link, { baudRate: 19200 });
      client.setID(1);
      expect((await client.readHoldingRegisters(0, 2)).data).toEqual([0x0a0d, 0x1113]);
      await new Promise<void>((resolve) => client.close(() => resolve()));
    }
  });

  it('go on after a client vanished in the middle of a request', async () => {
    const line = await newLine();
    const first = openClient(line.port.path);
    writeSync(first, bytes(1, 3));
    closeSync(first);
    await expect.poll(() => line.received).toEqual([1, 3]);
    const second = openClient(line.port.path);
    writeSync(second, bytes(2));
    await expect.poll(() => line.received).toEqual([1, 3, 2]);
    closeSync(second);
    expect(line.closings).toEqual([]);
  });
});

async function libc(): Promise<Libc> {
  const loaded = await loadLibc();
  if (!loaded.ok) throw new Error(loaded.error);
  return loaded.libc;
}

/** Settings as TCGETS2 has them. */
function settingsOf(libc: Libc, fd: number): Buffer {
  const settings = Buffer.alloc(TERMIOS2_BYTES);
  expect(libc.ioctl(fd, TCGETS2, settings)).toBe(0);
  return settings;
}

describe('a client with even parity', () => {
  const CONTROL_FLAGS = 8;
  const PARENB = 0o400;
  const CLOCAL = 0o4000;

  /**
   * Sets even parity as tcsetattr(3) of Debian does.
   * @returns whether that worked: it fails with EINVAL when a pseudo-terminal takes nothing of what was to be changed
   */
  function setEvenParity(libc: Libc, fd: number): boolean {
    const before = settingsOf(libc, fd);
    const wanted = Buffer.from(before);
    wanted.writeUInt32LE(before.readUInt32LE(CONTROL_FLAGS) | PARENB | CLOCAL, CONTROL_FLAGS);
    expect(libc.ioctl(fd, TCSETS2, wanted)).toBe(0);
    const after = settingsOf(libc, fd);
    return after.equals(wanted) || !after.equals(before);
  }

  it('can open the line, be answered, set it again and close it, ten times without a pause', async () => {
    const { port } = await newLine({}, (request) => request);
    const c = await libc();
    for (let round = 0; round < 10; round += 1) {
      const client = openClient(port.path);
      expect(setEvenParity(c, client), `opening ${round + 1}`).toBe(true);
      for (const request of [1, 2]) {
        writeSync(client, bytes(request));
        await expect.poll(() => readAll(client), { interval: 1 }).toEqual([request]);
        expect(request === 2 || setEvenParity(c, client), 'set again').toBe(true);
      }
      closeSync(client);
    }
  });

  it('can open the line after another one that sent nothing', async () => {
    const { port } = await newLine();
    const c = await libc();
    /** Opened only to read: its closing is none that the line is told of. */
    const isLocal = (): boolean => {
      const fd = openSync(port.path, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
      const flags = settingsOf(c, fd).readUInt32LE(CONTROL_FLAGS);
      closeSync(fd);
      return (flags & CLOCAL) !== 0;
    };
    for (let round = 0; round < 10; round += 1) {
      const client = openClient(port.path);
      expect(setEvenParity(c, client), `opening ${round + 1}`).toBe(true);
      closeSync(client);
      await expect.poll(isLocal).toBe(false);
    }
  });
});

describe('a client that was stopped', () => {
  const canSend = (fd: number): boolean => {
    try {
      return writeSync(fd, bytes(1)) === 1;
    } catch {
      return false;
    }
  };

  it('by its own TCOOFF does not keep the next one from sending', async () => {
    const line = await newLine({}, () => [7]);
    const c = await libc();
    const first = openClient(line.port.path);
    expect(c.tcflow(first, 0)).toBe(0);
    expect(canSend(first)).toBe(false);
    closeSync(first);
    const second = openClient(line.port.path);
    ends.push(() => closeSync(second));
    await expect.poll(() => canSend(second)).toBe(true);
    await expect.poll(() => readAll(second)).toEqual([7]);
  });

  it('by IXON and a 0x13 in a reply does not keep the next one from sending', async () => {
    const line = await newLine({}, () => [7]);
    const c = await libc();
    const IXON = 0o2000;
    const first = openClient(line.port.path);
    const settings = settingsOf(c, first);
    settings.writeUInt32LE(IXON, 0);
    expect(c.ioctl(first, TCSETS2, settings)).toBe(0);
    line.port.write(bytes(0x01, 0x13, 0x02));
    await expect.poll(() => canSend(first)).toBe(false);
    closeSync(first);
    const second = openClient(line.port.path);
    ends.push(() => closeSync(second));
    await expect.poll(() => canSend(second)).toBe(true);
    await expect.poll(() => readAll(second)).toContain(7);
  });
});

describe('bytes that no client reads', () => {
  it('are lost when no client has the line open: the next client starts with silence', async () => {
    const line = await newLine();
    expect(line.port.write(bytes(1, 2, 3))).toBe('no client has the line open');
    const client = openClient(line.port.path);
    expect(line.port.write(bytes(4, 5))).toBeUndefined();
    await expect.poll(() => readAll(client)).toEqual([4, 5]);
    closeSync(client);
  });

  it('are lost when their client closes without reading them', async () => {
    const line = await newLine();
    const first = openClient(line.port.path);
    line.port.write(bytes(1, 2, 3));
    closeSync(first);
    await pause(250);
    const second = openClient(line.port.path);
    await pause(20);
    expect(readAll(second)).toEqual([]);
    closeSync(second);
  });

  it('wait for a client that has the line open, as in the buffer of a real port', async () => {
    const line = await newLine();
    const client = openClient(line.port.path);
    line.port.write(bytes(1, 2, 3));
    await pause(250);
    line.port.write(bytes(4));
    await expect.poll(() => readAll(client)).toEqual([1, 2, 3, 4]);
    closeSync(client);
  });

  it('never block the simulator: when the buffer is full they are lost, and it is reported how many arrived', async () => {
    const line = await newLine();
    const client = openClient(line.port.path);
    const results = Array.from({ length: 1000 }, (_, i) =>
      line.port.write(new Uint8Array(256).fill(i & 0xff)),
    );
    expect(results.at(-1)).toBe('the client does not read, and its buffer is full');
    const takenOf = (result: string | undefined) =>
      result === undefined ? 256 : Number(/it took the first (\d+) of 256 bytes$/.exec(result)?.[1] ?? 0);
    const taken = results.reduce((sum, result) => sum + takenOf(result), 0);
    expect(taken).toBeLessThan(256_000);
    let read = 0;
    const readOn = () => {
      read += readAll(client).length;
      return read;
    };
    await expect.poll(readOn).toBe(taken);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readOn()).toBe(taken);
    line.port.write(bytes(7, 8, 9));
    await expect.poll(() => readAll(client)).toEqual([7, 8, 9]);
    closeSync(client);
  });
});

describe('the stable name', () => {
  it('leads to the client side and is gone after closing', async () => {
    const link = join(newDirectory(), 'line');
    const { port } = await newLine({ link });
    expect(port.link).toBe(link);
    expect(realpathSync(link)).toBe(port.path);
    await port.close();
    expect(lstatSync(link, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('is refused with a reason where it can not be made', async () => {
    const link = join(newDirectory(), 'line');
    writeFileSync(link, 'precious');
    const opened = await openVirtualPort(
      { link },
      { onData: () => {}, onDamaged: () => {}, onClose: () => {} },
    );
    expect(opened).toMatchObject({ ok: false, error: expect.stringContaining(`${link}: exists and is not`) });
  });
});

describe('a paced virtual line', () => {
  it('hands a request over in the bursts of a FIFO', async () => {
    const line = await newLine({ pacing: { ...EVEN, baudRate: 9600, chunk: 8 } });
    const client = openClient(line.port.path);
    writeSync(
      client,
      Uint8Array.from({ length: 20 }, (_, index) => index),
    );
    await expect.poll(() => line.received.length).toBe(20);
    closeSync(client);
    expect(line.chunks.map((chunk) => chunk.length)).toEqual([8, 8, 4]);
  });

  it('gives the client a reply no sooner than a USB adapter would', async () => {
    const line = await newLine({ pacing: { ...EVEN, baudRate: 115_200, chunk: 'usb', latency: 60 } });
    const client = openClient(line.port.path);
    const start = performance.now();
    line.port.write(bytes(1, 2, 3));
    const found: number[] = [];
    await expect.poll(() => found.push(...readAll(client)) && found, { interval: 1 }).toEqual([1, 2, 3]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(60);
    closeSync(client);
  });

  it('makes a client wait that writes faster than the line carries, and loses nothing', async () => {
    const line = await newLine({ pacing: { ...EVEN, baudRate: 2_000_000, chunk: 16 } });
    const client = openClient(line.port.path);
    const total = 60_000;
    const data = Uint8Array.from({ length: total }, (_, index) => index % 251);
    let sent = 0;
    while (sent < total) {
      try {
        sent += writeSync(client, data.subarray(sent));
      } catch {
        await pause(5);
      }
    }
    await expect.poll(() => line.received.length).toBe(total);
    expect(line.received.every((value, index) => value === index % 251)).toBe(true);
    closeSync(client);
  });

  it('changes its pacing without being closed, and loses nothing', async () => {
    const line = await newLine({ pacing: { ...EVEN, baudRate: 1200, chunk: 16 } });
    const client = openClient(line.port.path);
    const sent = Uint8Array.from({ length: 40 }, (_, index) => index);
    writeSync(client, sent);
    line.port.write(sent);
    await expect.poll(() => line.received.length).toBeGreaterThan(0);
    line.port.setPacing({ ...EVEN, baudRate: 115_200, chunk: 1 });
    expect(line.received, 'what was under way is delivered at once').toEqual([...sent]);
    // One chunk has come by itself, or on a machine that stalls two, and the rest in one.
    expect([
      [16, 24],
      [16, 16, 8],
    ]).toContainEqual(line.chunks.map((chunk) => chunk.length));
    line.chunks.length = 0;
    writeSync(client, bytes(50, 51, 52));
    line.port.write(bytes(60));
    await expect.poll(() => line.received).toEqual([...sent, 50, 51, 52]);
    expect(line.chunks).toEqual([[50], [51], [52]]);
    line.port.setPacing(undefined);
    writeSync(client, bytes(53, 54));
    await expect.poll(() => line.chunks.at(-1)).toEqual([53, 54]);
    const replies: number[] = [];
    await expect.poll(() => replies.push(...readAll(client)) && replies).toEqual([...sent, 60]);
    closeSync(client);
  });

  it('lets a client that had to wait go on when the pacing ends', async () => {
    const line = await newLine({ pacing: { ...EVEN, baudRate: 1200, chunk: 1 } });
    const client = openClient(line.port.path);
    const written = writeSync(client, new Uint8Array(10_000));
    await pause(50);
    line.port.setPacing(undefined);
    await expect.poll(() => line.received.length).toBe(written);
    closeSync(client);
  });

  it('tells that it has neither settings nor a driver', async () => {
    const line = await newLine();
    expect(line.port.facts()).toMatchObject({
      adapter: { kind: 'pty' },
      settings: undefined,
      lowLatency: undefined,
      parityMarks: false,
    });
  });

  it('sends for as long as its characters take, and without pacing for no time at all', async () => {
    const { port } = await newLine({ pacing: { baudRate: 1200, chunk: 1, ...EVEN } });
    const client = openClient(port.path);
    ends.push(() => closeSync(client));
    expect(port.isSending?.()).toBe(false);
    const writtenAt = performance.now();
    port.write(Uint8Array.of(1, 2, 3, 4));
    expect(port.isSending?.()).toBe(true);
    await expect.poll(() => port.isSending?.(), { interval: 1 }).toBe(false);
    expect(performance.now() - writtenAt).toBeGreaterThan((4 * 11 * 1000) / 1200);
    port.setPacing(undefined);
    port.write(Uint8Array.of(5));
    expect(port.isSending?.()).toBe(false);
  });

  it('forgets what is under way when it is closed', async () => {
    const line = await newLine({ pacing: { ...EVEN, baudRate: 9600, chunk: 1 } });
    const client = openClient(line.port.path);
    writeSync(client, new Uint8Array(20));
    await expect.poll(() => line.received.length).toBeGreaterThan(0);
    await line.port.close();
    const atClose = line.received.length;
    await pause(60);
    expect(line.received.length).toBe(atClose);
    closeSync(client);
  });
});

describe('closing a virtual line', () => {
  it('can be done twice, is not reported, and ends writing', async () => {
    const line = await newLine();
    await Promise.all([line.port.close(), line.port.close()]);
    line.port.write(bytes(1));
    await pause(20);
    expect(line.closings).toEqual([]);
  });

  it('is a hang-up for the client', async () => {
    const line = await newLine();
    const client = openClient(line.port.path);
    const read = (): number | string => {
      try {
        return readSync(client, Buffer.alloc(1));
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? '';
      }
    };
    expect(read()).toBe('EAGAIN');
    await line.port.close();
    expect(read()).not.toBe('EAGAIN');
    closeSync(client);
  });
});
