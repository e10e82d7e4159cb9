import { afterEach, describe, expect, it, vi } from 'vitest';
import { findMisbehaviour } from '../../../src/files/config/catalogue.js';
import { rows } from '../../support/tries.js';
import { inspectServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** An entry of the catalogue: on which line it is inspected, and which checks are violated by it. */
type Mutant = readonly ['tcp' | 'serial', ...string[]];

/**
 * Every entry that a server without a map shows within a minute, and the findings in which it ends. The other
 * entries need a map, real connections, a night, or are allowed and told as facts.
 */
const MUTANTS: Readonly<Record<string, Mutant>> = {
  'answers-for-others': ['serial', 'frames', 'stray-bytes'],
  'answers-too-soon': ['serial', 'rtu-reply-silence'],
  'busy-every-other': ['serial', 'back-to-back', 'frames'],
  'deaf-after-early-request': ['tcp', 'connect-pause'],
  'deaf-after-neighbour': ['serial', 'back-to-back'],
  echo: ['serial', 'frames'],
  'exception-without-code': ['serial', 'frames'],
  'exception-zero': ['serial', 'frames'],
  'extra-byte-before': ['serial', 'frames'],
  'extra-bytes-after': ['tcp', 'stray-bytes'],
  'few-registers': ['serial', 'fc03-quantity-125', 'fc01-quantity-2000'],
  'first-request-lost': ['tcp', 'connect-pause'],
  'gateway-gives-up': ['serial', 'back-to-back'],
  'holes-all-or-nothing': ['serial', 'map-end'],
  'holes-shift': ['serial', 'map-end'],
  'holes-silent': ['serial', 'address-unknown'],
  'last-byte-lost': ['serial', 'frames'],
  'length-too-short': ['tcp', 'frames'],
  'locks-up-after-bad-read': ['serial', 'address-unknown'],
  'locks-up-on-fast-reconnect': ['tcp', 'reconnect-at-once'],
  'needs-a-pause': ['tcp', 'back-to-back'],
  'old-value-after-write': ['serial', 'write-read-back', 'fc22-mask'],
  'one-behind-for-ever': ['serial', 'back-to-back', 'frames'],
  'one-bit-too-many': ['serial', 'fc01-padding'],
  'reboots-when-polled': ['tcp', 'repeat-block'],
  'second-master': ['serial', 'stray-bytes'],
  'short-block': ['serial', 'frames'],
  'stranger-answers-first': ['serial', 'frames'],
  'stray-byte-while-idle': ['serial', 'stray-bytes'],
  'substituted-block': ['serial', 'repeat-pair'],
  'torn-value': ['serial', 'same-value', 'repeat-pair'],
  'transaction-off-by-one': ['tcp', 'mbap-echo'],
  'transaction-swapped': ['tcp', 'mbap-echo'],
  'transaction-zero': ['tcp', 'mbap-echo'],
  'unknown-function-silent': ['serial', 'fc43-basic', 'fc17-shape'],
  'wide-registers': ['tcp', 'frames'],
  'words-swapped': ['serial', 'block-agrees'],
  'wrong-byte-count': ['serial', 'frames'],
  'wrong-unit': ['serial', 'frames'],
  'zero-for-a-poll': ['serial', 'same-value', 'repeat-pair'],
};
const QUICK = [
  'extra-byte-before',
  'needs-a-pause',
  'unknown-function-silent',
  'words-swapped',
  'wrong-unit',
];

const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } };

describe('an entry of the catalogue ends in the findings that name it', () => {
  it.each(Object.entries(rows(MUTANTS, QUICK)))('%s', async (id, [on, ...wanted]) => {
    const entry = findMisbehaviour(id);
    if (!entry.ok) throw new Error(entry.error);
    const { manners, faults, line } = entry.value;
    const { those, inspection } = await inspectServer({
      ...{ on, faults, order: { scratch: SCRATCH } },
      ...(manners && { manners }),
      ...(line && { line }),
    });
    const texts = inspection.findings
      .filter(({ verdict }) => verdict === 'violates')
      .map(({ check, text }) => `${check.id}: ${text}`);
    expect(those('violates').toSorted(), texts.join('\n')).toEqual(wanted.toSorted());
  });
});

it('an exception now and then is noticed by a soak of two minutes', async () => {
  const entry = findMisbehaviour('noise-becomes-exception');
  if (!entry.ok) throw new Error(entry.error);
  const order = { soakMs: 120_000, checks: ['soak'] };
  const { verdict } = await inspectServer({ on: 'serial', faults: entry.value.faults, order });
  expect(verdict('soak')).toBe('violates');
});

it('only one of the functions 6 and 16 is no violation', async () => {
  for (const writes of ['single', 'multiple']) {
    const { those, verdict } = await inspectServer({
      on: 'serial',
      manners: { writes },
      order: { scratch: SCRATCH },
    });
    expect(those('violates')).toEqual([]);
    expect(verdict(writes === 'single' ? 'fc16-echo' : 'fc06-echo')).toBe('unsupported');
  }
});
