import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { type CloneOrder, cloneDevices } from '../../../src/extensions/clone/clone.js';
import type { ClientRequest, RequestOutcome } from '../../../src/modbus/client/client.js';
import { writeClone } from '../../../src/testing/survey/write.js';

/*
 * What clone finds of a device with few registers far apart, in how many requests and how long at 9600 baud. The device is a model without a
 * wire; the time is that of the characters, 20 ms for each reply, and the pauses and time-outs of the client.
 */

const TABLES = ['coils', 'discrete', 'holding', 'input'] as const;
type Map = Readonly<Partial<Record<(typeof TABLES)[number], string>>>;

interface Ways {
  /** Tables of which nothing is ever answered. */
  readonly silent?: readonly string[];
  /** The smallest quantity that is answered; fewer are met with silence. */
  readonly fewest?: number;
  /** True when all values have two registers, from even addresses on, and a part of one is refused. */
  readonly pairs?: boolean;
  /** How late functions that the device does not know are refused, in ms. */
  readonly refusesAfter?: number;
}

/** The numbers of a list such as `0-3,7`. */
function numbersOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return part === '' ? [] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const CHARACTER_MS = (11 / 9600) * 1000;
const T35_MS = 3.5 * CHARACTER_MS;
const REPLY_MS = 20;

function deviceOf(map: Map, { silent = [], fewest = 1, pairs = false, refusesAfter = 0 }: Ways = {}) {
  const known = TABLES.map((table) => new Set(numbersOf(map[table] ?? '')));
  const count = { requests: 0, ms: 0 };
  const answerTo = ([code = 0, high = 0, low = 0, above = 0, below = 0]: Uint8Array):
    | number[]
    | undefined => {
    const quantity = 256 * above + below;
    const addresses = known[code - 1];
    if (!addresses) return [code | 0x80, 1];
    if (silent.includes(TABLES[code - 1] as string)) return undefined;
    if (quantity === 0 || quantity > (code < 3 ? 2000 : 125)) return [code | 0x80, 3];
    if (quantity < fewest) return undefined;
    const start = 256 * high + low;
    const asked = Array.from({ length: quantity }, (_, i) => start + i);
    const isCut = pairs && (start % 2 > 0 || quantity % 2 > 0);
    if (isCut || asked.some((address) => !addresses.has(address))) return [code | 0x80, 2];
    const bytes = code < 3 ? Math.ceil(quantity / 8) : 2 * quantity;
    return [code, bytes, ...new Array<number>(bytes).fill(1)];
  };
  const ask = async ({ pdu, timeout }: ClientRequest): Promise<RequestOutcome> => {
    count.requests++;
    count.ms += (pdu.length + 3) * CHARACTER_MS + T35_MS;
    const answer = answerTo(pdu);
    const late = answer?.[1] === 1 ? refusesAfter : 0;
    const ms = answer ? late + REPLY_MS + (answer.length + 3) * CHARACTER_MS : timeout;
    count.ms += Math.min(ms, timeout);
    if (!answer || ms > timeout) return { kind: 'timeout', heard: new Uint8Array(), ms };
    return { kind: 'answered', pdu: Uint8Array.from(answer), adu: new Uint8Array(answer.length + 3), ms };
  };
  const sleep = async (ms: number) => {
    count.ms += ms;
  };
  return { known, count, ask, sleep };
}

const ORDER: CloneOrder = {
  target: { kind: 'tcp', host: 'device', port: 502, framing: 'rtu' },
  units: [1],
  ranges: [
    [0, 9999],
    [40000, 40999],
  ],
  thorough: false,
  watch: 0,
  functions: [],
  pause: 10,
  timeout: 1000,
};

/** Clones a device. @returns the addresses of the device that the clone lacks, and the file */
async function clone(map: Map, ways?: Ways, order: Partial<CloneOrder> = {}) {
  const { known, count, ask, sleep } = deviceOf(map, ways);
  const { clone: cloned } = await cloneDevices({ ask }, { ...ORDER, ...order }, undefined, {
    sleep,
    isStopped: () => false,
    progress: () => {},
  });
  const tables = cloned.devices[0]?.survey.tables ?? [];
  const missed = tables.flatMap(({ table, values }) =>
    [...(known[TABLES.indexOf(table)] ?? [])].filter((at) => !values.has(at)).map((at) => `${table} ${at}`),
  );
  return { missed, ...count, text: writeClone(cloned) };
}

describe('a device of 5 registers and 3 coils takes at most 2,000 requests and 3 minutes at 9600 baud', () => {
  it.each<Map>([
    { holding: '0-4', coils: '0-2' },
    { holding: '100-103,2000', coils: '10,11,500' },
    { holding: '0,10,20,30,40', coils: '0,16,32' },
    { input: '7', holding: '24,25,40,1000', coils: '2,29,30' },
  ])('%j', async (map) => {
    const { missed, requests, ms } = await clone(map);
    expect(missed).toEqual([]);
    expect(requests).toBeLessThanOrEqual(2000);
    expect(ms).toBeLessThan(180_000);
  });
});

/* Maps of real devices, as their manuals or configurations of clients list them. */
const SPARSE: Readonly<Record<string, Map>> = {
  'a heat pump': { input: '9-27', holding: '24-29', discrete: '6-9,31,32', coils: '2-6,29,30' },
  'a controller of a cold room': {
    holding: '400,404,413,416-417,419-422,425,427,429-430,464,467-470,472-473,477,489,495,501',
    input: '403,406,412',
    discrete: '0,3,6-8,13,18,28-29,43',
    coils: '2,5,25,32,40-41,51,54,60',
  },
  'a power power': {
    holding: '0,32,64,176-179,181-184,195,208-210',
    input: '80,96-98,211-213',
  },
  'a gateway of an air conditioner': {
    holding: '1-3,5-11,20,30,110-111,120,200-219,250-265,270-271',
    input: '1,104-105,124,290-301,400-415',
    discrete: '0-24',
    coils: '1,4,20,92,94-95,100',
  },
  'a sensor with an infrared remote control': {
    holding: '90,99,103,110,113,130,245,275-276',
    input: '2,4-7,11-12,101-102,104-108,121-124,250-265,270-271,277-278,360,363-364,371',
    discrete: '0-1',
    coils: '2',
  },
  'a ventilation unit': { holding: '1005-1015,1020-1041,1099-1112' },
};

it.each(Object.entries(SPARSE))('%s is found whole', async (_, map) => {
  expect((await clone(map)).missed).toEqual([]);
});

it('values of two registers are found whole where a part of them is refused, and are so in the clone', async () => {
  const { missed, text } = await clone(
    { input: '0-1,6-7,12-13,18-19,24-25,30-31,36-37,70-71' },
    { pairs: true },
  );
  expect(missed).toEqual([]);
  expect(text).toContain('wholeValues: true');
  expect(text.match(/type: uint32/g)).toHaveLength(8);
  expect(loadNative(text, '.').ok).toBe(true);
});

it('registers of a device that is silent for single reads are found, and so is its clone', async () => {
  const { missed, text } = await clone({ holding: '0-34,100-109' }, { fewest: 2 });
  expect(missed).toEqual([]);
  expect(text).toContain('# Unit 1: holding: reads of fewer than 2 are refused: no answer');
  expect(text).toMatch(/function: 3, quantity: "1-1"}, do: \[{silence: true}\]/);
  expect(loadNative(text, '.').ok).toBe(true);
});

it('a table without any answer is given up after a handful of requests, and the file says so', async () => {
  const map = { holding: '0-4', coils: '0-2' };
  const all = await clone(map, { silent: ['input', 'discrete'] });
  expect(all.missed).toEqual([]);
  expect(all.text).toContain(
    '# Unit 1: input: no answer to 14 requests, so no more were sent; clone --thorough',
  );
  expect(all.requests).toBeLessThan(1200);
  expect(all.ms).toBeLessThan(120_000);
});

it('a device that refuses late what it does not have is not taken for a silent one', async () => {
  const { text } = await clone({ holding: '0-9' }, { refusesAfter: 500 });
  expect(text).not.toContain('silence');
  expect(text).toContain(
    '{name: unit-1-function-17, when: {device: unit-1, function: 17}, do: [{exception: 1}]}',
  );
});

it('what may be missed is told in numbers, and --thorough finds it', async () => {
  const map = { holding: '0-4,1777' };
  const ranges = [[0, 2000]] as const;
  const usual = await clone(map, {}, { ranges });
  expect(usual.missed).toEqual(['holding 1777']);
  const [, share, widest] =
    /holding: 1 in (\d+) of the addresses 129-\d+ was tried: a lone register there may be missed, but not (\d+) in a row/.exec(
      usual.text,
    ) ?? [];
  expect(Number(share)).toBeGreaterThan(2);
  for (let start = 200; start + Number(widest) <= 2000; start += 37) {
    const run = { holding: `0-4,${start}-${start + Number(widest) - 1}` };
    expect((await clone(run, {}, { ranges })).missed).toEqual([]);
  }
  const whole = await clone(map, {}, { ranges, thorough: true });
  expect(whole.missed).toEqual([]);
  expect(whole.text).not.toContain('may be missed');
});
