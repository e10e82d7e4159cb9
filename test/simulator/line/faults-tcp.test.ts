import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import jsmodbus from 'jsmodbus';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ReplyEvent } from '../../../src/simulator/traffic/event.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import { exchangesOf } from '../../support/exchanges.js';
import { type Bench, sentPieces, startBench } from './faults-bench.js';

const READ = '1234 0000 0006 01 03 0000 0002';
/** What adding times up may lose, in ms. */
const ROUNDING = 1e-6;

const REPLY = '123400000007' + '01030401020304';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
const clients: Client[] = [];
afterEach(async () => {
  bench.clear();
  for (const client of clients.splice(0)) await client.end();
});
afterAll(() => bench.stop());

/** Notes how the connection ended, too. */
class Client extends RawClient {
  ended: 'end' | 'reset' | undefined;

  static async open(): Promise<Client> {
    const client = new Client(bench.port('lan'), '127.0.0.1', { allowHalfOpen: true });
    const { socket } = client;
    // Node shows a reset that comes together with data as an orderly end. But after one it can still send.
    socket.on('end', () =>
      socket.write('x', (error) => {
        client.ended = error ? 'reset' : 'end';
        socket.destroy();
      }),
    );
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') client.ended ??= 'reset';
    });
    clients.push(client);
    await until(() => client.connected, 'the client is connected');
    return client;
  }

  get hex(): string {
    return this.received.toString('hex');
  }

  /** Sends a request; what came back, once it is as long as `expected` and a little later. */
  async ask(request: string, expected: string): Promise<string> {
    this.received = Buffer.alloc(0);
    await bench.exchangeOf(() => this.send(bytesOf(request)));
    await until(() => this.hex.length >= expected.length, `${expected} has come, not ${this.hex}`);
    await sleep(15);
    return this.hex;
  }
}

const kindsOf = (faults: readonly object[]) => faults.map((fault) => [Object.keys(fault)[0], undefined]);

describe('what the client receives', () => {
  it.each([
    ['delay', [{ delay: 30 }], REPLY],
    ['exception', [{ exception: 6 }], '123400000003' + '018306'],
    ['silence', [{ silence: true }], ''],
    ['junk', [{ junk: 5 }], '28eb093235'],
    ['junk that is spelled out', [{ junk: '12 34' }], '1234'],
    ['noise that is spelled out', [{ noise: 'ff 00' }], `ff00${REPLY}`],
    ['pdu', [{ pdu: '41 ff' }], '123400000003' + '0141ff'],
    ['split', [{ split: { at: 7, gap: 5 } }], REPLY],
    ['split into bytes', [{ split: { at: 'each', gap: 1 } }], REPLY],
    ['change', [{ change: 50 }], '123400000007' + '01030401370337'],
    ['corrupt', [{ corrupt: 104 }], 'edcbfffffff8' + 'fefcfbfefdfcfb'],
    ['truncate', [{ truncate: 4 }], REPLY.slice(0, 8)],
    ['drop', [{ drop: { at: 5 } }], REPLY.slice(0, 10) + REPLY.slice(12)],
    ['insert', [{ insert: { at: 8, bytes: 'ff 00' } }], `${REPLY.slice(0, 16)}ff00${REPLY.slice(16)}`],
    ['extend', [{ extend: 3 }], `${REPLY}28eb09`],
    ['noise', [{ noise: 3 }], `28eb09${REPLY}`],
    ['unit', [{ unit: 2 }], '123400000007' + '02030401020304'],
    ['function', [{ function: 4 }], '123400000007' + '01040401020304'],
    ['byteCount', [{ byteCount: 6 }], '123400000007' + '01030601020304'],
    ['transaction', [{ transaction: 0x4321 }], '432100000007' + '01030401020304'],
    ['transaction, swapped', [{ transaction: 'swapped' }], '341200000007' + '01030401020304'],
    ['mbap', [{ mbap: { protocol: 1, length: '+2' } }], '123400010009' + '01030401020304'],
    ['values', [{ values: [0xabcd] }], '123400000007' + '010304abcd0304'],
    ['duplicate', [{ duplicate: { times: 2 } }], REPLY + REPLY + REPLY],
    ['echo', [{ echo: true }], READ.replaceAll(' ', '') + REPLY],
  ])('%s', async (_, faults, expected) => {
    const client = await Client.open();
    bench.use(faults);
    expect(await client.ask(READ, expected)).toBe(expected);
    expect((await bench.played()).acted.map(({ kind, notAchieved }) => [kind, notAchieved])).toEqual(
      kindsOf(faults),
    );
    bench.clear();
    expect(await client.ask(READ, REPLY)).toBe(REPLY);
  });

  it('transaction: that of the reply before', async () => {
    const client = await Client.open();
    await client.ask('0007 0000 0006 01 03 0000 0001', '0007000000050103020102');
    bench.use([{ transaction: 'previous' }]);
    expect(await client.ask(READ, REPLY)).toBe('000700000007' + '01030401020304');
    expect(await client.ask(READ.replace('1234', '1235'), REPLY)).toBe(REPLY);
  });

  it('pdu: to a function that no device has', async () => {
    const client = await Client.open();
    bench.use([{ pdu: '2b 0e 01' }], { when: { function: 0x64 } });
    expect(await client.ask('0001 0000 0002 01 64', '00010000000401' + '2b0e01')).toBe(
      '00010000000401' + '2b0e01',
    );
  });

  it('faults of a serial line are not achieved, and said to be', async () => {
    const client = await Client.open();
    bench.use([
      { delay: 0 },
      { crc: 'zero' },
      { early: true },
      { gap: { after: 1, characters: 9 } },
      { break: 9 },
    ]);
    expect(await client.ask(READ, REPLY)).toBe(REPLY);
    expect((await bench.played()).acted.map(({ notAchieved }) => notAchieved)).toEqual([
      undefined,
      'line lan has no CRC',
      'line lan has no turnaround to cut short',
      'line lan has no character times',
      'line lan has no break state',
    ]);
  });

  it('silence and exception write nothing, a reply of no bytes does', async () => {
    const client = await Client.open();
    const read = '0001 0000 0006 01 03 0000 0001';
    const answer = (register: string) => `000100000005010302${register}`;
    const write = (register: string) => `0001 0000 0006 01 06 0000 ${register}`;
    bench.use([{ silence: true }]);
    await client.ask(write('9999'), '');
    bench.use([{ exception: 4 }]);
    expect(await client.ask(write('9999'), '000100000003018604')).toBe('000100000003018604');
    bench.clear();
    expect(await client.ask(read, answer('0102'))).toBe(answer('0102'));
    bench.use([{ truncate: 0 }]);
    expect(await client.ask(write('9999'), '')).toBe('');
    bench.clear();
    expect(await client.ask(read, answer('9999'))).toBe(answer('9999'));
    await client.ask(write('0102'), '000100000006010600000102');
  });

  it('jsmodbus takes values for the true ones, and knows an exception', async () => {
    const socket = connect(bench.port('lan'), '127.0.0.1');
    const client = new jsmodbus.client.TCP(socket, 1, 30_000);
    await once(socket, 'connect');
    bench.use([{ values: [7, 8] }], { when: { count: 1 } });
    const lied = await client.readHoldingRegisters(0, 2);
    expect(lied.response.body.valuesAsArray).toEqual([7, 8]);
    bench.use([{ exception: 6 }], { when: { count: 1 } });
    await expect(client.readHoldingRegisters(0, 2)).rejects.toMatchObject({
      response: { body: { code: 6 } },
    });
    const honest = await client.readHoldingRegisters(0, 2);
    expect(honest.response.body.valuesAsArray).toEqual([0x0102, 0x0304]);
    socket.destroy();
  });
});

const hasMatched = () => (bench.simulator.faults.rules.get('tested')?.matches ?? 0) > 0;

/** A reply that its client has not waited for. A real device may not have answered by then, and what is not planned has no steps. */
function expectLost({ report }: ReplyEvent): void {
  expect(report.ended).toBe('disconnected');
  const outcomes = report.steps.map(({ outcome }) => outcome);
  if (!bench.isReal || outcomes.length > 0) expect(outcomes).toEqual(['not achieved']);
}

describe('a connection is closed', () => {
  it.each([
    ['orderly after the reply', 'end', [{ close: 'end' }], REPLY],
    ['with a reset after the reply', 'reset', [{ close: 'reset' }], REPLY],
    ['orderly after some bytes', 'end', [{ close: { how: 'end', after: 8 } }], REPLY.slice(0, 16)],
    ['with a reset after some bytes', 'reset', [{ close: { how: 'reset', after: 3 } }], REPLY.slice(0, 6)],
    ['orderly without a reply', 'end', [{ close: { how: 'end', after: 0 } }], ''],
    ['with a reset, and the request ignored', 'reset', [{ silence: true }, { close: 'reset' }], ''],
  ])('%s', async (_, ended, faults, expected) => {
    const [client, other] = [await Client.open(), await Client.open()];
    bench.use(faults, { when: { count: 1 } });
    client.send(bytesOf(READ));
    await until(() => client.closed, 'the client is closed');
    expect([client.hex, client.ended]).toEqual([expected, ended]);
    const { acted, report } = await bench.played();
    expect(acted.map(({ kind, notAchieved }) => [kind, notAchieved])).toEqual(kindsOf(faults));
    expect(report?.steps.every(({ outcome }) => outcome === 'achieved')).toBe(true);
    // The other connection of the same line stays, and a new one comes in.
    expect(await other.ask(READ, REPLY)).toBe(REPLY);
    expect(await (await Client.open()).ask(READ, REPLY)).toBe(REPLY);
  });

  it('not before its delay', async () => {
    const client = await Client.open();
    bench.use([{ delay: 80 }, { close: { how: 'end', after: 0 } }]);
    const sentAt = performance.now();
    client.send(bytesOf(READ));
    await until(() => client.closed, 'the client is closed');
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(80);
    expect(client.hex).toBe('');
  });

  it('by the client before the reply is due: what is left is not achieved', async () => {
    const client = await Client.open();
    bench.use([{ delay: 60_000 }]);
    const lost = await bench.exchangeOf(async () => {
      client.send(bytesOf(READ));
      await until(hasMatched, 'the request has come');
      await client.end();
    });
    expectLost(lost);
  });
});

describe('when it comes', () => {
  it('not before its delay, and another connection does not wait for it', async () => {
    const [slow, quick] = [await Client.open(), await Client.open()];
    bench.use([{ delay: 300 }], { when: { address: 3 } });
    const sentAt = performance.now();
    slow.send(bytesOf('0007 0000 0006 01 03 0003 0001'));
    for (let i = 0; i < 3; i++) expect(await quick.ask(READ, REPLY)).toBe(REPLY);
    if (performance.now() - sentAt < 290) expect(slow.hex).toBe('');
    await slow.responsesOf(1);
    expect(slow.hex).toBe('0007000000050103020708');
    expect(slow.lastAt - sentAt).toBeGreaterThanOrEqual(300);
  });

  it('in pieces that leave apart', async () => {
    const client = await Client.open();
    bench.use([{ split: { at: 7, gap: 60 } }, { duplicate: { times: 1, gap: 60 } }]);
    const sentAt = performance.now();
    expect(await client.ask(READ, REPLY + REPLY)).toBe(REPLY + REPLY);
    expect(client.lastAt - sentAt).toBeGreaterThanOrEqual(3 * 60);
    // A busy machine may hand two pieces to the client in one read; that they left apart is in the traffic.
    const exchange = await bench.played();
    expect(sentPieces(exchange)).toEqual([
      REPLY.slice(0, 14),
      REPLY.slice(14),
      REPLY.slice(0, 14),
      REPLY.slice(14),
    ]);
    const steps = exchange.report?.steps ?? [];
    for (const [i, { achievedAt, plannedAt }] of steps.entries()) {
      expect(achievedAt).toBeGreaterThanOrEqual(plannedAt);
      const before = steps[i - 1];
      if (before) expect(plannedAt - before.achievedAt).toBeGreaterThan(60 - ROUNDING);
    }
  });
});

describe('a reply that waits for the next one', () => {
  const request = (id: string) => `${id} 0000 0006 01 03 0000 0001`;
  const reply = (id: string) => `${id}000000050103020102`;
  const outcomes = () =>
    exchangesOf(bench.simulator)
      .slice(0, 2)
      .map(({ report }) => [report?.ended, report?.steps.map(({ outcome }) => outcome)]);
  it('leaves in one piece with it', async () => {
    const client = await Client.open();
    const chunks: string[] = [];
    const before = exchangesOf(bench.simulator).length;
    client.socket.on('data', (bytes: Buffer) => chunks.push(bytes.toString('hex')));
    bench.use([{ coalesce: true }], { when: { count: 1 } });
    client.send(bytesOf(request('0001')));
    await until(hasMatched, 'the request has come');
    await sleep(30);
    expect(client.hex).toBe('');
    client.send(bytesOf(request('0002')));
    await until(() => client.received.length === 22, 'both replies have come');
    expect(chunks).toEqual([reply('0001') + reply('0002')]);
    await until(() => exchangesOf(bench.simulator).length === before + 2, 'both are reported');
    expect(outcomes()).toEqual([
      ['complete', ['achieved']],
      ['complete', ['achieved']],
    ]);
    // What comes later waits for nothing.
    expect(await client.ask(request('0003'), reply('0003'))).toBe(reply('0003'));
  });

  it('and with a rule for every request, two by two, whether they came together or not', async () => {
    const client = await Client.open();
    bench.use([{ coalesce: true }]);
    client.send(bytesOf(['0001', '0002', '0003'].map(request).join(' ')));
    await until(() => client.received.length === 22, 'two replies have come');
    await sleep(30);
    expect(client.hex).toBe(reply('0001') + reply('0002'));
    client.send(bytesOf(request('0004')));
    await until(() => client.received.length === 44, 'all replies have come');
    expect(client.hex).toBe(['0001', '0002', '0003', '0004'].map(reply).join(''));
  });

  it('waits while requests get no reply, however many', async () => {
    const client = await Client.open();
    bench.use([{ coalesce: true }], { when: { count: 1 } });
    client.send(bytesOf(request('0001')));
    await until(hasMatched, 'the request has come');
    bench.use([{ silence: true }], { when: { count: 200 } });
    client.send(bytesOf(Array(200).fill(request('0002')).join('')));
    client.send(bytesOf(request('0003')));
    await until(() => client.received.length === 22, 'both replies have come');
    expect(client.hex).toBe(reply('0001') + reply('0003'));
  });

  it('is lost when the connection ends, and said to be', async () => {
    const client = await Client.open();
    bench.use([{ coalesce: true }]);
    const lost = await bench.exchangeOf(async () => {
      client.send(bytesOf(request('0001')));
      await until(hasMatched, 'the request has come');
      await client.end();
    });
    expect(client.hex).toBe('');
    expectLost(lost);
  });
});

describe('what a client is told', () => {
  it('is stale by its own replies, not those of another client', async () => {
    const [one, two] = [await Client.open(), await Client.open()];
    const readOne = '0001 0000 0006 01 03 0000 0001';
    const readTwo = '0002 0000 0006 01 03 0001 0001';
    const replyOne = '0001000000050103020102';
    const replyTwo = '0002000000050103020304';
    expect(await one.ask(readOne, replyOne)).toBe(replyOne);
    expect(await two.ask(readTwo, replyTwo)).toBe(replyTwo);
    bench.use([{ stale: true }]);
    expect(await one.ask(READ, replyOne)).toBe(replyOne);
    expect(await two.ask(READ, replyTwo)).toBe(replyTwo);
    // A new client has no earlier reply.
    expect(await (await Client.open()).ask(READ, REPLY)).toBe(REPLY);
    expect((await bench.played()).acted).toEqual([
      { rule: 'tested', kind: 'stale', notAchieved: 'no earlier reply to this client' },
    ]);
  });

  it('is the same by the same seed, run after run, in whatever order its clients connected', async () => {
    const capture = async (turns: readonly number[]) => {
      bench.use([{ corrupt: 3 }, { junk: 12 }], { seed: 5, when: { probability: 0.6 } });
      const pair = [await Client.open(), await Client.open()];
      const received: string[] = [];
      for (const turn of turns) {
        const client = pair[turn] as Client;
        client.received = Buffer.alloc(0);
        client.send(bytesOf(READ));
        await until(() => client.received.length >= 12, 'a reply has come');
        await sleep(5);
        received.push(client.hex);
      }
      return received;
    };
    const first = await capture([0, 1, 0, 1, 1, 0]);
    expect(new Set(first).size).toBeGreaterThan(2);
    expect(await capture([1, 0, 1, 1, 0, 0])).toEqual(first);
  });
});
