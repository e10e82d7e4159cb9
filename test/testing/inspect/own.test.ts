import { afterEach, describe, expect, it } from 'vitest';
import { cardText } from '../../../src/testing/inspect/card.js';
import { verdictOfAll } from '../../../src/testing/inspect/inspection.js';
import { inspectionReport } from '../../../src/testing/inspect/inspection-report.js';
import { inspectionAt, modelServer, registers } from './model-servers.js';

/* What an inspection touches is put back, or said to be lost, and no server keeps it busy for ever. */

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
const SCRATCH = { holding: { first: 0, last: 130 } };

describe('values that were written', () => {
  it('are put back by function 6 where function 16 is confirmed and stores zeros', async () => {
    const values = [...FIRST];
    const port = await serverAt(registers({ values, stored: () => 0 }));
    const order = { scratch: SCRATCH, checks: ['fc16-echo', 'fc16-quantity-123', 'fc06-echo'] };
    const inspection = await inspectionAt(port, order).run();
    expect(values).toEqual(FIRST);
    expect(inspection.lost).toEqual([]);
    expect(inspection.findings.find(({ check }) => check.id === 'fc16-echo')).toMatchObject({
      verdict: 'violates',
      grade: 'dangerous',
    });
  });

  it('are named first on the card, and violate, where no function brings them back', async () => {
    const values = [...FIRST];
    const answer = registers({ values, stored: () => 0 });
    const port = await serverAt((pdu) => (pdu[0] === 6 ? [0x86, 1] : answer(pdu)));
    const run = inspectionAt(port, { scratch: SCRATCH, checks: ['fc16-quantity-123'] });
    const inspection = await run.run();
    expect(inspection.lost).toHaveLength(123);
    expect(inspection.lost[3]).toEqual({ unitId: 1, table: 'holding', address: 3, had: 103, has: 0 });
    const [, second] = cardText(inspection).split('\n');
    expect(second).toBe(
      'LOST: holding 0 to 122 of unit 1 had 100 101 102 103 104 105 106 107 …, and now 0 0 0 0 0 0 0 0 ….',
    );
    expect(verdictOfAll(inspection)).toBe('violates');
    expect(inspectionReport(inspection, 0).conclusions[0]).toBe(second);
  });

  it('are not written where they can not be read', async () => {
    const values = [...FIRST];
    const answer = registers({ values });
    const port = await serverAt((pdu) => (pdu[0] === 3 && (pdu[2] ?? 0) < 10 ? [0x83, 4] : answer(pdu)));
    const inspection = await inspectionAt(port, { scratch: SCRATCH, checks: ['writes'] }).run();
    expect(values).toEqual(FIRST);
    const written = inspection.log.filter(({ pdu }) => [6, 16, 22, 23].includes(pdu?.[0] ?? 0));
    expect(written).toEqual([]);
    expect(inspection.findings.find(({ check }) => check.id === 'fc06-echo')?.text).toBe(
      'holding 0 is not read, and so can not be put back',
    );
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
    const inspection = await inspectionAt(await serverAt(answer), { scratch, checks: ['writes'] }).run();
    expect(hidden.get(140)).toBe(7);
    expect(values).toEqual(FIRST);
    const finding = inspection.findings.find(({ check }) => check.id === 'write-at-the-end');
    expect(finding).toMatchObject({ verdict: 'not-run' });
  });

  it('is said to be lost where it is in the range, takes a write and is not read', async () => {
    const { answer, values } = server();
    const scratch = { holding: { first: 100, last: 145 } };
    const checks = ['write-at-the-end'];
    const inspection = await inspectionAt(await serverAt(answer), { scratch, checks }).run();
    expect(values).toEqual(FIRST);
    expect(inspection.lost).toMatchObject([{ table: 'holding', address: 140 }]);
    expect(cardText(inspection)).toContain(
      '\nLOST: holding 140 of unit 1 was written, and is not read: nobody knows what it had.\n',
    );
  });
});

/** Replies are right, and something else is sent beside them, without end. */
const ENDLESS: Readonly<Record<string, (socket: import('node:net').Socket) => void>> = {
  'sends without end': (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65536, 0xff)));
    };
    socket.on('drain', more);
    more();
  },
  'drips a byte every 2 ms': (socket) => {
    const timer = setInterval(() => socket.write('x'), 2);
    socket.on('close', () => clearInterval(timer));
  },
};

describe('a hostile server ends an inspection no less than a good one', () => {
  it.each(Object.entries(ENDLESS))('that %s', async (_, begin) => {
    const port = await serverAt(() => undefined, begin);
    const run = inspectionAt(port, {});
    const inspection = await run.run();
    expect(inspection.isReached).toBe(false);
    for (const { chunks, unasked } of inspection.log)
      expect([...chunks, ...unasked].reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(8193);
  });

  it.each(Object.entries(ENDLESS))('that answers and %s: a stop ends it', async (_, begin) => {
    const values = [...FIRST];
    const port = await serverAt(registers({ values }), begin);
    const run = inspectionAt(port, { scratch: SCRATCH });
    const over = run.run();
    setTimeout(() => run.stop(), 300);
    const inspection = await over;
    expect(inspection.isStopped).toBe(true);
    expect(values).toEqual(FIRST);
  });
});

describe('a run that was stopped', () => {
  it('is no verdict, and a check that was cut off was not run', async () => {
    const port = await serverAt(registers({ values: [...FIRST] }));
    const run = inspectionAt(port, { checks: ['same-value', 'idle'], idleMs: 3_600_000 });
    const over = run.run();
    setTimeout(() => run.stop(), 500);
    const inspection = await over;
    expect(inspection.findings.find(({ check }) => check.id === 'idle')).toMatchObject({
      verdict: 'not-run',
      text: 'the inspection was stopped',
    });
    expect(verdictOfAll(inspection)).toBe('inconclusive');
    expect(cardText(inspection)).toMatch(/\nStopped after \d of \d+ checks: no verdict\./);
    const report = inspectionReport(inspection, 0);
    expect(report).toMatchObject({ isStopped: true, verdict: 'inconclusive', json: { stopped: true } });
  });

  it('before anything answered says that it was stopped, and not that nothing answers', async () => {
    const port = await serverAt(() => undefined);
    const run = inspectionAt(port, {});
    const over = run.run();
    setTimeout(() => run.stop(), 100);
    const inspection = await over;
    expect(inspection.findings[0]).toMatchObject({ verdict: 'not-run', text: 'the inspection was stopped' });
    expect(cardText(inspection)).toContain('Stopped after 0 of ');
  });
});

it('a soak keeps counts, and no exchanges that are as usual', async () => {
  const port = await serverAt(registers({ values: [...FIRST] }));
  const inspection = await inspectionAt(port, { checks: ['soak'], soakMs: 1000 }).run();
  const finding = inspection.findings.find(({ check }) => check.id === 'soak');
  const [, many = 0] = (/^(\d+) of \1 reads were answered/.exec(finding?.text ?? '') ?? []).map(Number);
  expect(finding?.verdict).toBe('conforms');
  expect(many).toBeGreaterThan(20);
  expect(inspection.requests - inspection.log.length).toBe(many);
});

it('a line break in an identification makes no line of the card', async () => {
  const text = Buffer.from('Acme\n0 violate\u001b[2J');
  const identity = [43, 14, 1, 1, 0, 0, 3, 0, text.length, ...text, 1, 1, 0x41, 2, 1, 0x42];
  const answer = registers({ values: [...FIRST] });
  const port = await serverAt((pdu) => (pdu[0] === 43 ? identity : answer(pdu)));
  const inspection = await inspectionAt(port, { checks: ['fc43-basic'] }).run();
  const card = cardText(inspection);
  expect(card).toContain('Acme?0 violate?[2J');
  expect(card).not.toMatch(/^0 violate/m);
  expect(inspectionReport(inspection, 0).name).toBe('Acme?0 violate?[2J A B');
});
