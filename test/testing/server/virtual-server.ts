import { pino } from 'pino';
import type { LineSource } from '../../../src/document/configuration.js';
import { mergedSource } from '../../../src/document/native/line-source.js';
import type { Wire as ByteWire, ClientTarget, WireListener } from '../../../src/modbus/client/wire.js';
import { characterTime, t35 } from '../../../src/modbus/protocol/timing.js';
import { discardGap, ptyAdapter } from '../../../src/modbus/transport/port/adapter.js';
import { SerialLine } from '../../../src/modbus/transport/serial/serial-line.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import type { ServerTestOrder } from '../../../src/testing/server/bench.js';
import type { ServerVerdict } from '../../../src/testing/server/check.js';
import {
  type ServerFinding,
  type ServerTest,
  ServerTestRun,
} from '../../../src/testing/server/server-test.js';
import { nativeSetup } from '../../support/configuration.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { untilOver } from '../client/virtual-bench.js';
import { type Lateness, VirtualSerial } from '../client/virtual-port.js';
import { VirtualTcp } from '../client/virtual-tcp.js';

/** A meter with room for everything that is asked: blocks of 130 registers, coils, and addresses to write. */
export const METER = {
  identity: { vendorName: 'Acme', productCode: 'M1', majorMinorRevision: '1.0' },
  registers: {
    holding: [{ address: 0, value: Array.from({ length: 300 }, (_, i) => 1000 + i), write: true }],
    input: [{ address: 0, value: Array.from({ length: 300 }, (_, i) => 2000 + i) }],
    coils: [{ address: 0, value: Array.from({ length: 2100 }, (_, i) => i % 3 !== 0), write: true }],
    discrete: [{ address: 0, value: Array.from({ length: 2100 }, (_, i) => i % 3 !== 1) }],
  },
};

export interface ServerWanted {
  readonly on?: 'serial' | 'tcp';
  readonly manners?: object;
  readonly faults?: readonly object[];
  readonly line?: object;
  readonly device?: object;
  /** Content of a native file with one line, in place of all this. */
  readonly file?: string;
  readonly lateness?: Lateness;
  /** Bytes of the serial line take the time of this speed, 11 bits each; none when absent. */
  readonly pacedAt?: number;
  readonly order?: Partial<ServerTestOrder>;
  /** Called with the simulator before the server test begins. */
  readonly prepare?: (simulator: Simulator) => void;
  readonly onRun?: (run: ServerTestRun, simulator: Simulator, clock: VirtualClock) => void;
  /** Told each finding, and when it was found in ms of the virtual clock, which begins with the server test. */
  readonly onFinding?: (finding: ServerFinding, at: number) => void;
}

export const ORDER: ServerTestOrder = {
  unitId: 1,
  pauseMs: 20,
  scratch: {},
  broadcast: false,
  soakMs: 0,
  idleMs: 3000,
  checks: [],
  seed: 1,
};

const TARGETS = {
  serial: {
    kind: 'serial',
    path: '/dev/pts/1',
    framing: 'rtu',
    baudRate: 19200,
    dataBits: 8,
    parity: 'even',
    stopBits: 1,
  },
  tcp: { kind: 'tcp', host: '127.0.0.1', port: 502, framing: 'socket' },
} as const satisfies Record<string, ClientTarget>;

/** Tests a server of our own in virtual time. Its device has unit 1; without a file it is named `meter`, and its line `bus`. */
export async function testModelServer(wanted: ServerWanted = {}): Promise<{
  readonly serverTest: ServerTest;
  readonly simulator: Simulator;
  readonly clock: VirtualClock;
  readonly verdict: (id: string) => ServerVerdict | undefined;
  /** The identifiers of the checks with this verdict. */
  readonly those: (verdict: ServerVerdict) => readonly string[];
  /** All bytes that were sent, one element for each write. */
  readonly sent: readonly Uint8Array[];
  /** The addresses whose values are others than before, by table; coils as 0 and 1. */
  readonly changed: () => readonly string[];
}> {
  const { on = 'tcp', manners, faults = [], line = {}, device = METER, lateness, order, pacedAt } = wanted;
  const clock = new VirtualClock();
  clock.replaceGlobalTimers();
  const seed = order?.seed ?? 1;
  const serial = new VirtualSerial(clock, lateness, seed);
  let tcp: VirtualTcp | undefined;
  const speed = pacedAt === undefined ? {} : { baudRate: pacedAt };
  const { framing = 'rtu' } = line as { framing?: 'rtu' | 'ascii' };
  const target = on === 'serial' ? { ...TARGETS.serial, ...speed, framing } : TARGETS.tcp;
  const transport = on === 'serial' ? { serial: { path: 'virtual', ...speed } } : { tcp: { port: 502 } };
  const written = {
    devices: { meter: { ...device, ...(manners && { manners }) } },
    lines: { bus: mergedSource({ ...transport, units: { 1: 'meter' } }, line as LineSource) },
    faults: faults.map((fault, i) => ({ name: `fault-${i}`, ...fault })),
  };
  const setup = nativeSetup(wanted.file ?? written);
  const simulator = new Simulator(setup, pino({ level: 'silent' }), {
    clock,
    newTransport: (definition, framing, handler) => {
      if (definition.kind !== 'serial') {
        tcp = new VirtualTcp(handler, clock, lateness, seed);
        return tcp;
      }
      const open = async (_: unknown, listener: Parameters<VirtualSerial['open']>[0]) =>
        ({ ok: true, port: serial.open(listener), notes: [] }) as const;
      return new SerialLine(definition, framing, handler, { open, clock });
    },
  });
  const [bench] = simulator.lines.values();
  await bench?.start();
  wanted.prepare?.(simulator);
  const sent: Uint8Array[] = [];
  const wireTo = (to: ClientTarget, listener: WireListener): ByteWire => {
    const wire = tcp ? tcpWire(tcp, listener) : serialWire(serial, listener, clock, pacedAt, to);
    const write = (bytes: Uint8Array) => {
      sent.push(Uint8Array.from(bytes));
      return wire.write(bytes);
    };
    return { ...wire, write };
  };
  const before = valuesIn(simulator);
  const audience = {
    found: (finding: ServerFinding) => wanted.onFinding?.(finding, clock.now()),
  };
  const run = new ServerTestRun({ target, clock, wireTo }, { ...ORDER, ...order }, audience);
  wanted.onRun?.(run, simulator, clock);
  const serverTest = await untilOver(clock, run.run());
  const { findings } = serverTest;
  const changed = () => {
    const after = valuesIn(simulator);
    return [...before].flatMap(([place, value]) => (after.get(place) === value ? [] : place));
  };
  return {
    sent,
    changed,
    serverTest,
    simulator,
    clock,
    verdict: (id) => findings.find(({ check }) => check.id === id)?.verdict,
    those: (verdict) => findings.filter((each) => each.verdict === verdict).map(({ check }) => check.id),
  };
}

/** The values of the meter that can be written, by table and address. */
function valuesIn({ devices }: Simulator): Map<string, number> {
  const tables = devices.get('meter')?.tables;
  const of = (table: 'holding' | 'coils', many: number) =>
    Array.from({ length: many }, (_, address): [string, number] => [
      `${table} ${address}`,
      table === 'holding'
        ? (tables?.holding.readWords(address, 1)[0] ?? 0)
        : Number(tables?.coils.readBits(address, 1)[0] ?? 0),
    ]);
  return new Map([...of('holding', 150), ...of('coils', 2000)]);
}

function serialWire(
  serial: VirtualSerial,
  listener: WireListener,
  clock: VirtualClock,
  pacedAt: number | undefined,
  to: ClientTarget,
): ByteWire {
  const settings = { ...TARGETS.serial, baudRate: pacedAt ?? TARGETS.serial.baudRate };
  const [character, pause] = [characterTime(settings), t35(settings.baudRate)];
  const onTheWire = (bytes: Uint8Array, arrive: () => void) =>
    pacedAt === undefined ? arrive() : clock.callAfter(bytes.length * character, arrive);
  return {
    times: {
      character: pacedAt === undefined ? 0 : character,
      t35: pause,
      gap: discardGap(ptyAdapter, character, pause),
    },
    open: async () => {
      serial.received = (bytes) => onTheWire(bytes, () => listener.heard(bytes));
      return undefined;
    },
    write: (bytes) => {
      // With another parity, nothing is understood.
      if (to.kind === 'serial' && to.parity !== settings.parity) return undefined;
      onTheWire(bytes, () => serial.wire.send(bytes));
      return undefined;
    },
    close: async () => {},
  };
}

function tcpWire(tcp: VirtualTcp, listener: WireListener): ByteWire {
  const wire = tcp.wire({
    received: (bytes) => listener.heard(bytes),
    closed: () => listener.lost('the server closed the connection'),
  });
  return {
    times: { character: 0, t35: 0, gap: 50 },
    open: async () => ((await wire.open()) ? undefined : 'no connection'),
    write: (bytes) => {
      wire.send(bytes);
      return undefined;
    },
    close: async () => wire.close(),
    reset: () => wire.close(),
  };
}
