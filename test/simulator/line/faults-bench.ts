import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SerialPort } from 'serialport';
import type { ReplyEvent } from '../../../src/simulator/traffic/event.js';
import { ruleOf } from '../../device/faults/plans.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { nativeSetup } from '../../support/configuration.js';
import { exchangesOf } from '../../support/exchanges.js';
import { type RunningSimulator, startSimulator } from '../../support/simulator.js';

const BAUD_RATE = 38_400;
/** t3.5 above 19200 baud, in ms. */
export const T35 = 1.75;
/** 8N1 has 10 bits. */
export const CHARACTER = 10_000 / BAUD_RATE;

/** Turnaround of a line with a slow device, in ms. */
export const LAZY = 1500;

/** Paced serial lines and a socket; `meter` has the registers 0 to 3 with 0102, 0304, 0506 and 0708. */
export interface Bench extends RunningSimulator {
  /** Whether the meter is a real device. */
  readonly isReal: boolean;
  /** Puts these faults to use, seed 1, instead of all others. */
  use(faults: readonly unknown[], more?: object): void;
  clear(): void;
  /** The exchange that comes of what `send` sends, once its plan has been played. */
  exchangeOf(send: () => unknown): Promise<ReplyEvent>;
  /** The newest exchange, once its plan has been played. */
  played(): Promise<ReplyEvent>;
}

const SERIAL = { path: 'virtual', baudRate: BAUD_RATE, parity: 'none', pacing: { chunk: 8 } } as const;

const METER = {
  registers: { holding: [{ address: 0, value: [0x0102, 0x0304, 0x0506, 0x0708], write: true }] },
};

let isReal = false;

/** From now on the meter of a bench is a real device: another simulator has its registers. */
export function standBetween(): void {
  isReal = true;
}

function startPlant(): Promise<RunningSimulator> {
  return startSimulator(
    nativeSetup({
      devices: { meter: METER },
      lines: { plant: { tcp: { port: 0 }, units: { '*': 'meter' } } },
    }),
  );
}

export async function startBench(): Promise<Bench> {
  const plant = isReal ? await startPlant() : undefined;
  const running = await startSimulator(
    nativeSetup({
      devices: {
        meter: plant
          ? { real: { tcp: { host: '127.0.0.1', port: plant.port('plant') }, timeout: '10s' }, writes: true }
          : METER,
      },
      lines: {
        bench: { serial: SERIAL, units: { 1: 'meter', 5: 'meter' } },
        other: { serial: SERIAL, units: { 6: 'meter' } },
        lazy: { serial: SERIAL, timing: { turnaround: LAZY }, units: { 7: 'meter' } },
        lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
      },
    }),
  );
  const { simulator } = running;
  const { rules } = simulator.faults;
  const clear = () => {
    for (const { rule } of rules.list()) rules.remove(rule.name);
  };
  const played = async (before?: ReplyEvent): Promise<ReplyEvent> => {
    for (;;) {
      const [newest] = exchangesOf(simulator);
      if (newest && newest.seq !== before?.seq) return newest;
      await sleep(1);
    }
  };
  return {
    ...running,
    isReal,
    async stop() {
      await running.stop();
      await plant?.stop();
    },
    use(faults, more = {}) {
      clear();
      rules.set(ruleOf(faults, { seed: 1, ...more }));
    },
    clear,
    played: () => played(),
    async exchangeOf(send) {
      const [before] = exchangesOf(simulator);
      await send();
      return played(before);
    },
  };
}

/** The pieces of a reply in the order in which they left, as hex. */
export function sentPieces({ plan, report }: ReplyEvent): string[] {
  const steps = plan.kind === 'send' ? plan.steps : [];
  return steps.flatMap((step, i) =>
    step.kind === 'bytes' && report?.steps[i]?.outcome === 'achieved' ? [hexOf(step.bytes)] : [],
  );
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

  /** When the n-th byte since the last request was read; undefined when fewer have come. */
  arrivalOf(n: number): number | undefined {
    let length = 0;
    return this.#pieces.find(({ hex }) => {
      length += hex.length / 2;
      return length >= n;
    })?.at;
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
    const end = performance.now() + LIMIT;
    while (this.hex.length < 2 * bytes && performance.now() < end) await sleep(1);
    await sleep(QUIET);
    return this.hex;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#port.close(resolve));
  }
}

/** A net for what never comes, in ms. */
const LIMIT = 30_000;

/** Long enough for anything that would come too much, in ms: several frames. */
const QUIET = 25;
