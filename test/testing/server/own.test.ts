import { afterEach, describe, expect, it } from 'vitest';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { cardText } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import type { Exchange } from '../../../src/testing/server/exchange.js';
import { verdictOfAll } from '../../../src/testing/server/server-test.js';
import { serverTestReport } from '../../../src/testing/server/server-test-report.js';
import type { VirtualClock } from '../../support/virtual-clock.js';
import { modelServer, registers, serverTestAt, testModel } from './model-servers.js';

/* What a server test touches is put back, or said to be lost, and no server keeps it busy for ever. */

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function serverAt(...of: Parameters<typeof modelServer>): Promise<number> {
  const server = await modelServer(...of);
  closings.push(server.close);
  return server.port;
}

const FIRST = Array.from({ length: 140 }, (_, i) => 100 + i);
const SERIAL = {
  kind: 'serial',
  path: '/dev/pts/1',
  framing: 'rtu',
  baudRate: 19200,
  dataBits: 8,
  parity: 'even',
  stopBits: 1,
} as const;

const SCRATCH = { holding: { first: 0, last: 130 } };

describe('values that were written', () => {
  it('are put back by function 6 where function 16 is confirmed and stores zeros', async () => {
    const values = [...FIRST];
    const order = { scratch: SCRATCH, checks: ['fc16-echo', 'fc16-quantity-123', 'fc06-echo'] };
    const serverTest = await testModel(registers({ values, stored: () => 0 }), order);
    expect(values).toEqual(FIRST);
    expect(serverTest.lost).toEqual([]);
    expect(serverTest.findings.find(({ check }) => check.id === 'fc16-echo')).toMatchObject({
      verdict: 'violates',
      grade: 'dangerous',
    });
  });

  it('are named first on the card, and violate, where no function brings them back', async () => {
    const values = [...FIRST];
    const answer = registers({ values, stored: () => 0 });
    const serverTest = await testModel((pdu) => (pdu[0] === 6 ? [0x86, 1] : answer(pdu)), {
      scratch: SCRATCH,
      checks: ['fc16-quantity-123'],
    });
    expect(serverTest.lost).toHaveLength(123);
    expect(serverTest.lost[3]).toEqual({ unitId: 1, table: 'holding', address: 3, had: 103, has: 0 });
    const [, second] = cardText(serverTest).split('\n');
    expect(second).toBe(
      'LOST: holding 0 to 122 of unit 1 was 100 101 102 103 104 105 106 107 … and is now 0 0 0 0 0 0 0 0 ….',
    );
    expect(verdictOfAll(serverTest)).toBe('violates');
    expect(serverTestReport(serverTest, 0).conclusions[0]).toBe(second);
  });

  it('are not written where they can not be read', async () => {
    const values = [...FIRST];
    const answer = registers({ values });
    const serverTest = await testModel(
      (pdu) => (pdu[0] === 3 && (pdu[2] ?? 0) < 10 ? [0x83, 4] : answer(pdu)),
      { scratch: SCRATCH, checks: ['writes'] },
    );
    expect(values).toEqual(FIRST);
    const written = serverTest.log.filter(({ pdu }) => [6, 16, 22, 23].includes(pdu?.[0] ?? 0));
    expect(written).toEqual([]);
    const finding = serverTest.findings.find(({ check }) => check.id === 'fc06-echo');
    expect(finding && textOf(finding)).toBe("holding 0 can't be read, and so can't be restored");
  });
});

describe('the register behind the last one', () => {
  const server = () => {
    const [values, hidden] = [[...FIRST], new Map([[140, 7]])];
    return { values, hidden, answer: registers({ values, hidden }) };
  };

  it('is not written where the range ends before it', async () => {
    const { answer, hidden, values } = server();
    const scratch = { holding: { first: 0, last: 139 } };
    const serverTest = await testModel(answer, { scratch, checks: ['writes'] });
    expect(hidden.get(140)).toBe(7);
    expect(values).toEqual(FIRST);
    const finding = serverTest.findings.find(({ check }) => check.id === 'write-at-the-end');
    expect(finding).toMatchObject({ verdict: 'not-run' });
  });

  it('is said to be lost where it is in the range, takes a write and is not read', async () => {
    const { answer, values } = server();
    const scratch = { holding: { first: 100, last: 145 } };
    const checks = ['write-at-the-end'];
    const serverTest = await testModel(answer, { scratch, checks });
    expect(values).toEqual(FIRST);
    expect(serverTest.lost).toMatchObject([{ table: 'holding', address: 140 }]);
    expect(cardText(serverTest)).toContain(
      '\nLOST: holding 140 of unit 1 was written but cannot be read; the previous value is unknown.\n',
    );
  });
});

describe('a broadcast', () => {
  const bus = async (neighbour: number[], isRead: boolean, delayMs?: number) => {
    const values = [...FIRST];
    const answer = registers({ values: neighbour });
    const serverTest = await testModel(registers({ values }), {
      ...{ target: SERIAL, broadcast: true, scratch: SCRATCH, checks: ['rtu-broadcast-write'] },
      neighbours: [[9, (pdu) => (pdu[0] === 3 && !isRead ? [0x83, 4] : answer(pdu)), delayMs]],
    });
    expect(values).toEqual(FIRST);
    expect(serverTest.lost).toEqual([]);
    return serverTest.findings.find(({ check }) => check.id === 'rtu-broadcast-write');
  };

  it('writes all units of the bus, and all get their values back', async () => {
    const neighbour = [7, 8, 9];
    expect(await bus(neighbour, true)).toMatchObject({ verdict: 'conforms' });
    expect(neighbour).toEqual([7, 8, 9]);
  });

  it.each([400, 1500])(
    'writes a unit that answers after %i ms, and it gets its value back',
    async (delayMs) => {
      const neighbour = [7, 8, 9];
      expect(await bus(neighbour, true, delayMs)).toMatchObject({ verdict: 'conforms' });
      expect(neighbour).toEqual([7, 8, 9]);
    },
  );

  it('is not sent where another unit does not let its value be read', async () => {
    const neighbour = [7, 8, 9];
    expect(await bus(neighbour, false)).toMatchObject({
      ...{ verdict: 'not-run', said: { code: 'not-read', unit: 9, table: 'holding', first: 0, last: 0 } },
    });
    expect(neighbour).toEqual([7, 8, 9]);
  });

  it('is not sent where bytes come all the time, so that other units can not be found', async () => {
    const { findings } = await testModel(registers({ values: [...FIRST] }), {
      ...{
        target: SERIAL,
        broadcast: true,
        scratch: SCRATCH,
        checks: ['rtu-broadcast-write'],
        beside: drippingEach(700),
      },
    });
    expect(findings.find(({ check }) => check.id === 'rtu-broadcast-write')).toMatchObject({
      ...{ verdict: 'not-run', said: { code: 'units-not-told-apart' } },
    });
  });

  it('alone switches no coil: without scratch coils only function 99 is sent to unit 0', async () => {
    const { log } = await testModel(registers({ values: [...FIRST] }), {
      ...{ target: SERIAL, broadcast: true, checks: ['rtu-broadcast-refused'] },
    });
    const codes = log.flatMap(({ unitId, pdu }) => (unitId === 0 ? (pdu?.[0] ?? []) : []));
    expect(codes).toEqual([99]);
  });
});

const drippingEach = (ms: number) => (heard: (bytes: Uint8Array) => void, clock: VirtualClock) => {
  let isOn = true;
  const drip = () => {
    if (!isOn) return;
    heard(Uint8Array.of(0x78));
    clock.callAfter(ms, drip);
  };
  drip();
  return () => {
    isOn = false;
  };
};

/** Two other masters and their servers, 8 ms between two frames. */
const others = (heard: (bytes: Uint8Array) => void, clock: VirtualClock) => {
  const [asks, answers] = [
    [3, 0, 0, 0, 1],
    [3, 2, 0, 1],
  ].map((pdu) => Uint8Array.from(pdu)) as [Uint8Array, Uint8Array];
  const frames = [7, 9].flatMap((unitId) => [asks, answers].map((pdu) => encodeRtu(unitId, pdu)));
  let isOn = true;
  const next = (i: number) => {
    if (!isOn) return;
    heard(frames[i % frames.length] as Uint8Array);
    clock.callAfter(8, () => next(i + 1));
  };
  next(0);
  return () => {
    isOn = false;
  };
};

const sizeOf = ({ chunks, unsolicited }: Exchange) =>
  [...chunks, ...unsolicited].reduce((sum, { bytes }) => sum + bytes.length, 0);

describe('a server test ends', () => {
  it('of a server that drips a byte every 2 ms and answers nothing', async () => {
    const { isReached, log } = await testModel(() => undefined, { beside: drippingEach(2) });
    expect(isReached).toBe(false);
    expect(Math.max(...log.map(sizeOf))).toBeLessThan(5000);
  });

  it('on a bus where two other masters leave 8 ms between their frames, and names them', async () => {
    const checks = ['stray-bytes', 'rtu-collision'];
    const { findings } = await testModel(registers({ values: [...FIRST] }), {
      ...{ target: SERIAL, beside: others, checks },
    });
    const verdictOf = (id: string) => findings.find(({ check }) => check.id === id)?.verdict;
    expect([verdictOf('answers'), verdictOf('rtu-collision')]).toEqual(['conforms', 'violates']);
  });

  it('of a server that sends without end, on a real socket, and no more than a few KiB are kept', async () => {
    const port = await serverAt(
      () => undefined,
      (socket) => {
        const more = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65536, 0xff)));
        };
        socket.on('drain', more);
        more();
      },
    );
    const { isReached, log } = await serverTestAt(port, {}).run();
    expect(isReached).toBe(false);
    expect(log.every(({ answer }) => ['garbled', 'closed'].includes(answer.kind))).toBe(true);
    expect(Math.max(...log.map(sizeOf))).toBeLessThan(9000);
  });
});

describe('a run that was stopped', () => {
  it('is no verdict, and a check that was cut off was not run', async () => {
    const serverTest = await testModel(registers({ values: [...FIRST] }), {
      ...{ checks: ['same-value', 'idle'], idleMs: 3_600_000, stopAt: 100_000 },
    });
    expect(serverTest.durationMs).toBeLessThan(101_000);
    expect(serverTest.findings.find(({ check }) => check.id === 'idle')).toMatchObject({
      ...{ verdict: 'not-run', said: { code: 'stopped' } },
    });
    expect(verdictOfAll(serverTest)).toBe('inconclusive');
    expect(cardText(serverTest)).toMatch(/\nStopped after \d of \d+ checks: no verdict\./);
    const report = serverTestReport(serverTest, 0);
    expect(report).toMatchObject({ isStopped: true, verdict: 'inconclusive' });
  });

  it('before anything answered says that it was stopped, and not that nothing answers', async () => {
    const serverTest = await testModel(() => undefined, { stopAt: 100 });
    expect(serverTest.findings[0]).toMatchObject({ verdict: 'not-run', said: { code: 'stopped' } });
    expect(cardText(serverTest)).toContain('Stopped after 0 of ');
  });

  it.each([50, 500, 1500, 3000, 6000, 12_000])('after %s ms has put its values back', async (stopAt) => {
    const values = [...FIRST];
    const order = { scratch: SCRATCH, checks: ['writes'], stopAt, beside: drippingEach(2) };
    const serverTest = await testModel(registers({ values }), order);
    expect(values).toEqual(FIRST);
    expect(serverTest.durationMs).toBeLessThan(stopAt + 15_000);
    for (const finding of serverTest.findings)
      if (finding.verdict === 'conforms') expect(textOf(finding)).not.toMatch(/^0 /);
  });
});

it('a soak keeps counts, and no exchanges that are as usual', async () => {
  const serverTest = await testModel(registers({ values: [...FIRST] }), {
    checks: ['soak'],
    soakMs: 60_000,
  });
  const finding = serverTest.findings.find(({ check }) => check.id === 'soak');
  const [, many = 0] = (/^(\d+) of \1 reads were answered/.exec(finding ? textOf(finding) : '') ?? []).map(
    Number,
  );
  expect(finding?.verdict).toBe('conforms');
  expect(many).toBeGreaterThan(1000);
  expect(serverTest.requests - serverTest.log.length).toBe(many);
});

it('a line break in an identification makes no line of the card', async () => {
  const text = Buffer.from('Acme\n0 violate\u001b[2J');
  const identity = [43, 14, 1, 1, 0, 0, 3, 0, text.length, ...text, 1, 1, 0x41, 2, 1, 0x42];
  const answer = registers({ values: [...FIRST] });
  const serverTest = await testModel((pdu) => (pdu[0] === 43 ? identity : answer(pdu)), {
    checks: ['fc43-basic'],
  });
  const card = cardText(serverTest);
  expect(card).toContain('Acme?0 violate?[2J');
  expect(card).not.toMatch(/^0 violate/m);
  expect(serverTestReport(serverTest, 0).name).toBe('Acme?0 violate?[2J A B');
});
