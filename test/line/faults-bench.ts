import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { SerialPort } from 'serialport';
import { nativeConfiguration } from '../../src/config/native/file.js';
import { At } from '../../src/schema/at.js';
import { fileFindings } from '../../src/schema/findings.js';
import { Simulator } from '../../src/simulator/simulator.js';
import type { Exchange } from '../../src/traffic/ledger.js';
import { ruleOf } from '../faults/plans.js';
import { bytesOf } from '../vectors/hex.js';

const BAUD_RATE = 38_400;
/** t3.5 above 19200 baud, in ms. */
export const T35 = 1.75;
/** 8N1 has 10 bits. */
export const CHARACTER = 10_000 / BAUD_RATE;

/** Turnaround of a line with a slow device, in ms. */
export const LAZY = 1500;

/** Paced serial lines and a socket; `meter` has the registers 0 to 3 with 0102, 0304, 0506 and 0708. */
export interface Bench {
  readonly simulator: Simulator;
  readonly serialPath: (line: string) => string;
  readonly tcpPort: number;
  /** Puts these faults to use, seed 1, instead of all others. */
  use(faults: readonly unknown[], more?: object): void;
  clear(): void;
  /** The newest exchange, once its plan has been played. */
  played(): Promise<Exchange>;
  stop(): Promise<void>;
}

export async function startBench(): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-faults-'));
  const serial = (line: string) => ({
    path: 'virtual',
    baudRate: BAUD_RATE,
    parity: 'none',
    pacing: { chunk: 8 },
    link: join(directory, line),
  });
  const findings = fileFindings();
  const content = {
    devices: {
      meter: {
        registers: { holding: [{ address: 0, value: [0x0102, 0x0304, 0x0506, 0x0708], write: true }] },
      },
    },
    lines: {
      bench: { serial: serial('bench'), units: { 1: 'meter', 5: 'meter' } },
      other: { serial: serial('other'), units: { 6: 'meter' } },
      lazy: { serial: serial('lazy'), timing: { turnaround: LAZY }, units: { 7: 'meter' } },
      lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    },
  };
  const pymodbusDevices = () => ({ ok: false, messages: [], warnings: [] }) as const;
  const context = { pymodbusDevices, api: {}, directory: '.' };
  const configuration = nativeConfiguration(new At(content, findings), context);
  if (findings.count > 0) throw new Error(JSON.stringify(findings.listed));
  const simulator = new Simulator(configuration, pino({ level: 'silent' }));
  const started = await simulator.start();
  if (!started.ok) throw new Error(started.error);
  const lan = started.lines.find(({ name }) => name === 'lan');
  const { rules } = simulator.faults;
  const clear = () => {
    for (const { rule } of rules.list()) rules.remove(rule.name);
  };
  return {
    simulator,
    serialPath: (line) => join(directory, line),
    tcpPort: Number(lan?.description.match(/:(\d+),/)?.[1]),
    use(faults, more = {}) {
      clear();
      rules.set(ruleOf(faults, { seed: 1, ...more }));
    },
    clear,
    async played() {
      for (;;) {
        const [newest] = simulator.ledger.latest(1);
        if (newest?.report) return newest;
        await sleep(1);
      }
    },
    async stop() {
      await simulator.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Times in ms of `performance.now()`. */
interface Piece {
  readonly at: number;
  readonly hex: string;
}

/** A master at a serial line that sends any bytes and keeps what comes back, with the time of every read. */
export class SerialClient {
  readonly #port: SerialPort;
  #pieces: Piece[] = [];

  private constructor(port: SerialPort) {
    this.#port = port;
    port.on('data', (chunk: Buffer) => {
      this.#pieces.push({ at: performance.now(), hex: chunk.toString('hex') });
    });
  }

  static async open(path: string): Promise<SerialClient> {
    const port = new SerialPort({ path, baudRate: BAUD_RATE, parity: 'none' });
    await once(port, 'open');
    return new SerialClient(port);
  }

  /** What has come since the last request. */
  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  get hex(): string {
    return this.#pieces.map(({ hex }) => hex).join('');
  }

  /** Writes a request, given as hex; the time just before. */
  send(request: string): number {
    this.#pieces = [];
    const sentAt = performance.now();
    this.#port.write(Buffer.from(bytesOf(request)));
    return sentAt;
  }

  /** Waits for `bytes` bytes, for a while, and then whether more come. */
  async receive(bytes: number): Promise<string> {
    const end = performance.now() + 5000;
    while (this.hex.length < 2 * bytes && performance.now() < end) await sleep(1);
    await sleep(QUIET);
    return this.hex;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#port.close(resolve));
  }
}

/** Long enough for anything that would come too much, in ms: several frames. */
const QUIET = 25;
