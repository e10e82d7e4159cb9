import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/modbus/protocol/bytes.js';
import { openRawClient, pause, readReply, readRequest, writeRequest } from '../../cli/verbs/clients.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, type RunningSimulator, startSimulator } from '../../support/simulator.js';

/** Longer than any reply takes on these lines. */
const SILENCE = 150;

const registers = (...values: number[]) => ({
  registers: { holding: [{ address: 0, value: values, write: true }] },
});
const virtual = { path: 'virtual', baudRate: 9600, parity: 'none' } as const;

let running: RunningSimulator;
beforeAll(async () => {
  running = await startSimulator(
    nativeSetup({
      devices: { meter: registers(11, 12), valve: registers(21, 22), pump: registers(31, 32) },
      lines: {
        two: { serial: virtual, units: { 1: 'meter', 247: 'valve' } },
        every: { serial: virtual, units: { 5: 'meter', 6: 'meter', '*': 'pump' } },
      },
    }),
  );
});
afterAll(() => running.stop());

describe('two units on one line', () => {
  it('answer each for itself, by turns', async () => {
    const client = await openRawClient(running.path('two'));
    for (let turn = 0; turn < 3; turn++) {
      client.send(readRequest(1, 0, 2));
      expect(await client.receive(9)).toEqual(readReply(1, 11, 12));
      client.send(readRequest(247, 0, 2));
      expect(await client.receive(9)).toEqual(readReply(247, 21, 22));
    }
  });

  it('answer in their order when their requests come in one piece', async () => {
    const client = await openRawClient(running.path('two'));
    client.send(concatBytes(readRequest(247, 0), readRequest(1, 0)));
    expect(await client.receive(14)).toEqual(concatBytes(readReply(247, 21), readReply(1, 11)));
  });

  it('are written one without the other', async () => {
    const client = await openRawClient(running.path('two'));
    const write = writeRequest(247, 1, 222);
    client.send(write);
    expect(await client.receive(write.length)).toEqual(write);
    expect(holding(running, 'valve', 1, 1)).toEqual([222]);
    expect(holding(running, 'meter', 1, 1)).toEqual([12]);
  });

  it('both execute a broadcast and stay silent, and answer the next request', async () => {
    const client = await openRawClient(running.path('two'));
    client.send(writeRequest(0, 1, 99));
    await expect.poll(() => holding(running, 'meter', 1, 1)).toEqual([99]);
    await pause(SILENCE);
    expect(client.take()).toEqual(new Uint8Array());
    expect(holding(running, 'valve', 1, 1)).toEqual([99]);
    expect(holding(running, 'pump', 1, 1)).toEqual([32]);
    client.send(readRequest(247, 1));
    expect(await client.receive(7)).toEqual(readReply(247, 99));
  });

  it('leave a request to any other unit unanswered', async () => {
    const client = await openRawClient(running.path('two'));
    for (const unitId of [2, 246, 248, 255]) {
      client.send(readRequest(unitId, 0));
      await pause(SILENCE);
      expect(client.take()).toEqual(new Uint8Array());
    }
    client.send(readRequest(1, 0));
    expect(await client.receive(7)).toEqual(readReply(1, 11));
  });
});

describe('a line whose units are *', () => {
  it('answers for every unit identifier, each with its own in the reply', async () => {
    const client = await openRawClient(running.path('every'));
    for (const unitId of [1, 4, 7, 247]) {
      client.send(readRequest(unitId, 0));
      expect(await client.receive(7)).toEqual(readReply(unitId, 31));
    }
  });

  it('leaves those that are listed to their devices', async () => {
    const client = await openRawClient(running.path('every'));
    client.send(readRequest(5, 0));
    expect(await client.receive(7)).toEqual(readReply(5, 11));
  });

  it('executes a broadcast once on each device and answers nothing', async () => {
    const client = await openRawClient(running.path('every'));
    client.send(writeRequest(0, 0, 77));
    await expect.poll(() => holding(running, 'pump', 0, 1)).toEqual([77]);
    await pause(SILENCE);
    expect(client.take()).toEqual(new Uint8Array());
    for (const device of ['pump', 'meter']) {
      expect(holding(running, device, 0, 1)).toEqual([77]);
      const { image, base } = running.simulator.devices.get(device)?.tables.holding.window ?? {};
      expect(image?.writes.get(base ?? -1)).toBe(1);
    }
  });
});
