import { afterEach, expect, it, vi } from 'vitest';
import { some } from '../../support/tries.js';
import { inspectServer, type ServerWanted } from './virtual-server.js';

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
  const { inspection } = await inspectServer({ ...SERVER, order: { scratch: SCRATCH, seed, checks } });
  return new Map(inspection.findings.map(({ check, verdict }) => [check.id, verdict]));
}

it('the verdicts are the same in whatever order the checks ran', async () => {
  const first = await verdictsOf(1);
  expect([...first.values()].filter((verdict) => verdict === 'violates').length).toBeGreaterThan(4);
  for (const seed of [2, 3, 4]) expect(await verdictsOf(seed)).toEqual(first);
});

it('a check that runs alone has the verdict that it has among all others', async () => {
  const all = await verdictsOf(1);
  const asked = [...all].filter(([, verdict]) => verdict !== 'not-run').map(([id]) => id);
  for (const id of some(asked, 8))
    expect([id, (await verdictsOf(1, [id])).get(id)]).toEqual([id, all.get(id)]);
});
