import { mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { concatBytes } from '../../../src/modbus/protocol/bytes.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { pause, readReply, readRequest, writeRequest } from '../../cli/verbs/clients.js';
import { plugIn, unplug, type Wire } from '../../cli/verbs/wire.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, type RunningSimulator, startSimulator } from '../../support/simulator.js';

/** Nets for what is never noticed, and never served; the line looks after its port every 0.5 s. */
const NOTICED_MS = 30_000;
const SERVED_MS = 30_000;

const ADDRESS = 2;
const read = readRequest(1, ADDRESS);
const REPLY_LENGTH = 7;
const readInput = encodeRtu(1, Uint8Array.of(4, 0, 0, 0, 1));
const ROUNDS = 50;

const openDescriptors = () => readdirSync('/proc/self/fd').length;

/** A line on a port that is an adapter's name, and the other end of its wire. */
async function start({ onTestFinished }: TestContext, more: object = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'reconnect-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const link = join(directory, 'adapter');
  const wire = await plugIn(link);
  onTestFinished(wire.hangUp);
  const running = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3], write: true }] } } },
      lines: { wire: { serial: { path: link, baudRate: 9600, parity: 'none' }, units: { 1: 'meter' } } },
      ...more,
    }),
  );
  onTestFinished(running.stop);
  return { link, wire, running };
}

const entries = ({ log }: RunningSimulator, message: string) => log.filter(({ msg }) => msg === message);
const LOST = 'line lost, waiting for it to come back';
const OPEN = 'line open';
const NOT_YET = 'line not back yet';

/** Resolves when the log has this message as often as wanted. */
function logged(running: RunningSimulator, message: string, times: number): Promise<void> {
  return vi.waitFor(() => expect(entries(running, message)).toHaveLength(times), { timeout: NOTICED_MS });
}

/** A master that asks without end until it is told to stop; the wire may be gone meanwhile. */
function startLoad(wire: Wire): () => void {
  const timer = setInterval(() => wire.send(read), 20);
  return () => clearInterval(timer);
}

// Each has a line of its own and mostly waits.
describe.concurrent('a line whose port goes away', () => {
  it.for<[string, (link: string, wire: Wire) => unknown]>([
    [
      'vanishes and hangs up, as an adapter that is unplugged',
      (link: string, wire: Wire) => unplug(link, wire),
    ],
    ['only vanishes', async (link: string) => unlinkSync(link)],
    ['only hangs up', (_: string, wire: Wire) => wire.hangUp()],
  ])('because it %s is served again after its return, its registers kept', async ([_, goAway], context) => {
    const { link, wire, running } = await start(context);
    const write = writeRequest(1, ADDRESS, 4711);
    expect(await wire.ask(write, write.length, SERVED_MS)).toEqual(write);

    await goAway(link, wire);
    await logged(running, LOST, 1);
    await wire.hangUp();
    const next = await plugIn(link);
    context.onTestFinished(next.hangUp);
    expect(await next.ask(read, REPLY_LENGTH, SERVED_MS)).toEqual(readReply(1, 4711));
  });

  it('is served again each of 50 times that its adapter is pulled out and put in under load', async (context) => {
    const faults = [{ name: 'refused', when: { function: 4 }, do: [{ exception: 4 }] }];
    const { link, wire: first, running } = await start(context, { faults });
    const exception = encodeRtu(1, Uint8Array.of(0x84, 4));
    let wire = first;
    let descriptors = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const stopLoad = startLoad(wire);
      await pause(50);
      await unplug(link, wire);
      await logged(running, LOST, round);
      stopLoad();

      wire = await plugIn(link);
      expect(await wire.ask(read, REPLY_LENGTH, SERVED_MS)).toEqual(readReply(1, round === 1 ? 3 : round));
      const write = writeRequest(1, ADDRESS, round + 1);
      expect(await wire.ask(write, write.length, SERVED_MS)).toEqual(write);
      expect(await wire.ask(readInput, exception.length, SERVED_MS)).toEqual(exception);
      if (round === 1) descriptors = openDescriptors();
    }
    // Other tests of this file run beside it, each with a few.
    expect(openDescriptors()).toBeLessThan(descriptors + ROUNDS / 2);
    await wire.hangUp();
    expect(entries(running, OPEN)).toHaveLength(ROUNDS + 1);
    expect(holding(running, 'meter', ADDRESS, 1)).toEqual([ROUNDS + 1]);
  }, 600_000);

  it('goes over to another adapter that takes the name while the first one still answers', async (context) => {
    const { link, wire, running } = await start(context);
    const next = await plugIn(link);
    context.onTestFinished(next.hangUp);
    await logged(running, LOST, 1);
    expect(entries(running, LOST)[0]?.reason).toBe(`${link}: is now a different device`);
    expect(await next.ask(read, REPLY_LENGTH, SERVED_MS)).toEqual(readReply(1, 3));
    expect(wire.isOpened()).toBe(false);
  });

  it('tells in the log that it is lost, once for each reason why it is not back, and that it is back', async (context) => {
    const { link, wire, running } = await start(context);
    unlinkSync(link);
    // Something else takes the name for a while.
    writeFileSync(link, '');
    await wire.hangUp();
    const reason = `${link}: is not a character device, so it is not a serial port`;
    await vi.waitFor(() => expect(entries(running, NOT_YET).at(-1)).toMatchObject({ reason }), {
      timeout: NOTICED_MS,
    });
    // Some more attempts.
    await pause(2500);
    const next = await plugIn(link);
    context.onTestFinished(next.hangUp);
    await logged(running, OPEN, 2);

    const told = running.log.filter(({ msg }) => [LOST, OPEN, NOT_YET].includes(msg));
    expect(told).toEqual([
      expect.objectContaining({ msg: OPEN, line: 'wire', place: link, level: 30 }),
      expect.objectContaining({
        msg: LOST,
        line: 'wire',
        reason: expect.stringContaining(`${link}: `),
        level: 40,
      }),
      expect.objectContaining({ msg: NOT_YET, line: 'wire', reason, level: 20 }),
      expect.objectContaining({ msg: OPEN, line: 'wire', place: link, level: 30 }),
    ]);
  });

  it('sends no reply that was pending to whoever is there after its return', async (context) => {
    const { link, wire, running } = await start(context, {
      faults: [{ name: 'slow', when: { function: 3 }, do: [{ delay: 1200 }] }],
    });
    // The first bytes wait for a silence, because the line may have been opened in the middle of a frame.
    wire.send(read);
    await vi.waitFor(() => expect(running.simulator.lines.get('wire')?.counters.requests).toBe(1), {
      timeout: NOTICED_MS,
    });
    await unplug(link, wire);
    const next = await plugIn(link);
    context.onTestFinished(next.hangUp);
    const write = writeRequest(1, ADDRESS, 9);
    expect(await next.ask(write, write.length, SERVED_MS)).toEqual(write);
    await pause(1200);
    // Where the write was answered late, it was sent again, and is answered again.
    const rest = next.take();
    expect(rest).toEqual(concatBytes(...Array(Math.ceil(rest.length / write.length)).fill(write)));
  });

  it('can be stopped while it waits, and leaves its port alone from then on', async (context) => {
    const { link, wire, running } = await start(context);
    await unplug(link, wire);
    await logged(running, LOST, 1);
    await running.simulator.stop();
    const next = await plugIn(link);
    context.onTestFinished(next.hangUp);
    await pause(800);
    expect(next.isOpened()).toBe(false);
    expect(entries(running, OPEN)).toHaveLength(1);
  });
});
