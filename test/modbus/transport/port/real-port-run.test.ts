import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { ReadStream } from 'node:tty';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ptyAdapter } from '../../../../src/modbus/transport/port/adapter.js';
import {
  loadLibc,
  TIOCMBIC,
  TIOCMBIS,
  TIOCOUTQ,
  TIOCSERGETLSR,
} from '../../../../src/modbus/transport/port/libc.js';
import { deviceBehind } from '../../../../src/modbus/transport/port/port-path.js';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';
import { openExclusively, runPort } from '../../../../src/modbus/transport/port/real-port-run.js';
import type { Rs485Direction } from '../../../../src/modbus/transport/port/rs485-direction.js';
import type { PortSettings } from '../../../../src/modbus/transport/settings.js';
import { switching } from './rs485-settings.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface PlayedPort {
  readonly rtsFails?: boolean;
  /** It has a break state. */
  readonly breaks?: boolean;
}

/**
 * A port that runs on a pseudo-terminal, with modem lines and a transmitter that are played: no port with real ones
 * can be had without hardware.
 */
async function newPort(
  direction: Partial<Rs485Direction>,
  { rtsFails = false, breaks = false, ...other }: Partial<PortSettings> & PlayedPort = {},
) {
  const loaded = await loadLibc();
  const opened = await openPty();
  if (!loaded.ok || !opened.ok) throw new Error('no pseudo-terminal');
  const { pty } = opened;
  const log: string[] = [];
  const closings: string[] = [];
  let queued = 0;
  const master = new ReadStream(pty.masterFd);
  master.on('data', (chunk: Uint8Array) => log.push(`sent ${[...chunk].join(' ')}`));
  master.on('error', () => {});
  ends.push(() => {
    master.destroy();
    pty.close();
  });

  const ioctl = (fd: number, request: number, argument: Uint8Array | null): number => {
    if (request === TIOCMBIS || request === TIOCMBIC) {
      if (rtsFails) return -constants.errno.EIO;
      log.push(`RTS ${request === TIOCMBIS ? 'high' : 'low'} ${argument?.join(' ')}`);
      return 0;
    }
    if (request === TIOCOUTQ || request === TIOCSERGETLSR) {
      argument?.fill(0)?.set([request === TIOCOUTQ ? queued : 1]);
      return 0;
    }
    return loaded.libc.ioctl(fd, request, argument);
  };
  const settings: PortSettings = {
    path: pty.path,
    baudRate: 9600,
    dataBits: 8,
    parity: 'even',
    stopBits: 1,
    ...other,
  };
  const exclusive = await openExclusively(settings, loaded);
  if (!exclusive.ok) throw new Error(exclusive.error);
  const serialPort = exclusive.value;
  const stats = statSync(pty.path);
  if (breaks) {
    vi.spyOn(serialPort, 'set').mockImplementation((lines, done) => {
      log.push(`break ${lines.brk}, port ${serialPort.isOpen ? 'open' : 'closed'}`);
      done?.(null);
    });
    // The first console: no pseudo-terminal by its number.
    stats.rdev = 0x0401;
  }
  const port = runPort({
    port: serialPort,
    loaded: { ok: true, libc: { ...loaded.libc, ioctl } },
    device: deviceBehind(pty.path, stats),
    settings,
    listener: { onData() {}, onDamaged() {}, onClose: (reason) => closings.push(reason) },
    facts: {
      adapter: ptyAdapter,
      settings: undefined,
      lowLatency: undefined,
      parityMarks: false,
      direction: '',
    },
    direction: {
      text: '',
      noBreak: undefined,
      mustDrain: true,
      restore: () => log.push('put back'),
      ...direction,
    },
    errorCounts: undefined,
  });
  ends.push(() => port.close());
  const setQueued = (count: number): void => {
    queued = count;
  };
  return { port, serialPort, log, closings, path: pty.path, setQueued };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a port whose direction this program switches', () => {
  it('raises RTS, sends, and lowers RTS when the transmitter is empty', async () => {
    const { port, log, setQueued } = await newPort({ rts: switching() });
    setQueued(1);
    port.write(Uint8Array.of(1, 2, 3));
    await expect.poll(() => log).toEqual(['RTS high 4 0 0 0', 'sent 1 2 3']);
    await pause(20);
    expect(log).toHaveLength(2);
    setQueued(0);
    await expect.poll(() => log.at(-1)).toBe('RTS low 4 0 0 0');
  });

  it.each<[string, Partial<PortSettings>, number]>([
    ['8N1', { parity: 'none' }, 10],
    ['8E1', {}, 11],
    ['8E2', { stopBits: 2 }, 12],
  ])('has RTS raised for as many bits as its characters have: %s', async (_, format, bits) => {
    const { port, log } = await newPort({ rts: switching() }, format);
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
    });
    ends.push(() => vi.useRealTimers());
    const end = (100 * bits * 1000) / 9600;
    port.write(new Uint8Array(100));
    vi.advanceTimersByTime(Math.floor(end) - 1);
    expect(log).toEqual(['RTS high 4 0 0 0']);
    vi.advanceTimersByTime(3);
    expect(log).toEqual(['RTS high 4 0 0 0', 'RTS low 4 0 0 0']);
  });

  it('is given up when RTS can not be set any more', async () => {
    const { port, closings, path } = await newPort({ rts: switching() }, { rtsFails: true });
    port.write(Uint8Array.of(1));
    expect(closings).toEqual([`${path}: RTS can't be set high (EIO)`]);
  });

  it('lets go of the bus when it is closed in the middle of a reply that does not end', async () => {
    const { port, log, setQueued } = await newPort({ rts: switching() });
    setQueued(1);
    port.write(Uint8Array.of(1));
    await port.close();
    expect(log.filter((entry) => !entry.startsWith('sent'))).toEqual([
      'RTS high 4 0 0 0',
      'RTS low 4 0 0 0',
      'put back',
    ]);
  });
});

describe('a port whose direction the kernel switches', () => {
  it('is put back only when everything has been sent', async () => {
    const { port, log, setQueued } = await newPort({});
    setQueued(1);
    port.write(Uint8Array.of(1, 2));
    const closed = port.close();
    await expect.poll(() => log).toEqual(['sent 1 2']);
    await pause(60);
    expect(log).toEqual(['sent 1 2']);
    setQueued(0);
    await closed;
    expect(log).toEqual(['sent 1 2', 'put back']);
  });

  it('is not put back once it is closed, when its number may be that of another file', async () => {
    const { serialPort, log, closings, path } = await newPort({});
    await new Promise((resolve) => serialPort.close(resolve));
    expect(closings).toEqual([`${path}: hung up (closed)`]);
    await pause(20);
    expect(log).toEqual([]);
  });
});

describe('a port that is closed underneath, without an event', () => {
  it('is noticed', async () => {
    const { serialPort, closings, path } = await newPort({});
    await serialPort.port?.close();
    expect(closings).toEqual([]);
    await expect.poll(() => closings).toEqual([`${path}: closed`]);
  });

  it.each([
    ['as it is', {}],
    ['with RTS', { rts: switching() }],
  ])('does not pretend to have sent anything (%s)', async (_, direction) => {
    const { port, serialPort, log, closings, path } = await newPort(direction);
    expect(port.write(Uint8Array.of(1))).toBeUndefined();
    await expect.poll(() => log).toContain('sent 1');
    await pause(20);
    await serialPort.port?.close();
    expect(port.write(Uint8Array.of(2))).toBe('closed');
    expect(port.write(Uint8Array.of(3))).toBe('closed');
    expect(closings).toEqual([`${path}: closed`]);
    await pause(20);
    expect(log.filter((entry) => entry.startsWith('sent'))).toEqual(['sent 1']);
  });
});

describe('a break that does not come to its end', () => {
  const HOUR = 3_600_000;

  it.each([
    ['as it is', {}],
    ['with RTS', { rts: switching() }],
  ])('is ended on the wire before its port is closed, and tells why (%s)', async (_, direction) => {
    const { port, log } = await newPort(direction, { breaks: true });
    const breaking = port.sendBreak?.(HOUR);
    await expect.poll(() => log).toContain('break true, port open');
    await port.close();
    expect(await breaking).toBe('the port is closed');
    const order = log.filter((entry) => !entry.startsWith('RTS high'));
    const switched = 'rts' in direction ? ['RTS low 4 0 0 0'] : [];
    expect(order).toEqual(['break true, port open', 'break false, port open', ...switched, 'put back']);
  });

  it('tells why its port went away', async () => {
    const { port, serialPort, log } = await newPort({}, { breaks: true });
    const breaking = port.sendBreak?.(HOUR);
    await expect.poll(() => log).toContain('break true, port open');
    await new Promise((resolve) => serialPort.close(resolve));
    expect(await breaking).toBe('hung up (closed)');
  });

  it('is not begun on a port that is closed meanwhile', async () => {
    const rts = switching({ delayBeforeSend: 30 });
    const { port, log } = await newPort({ rts }, { breaks: true });
    const breaking = port.sendBreak?.(HOUR);
    await port.close();
    expect(await breaking).toBe('the port is closed');
    expect(log).not.toContain('break true, port open');
  });
});

describe('what was written to a port', () => {
  it('is being sent for as long as the driver says so', async () => {
    const { port, setQueued } = await newPort({});
    setQueued(1);
    expect(port.isSending?.()).toBe(true);
    setQueued(0);
    expect(port.isSending?.()).toBe(false);
  });

  it('may not have been handed to the driver where RTS is switched, so that is not asked', async () => {
    const { port } = await newPort({ rts: switching() });
    expect(port.isSending).toBeUndefined();
  });
});
