import { pino } from 'pino';
import { afterEach, beforeEach, vi } from 'vitest';
import { seededRandom } from '../../../src/common/random.js';
import { SerialLine } from '../../../src/modbus/transport/serial/serial-line.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { CHECKS, chosenChecks } from '../../../src/testing/checks.js';
import { ClientTest } from '../../../src/testing/client/client-test.js';
import type { Observer } from '../../../src/testing/client/observer.js';
import type { Check } from '../../../src/testing/client/trial/exam.js';
import type { Finding, Report } from '../../../src/testing/report/report.js';
import { nativeSetup } from '../../support/configuration.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import type { Trap } from '../fuzz/trap.js';
import { FAULTLESS, type Habits } from './habits.js';
import { ModelClient } from './model-client.js';
import { type Lateness, VirtualSerial } from './virtual-port.js';
import { VirtualTcp } from './virtual-tcp.js';

/** The register that a model client writes back to. */
export const SEEN = 100;

const REGISTERS = {
  holding: [
    { address: 0, value: Array.from({ length: 20 }, (_, i) => 1000 + i), write: true },
    { address: 30, type: 'float32', value: 230.1 },
    { address: SEEN, name: 'seen', write: true },
  ],
};

const COILS = {
  coils: [{ address: 0, value: Array.from({ length: 16 }, (_, i) => i % 3 === 0), write: true }],
};

const DEVICES = { meter: { registers: { ...REGISTERS, ...COILS } }, relay: { registers: REGISTERS } };
const UNITS = { 1: 'meter', 2: 'relay' };

const LINES = {
  serial: { serial: { path: 'virtual' }, units: UNITS },
  tcp: { tcp: { port: 502 }, units: UNITS },
  anyPort: { tcp: { port: 0 }, units: UNITS },
};

/** Lets serialport's parser, which has no other timers, run in virtual time. Call this in each file of tests. */
export function inVirtualTime(): void {
  beforeEach(() => {
    clock = new VirtualClock();
    clock.replaceGlobalTimers();
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });
}

/** Lets everything on the machine stand still again and again, for up to `mostMs`, at random. */
export function stalling(mostMs: number, seed: number): void {
  const random = seededRandom(seed, 5);
  const stalls: { readonly from: number; readonly to: number }[] = [];
  clock.lateBy = (at) => {
    for (let last = stalls.at(-1)?.to ?? 0; last <= at; last = stalls.at(-1)?.to ?? 0) {
      const from = last + mostMs * (0.1 + random.next());
      stalls.push({ from, to: from + mostMs * random.next() });
    }
    const stall = stalls.findLast(({ from, to }) => from <= at && at < to);
    return stall ? stall.to - at : 0;
  };
}

let clock = new VirtualClock();

/** A bench in virtual time: the real simulator with its real line, and a port or a socket of our own. */
export interface VirtualBench {
  readonly clock: VirtualClock;
  readonly simulator: Simulator;
  readonly serial: VirtualSerial;
  readonly tcp: VirtualTcp | undefined;
  /** A client on the line, which does not poll yet. @param trap its planted mistake */
  client(habits?: Partial<Habits>, trap?: Trap): ModelClient;
}

/**
 * Opens a line named `bus` with the units 1 and 2.
 * @param lateness of bytes on each way, as on a busy machine
 * @param seed of the lateness
 */
export async function virtualBench(
  on: keyof typeof LINES = 'serial',
  lateness?: Lateness,
  seed?: number,
): Promise<VirtualBench> {
  const time = clock;
  const serial = new VirtualSerial(time, lateness, seed);
  let tcp: VirtualTcp | undefined;
  const simulator = new Simulator(
    nativeSetup({ devices: DEVICES, lines: { bus: LINES[on] } }),
    pino({ level: 'silent' }),
    {
      clock: time,
      newTransport: (definition, framing, handler) => {
        if (definition.kind !== 'serial') {
          tcp = new VirtualTcp(handler, time, lateness, seed);
          return tcp;
        }
        const open = async (_: unknown, listener: Parameters<VirtualSerial['open']>[0]) =>
          ({ ok: true, port: serial.open(listener), notes: [] }) as const;
        return new SerialLine(definition, framing, handler, { open, clock: time });
      },
    },
  );
  await simulator.lines.get('bus')?.start();
  const client = (habits: Partial<Habits> = {}, trap?: Trap) => {
    const wire = tcp?.wire({
      received: (bytes) => made.received(bytes),
      closed: (isOurs) => made.closed(isOurs),
    });
    const made: ModelClient = new ModelClient({ ...FAULTLESS, ...habits }, wire ?? serial.wire, time, trap);
    if (!wire) serial.received = (bytes) => made.received(bytes);
    return made;
  };
  return { clock: time, simulator, serial, tcp, client };
}

interface Wanted {
  readonly on?: keyof typeof LINES;
  readonly habits?: Partial<Habits>;
  /** Identifiers or groups; all checks when absent. */
  readonly checks?: readonly string[];
  /** Checks to choose from; those of the program when absent. */
  readonly table?: readonly Check[];
  readonly unitId?: number;
  /** How late bytes are on each way, as on a busy machine. */
  readonly lateness?: Lateness;
  readonly limitMs?: number;
  readonly seed?: number;
  /** Makes the observer of the client that is tested. */
  readonly observer?: (client: ModelClient, bench: VirtualBench) => Observer;
  /** Called when a check is over. */
  readonly onFinding?: (finding: Finding) => void;
  /** Called with what is waited for. */
  readonly onNote?: (text: string) => void;
  readonly restart?: () => Promise<string | undefined>;
}

const HOUR_MS = 3_600_000;

/** Tests a model client from its first request to the report. */
export async function testModelClient(wanted: Wanted = {}): Promise<{
  readonly report: Report;
  readonly clientTest: ClientTest;
  readonly bench: VirtualBench;
  /** The finding of a check. */
  readonly finding: (id: string) => Finding;
}> {
  const { on, habits, lateness, seed } = wanted;
  const bench = await virtualBench(on, lateness, seed);
  const client = bench.client(habits);
  const { clientTest } = newClientTest(bench, wanted, wanted.observer?.(client, bench));
  void client.poll();
  const report = await untilOver(bench.clock, clientTest.run());
  client.stop();
  const finding = (id: string) => {
    const found = report.findings.find((each) => each.id === id);
    if (!found) throw new Error(`no check ${id} was run`);
    return found;
  };
  return { report, clientTest, bench, finding };
}

export function newClientTest(
  { simulator, clock }: Pick<VirtualBench, 'simulator' | 'clock'>,
  { checks = [], table = CHECKS, unitId, limitMs = HOUR_MS, seed = 1, onFinding, onNote, restart }: Wanted,
  observer?: Observer,
): { readonly clientTest: ClientTest } {
  const line = simulator.lines.get('bus');
  const chosen = line && chosenChecks(checks, line, table);
  if (!line || chosen === undefined) throw new Error('no line');
  if (!chosen.ok) throw new Error(chosen.error);
  const order = { line, unitId, checks: chosen.value, limitMs, seed, observer, restart };
  const audience = { ...(onFinding && { found: onFinding }), ...(onNote && { note: onNote }) };
  return { clientTest: new ClientTest(simulator, order, audience, clock) };
}

/** Goes on in virtual time until something is over. */
export async function untilOver<Result>(clock: VirtualClock, over: Promise<Result>): Promise<Result> {
  let isOver = false;
  const settled = over.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advanceAsync(250);
  return settled;
}
