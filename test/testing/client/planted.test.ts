import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { some } from '../../support/tries.js';
import { FAULTLESS_ONES, MISTAKES, PAIRS, pollsLike, together } from './planted.js';
import { testStranger } from './test-stranger.js';
import { inVirtualTime } from './virtual-bench.js';

inVirtualTime();

const { MODBUS_SIM_PLANTED_FILE: file } = process.env;
const rows: string[] = [];

/** Names of a check that failed, and what the first sentence says in place of one. */
async function tested(name: string, on: 'tcp' | 'serial', spec: Parameters<typeof pollsLike>[0]) {
  // Whether a spoilt reply was taken is seen in the values alone; and looking at them takes time, which shows the rhythm.
  const isObserved = spec.isUneven === true || (spec.lax?.length ?? 0) > 0;
  const order = { limitMs: 1_200_000 };
  const { failed, untrue, report } = await testStranger(pollsLike(spec), on, order, isObserved);
  const said = report.conclusions.filter((text) => text.startsWith('Since '));
  if (file) {
    rows.push(`| ${name} | ${on} | ${[...failed, ...said].join(', ')} |`);
    writeFileSync(file, `${rows.join('\n')}\n`);
  }
  return { failed: [...failed, ...said], untrue };
}

const SINGLE = Object.entries(MISTAKES).flatMap(([name, [on, spec, found]]) =>
  on.map((line) => [name, line, spec, found] as const),
);
const FAULTLESS = Object.entries(FAULTLESS_ONES).flatMap(([name, spec]) =>
  (['tcp', 'serial'] as const).map((on) => [name, on, spec] as const),
);

describe('a client with a mistake fails a check of that mistake', () => {
  it.each(some(SINGLE, 15))('that %s, on %s', { timeout: 600_000 }, async (name, on, spec, found) => {
    const { failed } = await tested(name, on, spec());
    expect(failed.filter((id) => found.some((each) => id.startsWith(each)))).not.toEqual([]);
  });

  it.each(some(PAIRS, 10))('that %s, and %s', { timeout: 600_000 }, async (one, other) => {
    const [[on, a, foundA], [onOther, b, foundB]] = [MISTAKES[one], MISTAKES[other]] as never as [
      (typeof MISTAKES)[string],
      (typeof MISTAKES)[string],
    ];
    const line = on.find((each) => onOther.includes(each)) ?? 'tcp';
    const { failed } = await tested(`${one}, ${other}`, line, together(a(), b()));
    expect(failed.filter((id) => foundA.some((each) => id.startsWith(each)))).not.toEqual([]);
    expect(failed.filter((id) => foundB.some((each) => id.startsWith(each)))).not.toEqual([]);
  });
});

it.each(some(FAULTLESS, 7))(
  'a client that %s on %s is accused of nothing',
  { timeout: 600_000 },
  async (name, on, spec) => {
    const { failed, untrue } = await tested(name, on, spec);
    expect(failed).toEqual([]);
    expect(untrue.filter((text) => !text.includes('compared by nobody'))).toEqual([]);
  },
);
