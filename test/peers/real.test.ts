import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.js';
import { type ModbusClient, newClient } from '../../src/modbus/client/client.js';
import type { ClientTarget } from '../../src/modbus/client/wire.js';
import type { BytePort } from '../../src/modbus/transport/port/port.js';
import { openVirtualPort } from '../../src/modbus/transport/port/virtual-port.js';
import { hexOf } from '../modbus/protocol/hex.js';
import { compileWithLibmodbus, findLibmodbus } from '../support/libmodbus.mjs';
import { makeTempDir, startProgram } from '../support/program.mjs';
import { describeWithPeer } from './peer.js';

const REQUESTS = 10_000;
/** A net: ten thousand requests take a minute on a fast machine. */
const LIMIT_MS = 900_000;
const libmodbus = findLibmodbus();

/** Reads and writes of all kinds, some of them outside of what is there, always the same ones. */
function mixedRequests(count: number): Uint8Array[] {
  const random = seededRandom(26, 0);
  const below = (limit: number) => Math.floor(random.next() * limit);
  const word = (value: number) => [value >> 8, value & 0xff];
  return Array.from({ length: count }, () => {
    const address = word(below(220));
    const quantity = 1 + below(20);
    const values = Array.from({ length: quantity }, () => word(below(0x10000))).flat();
    const bits = Array.from({ length: Math.ceil(quantity / 8) }, () => below(256));
    const pdus = [
      ...[1, 2, 3, 4].map((code) => [code, ...address, ...word(quantity)]),
      [5, ...address, ...(below(2) ? [0xff, 0] : [0, 0])],
      [6, ...address, ...word(below(0x10000))],
      [15, ...address, ...word(quantity), bits.length, ...bits],
      [16, ...address, ...word(quantity), values.length, ...values],
      [22, ...address, ...word(below(0x10000)), ...word(below(0x10000))],
      [23, ...address, ...word(quantity), ...word(below(200)), ...word(quantity), values.length, ...values],
      [17],
    ];
    return Uint8Array.from(pdus[below(pdus.length)] as number[]);
  });
}

/** Asks one after the other. @returns the PDUs of the replies */
async function askAll(client: ModbusClient, unitId: number, requests: readonly Uint8Array[]) {
  const replies: string[] = [];
  for (const pdu of requests) {
    const outcome = await client.ask({ unitId, pdu, timeout: 30_000 });
    replies.push(outcome.kind === 'answered' ? hexOf(outcome.pdu) : outcome.kind);
  }
  return replies;
}

describeWithPeer(
  "libmodbus' server behind a simulated device",
  libmodbus.ok ? undefined : libmodbus.missing,
  () => {
    const directory = makeTempDir();
    const binary = join(directory, 'server');
    const ends: (() => Promise<unknown> | unknown)[] = [];
    beforeAll(() => {
      const source = fileURLToPath(new URL('server.c', import.meta.url));
      compileWithLibmodbus(source, binary, libmodbus.ok ? libmodbus.flags : []);
    });
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });
    afterAll(() => rmSync(directory, { recursive: true }));

    /** @returns the server and what it prints: first its port, or that it is ready */
    async function startServer(...words: string[]) {
      const server: ChildProcess = spawn(binary, words, { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines: string[] = [];
      const first = new Promise<string>((resolve) => {
        createInterface({ input: server.stdout as NodeJS.ReadableStream }).on('line', (line) => {
          lines.push(line);
          resolve(line);
        });
      });
      const end = async () => {
        if (server.exitCode !== null || server.signalCode !== null) return;
        server.kill('SIGKILL');
        await once(server, 'exit');
      };
      ends.push(end);
      return { first: await first, lines, end };
    }

    /** Two ends of a line: what one side writes, the other one reads. */
    async function pair(): Promise<[string, string]> {
      const ports: BytePort[] = [];
      for (const other of [1, 0]) {
        const opened = await openVirtualPort(
          {},
          { onData: (bytes) => void ports[other]?.write(bytes), onDamaged: () => {}, onClose: () => {} },
        );
        if (!opened.ok) throw new Error(opened.error);
        ends.push(() => opened.port.close());
        ports.push(opened.port);
      }
      return ports.map(({ path }) => path) as [string, string];
    }

    async function startFront(devices: object) {
      const front = await startProgram({
        config: { devices, lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } } },
      });
      ends.push(() => front.stop());
      return {
        front,
        to: { kind: 'tcp', host: '127.0.0.1', port: front.tcpPort('lan'), framing: 'socket' } as const,
      };
    }

    function clientOf(target: ClientTarget): ModbusClient {
      const client = newClient(target);
      ends.push(() => client.close());
      return client;
    }

    it('answers ten thousand requests over TCP as if it were asked itself', {
      timeout: LIMIT_MS,
    }, async () => {
      const requests = mixedRequests(REQUESTS);
      const [alone, behind] = [await startServer('tcp'), await startServer('tcp')];
      const direct = clientOf({
        kind: 'tcp',
        host: '127.0.0.1',
        port: Number(alone.first),
        framing: 'socket',
      });
      const expected = await askAll(direct, 5, requests);
      const tcp = { host: '127.0.0.1', port: Number(behind.first) };
      const { to } = await startFront({ meter: { real: { tcp, unit: 5, timeout: '20s' }, writes: true } });
      expect(await askAll(clientOf(to), 1, requests)).toEqual(expected);
      expect(expected.filter((reply) => reply === 'timeout')).toEqual([]);
      expect(new Set(expected.map((reply) => reply.slice(0, 2))).size).toBeGreaterThan(15);
    });

    it('answers ten thousand requests on a serial line as if it were asked itself', {
      timeout: LIMIT_MS,
    }, async () => {
      const requests = mixedRequests(REQUESTS);
      const alone = await startServer('tcp');
      const direct = clientOf({
        kind: 'tcp',
        host: '127.0.0.1',
        port: Number(alone.first),
        framing: 'socket',
      });
      const expected = await askAll(direct, 5, requests);
      const [own, other] = await pair();
      await startServer('rtu', other);
      const serial = { path: own, baudRate: 115200 };
      const { to } = await startFront({ meter: { real: { serial, unit: 5, timeout: '20s' }, writes: true } });
      expect(await askAll(clientOf(to), 1, requests)).toEqual(expected);
    });

    it('is killed and comes back under load, and nothing is executed twice', {
      timeout: LIMIT_MS,
    }, async () => {
      const server = await startServer('tcp');
      const tcp = { host: '127.0.0.1', port: Number(server.first) };
      const spare = { registers: { holding: [{ address: 0, value: new Array(200).fill(0), write: true }] } };
      const { to, front } = await startFront({
        meter: { real: { tcp, unit: 5, timeout: '20s' }, writes: true, fallback: 'spare' },
        spare,
      });
      const client = clientOf(to);
      const read = Uint8Array.of(3, 0, 0, 0, 1);
      const unanswered: number[] = [];
      let value = 0;
      const work = async (rounds: number) => {
        for (let i = 0; i < rounds; i++) {
          value++;
          const write = Uint8Array.of(6, 0, 0, value >> 8, value & 0xff);
          const written = await client.ask({ unitId: 1, pdu: write, timeout: 30_000 });
          if (written.kind !== 'answered') unanswered.push(value);
          const { kind } = await client.ask({ unitId: 1, pdu: read, timeout: 30_000 });
          // A read is answered in any case: by the real device, or by the fallback.
          expect(kind).toBe('answered');
        }
      };
      await work(100);
      const killed = server.end();
      await work(100);
      await killed;
      const again = await startServer('tcp', server.first);
      const answers = async () => {
        const { real } = (await (await fetch(`${front.restUrl()}/api/v1/devices/meter`)).json()) as {
          real: { answers: boolean };
        };
        return real.answers;
      };
      await expect.poll(answers).toBe(true);
      await work(100);
      const executed = [...server.lines, ...again.lines].filter((line) => line !== server.first).map(Number);
      expect(new Set(executed).size).toBe(executed.length);
      expect(executed.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
      expect(executed.slice(-100)).toEqual(Array.from({ length: 100 }, (_, i) => i + 201));
      // At most the write under way when the server died got no answer.
      expect(unanswered.length).toBeLessThanOrEqual(1);
    });
  },
);
