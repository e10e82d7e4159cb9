import { describe, expect, it } from 'vitest';
import type { Device, RealOutcome } from '../../../src/device/device.js';
import { abilities } from '../../../src/device/faults/kind.js';
import { ruleSchema } from '../../../src/device/faults/rule.js';
import { FaultRules } from '../../../src/device/faults/rules.js';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { isRtuFrame } from '../../../src/modbus/protocol/rtu.js';
import { Bus } from '../../../src/simulator/bus/bus.js';
import type { Units } from '../../../src/simulator/bus/stations.js';
import { ask, deviceOf } from '../../device/build.js';
import type { Entry } from '../../device/registers/build.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { answerAtOnce } from './answer-at-once.js';

const READ = '03 0000 0001';

/** A device whose register 0 says which one it is. */
const holding = (value: number, more: readonly Entry[] = []): Device =>
  deviceOf({ holding: [{ address: 0, value }, ...more], coils: [{ address: 0 }] }, { size: 4 });

function busOf(units: Units, framing: Framing = RTU, written: readonly object[] = []): Bus {
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  for (const [i, rule] of written.entries()) rules.set(ruleSchema.parse({ name: `r${i}`, ...rule }));
  return new Bus(
    { name: 'bench', abilities: abilities('serial', 'rtu'), framing, characterTime: 0 },
    { units },
    rules,
  );
}

const broadcast = (pdu: Uint8Array) => ({ unitId: 0, pdu, transactionId: 0, clientId: 0 });

/** The PDU of the bus' reply as hex; undefined when it has none to give. */
function reply(bus: Bus, unitId: number, pdu: string): string | undefined {
  const answer = answerAtOnce(bus, { unitId, pdu: bytesOf(pdu), transactionId: 0, clientId: 1 });
  if (answer === undefined) return undefined;
  if (answer.plan.kind === 'silence') throw new Error(`silence: ${answer.plan.reason}`);
  expect(answer.plan.steps).toHaveLength(1);
  const [step] = answer.plan.steps;
  if (step?.kind !== 'bytes') throw new Error(`a step of kind ${step?.kind}`);
  expect(isRtuFrame(step.bytes)).toBe(true);
  expect(step.bytes[0]).toBe(unitId);
  return hexOf(step.bytes.slice(1, -2));
}

describe('routing by unit identifier', () => {
  const bus = busOf(
    new Map([
      [1, holding(11)],
      [17, holding(17)],
      [247, holding(247)],
    ]),
  );

  it.each([
    [1, '0302000b'],
    [17, '03020011'],
    [247, '030200f7'],
  ])('unit %i is answered by its device', (unitId, response) => {
    expect(reply(bus, unitId, READ)).toBe(response);
    expect(bus.stations.owns(unitId)).toBe(true);
  });

  it.each([2, 16, 18, 248, 255])('unit %i, which nobody is, gets no plan at all', (unitId) => {
    expect(reply(bus, unitId, READ)).toBeUndefined();
    expect(bus.stations.owns(unitId)).toBe(false);
  });

  it('reaches no other device with a write', () => {
    const [first, second] = [holding(1), holding(2)];
    const pair = busOf(
      new Map([
        [1, first],
        [2, second],
      ]),
    );
    expect(reply(pair, 2, '06 0000 00FF')).toBe('06000000ff');
    expect(reply(pair, 3, '06 0000 00EE')).toBeUndefined();
    expect([ask(first, READ), ask(second, READ)]).toEqual(['03020001', '030200ff']);
  });

  it('answers an exception of the device like any response', () => {
    expect(reply(bus, 1, '03 0009 0001')).toBe('8302');
    expect(reply(bus, 1, '63')).toBe('e301');
  });

  const lines: [framing: Framing, adu: string][] = [
    [RTU, '11 03 02 0011 B98B'],
    [SOCKET, '1234 0000 0005 11 03 02 0011'],
  ];
  it.each(lines)('the reply is one $name frame for the unit, at its time, with no fault', (framing, adu) => {
    const request = { unitId: 17, pdu: bytesOf(READ), transactionId: 0x1234, clientId: 1 };
    expect(answerAtOnce(busOf(new Map([[17, holding(17)]]), framing), request)).toEqual({
      plan: {
        kind: 'send',
        early: false,
        steps: [{ kind: 'bytes', waitMs: 0, bytes: bytesOf(adu), continues: false }],
      },
      acted: [],
      framing,
      next: undefined,
    });
  });
});

describe('the unit *', () => {
  it('answers every unit identifier that is not listed, and no other', () => {
    const bus = busOf(
      new Map<number | '*', Device>([
        ['*', holding(42)],
        [5, holding(5)],
      ]),
    );
    for (const unitId of [1, 4, 6, 247, 255]) {
      expect(reply(bus, unitId, READ), `unit ${unitId}`).toBe('0302002a');
      expect(bus.stations.owns(unitId)).toBe(true);
    }
    expect(reply(bus, 5, READ)).toBe('03020005');
  });
});

describe('a broadcast', () => {
  const write = bytesOf('06 0000 0063');
  const sent = (bus: Bus, pdu: Uint8Array) => {
    const plan = answerAtOnce(bus, broadcast(pdu))?.plan;
    return plan?.kind === 'send'
      ? plan.steps.map((step) => (step.kind === 'bytes' ? hexOf(step.bytes) : ''))
      : [];
  };

  it('is met by the rules that name unit 0, once each, and by no others', () => {
    const device = holding(1);
    const units = new Map<number | '*', Device>([
      [1, device],
      [2, holding(2)],
    ]);
    const answers = {
      when: { unit: 0, device: device.name, count: 1 },
      do: { junk: '01 03 02 00 29 79 9a' },
    };
    const bus = busOf(units, RTU, [answers, { do: { noise: 'ff' } }]);
    expect(sent(bus, write)).toEqual(['0103020029799a']);
    expect(ask(device, READ)).toBe('03020063');
    expect(sent(bus, write)).toEqual([]);
  });

  it('reaches no device where a rule for unit 0 keeps it from them', () => {
    const device = holding(1);
    const bus = busOf(new Map([[1, device]]), RTU, [{ when: { unit: '0-247' }, do: { silence: true } }]);
    expect(sent(bus, write)).toEqual([]);
    expect(ask(device, READ)).toBe('03020001');
  });

  it('is answered by a device whose manners say so, reads too, with its own unit identifier or with 0', () => {
    const [quiet, device] = [holding(1), holding(2)];
    const units = new Map<number | '*', Device>([
      [1, quiet],
      [5, device],
      [6, device],
    ]);
    for (const [answersBroadcasts, unit] of [
      ['own', '05'],
      ['zero', '00'],
    ] as const) {
      device.manners = { answersBroadcasts };
      const [reply = ''] = sent(busOf(units), bytesOf(READ));
      expect(reply.slice(0, 10)).toBe(`${unit}03020002`);
      expect(isRtuFrame(bytesOf(reply))).toBe(true);
    }
    expect(sent(busOf(units), write)[0]?.slice(0, 12)).toBe('000600000063');
    expect([quiet, device].map((each) => ask(each, READ))).toEqual(Array(2).fill('03020063'));
    expect(device.tables.holding.window.image.writes.get(0)).toBe(1);
  });

  it('is executed by every device and answered by none', () => {
    const devices = [holding(1), holding(2), holding(3)] as const;
    const bus = busOf(
      new Map<number | '*', Device>([
        [1, devices[0]],
        [2, devices[1]],
        ['*', devices[2]],
      ]),
    );
    expect(answerAtOnce(bus, broadcast(write))).toMatchObject({
      plan: { kind: 'silence', reason: expect.any(String) as string },
      acted: [],
    });
    expect(devices.map((device) => ask(device, READ))).toEqual(Array(3).fill('03020063'));
  });

  it('is executed once by a device that has several unit identifiers', () => {
    const device = holding(1);
    const bus = busOf(
      new Map<number | '*', Device>([
        [1, device],
        [2, device],
        ['*', device],
      ]),
    );
    expect(bus.stations.devices.size).toBe(1);
    answerAtOnce(bus, broadcast(write));
    expect(device.tables.holding.window.image.writes.get(0)).toBe(1);
  });

  it.each([{}, { answersBroadcasts: 'own' }] as const)(
    'is neither executed nor answered nor counted by a device without power, with manners %j',
    (manners) => {
      const [device, other] = [holding(1), holding(2)];
      device.manners = manners;
      const bus = busOf(
        new Map([
          [1, device],
          [2, other],
        ]),
      );
      device.interrupt({ bootMs: 0 });
      expect(sent(bus, write)).toEqual([]);
      expect([device, other].map((each) => ask(each, READ))).toEqual(['03020001', '03020063']);
      device.restore(0);
      // Function 8, sub-function 14: messages for this unit, with this one.
      expect(reply(bus, 1, '08 000E 0000')).toBe('08000e0001');
    },
  );

  it('is passed on once to a real device that has several unit identifiers', () => {
    const device = holding(1);
    const asked: number[] = [];
    device.real = {
      status: { to: 'meter:502', answers: true },
      ask: (unitId) => {
        asked.push(unitId);
        return () => {};
      },
    };
    const bus = busOf(
      new Map([
        [1, device],
        [2, device],
      ]),
    );
    expect(sent(bus, write)).toEqual([]);
    expect([asked, ask(device, READ)]).toEqual([[0], '03020001']);
  });

  it('is executed by the devices that can, although another one can not', () => {
    const [able, unable] = [holding(1), deviceOf({}, { size: 4 })];
    const bus = busOf(
      new Map([
        [1, unable],
        [2, able],
      ]),
    );
    expect(answerAtOnce(bus, broadcast(write))?.plan.kind).toBe('silence');
    expect(ask(able, READ)).toBe('03020063');
  });

  it.each([
    '05 0000 FF00',
    '06 0000 0007',
    '0F 0000 0001 01 01',
    '10 0000 0001 02 0007',
    '16 0000 0000 0007',
    '17 0000 0001 0000 0001 02 0007',
  ])('of %s writes', (pdu) => {
    const device = holding(0);
    expect(answerAtOnce(busOf(new Map([[1, device]])), broadcast(bytesOf(pdu)))?.plan.kind).toBe('silence');
    const { coils, holding: registers } = device.tables;
    expect(coils.window.image.wordAt(0) + registers.window.image.wordAt(0)).toBeGreaterThan(0);
  });

  it.each([
    '01 0000 0001',
    '02 0000 0001',
    '03 0000 0001',
    '04 0000 0001',
    '07',
    '2B 0E 01 00',
    '00',
    '83',
    '86 0000 0007',
    '',
  ])('of %s, which does not write, reaches no device', (pdu) => {
    const device = deviceOf(
      { holding: [{ address: 0, value: 5, action: { name: 'increment' } }] },
      { size: 4 },
    );
    expect(answerAtOnce(busOf(new Map([[1, device]])), broadcast(bytesOf(pdu)))?.plan.kind).toBe('silence');
    const { image } = device.tables.holding.window;
    expect([image.wordAt(0), image.reads.get(0), image.writes.get(0)]).toEqual([5, 0, 0]);
  });

  it('that is damaged writes nothing and is not answered', () => {
    const device = holding(5);
    const bus = busOf(new Map([[1, device]]));
    for (const pdu of ['06', '06 0000', '06 0000 0001 00', '10 0000 0002 02 0007', '05 0000 1234']) {
      expect(answerAtOnce(bus, broadcast(bytesOf(pdu)))?.plan.kind).toBe('silence');
    }
    expect(ask(device, READ)).toBe('03020005');
  });
});

describe('a broadcast to two units that share a device', () => {
  it('is executed once and counted by both', () => {
    const device = holding(1);
    const bus = busOf(
      new Map([
        [1, device],
        [2, device],
      ]),
    );
    answerAtOnce(bus, broadcast(bytesOf('06 0000 0007')));
    for (const unitId of [1, 2]) {
      expect(reply(bus, unitId, '0B')).toContain('0b00000001');
      expect(reply(bus, unitId, '08 000F 0000')).toContain('08000f0001');
    }
  });

  it('reaches the device while one of them only listens', () => {
    const device = holding(1, [{ address: 1, value: 0, writable: true }]);
    const bus = busOf(
      new Map([
        [1, device],
        [2, device],
      ]),
    );
    answerAtOnce(bus, { unitId: 1, pdu: bytesOf('08 0004 0000'), transactionId: 0, clientId: 1 });
    answerAtOnce(bus, broadcast(bytesOf('06 0001 0007')));
    expect(reply(bus, 2, '03 0001 0001')).toContain('03020007');
  });

  it('puts both into listen-only mode', () => {
    const device = holding(1);
    const bus = busOf(
      new Map([
        [1, device],
        [2, device],
      ]),
    );
    answerAtOnce(bus, broadcast(bytesOf('08 0004 0000')));
    for (const unitId of [1, 2]) {
      const answer = answerAtOnce(bus, {
        unitId,
        pdu: bytesOf('03 0000 0001'),
        transactionId: 0,
        clientId: 1,
      });
      expect(answer?.plan.kind).toBe('silence');
    }
  });
});

it("counts exceptions of fault rules as the device's: busy is busy", () => {
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const line = { name: 'bench', abilities: abilities('serial', 'rtu'), framing: RTU, characterTime: 0 };
  const bus = new Bus(line, { units: new Map([[1, holding(1)]]) }, rules);
  rules.set(ruleSchema.parse({ name: 'busy', when: { function: 3 }, do: [{ exception: 6 }] }));
  for (let i = 0; i < 2; i++) reply(bus, 1, '03 0000 0001');
  expect(reply(bus, 1, '08 0011 0000')).toContain('0800110002');
  expect(reply(bus, 1, '08 000D 0000')).toContain('08000d0002');
});

it('gives nobody a late reply in the framing that the line had before', () => {
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const line = { name: 'bench', abilities: abilities('serial', 'rtu'), framing: RTU, characterTime: 0 };
  const units = new Map([[1, holding(1)]]);
  const bus = new Bus(line, { units }, rules);
  reply(bus, 1, READ);
  rules.set(ruleSchema.parse({ name: 'late', do: [{ stale: true }] }));
  const request = { unitId: 1, pdu: bytesOf('03 0001 0001'), transactionId: 0, clientId: 1 };
  const stale = () => answerAtOnce(bus, request)?.acted;
  expect(stale()).toEqual([{ rule: 'late', kind: 'stale' }]);
  bus.change({ ...line, name: 'other' }, { units });
  expect(stale()).toEqual([{ rule: 'late', kind: 'stale' }]);
  bus.change({ ...line, abilities: abilities('serial', 'ascii'), framing: new AsciiFraming() }, { units });
  expect(stale()).toEqual([{ rule: 'late', kind: 'stale', notAchieved: 'no earlier reply to this client' }]);
});

describe('the reply of a real device', () => {
  const givenUp = { steps: [], ended: 'superseded' } as const;
  const bench = () => {
    const device = holding(1);
    const calls: string[] = [];
    let done: (outcome: RealOutcome) => void = () => {};
    device.real = {
      status: { to: 'meter:502', answers: true },
      ask: (_, __, become) => {
        done = become;
        return () => calls.push('called off');
      },
    };
    const reply = busOf(new Map([[1, device]])).answer({
      unitId: 1,
      pdu: bytesOf(READ),
      transactionId: 0,
      clientId: 1,
    });
    return { reply, calls, answers: () => done({ kind: 'response', pdu: bytesOf('03 02 0007') }) };
  };

  it('that is given up before it comes calls off the request', () => {
    const { reply, calls } = bench();
    expect(calls).toEqual([]);
    reply?.played(givenUp);
    expect(calls).toEqual(['called off']);
  });

  it('that has come calls off nothing when it is given up', () => {
    const { reply, calls, answers } = bench();
    answers();
    expect(reply?.plan?.kind).toBe('send');
    reply?.played(givenUp);
    expect(calls).toEqual([]);
  });
});

describe('a unit that is not there', () => {
  const line = { name: 'lan', abilities: abilities('tcp', 'socket'), framing: SOCKET, characterTime: 0 };
  const units = new Map([[1, holding(1)]]);
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const request = { unitId: 9, pdu: bytesOf(READ), transactionId: 7, clientId: 1 };

  it('gets exception 11 where a gateway would say so', () => {
    const answer = answerAtOnce(new Bus(line, { units }, rules), request);
    expect(answer?.plan).toMatchObject({ steps: [{ bytes: bytesOf('0007 0000 0003 09 83 0b') }] });
  });

  it('gets silence where that is wanted', () => {
    const answer = answerAtOnce(new Bus({ ...line, missingUnit: 'silence' }, { units }, rules), request);
    expect(answer?.plan).toEqual({ kind: 'silence', reason: 'no such unit' });
  });

  it('is left to others on a bus', () => {
    expect(answerAtOnce(new Bus({ ...line, framing: RTU }, { units }, rules), request)).toBeUndefined();
  });
});

describe('units 0 and 255 of Modbus TCP', () => {
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const line = { name: 'lan', abilities: abilities('tcp', 'socket'), framing: SOCKET, characterTime: 0 };
  /** The register that a device answers with, by its unit; what else it answers; undefined when nothing. */
  const answers = (units: Units, framing = SOCKET) => {
    const bus = new Bus({ ...line, framing }, { units }, rules);
    return [0, 255].map((unitId) => {
      const { plan } = answerAtOnce(bus, { unitId, pdu: bytesOf(READ), transactionId: 0, clientId: 1 }) ?? {};
      const step = plan?.kind === 'send' ? plan.steps[0] : undefined;
      const pdu = step?.kind === 'bytes' ? framing.decode(step.bytes)?.pdu : undefined;
      expect(bus.stations.owns(unitId)).toBe(pdu?.[0] === 3);
      return pdu && hexOf(pdu);
    });
  };
  const [meter, relay] = [holding(1), holding(2)];
  const [METER, RELAY, NOBODY] = ['03020001', '03020002', '830b'];

  it('address the one device of a line, whatever its units are', () => {
    expect(answers(new Map([[1, meter]]))).toEqual([METER, METER]);
    expect(
      answers(
        new Map([
          [1, meter],
          [17, meter],
        ]),
      ),
    ).toEqual([METER, METER]);
  });

  it('address nobody where a line has several devices, unless its units name one', () => {
    const two = new Map([
      [1, meter],
      [2, relay],
    ]);
    expect(answers(two)).toEqual([NOBODY, NOBODY]);
    expect(answers(new Map([...two, [255, relay]]))).toEqual([NOBODY, RELAY]);
    expect(answers(new Map<number | '*', Device>([...two, ['*', relay]]))).toEqual([RELAY, RELAY]);
  });

  it('are two more units where the framing is that of a serial line', () => {
    expect(answers(new Map([[1, meter]]), RTU)).toEqual([undefined, undefined]);
  });
});

describe('the framing of an ASCII line', () => {
  const change = { unitId: 1, pdu: bytesOf('08 0003 2100'), transactionId: 0, clientId: 0 };
  const asciiBus = () => busOf(new Map([[1, holding(1)]]), new AsciiFraming());

  it('comes back with the answer to the request that changes it, which is in the old one', () => {
    const bus = asciiBus();
    const answer = answerAtOnce(bus, change);
    expect(answer?.framing.delimiter).toBe(0x0a);
    expect(answer?.next?.delimiter).toBe(0x21);
    expect(bus.framing.delimiter).toBe(0x21);
    expect(answerAtOnce(bus, { ...change, pdu: bytesOf(READ) })).toMatchObject({
      framing: { delimiter: 0x21 },
      next: undefined,
    });
  });

  it('is changed by a broadcast too', () => {
    expect(answerAtOnce(asciiBus(), { ...change, unitId: 0 })?.next?.delimiter).toBe(0x21);
  });

  it('is the usual one again when the line was opened anew', () => {
    const bus = asciiBus();
    answerAtOnce(bus, change);
    bus.reopened();
    expect(bus.framing.delimiter).toBe(0x0a);
  });

  it('stays when a fault keeps the next request from the device that had changed it', () => {
    const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
    const framing = new AsciiFraming();
    const line = { name: 'bench', abilities: abilities('serial', 'ascii'), framing, characterTime: 0 };
    const bus = new Bus(
      line,
      {
        units: new Map([
          [1, holding(1)],
          [2, holding(2)],
        ]),
      },
      rules,
    );
    answerAtOnce(bus, { ...change, unitId: 2, pdu: bytesOf(READ) });
    answerAtOnce(bus, change);
    rules.set(ruleSchema.parse({ name: 'busy', when: { unit: 2 }, do: [{ exception: 6 }] }));
    expect(answerAtOnce(bus, { ...change, unitId: 2, pdu: bytesOf(READ) })?.next).toBeUndefined();
    expect(bus.framing.delimiter).toBe(0x21);
  });
});
