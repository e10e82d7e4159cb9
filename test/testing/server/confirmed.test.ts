import { describe, expect, it } from 'vitest';
import { gradeOf } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { answering, type ModelDevice, modelDevice, set } from './model-device.js';
import { testModel } from './model-servers.js';

/*
 * Servers that confirm writes and do something else, written by the Application Protocol alone: each is found, as
 * dangerous, under the check of the function that is wrong. What is faultless, if unusual, is not accused.
 */

const SCRATCH = { holding: { first: 0, last: 40 }, coils: { first: 0, last: 40 } };
const WRITE_CHECKS = [
  ...['fc06-echo', 'fc16-echo', 'fc16-quantity-123', 'fc22-mask', 'fc23-order', 'write-read-back'],
  ...['fc05-echo', 'fc15-echo'],
];

type Wrong = (device: ModelDevice) => Partial<ModelDevice>;

/** Replaces what a function puts; the others put as they should. */
const words =
  (
    codes: readonly number[],
    put: (device: ModelDevice, first: number, words: readonly number[]) => void,
  ): Wrong =>
  (device) => {
    const right = device.put;
    return {
      put: (first, all, code) => (codes.includes(code) ? put(device, first, all) : right(first, all, code)),
    };
  };
const bits =
  (
    codes: readonly number[],
    put: (device: ModelDevice, first: number, bits: readonly number[]) => void,
  ): Wrong =>
  (device) => {
    const right = device.putBits;
    return {
      putBits: (first, all, code) =>
        codes.includes(code) ? put(device, first, all) : right(first, all, code),
    };
  };
const at = (device: ModelDevice, first: number, all: readonly number[]) =>
  all.forEach((each, i) => {
    if (first + i < device.holding.length) device.holding[first + i] = each;
  });

/** What is wrong, and the check that has to find it. */
const PLANTS: Readonly<Record<string, readonly [check: string, Wrong]>> = {
  'function 16 stores zeros': [
    'fc16-echo',
    words([16], (d, first, all) =>
      at(
        d,
        first,
        all.map(() => 0),
      ),
    ),
  ],
  'function 16 stores the first value everywhere': [
    'fc16-echo',
    words([16], (d, first, all) =>
      at(
        d,
        first,
        all.map(() => all[0] ?? 0),
      ),
    ),
  ],
  'function 16 stores one register further': [
    'fc16-echo',
    words([16], (d, first, all) => at(d, first + 1, all)),
  ],
  'function 16 stores the values reversed': [
    'fc16-echo',
    words([16], (d, first, all) => at(d, first, all.toReversed())),
  ],
  'function 16 stores only the first': [
    'fc16-echo',
    words([16], (d, first, all) => at(d, first, all.slice(0, 1))),
  ],
  'function 16 stores all but the last': [
    'fc16-echo',
    words([16], (d, first, all) => at(d, first, all.length > 1 ? all.slice(0, -1) : all)),
  ],
  'function 16 stores nothing': ['fc16-echo', words([16], () => {})],
  'function 16 swaps the bytes': [
    'fc16-echo',
    words([16], (d, first, all) =>
      at(
        d,
        first,
        all.map((each) => ((each & 0xff) << 8) | (each >> 8)),
      ),
    ),
  ],
  'function 16 clears the register behind': [
    'fc16-echo',
    words([16], (d, first, all) => at(d, first, [...all, 0])),
  ],
  'function 16 stores no more than 100 registers': [
    'fc16-quantity-123',
    words([16], (d, first, all) => at(d, first, all.slice(0, 100))),
  ],
  'function 16 stores nothing beyond register 0': [
    'fc16-echo',
    words([16], (d, first, all) => (first === 0 ? at(d, first, all) : undefined)),
  ],
  'function 16 stores nothing in the upper half': [
    'fc16-echo',
    words([16], (d, first, all) => (first < 20 ? at(d, first, all) : undefined)),
  ],
  'function 16 stores nothing at odd addresses': [
    'fc16-echo',
    words([16], (d, first, all) => (first % 2 === 0 ? at(d, first, all) : undefined)),
  ],
  'function 6 stores nothing': ['fc06-echo', words([6], () => {})],
  'function 6 stores nothing beyond register 0': [
    'fc06-echo',
    words([6], (d, first, all) => (first === 0 ? at(d, first, all) : undefined)),
  ],
  'function 6 clips values from 8000 on': [
    'fc06-echo',
    words([6], (d, first, all) =>
      at(
        d,
        first,
        all.map((each) => Math.min(each, 8000)),
      ),
    ),
  ],
  'function 6 loses the sign': [
    'fc06-echo',
    words([6], (d, first, all) =>
      at(
        d,
        first,
        all.map((each) => each & 0x7fff),
      ),
    ),
  ],
  'function 6 keeps the low byte alone': [
    'fc06-echo',
    words([6], (d, first, all) =>
      at(
        d,
        first,
        all.map((each) => each & 0xff),
      ),
    ),
  ],
  'function 6 writes the register before, too': [
    'fc06-echo',
    words([6], (d, first, all) => at(d, Math.max(0, first - 1), first > 0 ? [...all, ...all] : all)),
  ],
  'function 22 clears the high byte of the register behind': [
    'fc22-mask',
    words([22], (d, first, all) => at(d, first, [...all, (d.holding[first + 1] ?? 0) & 0xff])),
  ],
  'function 23 stores one register further, and reads what it should have': [
    'fc23-order',
    words([23], (d, first, all) => at(d, first, [...all, all.at(-1) ?? 0])),
  ],
  'function 5 stores nothing': ['fc05-echo', bits([5], () => {})],
  'function 5 clears the other coils of its byte': [
    'fc05-echo',
    bits([5], (d, first, [bit = 0]) => {
      for (let i = first & ~7; i < (first & ~7) + 8; i++) d.coils[i] = i === first ? bit : 0;
    }),
  ],
  'function 15 with one coil switches its seven neighbours': [
    'fc15-echo',
    bits([15], (d, first, all) => {
      const many = 8 * Math.ceil(all.length / 8);
      for (let i = 0; i < many; i++) d.coils[first + i] = all[i] ?? 0;
    }),
  ],
  'function 15 stores the coils reversed': [
    'fc15-echo',
    bits([15], (d, first, all) =>
      all.toReversed().forEach((bit, i) => {
        set(d.coils, first + i, bit);
      }),
    ),
  ],
  'function 15 stores no more than 8 coils': [
    'fc15-echo',
    bits([15], (d, first, all) =>
      all.slice(0, 8).forEach((bit, i) => {
        set(d.coils, first + i, bit);
      }),
    ),
  ],
  'function 15 stores nothing beyond coil 0': [
    'fc15-echo',
    bits([15], (d, first, all) =>
      first === 0
        ? all.forEach((bit, i) => {
            set(d.coils, first + i, bit);
          })
        : undefined,
    ),
  ],
};

function planted(wrong: Wrong): ModelDevice {
  const device = modelDevice();
  return Object.assign(device, wrong(device));
}

const violationsIn = ({ findings }: ServerTest) =>
  findings.flatMap((finding) =>
    finding.verdict === 'violates' ? [`${finding.check.id}: ${gradeOf(finding)}: ${textOf(finding)}`] : [],
  );

const RANGE = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 40 } };

describe('a write that is confirmed and not done', () => {
  it.each(Object.entries(PLANTS))('%s', async (_, [check, wrong]) => {
    const scratch = check === 'fc16-quantity-123' ? RANGE : SCRATCH;
    const serverTest = await testModel(answering(planted(wrong)), { scratch, checks: WRITE_CHECKS });
    const found = violationsIn(serverTest);
    expect(found.join('\n')).toContain(`${check}: dangerous: `);
  });
});

/** Devices that do what they should, if in a way that few do. */
const FAULTLESS: Readonly<Record<string, () => ModelDevice>> = {
  plain: () => modelDevice(),
  'whose registers live': () => {
    const device: ModelDevice = modelDevice();
    device.before = () =>
      device.holding.forEach((value, i) => {
        set(device.holding, i, (value + 7 + i) & 0xffff);
      });
    return device;
  },
  'in which every second register counts': () => {
    const device: ModelDevice = modelDevice();
    device.before = () =>
      device.holding.forEach((value, i) => {
        if (i % 2 === 0) set(device.holding, i, (value + 1) & 0xffff);
      });
    return device;
  },
  'whose coils are those of somebody else': () => {
    const device: ModelDevice = modelDevice();
    let asked = 0;
    device.before = () => {
      asked++;
      device.coils.forEach((_, i) => {
        set(device.coils, i, Number((asked + i) % 3 === 0));
      });
    };
    return device;
  },
};

describe('a device', () => {
  it.each(Object.entries(FAULTLESS))('%s is not accused', async (_, device) => {
    const serverTest = await testModel(answering(device()), { scratch: RANGE, checks: ['writes'] });
    expect(violationsIn(serverTest)).toEqual([]);
  });
});

it('values are put back, and neighbours too', async () => {
  const device = modelDevice();
  const [holding, coils] = [[...device.holding], [...device.coils]];
  const serverTest = await testModel(answering(device), { scratch: RANGE, checks: ['writes'] });
  expect(device.holding).toEqual(holding);
  expect(device.coils).toEqual(coils);
  expect(serverTest.lost).toEqual([]);
});
