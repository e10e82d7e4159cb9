import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeRtu } from '../../src/modbus/protocol/rtu.js';
import { openRawClient, pause, type RawClient } from '../cli/verbs/clients.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { nativeSetup } from '../support/configuration.js';
import { type RunningSimulator, startSimulator } from '../support/simulator.js';

/** More than the discard gap of this line: what a client waits before it gives up a request. */
const SILENCE = 130;

describe('diagnostics over a serial line', () => {
  let running: RunningSimulator;
  let client: RawClient;

  beforeAll(async () => {
    const registers = { holding: [{ address: 0, value: [1, 2], write: true }] };
    running = await startSimulator(
      nativeSetup({
        devices: {
          meter: { registers },
          pump: { registers, files: { 4: { records: 3, values: [7, 8, 9] } } },
        },
        lines: {
          bench: {
            serial: { path: 'virtual', baudRate: 9600, parity: 'none' },
            units: { 1: 'meter', 2: 'pump' },
          },
        },
      }),
    );
  });
  afterAll(() => running.stop());
  beforeEach(async () => {
    client = await openRawClient(running.path('bench'));
    client.send(encodeRtu(0, bytesOf('08 0001 FF00')));
    await pause(SILENCE);
    client.take();
  });

  /** The PDU that a unit answers, once it has come. */
  async function ask(unit: number, request: string, length: number): Promise<string> {
    client.send(encodeRtu(unit, bytesOf(request)));
    const reply = await client.receive(length + 3);
    expect(hexOf(reply)).toBe(hexOf(encodeRtu(unit, reply.slice(1, -2))));
    return hexOf(reply.slice(1, -2));
  }

  const counter = (unit: number, subFunction: string) => ask(unit, `08 ${subFunction} 0000`, 5);

  async function expectSilence(unit: number, request: string): Promise<void> {
    client.send(encodeRtu(unit, bytesOf(request)));
    await pause(SILENCE);
    expect(hexOf(client.take())).toBe('');
  }

  it('counts messages of every unit, and those of its own', async () => {
    await ask(1, '03 0000 0001', 4);
    await ask(2, '03 0000 0001', 4);
    await ask(2, '03 0009 0001', 2);
    await expectSilence(77, '03 0000 0001');
    expect(await counter(1, '000B')).toBe('08000b0005');
    expect(await counter(1, '000E')).toBe('08000e0003');
    expect(await counter(2, '000E')).toBe('08000e0003');
    expect(await counter(2, '000D')).toBe('08000d0001');
    expect(await counter(1, '000D')).toBe('08000d0000');
  });

  it('counts a frame with a wrong CRC, and says so in the event log', async () => {
    client.send(encodeRtu(1, bytesOf('03 0000 0001')).map((byte, i) => (i === 3 ? byte ^ 1 : byte)));
    await pause(SILENCE);
    expect(await ask(1, '0C', 10)).toBe('0c080000000000018200');
    expect(await counter(1, '000C')).toBe('08000c0001');
    expect(await counter(2, '000C')).toBe('08000c0001');
  });

  it('counts a broadcast at every unit, which executes it and says nothing', async () => {
    await expectSilence(0, '06 0000 0063');
    for (const unit of [1, 2]) {
      expect(await counter(unit, '000F')).toBe('08000f0001');
      expect(await ask(unit, '03 0000 0001', 4)).toBe('03020063');
      // the restart before the test; then receive and send events of the broadcast
      expect((await ask(unit, '0C', 15)).slice(16)).toMatch(/^80(4080){2}40c000$/);
    }
  });

  it('stops answering in listen-only mode, until a restart that is not answered either', async () => {
    await expectSilence(1, '08 0004 0000');
    await expectSilence(1, '03 0000 0001');
    await expectSilence(1, '06 0001 0BAD');
    await expectSilence(0, '06 0001 0BAD');
    expect(await ask(2, '03 0001 0001', 4)).toBe('03020bad');
    await expectSilence(1, '08 0001 0000');
    expect(await ask(1, '03 0001 0001', 4)).toBe('03020002');
    expect(await ask(1, '0B', 5)).toBe('0b00000001');
  });

  it('returns query data of any length, whose end only the silence tells', async () => {
    for (const words of [1, 2, 3, 60]) {
      const request = `08 0000 ${'1234'.repeat(words)}`;
      expect(await ask(1, request, 3 + 2 * words)).toBe(hexOf(bytesOf(request)));
    }
  });

  it('reads identification, files and queues', async () => {
    const identification = await ask(1, '2B 0E 01 00', 7 + 2 + 10 + 2 + 9 + 2 + 3);
    expect(identification.slice(0, 14)).toBe('2b0e0181000003');
    expect(await ask(2, '14 07 06 0004 0001 0002', 8)).toBe('1406050600080009');
    expect(await ask(2, '15 09 06 0004 0001 0001 0001', 2)).toBe('9502');
    expect(await ask(1, '15 09 06 0004 0001 0001 0001', 11)).toBe('1509060004000100010001');
    expect(await ask(1, '18 0000', 5)).toBe('1800020000');
    expect(await ask(1, '07', 2)).toBe('0700');
  });
});
