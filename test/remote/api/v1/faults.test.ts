import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FaultLine } from '../../../../src/device/faults/kind.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { Rest } from '../rest.js';

const SLOW = { name: 'slow', when: { unit: 1, function: [3, 4], address: [0, 9] }, do: [{ delay: 5 }] };

const SETUP = {
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    bench: { serial: { path: 'virtual' }, units: { 1: 'meter' } },
  },
  faults: [SLOW, { name: 'seeded', when: { unit: 9 }, do: [{ corrupt: 1 }], seed: 42 }],
};

interface Rule {
  readonly name: string;
  readonly seed: number;
  readonly [key: string]: unknown;
}

interface Refused {
  readonly error: string;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const facts = ({ simulator }: RunningSimulator) => ({
  line: simulator.faultLines[0] as FaultLine,
  unitId: 1,
  device: 'meter',
  functionCode: 3,
  ranges: [{ address: 0, quantity: 1 }],
});

let rest: Rest;

function anew(): void {
  rest = new Rest(nativeSetup(SETUP));
}

async function rules(): Promise<readonly Rule[]> {
  return (await rest.send<{ faults: readonly Rule[] }>('GET', '/api/v1/faults')).body.faults;
}

describe('fault rules over REST', () => {
  beforeEach(anew);

  test('a rule that is switched off keeps its counts, does not act, and begins anew when it is switched on', async () => {
    const running = await startSimulator(nativeSetup({ ...SETUP, faults: [] }));
    running.addRule({ name: 'once', when: { count: 1 }, do: [{ silence: true }], seed: 5 });
    running.addRule({ name: 'last', when: { unit: 9 }, do: [{ silence: true }] });
    const match = () => running.simulator.faults.rules.match(facts(running)).length;
    const patch = (enabled: boolean) => running.rest.send<Rule>('PATCH', '/api/v1/faults/once', { enabled });
    expect(match()).toBe(1);
    expect((await patch(false)).body).toMatchObject({ enabled: false, hits: 1, remaining: 0 });
    expect(match()).toBe(0);
    expect((await patch(true)).body).toMatchObject({ enabled: true, hits: 0, remaining: 1, seed: 5 });
    expect(match()).toBe(1);
    expect(running.simulator.faults.rules.list().map(({ rule }) => rule.name)).toEqual(['once', 'last']);
    await running.stop();
  });

  test('those of the configuration are there, as they were written, with what has come of them', async () => {
    expect(await rest.send('GET', '/api/v1/faults')).toEqual({
      status: 200,
      body: {
        faults: [
          {
            ...SLOW,
            seed: expect.any(Number),
            enabled: true,
            matches: 0,
            hits: 0,
            lastHit: null,
            open: true,
            remaining: null,
          },
          {
            name: 'seeded',
            when: { unit: 9 },
            do: [{ corrupt: 1 }],
            seed: 42,
            enabled: true,
            matches: 0,
            hits: 0,
            lastHit: null,
            open: true,
            remaining: null,
            warnings: ['when.unit: no line currently serves unit 9'],
          },
        ],
      },
    });
  });

  test('one is made, read, changed and removed', async () => {
    const rule = {
      name: 'busy',
      when: { count: 3 },
      do: [{ exception: 6 }, { split: { at: 'middle', gap: 2.5 } }],
    };
    const made = await rest.send<Rule>('POST', '/api/v1/faults', rule);
    expect(made).toMatchObject({ status: 201, body: { ...rule, matches: 0, hits: 0, remaining: 3 } });
    expect(await rest.send('GET', '/api/v1/faults/busy')).toEqual({ status: 200, body: made.body });
    expect((await rules()).map(({ name }) => name)).toEqual(['slow', 'seeded', 'busy']);

    const changed = await rest.send('PUT', '/api/v1/faults/slow', {
      do: [{ delay: { ms: 1, jitter: 1 } }],
      seed: 7,
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { name: 'slow', when: {}, do: [{ delay: { ms: 1, jitter: 1 } }], seed: 7 },
    });
    expect((await rules()).map(({ name }) => name)).toEqual(['slow', 'seeded', 'busy']);

    expect(await rest.send('DELETE', '/api/v1/faults/busy')).toEqual({ status: 204, body: undefined });
    expect((await rest.send('GET', '/api/v1/faults/busy')).status).toBe(404);
    expect((await rules()).map(({ name }) => name)).toEqual(['slow', 'seeded']);
  });

  test('PUT makes a rule that is not there yet, named in the address or twice alike', async () => {
    expect((await rest.send('PUT', '/api/v1/faults/new', { do: [{ delay: 1 }] })).status).toBe(200);
    expect((await rest.send('PUT', '/api/v1/faults/new', { name: 'new', do: [{ delay: 1 }] })).status).toBe(
      200,
    );
    expect((await rules()).map(({ name }) => name)).toEqual(['slow', 'seeded', 'new']);
  });

  test('a fault needs no list around it; it is shown in one', async () => {
    const made = await rest.send<Rule>('POST', '/api/v1/faults', { name: 'alone', do: { exception: 6 } });
    expect(made).toMatchObject({ status: 201, body: { name: 'alone', do: [{ exception: 6 }] } });
  });

  test.each([
    [{ unit: 77 }, 'when.unit: no line currently serves unit 77'],
    [{ unit: [1, 77, 78] }, 'when.unit: no line currently serves units 77, 78'],
    [{ unit: 9, line: 'lan' }, 'when.unit: no line of the rule currently serves unit 9'],
  ])('a rule for %j is taken with a warning', async (when, warning) => {
    const made = await rest.send('POST', '/api/v1/faults', { name: 'odd', when, do: [{ delay: 1 }] });
    expect(made).toMatchObject({ status: 201, body: { warnings: [warning] } });
  });

  test.each([{ unit: [0, 1] }, { line: 'lan' }, {}])('a rule for %j is taken without one', async (when) => {
    const made = await rest.send('POST', '/api/v1/faults', { name: 'fine', when, do: [{ delay: 1 }] });
    expect(made.status).toBe(201);
    expect(made.body).not.toHaveProperty('warnings');
  });

  test('what GET shows of a rule can be sent again', async () => {
    const [shown] = await rules();
    const { name, when, do: faults, seed } = shown as Rule;
    const again = await rest.send('PUT', '/api/v1/faults/slow', { name, when, do: faults, seed });
    expect(again).toEqual({ status: 200, body: shown });
  });

  test('a rule that is not there gets status 404', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      expect(await rest.send(method, '/api/v1/faults/nobody')).toMatchObject({
        status: 404,
        body: { error: 'name: no rule nobody', problems: [{ path: 'name', message: 'no rule nobody' }] },
      });
    }
    expect((await rest.send('GET', '/api/v1/faults/__proto__')).status).toBe(404);
  });

  test('a client that says JSON where it sends nothing is understood', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await rest.send('POST', '/api/v1/faults/reset', '', json)).status).toBe(200);
    expect((await rest.send('DELETE', '/api/v1/faults/slow', '', json)).status).toBe(204);
    expect(await rest.send('POST', '/api/v1/faults', '', json)).toMatchObject({
      status: 400,
      body: { error: 'missing, expected a mapping' },
    });
  });
});

describe('a rule that is not right gets status 400 with every place and reason, and nothing changes', () => {
  beforeAll(anew);

  const WRONG: readonly (readonly [rule: object | string, path: string, message: RegExp])[] = [
    ['null', '', /expected a mapping, got nothing/],
    ['[]', '', /expected a mapping, got an empty list/],
    ['"x"', '', /expected a mapping/],
    ['7', '', /expected a mapping, got 7/],
    [{}, 'name', /missing, expected a name/],
    [{}, 'do', /missing, expected a fault, .* or a list of faults/],
    [{ name: '', do: [{ delay: 1 }] }, 'name', /expected a name, got ""/],
    [{ name: 'a b', do: [{ delay: 1 }] }, 'name', /expected letters, digits/],
    [{ name: '../x', do: [{ delay: 1 }] }, 'name', /expected letters, digits/],
    [{ name: 'x'.repeat(65), do: [{ delay: 1 }] }, 'name', /expected at most 64 characters/],
    [{ name: 5, do: [{ delay: 1 }] }, 'name', /expected a name, got 5/],
    [{ name: 'n', do: [] }, 'do', /expected at least one fault/],
    [{ name: 'n', do: 'silence' }, 'do', /expected a fault, as in {delay: 100}, or a list of faults/],
    [{ name: 'n', do: { delay: -1 } }, 'do[0].delay', /expected/],
    [{ name: 'n', do: {} }, 'do[0]', /expected one kind of fault, got 0 keys/],
    [{ name: 'n', do: ['silence'] }, 'do[0]', /expected one kind of fault/],
    [{ name: 'n', do: [{}] }, 'do[0]', /expected one kind of fault, got 0 keys/],
    [{ name: 'n', do: [{ delay: 1, junk: 2 }] }, 'do[0]', /expected one kind of fault, got 2 keys/],
    [
      { name: 'n', do: [{ delay: 1 }, { delai: 1 }] },
      'do[1].delai',
      /unknown kind of fault "delai", did you mean "delay"/,
    ],
    [{ name: 'n', do: [{ constructor: 1 }] }, 'do[0].constructor', /unknown kind of fault/],
    [{ name: 'n', do: [{ delay: -1 }] }, 'do[0].delay', /expected/],
    [{ name: 'n', do: [{ delay: { ms: 1, jiter: 2 } }] }, 'do[0].delay', /expected|unknown/],
    [{ name: 'n', do: [{ change: 101 }] }, 'do[0].change', /expected a percentage from 0 to 100/],
    [{ name: 'n', do: [{ junk: 'x' }] }, 'do[0].junk', /expected a number of bytes.*got "x"/],
    [{ name: 'n', do: [{ silence: false }] }, 'do[0].silence', /expected true, got false/],
    [{ name: 'n', do: [{ junk: 70_000 }] }, 'do', /expected at most 65536 bytes per reply/],
    [{ name: 'n', do: [{ delay: 3_600_001 }] }, 'do', /expected at most 3600000 ms per reply/],
    [{ name: 'n', do: [{ delay: 3_000_000 }, { delay: 3_000_000 }] }, 'do', /expected at most 3600000 ms/],
    [{ name: 'n', do: [{ delay: 1e308 }, { delay: 1e308 }] }, 'do', /expected at most 3600000 ms/],
    [{ name: 'n', do: [{ delay: 1 }], when: 3 }, 'when', /expected a mapping, got 3/],
    [{ name: 'n', do: [{ delay: 1 }], when: { unitid: 1 } }, 'when.unitid', /unknown key "unitid"/],
    [
      { name: 'n', do: [{ delay: 1 }], when: { unit: 256 } },
      'when.unit',
      /expected a unit identifier from 0 to 255/,
    ],
    [{ name: 'n', do: [{ delay: 1 }], when: { unit: [] } }, 'when.unit', /expected/],
    [{ name: 'n', do: [{ delay: 1 }], when: { function: 0 } }, 'when.function', /expected a function code/],
    [{ name: 'n', do: [{ delay: 1 }], when: { address: 65536 } }, 'when.address', /expected an address/],
    [
      { name: 'n', do: [{ delay: 1 }], when: { address: [9, 0] } },
      'when.address',
      /expected the first address before the last/,
    ],
    [
      { name: 'n', do: [{ delay: 1 }], when: { probability: 2 } },
      'when.probability',
      /expected a probability from 0 to 1, got 2/,
    ],
    [
      { name: 'n', do: [{ delay: 1 }], when: { every: 0 } },
      'when.every',
      /expected a number of requests, 1 or more/,
    ],
    [{ name: 'n', do: [{ delay: 1 }], when: { line: 'wan' } }, 'when.line', /unknown line.*wan.*lan.*bench/],
    [{ name: 'n', do: [{ delay: 1 }], seed: -1 }, 'seed', /expected a seed from 0 to 4294967295, got -1/],
    [{ name: 'n', do: [{ delay: 1 }], wen: {} }, 'wen', /unknown key "wen", did you mean "when"/],
    [{ name: 'n', do: [{ break: 10 }] }, 'do[0].break', /has no break state/],
    [{ name: 'n', do: [{ break: 10 }], when: { line: 'lan' } }, 'do[0].break', /line lan has no break state/],
    [
      { name: 'n', do: [{ break: 10 }], when: { line: 'bench' } },
      'do[0].break',
      /line bench has no break state/,
    ],
    [
      { name: 'n', do: [{ close: 'end' }], when: { line: 'bench' } },
      'do[0].close',
      /line bench has no connection/,
    ],
    [{ name: 'n', do: [{ crc: 'zero' }], when: { line: 'lan' } }, 'do[0].crc', /line lan has no CRC/],
    [
      { name: 'n', do: [{ transaction: 1 }], when: { line: ['lan', 'bench'] } },
      'do[0].transaction',
      /line bench has no transaction/,
    ],
    [{ name: 'slow', do: [{ delay: 1 }] }, 'name', /a rule named slow already exists; PUT replaces it/],
  ];

  test.each(WRONG.map((row) => [JSON.stringify(row[0]).slice(0, 100), ...row] as const))(
    '%s',
    async (_, rule, path, message) => {
      const before = await rules();
      const answer = await rest.send<Refused>('POST', '/api/v1/faults', rule);
      expect(answer.status).toBe(400);
      const problem = answer.body.problems.find(
        (each) => each.path.startsWith(path) && message.test(each.message),
      );
      expect(problem, JSON.stringify(answer.body.problems)).toBeDefined();
      const [first] = answer.body.problems;
      expect(answer.body.error).toBe(first?.path ? `${first.path}: ${first.message}` : first?.message);
      expect(await rules()).toEqual(before);

      if (typeof rule === 'string' || (rule as { name?: unknown }).name !== 'n') return;
      expect((await rest.send('PUT', '/api/v1/faults/n', rule)).status).toBe(400);
      expect(await rules()).toEqual(before);
    },
  );

  test('a PUT that names another rule', async () => {
    const before = await rules();
    const answer = await rest.send('PUT', '/api/v1/faults/slow', { name: 'fast', do: [{ delay: 1 }] });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'name: expected slow, as in the address',
        problems: [{ path: 'name', message: 'expected slow, as in the address' }],
      },
    });
    expect(await rules()).toEqual(before);
    expect((await rest.send('PUT', '/api/v1/faults/slow', { name: null, do: [{ delay: 1 }] })).status).toBe(
      400,
    );
    expect((await rest.send('PUT', '/api/v1/faults/a%20b', { do: [{ delay: 1 }] })).status).toBe(400);
    expect(await rules()).toEqual(before);
  });

  test('beyond 256 rules no other one is taken, by POST, PUT or Simulate; those that are there can be replaced', async () => {
    anew();
    for (let i = (await rules()).length; i < 256; i++) {
      const rule = { name: `rule-${i}`, do: [{ delay: 1 }] };
      expect((await rest.send('POST', '/api/v1/faults', rule)).status).toBe(201);
    }
    const message = 'expected at most 256 fault rules in force; remove one first';
    const refused = { status: 400, body: { error: message, problems: [{ path: '', message }] } };
    const rule = { do: [{ delay: 1 }] };
    expect(await rest.send('POST', '/api/v1/faults', { name: 'more', ...rule })).toMatchObject(refused);
    expect(await rest.send('PUT', '/api/v1/faults/more', rule)).toMatchObject(refused);
    const simulate = { submit: 'Simulate', response_delay: 1, response_error: 0, response_clear_after: 1 };
    expect(await rest.send('POST', '/restapi/calls', simulate)).toEqual({
      status: 200,
      body: { result: 'error', error: message },
    });
    expect(await rules()).toHaveLength(256);
    expect((await rest.send('PUT', '/api/v1/faults/slow', rule)).status).toBe(200);
    expect((await rest.send('DELETE', '/api/v1/faults/slow')).status).toBe(204);
    expect((await rest.send('PUT', '/api/v1/faults/more', rule)).status).toBe(200);
  });

  test('several mistakes are told at once', async () => {
    const answer = await rest.send<Refused>('POST', '/api/v1/faults', {
      name: 'n n',
      when: { unit: -1, probability: 2 },
      do: [{ delay: 'x' }, { unknown: 1 }],
      seed: 'x',
    });
    expect(answer.body.problems.map(({ path }) => path).sort()).toEqual([
      'do[0].delay',
      'do[1].unknown',
      'name',
      'seed',
      'when.probability',
      'when.unit',
    ]);
  });

  test('a fault that only some lines can do is accepted where those are named', async () => {
    anew();
    for (const [line, fault] of [
      ['lan', { close: 'reset' }],
      ['lan', { transaction: 3 }],
      ['bench', { crc: 'invert' }],
    ] as const) {
      const rule = { name: 'some', when: { line }, do: [fault] };
      expect(await rest.send('PUT', '/api/v1/faults/some', rule)).toMatchObject({ status: 200, body: rule });
    }
  });
});

describe('while requests come in', () => {
  beforeEach(anew);

  stopAfterEach();

  const TCP_ONLY = { ...SETUP, lines: { lan: SETUP.lines.lan } };
  const READ = Buffer.from('000100000006010300000001', 'hex');

  test('a rule shows its matches, hits, last hit and what remains', async () => {
    const served = await startSimulator(nativeSetup(TCP_ONLY));
    rest = served.rest;
    const rule = { name: 'late', when: { after: 1, every: 2, count: 5 }, do: [{ exception: 5 }] };
    await rest.send('POST', '/api/v1/faults', rule);
    const master = served.client();
    for (let i = 1; i <= 5; i++) {
      master.send(READ);
      await master.responsesOf(i);
    }
    expect(master.responses.map(({ pdu }) => pdu[0])).toEqual([3, 3, 0x83, 3, 0x83]);
    const shown = await rest.send<Record<string, unknown>>('GET', '/api/v1/faults/late');
    expect(shown.body).toMatchObject({ matches: 5, hits: 2, remaining: 3 });
    expect(Math.abs(Date.parse(String(shown.body.lastHit)) - Date.now())).toBeLessThan(60_000);

    await rest.send('PUT', '/api/v1/faults/late', rule);
    expect((await rest.send('GET', '/api/v1/faults/late')).body).toMatchObject({
      matches: 0,
      hits: 0,
      lastHit: null,
      remaining: 5,
    });
  });

  test('reset brings back the configured rules with their counts at zero, and removes the others', async () => {
    const served = await startSimulator(nativeSetup(TCP_ONLY));
    rest = served.rest;
    const before = await rules();
    const master = served.client();
    master.send(READ);
    await master.responsesOf(1);
    expect((await rules())[0]).toMatchObject({ matches: 1, hits: 1 });
    await rest.send('DELETE', '/api/v1/faults/seeded');
    await rest.send('PUT', '/api/v1/faults/slow', { do: [{ silence: true }] });
    await rest.send('POST', '/api/v1/faults', { name: 'more', do: [{ silence: true }] });

    const reset = await rest.send<{ faults: Rule[] }>('POST', '/api/v1/faults/reset');
    expect(reset.status).toBe(200);
    expect(reset.body.faults).toEqual([{ ...before[0], seed: expect.any(Number) }, before[1]]);
    expect(await rules()).toEqual(reset.body.faults);
    master.send(READ);
    expect((await master.responsesOf(2))[1]?.pdu[0]).toBe(3);
  });
});
