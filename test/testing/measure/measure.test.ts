import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Line } from '../../../src/simulator/line.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { tcpClient } from '../../../src/testing/measure/client.js';
import { asksOn, type Measurements, measureLine, patience } from '../../../src/testing/measure/measure.js';
import { verdict } from '../../../src/testing/measure/verdict.js';
import { METER } from '../../cli/verbs/plant.js';
import { scratchSpace } from '../../cli/verbs/run.js';
import { nativeSetup } from '../../support/configuration.js';

const { newDirectory } = scratchSpace();

/** A simulator with one line. */
function lineOf(definition: object): { readonly simulator: Simulator; readonly line: Line } {
  const units = { 1: 'meter' };
  const setup = nativeSetup({ devices: METER, lines: { tested: { units, ...definition } } });
  const simulator = new Simulator(setup, pino({ level: 'silent' }));
  return { simulator, line: simulator.lines.get('tested') as Line };
}

/** A virtual line with the manners of an adapter, its link in a place of its own. */
function paced(baudRate: number, chunk: number | 'usb', more: object = {}) {
  const link = join(newDirectory(), 'line');
  return lineOf({ serial: { path: 'virtual', link, baudRate, pacing: { chunk } }, ...more });
}

async function measured({ simulator, line }: ReturnType<typeof lineOf>): Promise<Measurements> {
  const found = await measureLine(simulator, line, 1);
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

describe.concurrent('a measurement of a line with its own client', () => {
  it.each([
    [8, 2400, 17],
    [16, 9600, 5],
    ['usb', 9600, 5],
    ['usb', 115_200, 5],
  ] as const)(
    'finds that longer requests are thrown away: chunk %s, %d baud, gap %d',
    async (chunk, baudRate, gap) => {
      const found = await measured(paced(baudRate, chunk, { timing: { gap } }));
      const { ok, text } = verdict(found);
      expect(ok).toBe(false);
      expect(text).toMatch(
        /verdict .*\d+ of \d+ requests were not answered; .*frames arrive in pieces, \d+\.\d+ ms apart/,
      );
    },
  );

  it.each([8, 'usb'] as const)(
    'gets an answer to each request with the usual gap, chunk %s',
    async (chunk) => {
      const { own, longestPause } = await measured(paced(9600, chunk));
      expect(own?.answered).toBe(own?.asked);
      expect(longestPause).toBeGreaterThan(0);
    },
  );

  it('says that the line closed its connection, because its unit does not answer', async () => {
    const plant = lineOf({ tcp: { port: 0, idleTimeout: 100 } });
    plant.simulator.devices.get('meter')?.power.interrupt({ bootMs: 0 });
    expect(verdict(await measured(plant)).text).toMatch(
      /closed the connection of the built-in client after 0 requests: no request arrived within its idleTimeout, 100 ms; increase it/,
    );
  });

  it('says that another client took its place', async () => {
    const plant = lineOf({ tcp: { port: 0, maxClients: 1 } });
    let found: Measurements | undefined;
    const ended = measured(plant).then((all) => {
      found = all;
    });
    while (!found) {
      const { state } = plant.line;
      if (state.kind === 'open') await visit(Number(state.endpoint.split(':')[1]));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await ended;
    expect(verdict(found).text).toMatch(
      /closed the connection of the built-in client after (one request|\d+ requests): another client took its place, because maxClients is 1/,
    );
  });
});

/** Connects and goes once the line has accepted it. */
async function visit(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  await new Promise((resolve) => setTimeout(resolve, 1));
  socket.destroy();
}

describe('how long a measurement asks', () => {
  it('is 500 requests, or as many as begin within 5 s', () => {
    expect(asksOn(499, 499, 4999)).toBe(true);
    expect(asksOn(500, 500, 10)).toBe(false);
    expect(asksOn(10, 10, 5000)).toBe(false);
  });

  it('is longer until ten are answered, but not where one was not', () => {
    expect(asksOn(9, 9, 14_999)).toBe(true);
    expect(asksOn(9, 9, 15_000)).toBe(false);
    expect(asksOn(9, 8, 5000)).toBe(false);
  });

  it('is two requests at least', () => {
    expect(asksOn(1, 1, 60_000)).toBe(true);
    expect(asksOn(1, 0, 60_000)).toBe(true);
    expect(asksOn(2, 2, 60_000)).toBe(false);
  });

  it('leaves each reply its turnaround, its time on the wire and some more', () => {
    const times = { t15: 13.75, t35: 32, gap: 200, turnaround: 60_032, characterTime: 10 };
    expect(patience(times, 68)).toBe(60_032 + 680 + 3000);
    expect(patience({ ...times, turnaround: undefined }, 68)).toBe(3680);
    expect(patience(undefined, 68)).toBe(3000);
  });
});

describe('the client of a measurement', () => {
  /** A server that does `answer` with what it gets; its port. */
  async function serverThat(answer: (bytes: Buffer, write: (reply: Buffer) => void) => void) {
    const server = createServer((socket) => {
      socket.on('data', (bytes) => answer(bytes, (reply) => socket.write(reply)));
      onTestFinished(() => void socket.destroy());
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = await tcpClient('127.0.0.1', (server.address() as AddressInfo).port);
    if (!client.ok) throw new Error(client.error);
    onTestFinished(() => client.value.close());
    return client.value;
  }

  it('waits for a reply as long as it is told', async () => {
    const client = await serverThat((bytes, write) => void setTimeout(() => write(bytes), 3200));
    expect(await client.ask(Uint8Array.of(1, 2), Uint8Array.of(1, 2), 20)).toBe('unanswered');
    expect(await client.ask(Uint8Array.of(3, 4), Uint8Array.of(3, 4), 10_000)).toBe('answered');
  });

  it('takes nothing but the right reply for one', async () => {
    const client = await serverThat((_, write) => write(Buffer.of(9, 9, 9)));
    expect(await client.ask(Uint8Array.of(1, 2), Uint8Array.of(3, 4), 200)).toBe('unanswered');
  });
});
