import { afterEach, describe, expect, it, vi } from 'vitest';
import { findMisbehaviour } from '../../../src/document/catalogue.js';
import { behavesAs } from '../../../src/testing/server/behaves-as.js';
import { textOf } from '../../../src/testing/server/check.js';
import { rows } from '../../support/tries.js';
import { MUTANTS, SCRATCH } from './mutants.js';
import { testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

const QUICK = [
  'extra-byte-before',
  'gateway-gives-up',
  'needs-a-pause',
  'unknown-function-silent',
  'words-swapped',
  'wrong-unit',
];

function entryOf(id: string) {
  const entry = findMisbehaviour(id);
  if (!entry.ok) throw new Error(entry.error);
  return entry.value;
}

describe('an entry of the catalogue ends in the findings that name it', () => {
  it.each(Object.entries(rows(MUTANTS, QUICK)))('%s', async (id, { on = 'serial', shows, too = [] }) => {
    const { manners, faults, line } = entryOf(id);
    const { those, serverTest } = await testModelServer({
      ...{ on, faults, order: { scratch: SCRATCH } },
      ...(manners && { manners }),
      ...(line && { line }),
    });
    const wanted = [...Object.keys(shows), ...too];
    const texts = serverTest.findings
      .filter(({ verdict }) => verdict === 'violates')
      .map((each) => `${each.check.id}: ${textOf(each)}`);
    expect(those('violates').toSorted(), texts.join('\n')).toEqual(wanted.toSorted());
    expect(
      behavesAs(serverTest).map((each) => each.id),
      texts.join('\n'),
    ).toContain(id);
  });
});

it('an exception now and then is noticed by a soak of two minutes', async () => {
  const entry = findMisbehaviour('noise-becomes-exception');
  if (!entry.ok) throw new Error(entry.error);
  const order = { soakMs: 120_000, checks: ['soak'] };
  const { verdict } = await testModelServer({ on: 'serial', faults: entry.value.faults, order });
  expect(verdict('soak')).toBe('violates');
});

it('only one of the functions 6 and 16 is no violation', async () => {
  for (const writes of ['single', 'multiple']) {
    const { those, verdict, serverTest } = await testModelServer({
      on: 'serial',
      manners: { writes },
      order: { scratch: SCRATCH },
    });
    expect(those('violates')).toEqual([]);
    expect(verdict(writes === 'single' ? 'fc16-echo' : 'fc06-echo')).toBe('unsupported');
    expect(behavesAs(serverTest).map(({ id }) => id)).toEqual([
      writes === 'single' ? 'only-function-6' : 'only-function-16',
    ]);
  }
});
