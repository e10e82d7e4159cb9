import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ServerCheck, textOf, violates } from '../../../src/testing/server/check.js';
import { SERVER_CHECKS } from '../../../src/testing/server/checks.js';
import { some } from '../../support/tries.js';
import { tcp, testPlanted } from './planted.js';
import { type ServerWanted, testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A server with mistakes that have nothing to do with each other, of all groups. */
const SERVER: ServerWanted = {
  on: 'tcp',
  manners: { most: { registers: 40 } },
  faults: [
    { name: 'quantity', when: { function: 4, quantity: 126 }, do: [{ exception: 4 }] },
    { name: 'address', when: { function: 3, address: 65535, quantity: 1 }, do: [{ exception: 4 }] },
    { name: 'status', when: { function: 7 }, do: [{ silence: true }] },
    { name: 'bits', when: { function: 1, quantity: 1 }, do: [{ pdu: '01 01 03' }] },
  ],
};
const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } };

async function verdictsOf(seed: number, checks: readonly string[] = []) {
  const { serverTest } = await testModelServer({ ...SERVER, order: { scratch: SCRATCH, seed, checks } });
  return new Map(serverTest.findings.map(({ check, verdict }) => [check.id, verdict]));
}

it('a machine that was late in all trials but one is the reason, and not that the mistake was not seen', async () => {
  const [answers, other] = ['answers', 'fc03-quantity-0'].map((id) =>
    SERVER_CHECKS.find((each) => each.id === id),
  );
  let trial = 0;
  const run: ServerCheck['run'] = async (bench) => {
    const exchange = await bench.ask(bench.goodRead);
    bench.lateness.between = () => (++trial < 4 ? 340 : 0);
    return violates(
      { code: 'pieces-lost', pieces: 2, answer: { kind: 'silent' } },
      {
        ...exchange,
        answer: { kind: 'silent' },
      },
    );
  };
  const checks = [answers, { ...other, run }] as readonly ServerCheck[];
  const { findings } = await testPlanted('tcp', tcp(), {}, { checks });
  expect(trial).toBe(4);
  expect(findings.map(({ verdict }) => verdict)).toEqual(['conforms', 'inconclusive']);
  expect(findings.map(textOf)[1]).toContain('this machine was 340 ms late');
});

it('the verdicts are the same in whatever order the checks ran', async () => {
  const first = await verdictsOf(1);
  expect([...first.values()].filter((verdict) => verdict === 'violates').length).toBeGreaterThan(4);
  for (const seed of some([2, 3, 4], 3)) expect(await verdictsOf(seed)).toEqual(first);
});

it('a check that runs alone has the verdict that it has among all others', async () => {
  const all = await verdictsOf(1);
  const asked = [...all].filter(([, verdict]) => verdict !== 'not-run').map(([id]) => id);
  for (const id of some(asked, 8))
    expect([id, (await verdictsOf(1, [id])).get(id)]).toEqual([id, all.get(id)]);
});

describe('a sub-function is judged only where its function is there, in any order and alone', () => {
  const verdictsWithout = async (code: number, seed: number, checks: readonly string[]) => {
    const faults = [{ name: 'gone', when: { function: code }, do: [{ exception: 1 }] }];
    const { serverTest } = await testModelServer({ on: 'tcp', faults, order: { seed, checks } });
    return serverTest.findings.filter(({ check }) => checks.includes(check.id)).map(({ verdict }) => verdict);
  };

  it('of function 8', async () => {
    for (const seed of [1, 2, 3, 4])
      expect(await verdictsWithout(8, seed, ['fc08-loopback', 'fc08-sub-unknown'])).toEqual([
        'unsupported',
        'unsupported',
      ]);
    expect(await verdictsWithout(8, 1, ['fc08-sub-unknown'])).toEqual(['unsupported']);
  });

  it('of function 43', async () => {
    for (const id of ['fc43-mei-unknown', 'fc43-object-unknown', 'fc43-code-illegal', 'fc43-restart'])
      expect([id, ...(await verdictsWithout(43, 1, [id]))]).toEqual([id, 'unsupported']);
  });
});
