import { EventEmitter } from 'node:events';
import type { SerialPort } from 'serialport';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { platformOf } from '../../../../src/common/platform.js';
import { identifyAdapter, unseenAdapter } from '../../../../src/modbus/transport/port/adapter.js';
import { useKernelTimer } from '../../../../src/modbus/transport/port/kernel-timer.js';
import { consoleHint, listPorts } from '../../../../src/modbus/transport/port/list-ports.js';
import { checkPath, identityOf, portBehind } from '../../../../src/modbus/transport/port/port-path.js';
import { explainOpenError, runPort } from '../../../../src/modbus/transport/port/real-port-run.js';
import { openDirection } from '../../../../src/modbus/transport/port/rs485-direction.js';

const WINDOWS = platformOf('win32');
const MACOS = platformOf('darwin');

afterEach(() => vi.useRealTimers());

/** The binding of a port on Windows: it reads and writes by itself, and has no poller. */
class WindowsBinding {
  readonly fd = 321;
  readonly written: string[] = [];
  #arrived: ((bytes: number[] | Error) => void) | undefined;
  #sent: ((error?: Error) => void) | undefined;
  #unplugged: Error | undefined;

  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number; buffer: Buffer }> {
    expect(this.#arrived).toBeUndefined();
    return new Promise((resolve, reject) => {
      this.#arrived = (bytes) => {
        this.#arrived = undefined;
        if (bytes instanceof Error) return reject(bytes);
        buffer.set(bytes.slice(0, length), offset);
        resolve({ bytesRead: bytes.length, buffer });
      };
    });
  }

  write(bytes: Buffer): Promise<void> {
    expect(this.#sent).toBeUndefined();
    this.written.push(bytes.toString('hex'));
    return new Promise((resolve, reject) => {
      this.#sent = (error) => {
        this.#sent = undefined;
        if (error) reject(error);
        else resolve();
      };
    });
  }

  getBaudRate(): Promise<{ baudRate: number }> {
    return this.#unplugged ? Promise.reject(this.#unplugged) : Promise.resolve({ baudRate: 9600 });
  }

  /** Plays what comes from outside, and lets the port take it. */
  async arrive(bytes: number[] | Error): Promise<void> {
    this.#arrived?.(bytes);
    await Promise.resolve().then(() => {});
  }

  async send(error?: Error): Promise<void> {
    this.#sent?.(error);
    await Promise.resolve().then(() => {});
  }

  unplug(): void {
    this.#unplugged = new Error('Getting baud rate (GetCommState): Access denied');
  }
}

function opened() {
  const binding = new WindowsBinding();
  const port = Object.assign(new EventEmitter(), {
    port: binding,
    isOpen: true,
    closing: false,
    close(done: () => void) {
      this.isOpen = false;
      done();
    },
  });
  const heard: string[] = [];
  const closings: string[] = [];
  const direction = openDirection(321, undefined, { ok: false, error: 'no library' });
  const device = checkPath('COM5', WINDOWS);
  if (!direction.ok || !device.ok) throw new Error('no port');
  const run = runPort({
    port: port as unknown as SerialPort,
    loaded: { ok: false, error: 'no library' },
    device: device.value,
    settings: { path: 'COM5', baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
    listener: {
      onData: (chunk) => heard.push(Buffer.from(chunk).toString('hex')),
      onDamaged() {},
      onClose: (reason) => closings.push(reason),
    },
    facts: {
      adapter: unseenAdapter(WINDOWS),
      settings: undefined,
      lowLatency: undefined,
      parityMarks: false,
      direction: '',
    },
    direction: direction.direction,
    errorCounts: undefined,
  });
  return { binding, port, run, heard, closings };
}

describe('a port without a poller', () => {
  it('hears what each read of the binding brings, one read after the other', async () => {
    const { binding, run, heard } = opened();
    await binding.arrive([1, 2, 3]);
    await binding.arrive([4]);
    expect(heard).toEqual(['010203', '04']);
    await run.close();
    await binding.arrive([5]);
    expect(heard).toEqual(['010203', '04']);
  });

  it('goes on after a read that brought nothing', async () => {
    vi.useFakeTimers();
    const { binding, run, heard, closings } = opened();
    await binding.arrive([]);
    await vi.advanceTimersByTimeAsync(100);
    await binding.arrive([7]);
    expect([heard, closings]).toEqual([['07'], []]);
    await run.close();
  });

  it('writes one piece at a time, in order, and says that it is sending meanwhile', async () => {
    const { binding, run } = opened();
    for (const byte of [1, 2, 3]) expect(run.write(Uint8Array.of(byte))).toBeUndefined();
    expect(binding.written).toEqual(['01']);
    expect(run.isSending?.()).toBe(true);
    await binding.send();
    expect(binding.written).toEqual(['01', '0203']);
    await binding.send();
    expect(run.isSending?.()).toBe(false);
    await run.close();
  });

  it('is gone when its read fails', async () => {
    const { binding, closings, run } = opened();
    await binding.arrive(new Error('Reading from COM port (ReadIOCompletion): Operation aborted'));
    expect(closings).toEqual(['COM5: hung up (Reading from COM port (ReadIOCompletion): Operation aborted)']);
    expect(run.write(Uint8Array.of(1))).toContain('hung up');
  });

  it('is gone when its write fails, or when it takes nothing any more', async () => {
    const failing = opened();
    failing.run.write(Uint8Array.of(1));
    await failing.binding.send(new Error('Writing to COM port (WriteFileEx): Access denied'));
    expect(failing.closings).toEqual(['COM5: Writing to COM port (WriteFileEx): Access denied']);

    const stuck = opened();
    stuck.run.write(new Uint8Array(1));
    stuck.run.write(new Uint8Array(70_000));
    expect(stuck.closings).toEqual(['COM5: accepts no more bytes; 70001 are waiting']);
  });

  it('is gone when the driver does not answer, although the read goes on for ever', async () => {
    vi.useFakeTimers();
    const { binding, closings } = opened();
    await vi.advanceTimersByTimeAsync(2000);
    expect(closings).toEqual([]);
    binding.unplug();
    await vi.advanceTimersByTimeAsync(2000);
    expect(closings).toEqual(['COM5: hung up (Getting baud rate (GetCommState): Access denied)']);
  });

  it('reports nothing after it was closed', async () => {
    const { binding, run, closings } = opened();
    run.write(Uint8Array.of(1));
    await run.close();
    await binding.send(new Error('Operation aborted'));
    await binding.arrive(new Error('Operation aborted'));
    expect(closings).toEqual([]);
  });
});

describe('the name of a port on Windows', () => {
  it.each(['COM1', 'COM10', 'COM256', 'CNCA0'])('is %s', (name) => {
    expect(checkPath(name, WINDOWS)).toMatchObject({ ok: true, value: { isPseudoTerminal: false } });
    expect(portBehind(name, '/', WINDOWS)).toBe(name);
    expect(identityOf(name, WINDOWS)).toBe(name);
  });

  it.each(['com5', 'COM0', 'COM5:', '\\\\.\\COM10', '/dev/ttyUSB0', 'C:\\COM5', 'LPT1'])(
    'is not %s',
    (name) => {
      expect(checkPath(name, WINDOWS)).toMatchObject({ ok: false, error: expect.stringContaining('COM5') });
    },
  );
});

it('a port of another system is taken for the slowest adapter', () => {
  expect(identifyAdapter('COM5', '/', WINDOWS)).toMatchObject({
    kind: 'unknown',
    name: 'serial port (Windows does not show the adapter)',
    fifoCharacters: 18,
    latencyMs: 20,
    hint: expect.stringContaining('Device Manager'),
  });
  expect(identifyAdapter('/dev/tty.usbserial-1', '/', MACOS)).toEqual({
    kind: 'unknown',
    name: 'serial port (macOS does not show the adapter)',
    fifoCharacters: 18,
    latencyMs: 20,
  });
  expect(consoleHint('COM5', '/', WINDOWS)).toBeUndefined();
});

it('the ports of Windows are listed by their numbers, with manufacturer and serial number', async () => {
  const list = async () => [
    {
      path: 'COM10',
      manufacturer: 'FTDI',
      serialNumber: 'A50285BI',
      vendorId: '0403',
      productId: '6001',
      friendlyName: 'USB Serial Port (COM10)',
    },
    { path: 'COM2', manufacturer: '(Standard port types)', friendlyName: 'Communications Port (COM2)' },
    { path: 'COM3', manufacturer: 'wch.cn', vendorId: '1A86', productId: '7523', serialNumber: undefined },
  ];
  expect(await listPorts('/', WINDOWS, list)).toEqual([
    {
      path: 'COM2',
      stableNames: [],
      adapter: expect.objectContaining({ kind: 'unknown', name: 'Communications Port (COM2)' }),
      hints: [],
    },
    {
      path: 'COM3',
      stableNames: [],
      adapter: expect.objectContaining({ kind: 'usb', name: 'wch.cn' }),
      usb: { vendorId: '1a86', productId: '7523', manufacturer: 'wch.cn' },
      hints: [],
    },
    {
      path: 'COM10',
      stableNames: [],
      adapter: expect.objectContaining({ kind: 'ftdi', name: 'USB Serial Port (COM10)' }),
      usb: { vendorId: '0403', productId: '6001', manufacturer: 'FTDI', serialNumber: 'A50285BI' },
      hints: [expect.stringContaining('latency timer')],
    },
  ]);
});

it.each([
  ['Opening COM5: Access denied', 'is in use by another program'],
  ['Opening COM5: File not found', 'does not exist'],
  ['Open (SetCommState): Unknown error code 87', 'does not accept these settings'],
  ['Opening COM5: Unknown error code 121', 'plug it in again'],
  ['Opening COM5: Unknown error code 1210', "can't be opened"],
])('%s means: it %s', (text, meaning) => {
  expect(explainOpenError(text)).toContain(meaning);
  expect(explainOpenError(text)).toContain(text);
});

it('the clock of Windows is set to tick every millisecond, once', async () => {
  const asked: number[] = [];
  const winmm = async () => (ms: number) => asked.push(ms);
  await useKernelTimer(WINDOWS, winmm);
  await useKernelTimer(WINDOWS, winmm);
  expect(asked).toEqual([1]);
});
