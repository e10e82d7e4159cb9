import { describe, expect, it } from 'vitest';
import { Device } from '../../src/device/device.js';
import type { Manners } from '../../src/device/manners.js';
import { predict, refusedAddresses } from '../../src/device/read-write.js';
import { bytesOf, hexOf } from '../modbus/protocol/hex.js';
import { ask, deviceOf, respond } from './build.js';
import { liveDevices } from './live.js';
import { imageOf, run, tableOf, wordsOf } from './registers/build.js';

/** The ten functions on registers, at addresses 0 and 1 of tables where something may stand there. */
const EVERY_FUNCTION: readonly [name: string, request: string, response: string][] = [
  ['1', '01 0000 0002', '810'],
  ['2', '02 0000 0002', '820'],
  ['3', '03 0000 0002', '830'],
  ['4', '04 0000 0002', '840'],
  ['5', '05 0001 FF00', '850'],
  ['6', '06 0001 0003', '860'],
  ['15', '0F 0000 0002 01 03', '8f0'],
  ['16', '10 0000 0002 04 00010002', '900'],
  ['22', '16 0001 0000 FFFF', '960'],
  ['23', '17 0000 0001 0000 0002 04 00010002', '970'],
];
const WRITING: readonly string[] = ['5', '6', '15', '16', '22', '23'];

describe('addresses', () => {
  it.each(EVERY_FUNCTION)('function %s answers 02 where nothing is defined', (_, request, exception) => {
    expect(ask(deviceOf({}), request)).toBe(`${exception}2`);
  });

  it.each(EVERY_FUNCTION)(
    'function %s answers 02 on a device without any registers',
    (_, request, exception) => {
      expect(ask(deviceOf({}, { size: 0 }), request)).toBe(`${exception}2`);
    },
  );

  const end = { coils: run(65534, 2), discrete: run(65534, 2), input: run(65534, 2), holding: run(65534, 2) };
  it.each<[request: string, response: string]>([
    ['01 FFFE 0002', '010100'],
    ['01 FFFE 0003', '8102'],
    ['01 FFFF 07D0', '8102'],
    ['02 FFFF 0002', '8202'],
    ['03 FFFE 0002', '030400000000'],
    ['03 FFFF 0002', '8302'],
    ['03 FFFF 007D', '8302'],
    ['04 FFFF 0001', '04020000'],
    ['04 FFFF 0002', '8402'],
    ['05 FFFF FF00', '05ffffff00'],
    ['06 FFFF 1234', '06ffff1234'],
    ['0F FFFF 0001 01 01', '0fffff0001'],
    ['0F FFFF 0002 01 03', '8f02'],
    ['10 FFFF 0001 02 0001', '10ffff0001'],
    ['10 FFFF 0002 04 00010002', '9002'],
    ['17 FFFE 0002 FFFF 0002 04 00010002', '9702'],
    ['17 FFFF 0002 FFFF 0001 02 0001', '9702'],
  ])('end at 65535: %s gives %s', (request, response) => {
    expect(ask(deviceOf(end), request)).toBe(response);
  });

  it('of a bit past 65535 are not there, although registers share their cells with coils', () => {
    const table = tableOf(imageOf(8192, run(0, 8192)));
    const device = new Device({
      name: 'shared',
      tables: { coils: table, discrete: table, input: table, holding: table },
    });
    expect(ask(device, '01 FFFF 0001')).toBe('010100');
    expect(ask(device, '01 FFFF 0002')).toBe('8102');
    expect(ask(device, '02 FFF0 0011')).toBe('8202');
    expect(ask(device, '0F FFFF 0002 01 03')).toBe('8f02');
    expect(table.readWords(4096, 1)).toEqual([0]);
  });
});

describe('the addresses that are the reason of exception 02', () => {
  const { tables } = deviceOf(
    {
      coils: run(0, 2, { writable: false }),
      holding: [...run(0, 4), { address: 4, writable: false }],
    },
    { size: 16 },
  );
  const reason = (request: string) => refusedAddresses(tables, bytesOf(request));

  it.each<[request: string, reason: ReturnType<typeof reason>]>([
    ['03 0003 0004', { address: 5, quantity: 2, why: 'not defined' }],
    ['01 0000 0003', { address: 2, quantity: 1, why: 'not defined' }],
    ['05 0001 FF00', { address: 1, quantity: 1, why: 'read only' }],
    ['06 0004 0001', { address: 4, quantity: 1, why: 'read only' }],
    ['0F 0000 0002 01 03', { address: 0, quantity: 2, why: 'read only' }],
    ['16 0004 0000 0000', { address: 4, quantity: 1, why: 'read only' }],
    // Function 23 only reads its first range.
    ['17 0004 0001 0000 0001 02 0001', undefined],
    ['17 0000 0001 0004 0001 02 0001', { address: 4, quantity: 1, why: 'read only' }],
    ['17 0005 0001 0004 0001 02 0001', { address: 5, quantity: 1, why: 'not defined' }],
    ['03 0000 0005', undefined],
    ['08 0000 0001', undefined],
    ['18 0009', undefined],
  ])('of %s are %j', (request, expected) => {
    expect(reason(request)).toEqual(expected);
  });
});

describe('the order of checks is function, quantity and byte count, address', () => {
  it.each<[request: string, response: string]>([
    ['03 FFFF 0000', '8303'],
    ['01 FFFF 07D1', '8103'],
    ['10 FFFF 0002 02 0000', '9003'],
    ['0F FFFF 0002 02 0000', '8f03'],
    ['05 FFFF 1234', '8503'],
    ['17 FFFF 0000 FFFF 0001 02 0000', '9703'],
    ['06 FFFF', '8603'],
    ['16 FFFF 0000', '9603'],
    ['00 FFFF 0000', '8001'],
    ['07 00', '8703'],
    ['14 07 06 FFFF FFFF 0000', '9403'],
    ['15 09 06 FFFF FFFF 0002 0001', '9503'],
    ['18 FF', '9803'],
    ['2B 0D 01 00', 'ab01'],
    ['2B 0E 05 FF', 'ab03'],
    ['63 FFFF FFFF', 'e301'],
    // never wrapped into the function code of a success
    ['83 0000 0001', '8301'],
    ['FF', 'ff01'],
  ])('%s gives %s, on a device without registers', (request, response) => {
    expect(ask(deviceOf({}), request)).toBe(response);
  });
});

describe('a write that may not be', () => {
  const forbidden: [name: string, entry: object | undefined][] = [
    ['read-only', { writable: false }],
    ['undefined', undefined],
  ];
  for (const [name, second] of forbidden) {
    it.each(EVERY_FUNCTION.filter(([code]) => WRITING.includes(code)))(
      `function %s to registers of which one is ${name} answers 02 and writes and counts nothing`,
      (_, request, exception) => {
        const entries = [{ address: 0 }, ...(second ? [{ address: 1, ...second }] : []), { address: 2 }];
        const device = deviceOf({ coils: entries, holding: entries }, { size: 4 });
        expect(ask(device, request)).toBe(`${exception}2`);
        for (const table of [device.tables.coils, device.tables.holding]) {
          expect(wordsOf(table.window.image)).toEqual([0, 0, 0, 0]);
          for (const cell of [0, 1, 2]) {
            expect(table.window.image.writes.get(cell) + table.window.image.reads.get(cell)).toBe(0);
          }
        }
      },
    );
  }

  it('goes to read-only registers that are only read', () => {
    const device = deviceOf({ holding: [{ address: 0, value: 7, writable: false }, { address: 1 }] });
    expect(ask(device, '17 0000 0001 0001 0001 02 0009')).toBe('17020007');
    expect(ask(device, '03 0000 0002')).toBe('030400070009');
  });

  it('never happens in part when function 23 may write but not read', () => {
    const device = deviceOf({ holding: run(0, 2) });
    expect(ask(device, '17 0001 0002 0000 0001 02 0009')).toBe('9702');
    expect(ask(device, '03 0000 0001')).toBe('03020000');
  });
});

describe('functions', () => {
  it('23 writes before it reads', () => {
    const device = deviceOf({ holding: run(0, 3, { value: 1 }) });
    expect(ask(device, '17 0000 0003 0001 0001 02 00AA')).toBe('1706000100aa0001');
  });

  it('23 writes before the actions of what it reads run', () => {
    const device = deviceOf({ holding: [{ address: 0, value: 1, action: { name: 'increment' } }] });
    expect(ask(device, '17 0000 0001 0000 0001 02 0009')).toBe('1702000a');
  });

  it('1, 2, 3 and 4 read tables of their own', () => {
    const device = deviceOf({
      coils: [{ address: 0, value: 1 }],
      discrete: [{ address: 0, value: 0 }],
      holding: [{ address: 0, value: 3 }],
      input: [{ address: 0, value: 4 }],
    });
    expect(ask(device, '01 0000 0001')).toBe('010101');
    expect(ask(device, '02 0000 0001')).toBe('020100');
    expect(ask(device, '03 0000 0001')).toBe('03020003');
    expect(ask(device, '04 0000 0001')).toBe('04020004');
    expect(ask(device, '05 0000 0000')).toBe('0500000000');
    expect(ask(device, '06 0000 0009')).toBe('0600000009');
    expect(ask(device, '01 0000 0001')).toBe('010100');
    expect(ask(device, '02 0000 0001')).toBe('020100');
    expect(ask(device, '03 0000 0001')).toBe('03020009');
    expect(ask(device, '04 0000 0001')).toBe('04020004');
  });

  it('read as much as a PDU holds', () => {
    const device = deviceOf({ coils: run(0, 2000, { value: 1 }), holding: run(0, 125, { value: 0xabcd }) });
    expect(ask(device, '01 0000 07D0')).toBe(`01fa${'ff'.repeat(250)}`);
    expect(ask(device, '03 0000 007D')).toBe(`03fa${'abcd'.repeat(125)}`);
    expect(ask(device, '01 0001 07D0')).toBe('8102');
    expect(ask(device, '03 0001 007D')).toBe('8302');
  });

  it('write as much as a PDU holds', () => {
    const device = deviceOf({ coils: run(0, 1968), holding: run(0, 125) });
    expect(ask(device, `0F 0000 07B0 F6 ${'ff'.repeat(246)}`)).toBe('0f000007b0');
    expect(ask(device, '01 0000 07B0')).toBe(`01f6${'ff'.repeat(246)}`);
    expect(ask(device, `10 0000 007B F6 ${'1234'.repeat(123)}`)).toBe('100000007b');
    expect(ask(device, `17 0000 007D 0000 0079 F2 ${'abcd'.repeat(121)}`)).toBe(
      `17fa${'abcd'.repeat(121)}${'1234'.repeat(2)}${'0000'.repeat(2)}`,
    );
  });

  it('15 takes no notice of the bits behind the last coil', () => {
    const device = deviceOf({ coils: run(0, 16) });
    expect(ask(device, '0F 0000 0003 01 FF')).toBe('0f00000003');
    expect(ask(device, '01 0000 0010')).toBe('01020700');
  });

  it('refuse parts of values where only whole values may be accessed', () => {
    const entries = [{ address: 0 }, { address: 1, type: 'uint32' as const, value: 5 }, { address: 3 }];
    const device = deviceOf({ holding: entries }, { wholeValues: true });
    expect(ask(device, '03 0001 0002')).toBe('030400000005');
    expect(ask(device, '03 0000 0004')).toBe('03080000000000050000');
    for (const request of ['03 0001 0001', '03 0002 0001', '03 0000 0002', '03 0002 0002']) {
      expect(ask(device, request), request).toBe('8302');
    }
    expect(ask(device, '06 0001 0009')).toBe('8602');
    expect(ask(device, '16 0002 0000 FFFF')).toBe('9602');
    expect(ask(device, '10 0000 0002 04 00010002')).toBe('9002');
    expect(ask(device, '17 0000 0001 0002 0001 02 0009')).toBe('9702');
    expect(ask(device, '03 0001 0002')).toBe('030400000005');
  });

  it('run an action once per request, and none for a request that is refused', () => {
    const device = deviceOf({ input: [{ address: 0, value: 0, action: { name: 'increment' } }] });
    expect(ask(device, '04 0000 0001')).toBe('04020001');
    expect(ask(device, '04 0000 0002')).toBe('8402');
    expect(ask(device, '04 0000 0000')).toBe('8403');
    expect(ask(device, '04 0000 0001')).toBe('04020002');
  });

  it('count as pymodbus counts them for a device of a pymodbus file', () => {
    const holding = run(0, 3).map((entry) => ({ ...entry, action: { name: 'increment' } as const }));
    const device = deviceOf({ holding, coils: run(0, 8) }, { countsAsPymodbus: true });
    expect(ask(device, '06 0000 0005')).toBe('0600000005');
    ask(device, '16 0001 0000 0000');
    ask(device, '10 0000 0002 04 00050006');
    const words = device.tables.holding.window.image;
    expect([0, 1, 2].map((cell) => [words.reads.get(cell), words.writes.get(cell)])).toEqual([
      [1, 2],
      [1, 2],
      [0, 0],
    ]);
    expect(words.wordAt(0), 'no action has run').toBe(5);
    ask(device, '05 0000 FF00');
    ask(device, '0F 0000 0002 01 03');
    const coils = device.tables.coils.window.image;
    expect([coils.reads.get(0), coils.writes.get(0), coils.writes.get(1)]).toEqual([1, 2, 1]);
  });

  it('count each register once per request, function 23 read and write apart', () => {
    const device = deviceOf({ holding: run(0, 3) });
    ask(device, '17 0000 0002 0001 0002 04 00010002');
    ask(device, '16 0001 0000 0000');
    ask(device, '03 0001 0001');
    const { image } = device.tables.holding.window;
    expect([0, 1, 2].map((cell) => image.reads.get(cell))).toEqual([1, 2, 0]);
    expect([0, 1, 2].map((cell) => image.writes.get(cell))).toEqual([0, 2, 1]);
  });

  it('do not change the bytes of the request', () => {
    const device = deviceOf({ coils: run(0, 9), holding: run(0, 9) });
    for (const [, request] of EVERY_FUNCTION) {
      const pdu = Buffer.from(request.replaceAll(' ', ''), 'hex');
      const copy = Buffer.from(pdu);
      respond(device, pdu);
      expect(pdu.equals(copy), request).toBe(true);
    }
  });
});

describe('the response that a device would give', () => {
  const content = {
    coils: [
      { address: 0, value: 1 },
      { address: 1, value: 0, writable: false },
    ],
    discrete: [{ address: 0, value: 1 }],
    holding: [
      { address: 0, value: 7 },
      { address: 1, value: 8, action: { name: 'increment' } },
    ],
    input: [{ address: 0, value: 9, writable: false }],
  } as const;

  it.each<[request: string, response: string | undefined]>([
    ['01 0000 0002', '010101'],
    ['02 0000 0001', '020101'],
    ['03 0000 0002', '030400070008'],
    ['04 0000 0001', '04020009'],
    ['05 0000 FF00', '050000ff00'],
    ['05 0001 FF00', '8502'],
    ['06 0000 1234', '0600001234'],
    ['0F 0000 0001 01 00', '0f00000001'],
    ['10 0000 0002 04 0001 0002', '1000000002'],
    ['16 0000 0000 FFFF', '1600000000ffff'],
    // What is written is not there to be read.
    ['17 0000 0001 0000 0001 02 1234', '17020007'],
    ['03 0002 0001', '8302'],
    ['03 0000 0000', '8303'],
    ['41 00', 'c101'],
    // These are not about registers.
    ['07', undefined],
    ['08 0000 1234', undefined],
    ['18 0000', undefined],
    ['2B 0E 01 00', undefined],
  ])('to %s is %s, and nothing is done', (request, response) => {
    const { tables } = deviceOf(content);
    const { image } = tables.holding.window;
    const pdu = predict(tables, bytesOf(request));
    expect(pdu && hexOf(pdu)).toBe(response);
    expect([image.wordAt(0), image.wordAt(1), image.reads.get(0), image.writes.get(0)]).toEqual([7, 8, 0, 0]);
    expect(tables.coils.window.image.wordAt(0)).toBe(1);
  });

  it('has the values that signals have now', () => {
    const { meter, wait } = liveDevices({
      meter: {
        input: [{ address: 0, signal: { counter: { perSecond: 1 } } }],
        discrete: [{ address: 0, signal: { square: { period: '2s', amplitude: 0.5, offset: 0.5 } } }],
      },
    });
    wait(1000);
    const { servedTables } = meter;
    expect(hexOf(predict(servedTables, bytesOf('04 0000 0001')) as Uint8Array)).toBe('04020001');
    expect(hexOf(predict(servedTables, bytesOf('02 0000 0001')) as Uint8Array)).toBe('020100');
    wait(1000);
    expect(hexOf(predict(servedTables, bytesOf('02 0000 0001')) as Uint8Array)).toBe('020101');
  });
});

describe('registers that are defined while a device serves', () => {
  it('are there for clients, also where its manners have moved them', () => {
    const device = deviceOf({ holding: run(0, 2) }, { size: 2 });
    device.manners = { addresses: { first: 1 } };
    expect(ask(device, '03 0001 0002')).toBe('8302');
    device.define('holding', [{ address: 2, quantity: 2 }], true);
    expect(ask(device, '10 0001 0002 04 0005 0006')).toBe('1000010002');
    expect(ask(device, '03 0000 0003')).toBe('0306000000050006');
    device.define('coils', [{ address: 0, quantity: 1 }], false);
    expect(ask(device, '01 0000 0001')).toBe('8102');
  });
});

describe('what goes to the real device behind a simulated one', () => {
  const taken = (manners: Manners | undefined, request: string) => {
    const device = deviceOf({});
    device.manners = manners;
    return device.takes(bytesOf(request));
  };

  it('is the request, cut as the manners say, or nothing', () => {
    const read = { request: bytesOf('03 0000 0003') };
    expect(taken(undefined, '03 0000 0003')).toEqual(read);
    expect(taken({ most: { registers: 3, otherwise: 2 } }, '03 0000 0003')).toEqual(read);
    expect(taken({ most: { registers: 2, otherwise: 'cut' } }, '03 0000 0003')).toEqual({
      request: bytesOf('03 0000 0002'),
    });
    expect(taken({ most: { registers: 2, otherwise: 2 } }, '03 0000 0003')).toEqual({
      response: bytesOf('83 02'),
    });
    expect(taken({ most: { registers: 2, otherwise: 'silence' } }, '03 0000 0003')).toEqual({
      response: undefined,
    });
  });
});

describe('what a device keeps of its requests and starts', () => {
  it('who has written a coil or a register', () => {
    const device = deviceOf({ holding: run(0, 2), coils: run(0, 2) }, { size: 2 });
    device.writer = { by: 'line', line: 'lan', client: '192.0.2.1' };
    ask(device, '06 0001 0007');
    ask(device, '05 0000 FF00');
    const writerOf = (table: 'coils' | 'holding', address: number) =>
      device.tables[table].window.image.lastWrites.get(address)?.writer.client;
    expect([writerOf('holding', 1), writerOf('coils', 0)]).toEqual(['192.0.2.1', '192.0.2.1']);
    expect([writerOf('holding', 0), writerOf('coils', 1)]).toEqual([undefined, undefined]);
  });

  it('how often it has started, and how often its power was lost', () => {
    const device = deviceOf({}, { size: 1 });
    device.restart();
    device.interrupt({ bootMs: 0 });
    device.restore(0);
    expect([device.starts, device.powerLosses]).toEqual([3, 1]);
  });

  it('the images of its tables, each once, and the list of cells behind them', () => {
    const cells = imageOf(2, []);
    expect(deviceOf({}, { size: 1 }).images.size).toBe(4);
    expect(deviceOf({}, { size: 1, cells }).images.has(cells)).toBe(true);
  });
});

it('the addresses that refuse bits in registers are addresses of bits', () => {
  const shared = tableOf(imageOf(4, run(0, 2)));
  const tables = { coils: shared, discrete: shared, input: shared, holding: shared };
  for (const code of ['01', '02']) {
    expect(refusedAddresses(tables, bytesOf(`${code} 0014 0010`))).toEqual({
      address: 32,
      quantity: 4,
      why: 'not defined',
    });
  }
  expect(refusedAddresses(tables, bytesOf('03 0001 0002'))).toEqual({
    address: 2,
    quantity: 1,
    why: 'not defined',
  });
});

it('a predicted response has the bits in their order', () => {
  const coils = [1, 1, 0, 1].map((value, address) => ({ address, value }));
  const { tables } = deviceOf({ coils }, { size: 4 });
  expect(hexOf(predict(tables, bytesOf('01 0000 0004')) ?? new Uint8Array())).toBe('01010b');
});

describe('the server identifier of a device that says nothing else', () => {
  it.each<[identity: [number, string][], response: string]>([
    [
      [
        [0, 'Müller'],
        [1, 'X'],
      ],
      '110a00ff4dfc6c6c65722058',
    ],
    [[[1, 'X']], '110300ff58'],
    [[[0, 'X']], '110300ff58'],
    [[], '110200ff'],
  ])('%j gives %s', (identity, response) => {
    expect(ask(deviceOf({}, { size: 1, identity: new Map(identity) }), '11')).toBe(response);
  });
});
