import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { concatBytes } from '../../src/modbus/protocol/bytes.js';
import { RTU } from '../../src/modbus/protocol/framing.js';
import {
  type PlayReport,
  plainReply,
  type ReplyPlan,
  type Step,
  silence,
} from '../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../src/modbus/protocol/rtu.js';
import { characterTime } from '../../src/modbus/protocol/timing.js';
import { ptyAdapter } from '../../src/modbus/transport/port/adapter.js';
import type { PortListener } from '../../src/modbus/transport/port/port.js';
import { SerialLine } from '../../src/modbus/transport/serial/serial-line.js';
import type { SerialSettings } from '../../src/modbus/transport/settings.js';
import type { LineEvent } from '../../src/modbus/transport/transport.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { playedPort } from './transport/serial/played-line.js';
import { readRequest } from './transport/socket/holding-registers.js';
import { openLine } from './transport/socket/line.js';
import { until } from './transport/socket/raw-client.js';

/* What the wing promises of a serial line: bytes in, requests out, and plans on the wire. The test plays the port and the clock. */

const T35 = 2;
const GAP = 20;
const SETTINGS: SerialSettings = {
  kind: 'serial',
  name: 'bench',
  framing: 'rtu',
  mode: 'server',
  path: 'virtual',
  baudRate: 19200,
  dataBits: 8,
  parity: 'even',
  stopBits: 1,
  timing: { t35: T35, turnaround: 't3.5', gap: GAP },
  whenBusy: 'replace',
  echo: 'no',
};
const CHARACTER = characterTime(SETTINGS);
const write = (value: number) => encodeRtu(1, Uint8Array.of(6, 0, 10, 0, value));

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
  clock.replaceGlobalTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

interface Wire {
  /** The plan for a request, which has these bytes; the request itself when absent. Undefined: `planned` brings it later. */
  readonly plan?: (adu: Uint8Array) => ReplyPlan | undefined;
  /** Why the port refuses breaks. */
  readonly noBreak?: string;
  /** Called in each write to the port. */
  readonly onWrite?: (bytes: Uint8Array, hears: (bytes: Uint8Array) => void) => void;
}

/** A line on a port that notes what is done to it, and when. */
async function lineOn(settings: Partial<SerialSettings>, { plan = plainReply, noBreak, onWrite }: Wire = {}) {
  let listener: PortListener | undefined;
  const hears = (bytes: Uint8Array) => listener?.onData(bytes);
  const executed: number[] = [];
  const written: { readonly bytes: Uint8Array; readonly at: number }[] = [];
  const breaks: number[] = [];
  const events: LineEvent[] = [];
  const reports: PlayReport[] = [];
  const later: ((plan: ReplyPlan) => void)[] = [];
  const port = {
    ...playedPort(
      (bytes) => {
        written.push({ bytes: Uint8Array.from(bytes), at: clock.now() });
        onWrite?.(Uint8Array.from(bytes), hears);
        return undefined;
      },
      { ...ptyAdapter, kind: '16550', name: 'a UART' },
    ),
    sendBreak: (ms: number) => {
      breaks.push(clock.now());
      return new Promise<string | undefined>((resolve) => clock.callAfter(ms, () => resolve(noBreak)));
    },
  };
  const line = new SerialLine(
    { ...SETTINGS, ...settings },
    RTU,
    {
      newClientId: () => 1,
      owns: () => true,
      request: ({ adu, pdu }, begin) => {
        executed.push(pdu.at(-1) as number);
        const reply = {
          plan: plan(Uint8Array.from(adu)),
          whenPlanned: (callback: () => void) =>
            void later.push((planned) => {
              reply.plan = planned;
              callback();
            }),
          played: (report: PlayReport) => void reports.push(report),
        };
        begin(reply);
      },
      event: (event) => void events.push(event),
    },
    {
      open: async (_, heard) => {
        listener = heard;
        return { ok: true, port, notes: [] };
      },
      clock,
    },
  );
  await line.start();
  const planned = (reply: ReplyPlan) => later.shift()?.(reply);
  return { hears, executed, written, breaks, events, reports, planned };
}

describe('a request that comes while a reply is pending', () => {
  it.each([
    ['replace', [1, 2, 3], [2, 3], 0],
    ['queue', [1, 2, 3], [1, 2, 3], 0],
    ['drop', [1, 3], [1, 3], 1],
  ] as const)('with %s: %j are executed, %j answered', async (whenBusy, executed, answered, dropped) => {
    const line = await lineOn({ whenBusy, timing: { ...SETTINGS.timing, turnaround: 300 } });
    line.hears(write(1));
    clock.advance(100);
    line.hears(write(2));
    clock.advance(2000);
    line.hears(write(3));
    clock.advance(2000);
    expect(line.executed).toEqual(executed);
    expect(line.written.map(({ bytes }) => bytes)).toEqual(answered.map(write));
    const reported = line.events.filter(({ kind }) => kind === 'dropped');
    expect(reported).toHaveLength(dropped);
    for (const event of reported) expect(event).toMatchObject({ frame: { bytes: write(2) } });
  });
});

describe('a reply while the beginning of another frame comes in', () => {
  it.each([
    ['waits for the frame, t3.5 behind the last byte', false, 't3.5', GAP],
    ['that is early leaves at once', true, 't3.5', 0],
    ['leaves at once on an eager line', false, 'eager', 0],
  ] as const)('%s', async (_, early, turnaround, earliest) => {
    const plan = (adu: Uint8Array): ReplyPlan => ({ ...plainReply(adu), early }) as ReplyPlan;
    const line = await lineOn({ timing: { ...SETTINGS.timing, turnaround } }, { plan });
    line.hears(concatBytes(write(1), write(2).subarray(0, 3)));
    expect(line.written).toHaveLength(earliest === 0 ? 1 : 0);
    clock.advance(1000);
    expect(line.written.map(({ bytes }) => bytes)).toEqual([write(1)]);
    expect(line.written[0]?.at).toBeGreaterThanOrEqual(earliest);
  });
});

it('a break begins when the bytes before it have left the wire, and not before', async () => {
  const steps: Step[] = [
    { kind: 'bytes', waitMs: 0, bytes: new Uint8Array(100), continues: false },
    { kind: 'break', waitMs: 0, ms: 5 },
    { kind: 'bytes', waitMs: 0, bytes: Uint8Array.of(1), continues: false },
  ];
  const line = await lineOn({}, { plan: () => ({ kind: 'send', early: false, steps }) });
  line.hears(write(1));
  await clock.advanceAsync(500);
  const [before, after] = line.written;
  expect(line.breaks[0]).toBeGreaterThanOrEqual((before?.at ?? 0) + 100 * CHARACTER);
  expect(after?.at).toBeGreaterThanOrEqual((line.breaks[0] ?? 0) + 5);
});

it('a break that the port refuses is reported with the reason, and what follows is sent', async () => {
  const steps: Step[] = [
    { kind: 'break', waitMs: 0, ms: 5 },
    { kind: 'bytes', waitMs: 0, bytes: Uint8Array.of(1), continues: false },
  ];
  const refused = { plan: () => ({ kind: 'send', early: false, steps }) as const, noBreak: 'no break here' };
  const line = await lineOn({}, refused);
  line.hears(write(1));
  await clock.advanceAsync(500);
  expect(line.reports).toMatchObject([
    {
      steps: [{ outcome: 'not achieved', reason: 'no break here' }, { outcome: 'achieved' }],
      ended: 'complete',
    },
  ]);
  expect(line.written.map(({ bytes }) => [...bytes])).toEqual([[1]]);
});

describe('a reply whose plan comes later', () => {
  it('waits for it, holds back the next reply, and keeps t3.5 behind the last byte', async () => {
    const first = (adu: Uint8Array) => (adu[5] === 1 ? undefined : plainReply(adu));
    const line = await lineOn({ whenBusy: 'queue' }, { plan: first });
    line.hears(write(1));
    clock.advance(100);
    line.hears(write(2));
    clock.advance(100);
    expect(line.written).toEqual([]);
    line.planned(plainReply(write(1)));
    clock.advance(100);
    expect(line.written.map(({ bytes }) => bytes)).toEqual([write(1), write(2)]);
    const [before, after] = line.written;
    expect(before?.at).toBe(200);
    expect(after?.at).toBeGreaterThanOrEqual(200 + write(1).length * CHARACTER + T35);
    expect(line.reports.map(({ ended }) => ended)).toEqual(['complete', 'complete']);
  });

  it('may be silence, which ends at once', async () => {
    const line = await lineOn({}, { plan: () => undefined });
    line.hears(write(1));
    expect(line.reports).toEqual([]);
    line.planned(silence('the real device is silent'));
    expect(line.reports).toEqual([{ steps: [], ended: 'complete' }]);
    line.hears(write(2));
    line.planned(plainReply(write(2)));
    clock.advance(100);
    expect(line.written).toHaveLength(1);
  });
});

it('a broadcast takes the place of a pending reply, and noise does not', async () => {
  const line = await lineOn({ timing: { ...SETTINGS.timing, turnaround: 300 } });
  line.hears(write(1));
  clock.advance(50);
  line.hears(Uint8Array.of(1, 2, 3));
  clock.advance(100);
  expect(line.events).toMatchObject([
    { kind: 'open' },
    { kind: 'noise', noise: { bytes: Uint8Array.of(1, 2, 3) }, isRest: false },
  ]);
  expect(line.reports).toEqual([]);
  line.hears(encodeRtu(0, Uint8Array.of(6, 0, 10, 0, 9)));
  expect(line.reports).toMatchObject([
    {
      steps: [{ outcome: 'not achieved', reason: 'the client has sent a request to another unit' }],
      ended: 'superseded',
    },
  ]);
});

/** A plan of very many pieces, without a wait between them. */
const pieces = (): ReplyPlan => ({
  kind: 'send',
  early: false,
  steps: Array.from({ length: 200 }, (_, i): Step => {
    return { kind: 'bytes', waitMs: 0, bytes: Uint8Array.of(i), continues: i > 0 };
  }),
});

it('a reply in very many pieces lets others have their turn after 64 of them', async () => {
  const line = await lineOn({ timing: { ...SETTINGS.timing, turnaround: 'eager' } }, { plan: pieces });
  line.hears(write(1));
  expect(line.written).toHaveLength(64);
  clock.advance(1000);
  expect(line.written).toHaveLength(200);
});

it('a reply in very many pieces lets others have their turn on a socket, too', async () => {
  vi.unstubAllGlobals();
  const line = await openLine();
  onTestFinished(() => line.close());
  const ended: number[] = [];
  line.device.fault = () => {
    setImmediate(() => ended.push(line.device.reports.length));
    return pieces();
  };
  line.client().send(readRequest(1, 0));
  await until(() => line.device.reports.length === 1, 'played');
  expect(ended).toEqual([0]);
});

describe('an adapter that hears what it sends, so late that it may be a client', () => {
  const rounds = async (between: number) => {
    const line = await lineOn(
      { echo: 'auto' },
      {
        onWrite: (bytes, hears) =>
          clock.callAfter(bytes.length * CHARACTER + 50, () =>
            hears(concatBytes(bytes, new Uint8Array(between))),
          ),
      },
    );
    line.hears(write(1));
    clock.advance(10_000);
    return { executed: line.executed.length, kinds: new Set(line.events.map(({ kind }) => kind)) };
  };

  it.each([0, 1, 2, 3])('has its loop ended with %i bytes of noise behind each echo', async (between) => {
    const { executed, kinds } = await rounds(between);
    expect(executed).toBe(17);
    expect(kinds).toContain('loop');
  });

  it('is a client where more than noise comes between', async () => {
    const { executed, kinds } = await rounds(4);
    expect(executed).toBeGreaterThan(60);
    expect(kinds).not.toContain('loop');
  });
});
