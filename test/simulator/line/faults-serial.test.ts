import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rtu } from '../../device/faults/plans.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { exchangesOf } from '../../support/exchanges.js';
import { type Bench, CHARACTER, LAZY, SerialClient, sentPieces, startBench, T35 } from './faults-bench.js';

/** The gap between two pieces, in ms. */
const GAP = 60;
/** What adding times up may lose, in ms. */
const ROUNDING = 1e-6;

const READ = rtu('01 03 0000 0002');
const REPLY = rtu('01 03 04 0102 0304');
const BODY = REPLY.slice(0, -4);

let bench: Bench;
let client: SerialClient;
beforeAll(async () => {
  bench = await startBench();
  client = await SerialClient.open(bench.path('bench'));
});
afterEach(() => bench.clear());
afterAll(async () => {
  await client.close();
  await bench.stop();
});

const bytesIn = (hex: string) => hex.length / 2;

/** Sends a request and gives what came back, as hex; `expected` is what it waits for. */
async function ask(request: string, expected: string): Promise<string> {
  await bench.exchangeOf(() => client.send(request));
  return client.receive(bytesIn(expected));
}

const registerZero = async () => (await ask(rtu('01 03 0000 0001'), rtu('01 03 02 0000'))).slice(6, 10);

describe('what the client receives', () => {
  it.each([
    ['nothing wrong', [{ delay: 0 }], REPLY],
    ['delay', [{ delay: 30 }], REPLY],
    ['exception', [{ exception: 6 }], rtu('01 83 06')],
    ['silence', [{ silence: true }], ''],
    ['junk', [{ junk: 5 }], '28eb093235'],
    ['split in the middle', [{ split: { at: 'middle', gap: 5 } }], REPLY],
    ['split at a byte', [{ split: { at: 3, gap: 5 } }], REPLY],
    ['split into bytes', [{ split: { at: 'each', gap: 2 } }], REPLY],
    ['gap', [{ gap: { after: 4, characters: 5 } }], REPLY],
    ['change', [{ change: 50 }], rtu('01 03 04 0137 0337')],
    ['change of all', [{ change: 100 }], rtu('01 03 04 226c 667a')],
    ['corrupt', [{ corrupt: 1 }], '010b04010203045b3c'],
    ['crc inverted', [{ crc: 'invert' }], `${BODY}a4c3`],
    ['crc zero', [{ crc: 'zero' }], `${BODY}0000`],
    ['crc swapped', [{ crc: 'swap' }], `${BODY}3c5b`],
    ['crc given', [{ crc: 0x1234 }], `${BODY}3412`],
    ['truncate', [{ truncate: 4 }], REPLY.slice(0, 8)],
    ['truncate from the end', [{ truncate: -2 }], BODY],
    ['drop', [{ drop: { at: 5 } }], REPLY.slice(0, 10) + REPLY.slice(12)],
    ['insert', [{ insert: { at: 5, bytes: '00' } }], `${REPLY.slice(0, 10)}00${REPLY.slice(10)}`],
    ['an echo that is cut', [{ echo: { truncate: 5 } }], READ.slice(0, 10) + REPLY],
    ['noise and bytes after it, spelled out', [{ noise: 'ff 00' }, { extend: '00' }], `ff00${REPLY}00`],
    ['pdu', [{ pdu: '83 02' }], rtu('01 83 02')],
    ['extend', [{ extend: 3 }], `${REPLY}28eb09`],
    ['noise', [{ noise: 3 }], `28eb09${REPLY}`],
    ['unit', [{ unit: 2 }], rtu('02 03 04 0102 0304')],
    ['function', [{ function: 4 }], rtu('01 04 04 0102 0304')],
    ['byteCount', [{ byteCount: 6 }], rtu('01 03 06 0102 0304')],
    ['values', [{ values: [0xabcd, 0xef01] }], rtu('01 03 04 abcd ef01')],
    ['duplicate', [{ duplicate: { times: 2, gap: 5 } }], REPLY + REPLY + REPLY],
    ['duplicate without a gap', [{ duplicate: { times: 1 } }], REPLY + REPLY],
    ['early', [{ early: true }], REPLY],
    ['silence with noise', [{ silence: true }, { noise: 3 }], '28eb09'],
    ['exception in pieces', [{ exception: 2 }, { split: { at: 'each', gap: 2 } }], rtu('01 83 02')],
  ])('%s', async (_, faults, expected) => {
    bench.use(faults);
    expect(await ask(READ, expected)).toBe(expected);
    const { acted, report } = await bench.played();
    expect(acted.map(({ kind, notAchieved }) => [kind, notAchieved])).toEqual(
      faults.map((fault) => [Object.keys(fault)[0], undefined]),
    );
    expect(report?.ended).toBe('complete');
    expect(report?.steps.every(({ outcome }) => outcome === 'achieved')).toBe(true);
    // And nothing of it is left for the next one.
    bench.clear();
    expect(await ask(READ, REPLY)).toBe(REPLY);
  });

  it('a rule for unit 0 answers a broadcast', async () => {
    const answer = rtu('01 03 02 0029');
    bench.use([{ junk: answer }], { when: { unit: 0 } });
    client.send(rtu('00 06 0000 0102'));
    expect(await client.receive(bytesIn(answer))).toBe(answer);
    bench.clear();
    expect(await registerZero()).toBe('0102');
  });

  it.each([
    ['before the reply', [{ echo: true }], READ + REPLY],
    ['alone where nothing is sent', [{ silence: true }, { echo: true }], READ],
  ])('echo is the request itself, %s', async (_, faults, expected) => {
    bench.use(faults);
    expect(await ask(READ, expected)).toBe(expected);
    expect((await bench.played()).report?.steps.every(({ outcome }) => outcome === 'achieved')).toBe(true);
    bench.clear();
    expect(await registerZero()).toBe('0102');
  });

  it('echo answers a client that polls the same registers every time', async () => {
    bench.use([{ echo: true }]);
    for (let poll = 0; poll < 6; poll++) expect(await ask(READ, READ + REPLY)).toBe(READ + REPLY);
  });

  it('stale is the reply before', async () => {
    const write = rtu('01 06 0003 0708');
    await ask(write, write);
    bench.use([{ stale: true }]);
    expect(await ask(READ, write)).toBe(write);
    expect(await ask(READ, REPLY)).toBe(REPLY);
  });

  it('a break is refused where there is none, and for a rule for any line said to be not achieved', async () => {
    bench.use([{ delay: 0 }, { break: 5 }, { close: 'end' }, { transaction: 7 }]);
    expect(await ask(READ, REPLY)).toBe(REPLY);
    expect((await bench.played()).acted.map(({ notAchieved }) => notAchieved)).toEqual([
      undefined,
      'line bench has no break state',
      'line bench has no connection to close',
      'line bench has no transaction identifiers',
    ]);
  });
});

describe('when it comes', () => {
  it('never before t3.5 without a fault', async () => {
    const sentAt = client.send(READ);
    await client.receive(bytesIn(REPLY));
    expect((client.pieces[0]?.at ?? 0) - sentAt).toBeGreaterThanOrEqual(8 * CHARACTER + T35);
  });

  it('a delayed reply not before its time', async () => {
    bench.use([{ delay: 80 }]);
    const sentAt = client.send(READ);
    await client.receive(bytesIn(REPLY));
    const first = client.pieces[0]?.at ?? 0;
    expect(first - sentAt).toBeGreaterThanOrEqual(8 * CHARACTER + T35 + 80);
    const { report, requestedAt: receivedAt } = await bench.played();
    const [step] = report?.steps ?? [];
    expect((step?.plannedAt ?? 0) - receivedAt).toBeGreaterThan(T35 + 80 - ROUNDING);
    expect(step?.achievedAt).toBeGreaterThanOrEqual(step?.plannedAt ?? Number.NaN);
  });

  it('an early reply before its turnaround is over', async () => {
    const lazy = await SerialClient.open(bench.path('lazy'));
    bench.use([{ early: true }]);
    const reply = rtu('07 03 02 0102');
    lazy.send(rtu('07 03 0000 0001'));
    expect(await lazy.receive(bytesIn(reply))).toBe(reply);
    const { report, requestedAt: receivedAt } = await bench.played();
    expect((report?.steps[0]?.plannedAt ?? Number.NaN) - receivedAt).toBeLessThan(LAZY);
    await lazy.close();
  });

  it.each([
    ['split', [{ split: { at: 3, gap: GAP } }], [REPLY.slice(0, 6), REPLY.slice(6)], [3]],
    ['gap', [{ gap: { after: 5, characters: GAP / CHARACTER } }], [REPLY.slice(0, 10), REPLY.slice(10)], [5]],
    ['duplicate', [{ duplicate: { times: 2, gap: GAP } }], [REPLY, REPLY, REPLY], [9, 9]],
    [
      'split and duplicate',
      [{ split: { at: 4, gap: GAP } }, { duplicate: { times: 1, gap: GAP } }],
      [REPLY.slice(0, 8), REPLY.slice(8), REPLY.slice(0, 8), REPLY.slice(8)],
      [4, 5, 4],
    ],
    [
      'two splits',
      [{ split: { at: 3, gap: GAP } }, { split: { at: 6, gap: GAP } }],
      [REPLY.slice(0, 6), REPLY.slice(6, 12), REPLY.slice(12)],
      [3, 3],
    ],
  ])(
    'the pieces of %s leave apart, with at least the pause between them',
    async (_, faults, pieces, lengths) => {
      bench.use(faults);
      const sentAt = client.send(READ);
      expect(await client.receive(bytesIn(pieces.join('')))).toBe(pieces.join(''));
      let due = sentAt + 8 * CHARACTER + T35;
      let length = 0;
      for (const [i, piece] of pieces.entries()) {
        if (i > 0) due += (lengths[i - 1] as number) * CHARACTER + GAP;
        length += bytesIn(piece);
        expect(client.arrivalOf(length), `byte ${length}`).toBeGreaterThanOrEqual(due);
      }
      // A busy machine may hand two pieces to the client in one read; that they left apart is in the traffic.
      const exchange = await bench.played();
      expect(sentPieces(exchange)).toEqual(pieces);
      const steps = exchange.report?.steps ?? [];
      for (const [i, step] of steps.entries()) {
        const before = steps[i - 1];
        expect(step.achievedAt).toBeGreaterThanOrEqual(step.plannedAt);
        if (before) expect(step.plannedAt - before.achievedAt).toBeGreaterThan(GAP - ROUNDING);
      }
    },
  );
});

describe('what the device has done', () => {
  it.each([
    ['silence', [{ silence: true }], '', '0102'],
    ['exception', [{ exception: 4 }], rtu('01 86 04'), '0102'],
    ['a reply of no bytes', [{ truncate: 0 }], '', '1111'],
    ['junk', [{ junk: 4 }], '28eb0932', '2222'],
    ['a wrong CRC', [{ crc: 'zero' }], '010600003333' + '0000', '3333'],
  ])('with %s', async (_, faults, expected, register) => {
    bench.use(faults);
    expect(await ask(rtu(`01 06 0000 ${register === '0102' ? '9999' : register}`), expected)).toBe(expected);
    bench.clear();
    expect(await registerZero()).toBe(register);
    await ask(rtu('01 06 0000 0102'), rtu('01 06 0000 0102'));
  });
});

describe('the turn of a rule on the wire', () => {
  it('a count runs out', async () => {
    bench.use([{ exception: 6 }], { when: { unit: 1, function: 3, count: 2 } });
    const exception = rtu('01 83 06');
    expect([await ask(READ, exception), await ask(READ, exception), await ask(READ, REPLY)]).toEqual([
      exception,
      exception,
      REPLY,
    ]);
    expect(bench.simulator.faults.rules.get('tested')).toMatchObject({ matches: 3, hits: 2, remaining: 0 });
  });

  it('it aims at a unit and an address', async () => {
    bench.use([{ silence: true }], { when: { unit: 5, address: [2, 3] } });
    const missed = rtu('05 03 04 0102 0304');
    expect(await ask(READ, REPLY)).toBe(REPLY);
    expect(await ask(rtu('05 03 0000 0002'), missed)).toBe(missed);
    expect(await ask(rtu('05 03 0001 0002'), '')).toBe('');
  });

  it('the same seed gives the same bytes, run after run', async () => {
    const capture = async () => {
      bench.use([{ corrupt: 3 }, { noise: 2 }, { extend: 2 }], { seed: 99, when: { probability: 0.7 } });
      const received: string[] = [];
      for (let i = 0; i < 8; i++) received.push(await ask(READ, REPLY));
      return received;
    };
    const first = await capture();
    expect(new Set(first).size).toBeGreaterThan(4);
    expect(await capture()).toEqual(first);
  });
});

describe('while a reply is pending', () => {
  it('a later request ends it, which the traffic tells', async () => {
    bench.use([{ delay: 60_000 }], { when: { count: 1 } });
    client.send(READ);
    // The line has read it, and a real device has answered it.
    await until(() => bench.simulator.lines.get('bench')?.oldestPending !== undefined, 'it is pending');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const other = rtu('01 03 0002 0001');
    const otherReply = rtu('01 03 02 0506');
    expect(await ask(other, otherReply)).toBe(otherReply);
    const [second, first] = exchangesOf(bench.simulator);
    expect(first?.report).toEqual({
      steps: [expect.objectContaining({ outcome: 'not achieved', reason: 'a newer request came' })],
      ended: 'superseded',
    });
    expect(first?.acted).toEqual([{ rule: 'tested', kind: 'delay' }]);
    expect(second?.report?.ended).toBe('complete');
    expect(second?.acted).toEqual([]);
  });

  it('a later request ends it between its pieces, and what has left is told', async () => {
    bench.use([{ split: { at: 3, gap: 60_000 } }], { when: { count: 1 } });
    client.send(READ);
    expect(await client.receive(3)).toBe(REPLY.slice(0, 6));
    expect(await ask(READ, REPLY)).toBe(REPLY);
    const [, first] = exchangesOf(bench.simulator);
    expect(first?.report?.ended).toBe('superseded');
    expect(first?.report?.steps).toEqual([
      expect.objectContaining({ outcome: 'achieved' }),
      expect.objectContaining({ outcome: 'not achieved', reason: 'a newer request came' }),
    ]);
  });

  it('a delay of a minute for a unit of one line leaves a unit of another line alone', async () => {
    const other = await SerialClient.open(bench.path('other'));
    bench.use([{ delay: 60_000 }], { when: { unit: 5 } });
    client.send(rtu('05 03 0000 0002'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const reply = rtu('06 03 04 0102 0304');
    for (let i = 0; i < 5; i++) {
      other.send(rtu('06 03 0000 0002'));
      expect(await other.receive(bytesIn(reply))).toBe(reply);
    }
    expect(client.hex).toBe('');
    expect(bench.simulator.lines.get('bench')?.oldestPending).toBeDefined();
    expect(exchangesOf(bench.simulator)[0]).toMatchObject({ line: 'other', unitId: 6 });
    await other.close();
    // The line itself answers too, once the client has given up.
    expect(await ask(READ, REPLY)).toBe(REPLY);
  });
});
