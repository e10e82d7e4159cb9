import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { type Framing, RTU } from '../../../src/modbus/protocol/framing.js';
import type { TrafficEvent } from '../../../src/simulator/traffic/event.js';
import { openRawClient, pause } from '../../cli/verbs/clients.js';
import { plugIn } from '../../cli/verbs/wire.js';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator } from '../../support/simulator.js';

/** A net for what is never recorded. */
const LIMIT_MS = 30_000;
/** Longer than the discard gap, and than any reply would take. */
const QUIET_MS = 300;

/** The other end of the bus, on which a master and its devices would be. */
interface BusEnd {
  send(bytes: Uint8Array): void;
  /** What has come since the last call. */
  take(): Uint8Array;
}

/** A line that only listens, and what is around it. */
interface Spied {
  readonly running: RunningSimulator;
  readonly bus: BusEnd;
  readonly framing: Framing;
}

async function spy(line: object, configuration: object = {}): Promise<RunningSimulator> {
  const running = await startSimulator(
    nativeSetup({ lines: { spy: { mode: 'monitor', ...line } }, ...configuration }),
  );
  onTestFinished(running.stop);
  return running;
}

async function onVirtualPort(framing: Framing): Promise<Spied> {
  const link = join(newDirectory(), 'spy');
  const running = await spy({ serial: { path: 'virtual', link }, framing: framing.name });
  return { running, framing, bus: await openRawClient(running.path('spy')) };
}

async function onRealPort(framing: Framing): Promise<Spied> {
  const path = join(newDirectory(), 'adapter');
  const wire = await plugIn(path);
  onTestFinished(wire.hangUp);
  const running = await spy({ serial: { path, baudRate: 19200 }, framing: framing.name });
  return { running, framing, bus: wire };
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'monitor-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const frame = (framing: Framing, unitId: number, ...pdu: number[]) =>
  framing.encode({ transactionId: 0, unitId, pdu: Uint8Array.from(pdu) });

/** The frames and damage that were recorded, without the states of the line. */
function recorded({ running }: Spied): TrafficEvent[] {
  const { traffic } = running.simulator;
  const all = Array.from({ length: traffic.last }, (_, i) => traffic.read(i + 1) as TrafficEvent);
  return all.filter(({ kind }) => kind !== 'line');
}

/** Sends a frame and waits until it is recorded, so that it is not merged with the next one. */
async function say(spied: Spied, bytes: Uint8Array): Promise<TrafficEvent> {
  const before = recorded(spied).length;
  spied.bus.send(bytes);
  await vi.waitFor(() => expect(recorded(spied).length).toBeGreaterThan(before), { timeout: LIMIT_MS });
  await pause(20);
  return recorded(spied).at(-1) as TrafficEvent;
}

const framings = [RTU, new AsciiFraming()] as const;
const ways = framings.flatMap((framing) => [
  [framing.name, 'a virtual port', () => onVirtualPort(framing)] as const,
  [framing.name, 'a real port', () => onRealPort(framing)] as const,
]);

describe.each(ways)('a monitor of %s on %s', (_, __, start) => {
  it('records requests, responses and exceptions with what they answer, and sends no byte', async () => {
    const spied = await start();
    const { framing } = spied;
    const asked = await say(spied, frame(framing, 5, 3, 0, 0, 0, 1));
    expect(asked).toMatchObject({ kind: 'foreign request', unitId: 5, functionCode: 3, line: 'spy' });
    expect(await say(spied, frame(framing, 5, 3, 2, 0, 7))).toMatchObject({
      kind: 'foreign response',
      answers: { seq: asked.seq, after: expect.any(Number) },
    });
    const write = await say(spied, frame(framing, 9, 6, 0, 1, 0, 2));
    expect(await say(spied, frame(framing, 9, 6, 0, 1, 0, 2))).toMatchObject({
      kind: 'foreign response',
      answers: { seq: write.seq },
    });
    const refused = await say(spied, frame(framing, 9, 4, 0, 1, 0, 2));
    expect(await say(spied, frame(framing, 9, 0x84, 2))).toMatchObject({
      kind: 'foreign response',
      functionCode: 0x84,
      answers: { seq: refused.seq },
    });
    await pause(QUIET_MS);
    expect(spied.bus.take()).toHaveLength(0);
  });

  it('pairs a response that comes when its master has already asked another device', async () => {
    const spied = await start();
    const { framing } = spied;
    const slow = await say(spied, frame(framing, 5, 3, 0, 0, 0, 1));
    const quick = await say(spied, frame(framing, 6, 3, 0, 0, 0, 1));
    expect(await say(spied, frame(framing, 5, 3, 2, 0, 7))).toMatchObject({ answers: { seq: slow.seq } });
    expect(await say(spied, frame(framing, 6, 0x83, 4))).toMatchObject({ answers: { seq: quick.seq } });
  });

  it('sends no byte whatever it hears, and executes nothing', async () => {
    const spied = await start();
    const { framing, bus } = spied;
    for (const unitId of [0, 1, 17, 247, 255]) {
      for (const pdu of [
        [8, 0, 4, 0, 0],
        [8, 0, 0, 0x12, 0x34],
        [8, 0, 1, 0, 0],
        [3, 0, 0, 0, 1],
        [6, 0, 0, 0, 9],
        [16, 0, 0, 0, 1, 2, 0, 9],
        [43, 14, 1, 0],
        [17],
        [100, 1, 2],
      ]) {
        bus.send(frame(framing, unitId, ...pdu));
        await pause(5);
      }
    }
    bus.send(
      frame(framing, 1, 3, 0, 0, 0, 1).map((byte, i, all) => (i === all.length - 4 ? byte ^ 1 : byte)),
    );
    bus.send(Uint8Array.from({ length: 600 }, (_, i) => i & 0xff));
    await pause(QUIET_MS);
    await vi.waitFor(() => expect(recorded(spied).length).toBeGreaterThan(5), { timeout: LIMIT_MS });
    expect(bus.take()).toHaveLength(0);
    const kinds = new Set(recorded(spied).map(({ kind }) => kind));
    for (const kind of ['request', 'broadcast', 'reply']) expect(kinds).not.toContain(kind);
    const { counters } = spied.running.simulator.lines.get('spy') ?? {};
    expect(counters).toMatchObject({ requests: 0, broadcasts: 0, replies: 0, echoes: 0 });
  });

  it('records a broadcast as a request that passed by, and a damaged frame as damaged', async () => {
    const spied = await start();
    const broadcast = frame(spied.framing, 0, 6, 0, 1, 0, 2);
    expect(await say(spied, broadcast)).toMatchObject({
      kind: 'foreign request',
      unitId: 0,
      bytes: broadcast,
    });
    const wrong = frame(spied.framing, 5, 3, 0, 0, 0, 1);
    // The lowest bit of the check value: a hexadecimal digit stays one.
    const at = wrong.length - (spied.framing.name === 'ascii' ? 3 : 1);
    wrong[at] = spied.framing.name === 'ascii' && wrong[at] === 0x39 ? 0x38 : (wrong[at] as number) ^ 1;
    expect(await say(spied, wrong)).toMatchObject({ kind: 'damaged', bytes: wrong });
  });
});

const METER = { meter: { registers: { holding: [{ address: 0, value: 7 }] } } };
const read = frame(RTU, 1, 3, 0, 0, 0, 1);

describe('a line that becomes a monitor over REST', () => {
  it('stops answering, shows its mode, and answers again as a server', async () => {
    const link = join(newDirectory(), 'line');
    const running = await startSimulator(
      nativeSetup({
        devices: METER,
        lines: { bench: { serial: { path: 'virtual', link }, units: { 1: 'meter' } } },
      }),
    );
    onTestFinished(running.stop);
    const url = '/api/v1/lines/bench';
    const kept = await running.rest.send('PUT', url, { mode: 'monitor' });
    expect(kept).toMatchObject({
      status: 400,
      body: { problems: [{ path: 'units', message: expect.stringContaining('answers no request') }] },
    });
    const changed = await running.rest.send('PUT', url, { mode: 'monitor', units: null });
    expect(changed).toMatchObject({ status: 200, body: { mode: 'monitor', state: 'open', units: {} } });
    const spied = await openRawClient(link);
    spied.send(read);
    await pause(QUIET_MS);
    expect(spied.take()).toHaveLength(0);
    await spied.close();

    const back = await running.rest.send('PUT', url, { mode: 'server', units: { 1: 'meter' } });
    expect(back).toMatchObject({ status: 200, body: { mode: 'server' } });
    const client = await openRawClient(link);
    client.send(read);
    expect(await client.receive(7)).toEqual(frame(RTU, 1, 3, 2, 0, 7));
  });
});
