import { afterEach, describe, expect, it, vi } from 'vitest';
import { findMisbehaviour } from '../../../src/document/catalogue.js';
import { writeTested } from '../../../src/testing/server/as-file.js';
import { textOf } from '../../../src/testing/server/check.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { rows } from '../../support/tries.js';
import { MUTANTS, SCRATCH } from './mutants.js';
import { type ServerWanted, testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Where the virtual meter has registers. */
const survey = [[0, 2199]] as const;

const QUICK = ['extra-byte-before', 'few-registers'];

function violationsIn({ findings }: ServerTest): string[] {
  return findings
    .filter(({ verdict }) => verdict === 'violates')
    .map((each) => `${each.check.id}: ${textOf(each)}`);
}

/** Which of the two checks that repeat a read meets a value that is wrong now and then depends on what was asked before. */
const idsOf = (violations: readonly string[]) => {
  const ids = violations.map((each) => each.replace(/:.*/, '').replace('same-value', 'repeat-pair'));
  return [...new Set(ids)].toSorted();
};

/** Tests a server, writes what was found, and tests a server that is made of the file. */
async function again(wanted: ServerWanted) {
  const first = await testModelServer({ ...wanted, order: { scratch: SCRATCH, ...wanted.order, survey } });
  const text = writeTested(first.serverTest);
  if (text === undefined) throw new Error('nothing was written');
  vi.unstubAllGlobals();
  const second = await testModelServer({
    ...(wanted.on && { on: wanted.on }),
    order: { scratch: SCRATCH, ...wanted.order },
    file: text,
  });
  return { before: violationsIn(first.serverTest), after: violationsIn(second.serverTest), text };
}

describe('the file that a server test writes behaves as the tested server did', () => {
  it.each(Object.entries(rows(MUTANTS, QUICK)))('%s', async (id, { on = 'serial' }) => {
    const entry = findMisbehaviour(id);
    if (!entry.ok) throw new Error(entry.error);
    const { manners, faults, line } = entry.value;
    const { before, after, text } = await again({
      on,
      faults,
      ...(manners && { manners }),
      ...(line && { line }),
    });
    if (process.env.SHOW) console.log(id, before, after, text.replaceAll(/^ {8,}.*\n/gm, ''));
    expect(idsOf(after), `${before.join('\n')}\n---\n${after.join('\n')}`).toEqual(idsOf(before));
  });
});
