import { afterEach, describe, expect, it, vi } from 'vitest';
import { findMisbehaviour } from '../../../src/files/config/catalogue.js';
import { writeInspected } from '../../../src/testing/inspect/as-file.js';
import { textOf } from '../../../src/testing/inspect/check.js';
import type { Inspection } from '../../../src/testing/inspect/inspection.js';
import { rows } from '../../support/tries.js';
import { MUTANTS, SCRATCH } from './mutants.js';
import { inspectServer, type ServerWanted } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Where the virtual meter has registers. */
const survey = [[0, 2199]] as const;

const QUICK = ['extra-byte-before', 'few-registers'];

function violationsIn({ findings }: Inspection): string[] {
  return findings
    .filter(({ verdict }) => verdict === 'violates')
    .map((each) => `${each.check.id}: ${textOf(each)}`);
}

/** Which of the two checks that repeat a read meets a value that is wrong now and then depends on what was asked before. */
const idsOf = (violations: readonly string[]) => {
  const ids = violations.map((each) => each.replace(/:.*/, '')).toSorted();
  return ids.includes('repeat-pair') ? ids.filter((id) => id !== 'same-value') : ids;
};

/** Inspects a server, writes what was found, and inspects a server that is made of the file. */
async function again(wanted: ServerWanted) {
  const first = await inspectServer({ ...wanted, order: { scratch: SCRATCH, ...wanted.order, survey } });
  const text = writeInspected(first.inspection);
  if (text === undefined) throw new Error('nothing was written');
  vi.unstubAllGlobals();
  const second = await inspectServer({
    ...(wanted.on && { on: wanted.on }),
    order: { scratch: SCRATCH, ...wanted.order },
    file: text,
  });
  return { before: violationsIn(first.inspection), after: violationsIn(second.inspection), text };
}

describe('the file that an inspection writes behaves as the inspected server did', () => {
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
