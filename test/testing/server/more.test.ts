import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ClientTarget, Wire, WireListener } from '../../../src/modbus/client/wire.js';
import { encodeRtu, isRtuFrame } from '../../../src/modbus/protocol/rtu.js';
import type { ServerTestOrder } from '../../../src/testing/server/bench.js';
import { cardText } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import { ServerTestRun } from '../../../src/testing/server/server-test.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { untilOver } from '../client/virtual-bench.js';
import { ORDER, type ServerWanted, testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

async function verdictOf(id: string, wanted: ServerWanted & { readonly order?: Partial<ServerTestOrder> }) {
  const { serverTest } = await testModelServer({ ...wanted, order: { checks: [id], ...wanted.order } });
  const finding = serverTest.findings.find(({ check }) => check.id === id);
  return `${finding?.verdict}: ${finding && textOf(finding)}`;
}

describe('the models of a SunSpec device', () => {
  const chainOf = (...models: number[][]) => ({
    registers: { holding: [{ address: 40_000, value: [0x5375, 0x6e53, ...models.flat()] }] },
  });
  const model = (id: number, length: number, there = length) => [
    id,
    length,
    ...Array.from({ length: there }, () => 7),
  ];
  const END = [0xffff, 0];
  const of = (device: object) => verdictOf('sunspec-map', { device });

  it('conform when they are a chain of known lengths up to the end', async () => {
    expect(await of({ sunspec: [1, 103, 160] })).toContain(
      'conforms: models 1, 103 and 160 from address 40002',
    );
    expect(await of(chainOf(model(1, 65), model(65_000, 3), END))).toContain('conforms: models 1 and 65000');
  });

  it('violate when one is too short, the common one is not the first, or the end is missing', async () => {
    expect(await of(chainOf(model(1, 66), model(103, 49), END))).toContain(
      'violates: model 103 at 40070 has the length 49, and the model 50',
    );
    expect(await of(chainOf(model(103, 50), END))).toContain('violates: the first model is 103, not 1');
    expect(await of(chainOf(model(1, 66)))).toContain(
      'violates: address 40070, after the models 1, does not exist',
    );
    expect(await of(chainOf(model(1, 66), [0xffff]))).toContain(
      'violates: the end of the chain at 40070 has no length',
    );
    expect(await of(chainOf(model(1, 66), model(65_000, 9, 3)))).toContain(
      'violates: model 65000 at 40070 has the length',
    );
  });

  it('are not asked of a server without the marker', async () => {
    expect(await verdictOf('sunspec-map', {})).toContain('unsupported: there is no SunSpec marker');
  });
});

describe('the order of quantity and address', () => {
  const asked = (...answers: readonly object[]) =>
    verdictOf('order-quantity-address', {
      faults: answers.map((each, i) => ({ name: `answer-${i}`, ...each })),
    });
  const codeOf = (quantity: number, exception: number, every = 1) => ({
    when: { function: 3, quantity, every },
    do: [{ exception }],
  });

  it('is told by the code of a wrong quantity at a wrong address', async () => {
    expect(await asked()).toBe('fact: exception 03: the server checks the quantity first, as in figure 13');
    // The second question of quantity 0 is the one at the wrong address.
    expect(await asked(codeOf(0, 2, 2))).toBe(
      'fact: exception 02: the server checks the address first, as in figure 9 for all functions; figure 13 checks the quantity first',
    );
  });

  it('is asked with another quantity where quantity 0 has the code of an address everywhere', async () => {
    expect(await asked(codeOf(0, 2))).toContain('fact: exception 03: the server checks the quantity first');
    expect(await asked(codeOf(0, 2), codeOf(126, 2))).toBe(
      'inconclusive: the server answered with exception 02 to a wrong quantity at a valid address, and with exception 02 to a wrong address: only two different codes show the order',
    );
  });
});

describe('the card', () => {
  const cardOf = async (wanted: ServerWanted) => cardText((await testModelServer(wanted)).serverTest);
  const silent = { name: 'silent', when: { function: [7, 11] }, do: [{ silence: true }] };

  it('speaks only of the checks that ran, where most did not', async () => {
    const checks = ['fc03-quantity-0', 'function-unknown', 'fc07-shape', 'fc11-shape'];
    expect(await cardOf({ order: { checks } })).toContain('\nNo deviation found in the 5 checks that ran.\n');
    expect(await cardOf({ faults: [silent], order: { checks } })).not.toContain('No deviation');
    expect(await cardOf({ on: 'serial' })).toMatch(/\nNo deviation found in \d+ checks\.\n/);
    // Connections of the virtual bench end with a frame of another protocol.
    expect(await cardOf({})).toMatch(/\nNo deviation found in \d+ checks\. One check is not decided\.\n/);
  });

  it('counts what it lists, and names the other checks of one fault apart from the number in a title', async () => {
    const many = { name: 'many', when: { function: 3, quantity: '256-65535' }, do: [{ exception: 4 }] };
    const card = await cardOf({ on: 'serial', faults: [many, silent] });
    expect(card).toContain('1 deviation that common clients will notice.');
    expect(card).toContain(
      'Refuses with the wrong exception (and 1 more check): exception 04 instead of 03.',
    );
  });

  it('tells every function that is not answered as one fault, seldom met on TCP where a serial line alone has it', async () => {
    const mute = (...codes: number[]) => ({
      name: 'mute',
      when: { function: codes },
      do: [{ silence: true }],
    });
    const scratch = { coils: { first: 0, last: 9 } };
    const card = await cardOf({ faults: [mute(2, 7, 12, 15)], order: { scratch } });
    expect(card).toContain(
      'CLIENTS WILL NOTICE\n  Does not answer some functions: functions 2, 7, 12 and 15 are not answered; an answer or exception 01 is expected.',
    );
    expect(card).toContain('\n1 deviation that common clients will notice. 3 checks are not decided.\n');
    const seldom = await cardOf({ faults: [mute(7, 11, 12)] });
    expect(seldom).toContain(
      'WRONG, RARELY NOTICED\n  Does not answer some functions: functions 7, 11 and 12 are',
    );
    expect(seldom).not.toContain('CLIENTS WILL NOTICE');
    const without43 = await cardOf({
      on: 'serial',
      faults: [mute(43, 99)],
      order: { checks: ['function-unknown', 'fc43-basic', 'fc43-extended'] },
    });
    expect(without43).not.toContain('NOT DECIDED');
    expect(without43).toMatch(/\n1 conforms · 1 violates · 2 not there · /);
    expect(await cardOf({ on: 'serial', faults: [mute(7)] })).toContain(
      'CLIENTS WILL NOTICE\n  Does not answer some functions: function 7 is not answered',
    );
  });

  it('names the functions that were not tried', async () => {
    expect(await cardOf({})).toMatch(/functions .*; not tried: 5 6 15 16 22 23 \(--scratch\)\n/);
    expect(await cardOf({ order: { checks: ['answers'] } })).toMatch(
      /functions {7}3; not tried: 5 6 15 16 22 23 \(--scratch\); not tried: 1 2 4 7 8 11 12 17 20 24 43\n/,
    );
  });
});

describe('writes', () => {
  const end = { order: { scratch: { holding: { first: 0, last: 310 } } } };

  it('of the last register and the one behind it are all done or not at all', async () => {
    expect(await verdictOf('write-at-the-end', end)).toBe('conforms: exception 02');
    expect(
      await verdictOf('write-at-the-end', {
        ...end,
        faults: [
          {
            name: 'half',
            when: { function: 16, address: 299, quantity: 2 },
            do: [{ pdu: '10 01 2b 00 02' }],
          },
        ],
      }),
    ).toContain('violates: the server answered with a function 16 reply instead of exception 02');
  });

  it('beyond the end are not made where the scratch range ends with the last register, or before', async () => {
    for (const last of [9, 299]) {
      const order = { scratch: { holding: { first: 0, last } } };
      expect(await verdictOf('write-at-the-end', { order })).toContain('not-run: needs --scratch');
    }
  });

  it('are never seen by half on another connection', async () => {
    const order = { scratch: { holding: { first: 0, last: 9 } } };
    expect(await verdictOf('tearing', { order })).toContain('conforms: 200 reads');
    expect(
      await verdictOf('tearing', {
        order,
        faults: [
          { name: 'torn', when: { function: 3, quantity: 2, every: 20 }, do: [{ values: [0x1111, 0x2222] }] },
        ],
      }),
    ).toContain('violates: reads during a write');
  });
});

describe('a serial line', () => {
  it('has no other master', async () => {
    expect(await verdictOf('rtu-collision', { on: 'serial' })).toContain(
      'conforms: no request from another master in 10 s',
    );
    const line = { serial: {}, unsolicited: { frame: { unit: 77, pdu: '03 00 00 00 14' }, every: '1s' } };
    expect(await verdictOf('rtu-collision', { on: 'serial', line })).toContain(
      'violates: 10 requests from another master arrived, to unit 77',
    );
  });

  it('of ASCII begins anew at a colon, and ignores a wrong LRC', async () => {
    const line = { framing: 'ascii' };
    expect(await verdictOf('ascii-restart', { on: 'serial', line })).toContain('conforms');
    expect(await verdictOf('ascii-lrc', { on: 'serial', line })).toBe('conforms: no reply came');
  });
});

describe('a port with other settings', () => {
  /** A meter behind real wires: it hears what comes at its parity and, within a limit, at its speed. */
  async function verdictsOf(limit: number, hasParity: boolean) {
    const clock = new VirtualClock();
    clock.replaceGlobalTimers();
    const target = {
      ...{ kind: 'serial', framing: 'rtu', path: '/dev/ttyUSB0' },
      ...{ baudRate: 19200, dataBits: 8, parity: 'even', stopBits: 1 },
    } as const satisfies ClientTarget;
    const wireTo = (to: ClientTarget, listener: WireListener): Wire => ({
      times: { character: 0.5, t35: 2, gap: 20 },
      open: async () => undefined,
      write: (bytes) => {
        if (to.kind !== 'serial') return undefined;
        const isHeard = (!hasParity || to.parity === 'even') && Math.abs(to.baudRate / 19200 - 1) <= limit;
        if (isHeard && bytes[0] === 1 && isRtuFrame(bytes))
          clock.callAfter(30, () => listener.heard(encodeRtu(1, Uint8Array.of(3, 2, 0, 7))));
        return undefined;
      },
      close: async () => {},
    });
    const order = { ...ORDER, checks: ['rtu-parity', 'rtu-baud'] };
    const { findings } = await untilOver(clock, new ServerTestRun({ target, clock, wireTo }, order).run());
    return ['rtu-parity', 'rtu-baud'].map((id) => findings.find(({ check }) => check.id === id)?.verdict);
  }

  it('is not heard with another parity, and is heard 2 % off', async () => {
    expect(await verdictsOf(0.03, true)).toEqual(['conforms', 'conforms']);
    expect(await verdictsOf(0.01, false)).toEqual(['violates', 'inconclusive']);
  });
});
