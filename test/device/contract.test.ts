import { describe, expect, it } from 'vitest';
import { abilities } from '../../src/device/faults/kind.js';
import { FaultRules } from '../../src/device/faults/rules.js';
import { RTU } from '../../src/modbus/protocol/framing.js';
import { played, ruleOf } from './faults/plans.js';
import { liveDevices } from './live.js';

/* What the wing promises: request PDUs in, response PDUs out, and what a test is told of its rule. */

const bytes = (word: number) => [word >>> 8, word & 0xff];
const maskWrite = (address: number, and: number, or: number) => [22, 0, address, ...bytes(and), ...bytes(or)];
const REFUSED = (code: number) => [0x96, code];

describe('function 22 is judged by the word that results, not by its masks', () => {
  const meter = () =>
    liveDevices({
      meter: {
        holding: [
          { address: 0, value: 8, write: true, limits: { min: 2, max: 10 } },
          { address: 1, value: 1, write: true, allowed: [1, 6] },
          { address: 2, name: 'lock', value: 0, write: true },
          { address: 3, value: 1, write: true, password: { register: 'lock', value: 0x1267 } },
          { address: 4, type: 'int16', value: -1, write: true, scale: 0.5, limits: { min: -2, max: 0 } },
        ],
      },
    });

  it.each([
    // Address, AND mask, OR mask, the word that results, and the exception. The masks alone would be judged otherwise.
    ['limits', 0, 0xfff7, 2, 0, 3],
    ['limits', 0, 0xfffc, 3, 11, 3],
    ['limits', 0, 0xfffd, 0x00f2, 10, undefined],
    ['allowed', 1, 0xfffd, 6, 3, 3],
    ['allowed', 1, 0xfff8, 14, 6, undefined],
    ['a sign and a scale', 4, 0x7fff, 0, 0x7fff, 3],
    ['a sign and a scale', 4, 0xfffd, 0x7f01, 0xfffd, undefined],
  ] as const)('%s: register %i AND %i OR %i', (_, address, and, or, word, exception) => {
    const { respond, read } = meter();
    const [before] = read('holding', address, 1) as [number];
    expect((before & and) | (or & ~and & 0xffff)).toBe(word);
    const request = maskWrite(address, and, or);
    expect(respond(request)).toEqual(exception === undefined ? request : REFUSED(exception));
    expect(read('holding', address, 1)).toEqual([exception === undefined ? word : before]);
  });

  it('a password: the register is refused until mask writes have made the password', () => {
    const { respond, read } = meter();
    const request = maskWrite(3, 0xff00, 0x0005);
    expect(respond(request)).toEqual(REFUSED(2));
    for (const [and, or] of [
      [0x00ff, 0x12ff],
      [0xff00, 0xff67],
    ] as const) {
      expect(respond(request)).toEqual(REFUSED(2));
      respond(maskWrite(2, and, or));
    }
    expect(respond(request)).toEqual(request);
    expect(read('holding', 2, 2)).toEqual([0x1267, 5]);
  });
});

it('a seed spoils a reply in the same way in every release', () => {
  const spoilt = ['junk', 'corrupt', 'change', 'noise', 'drop', 'insert', 'extend'].map((kind) => {
    const { steps } = played([{ [kind]: 2 }], { seed: 7 });
    return `${kind}: ${steps.join(' ')}`;
  });
  const { steps } = played([{ delay: { ms: 5, jitter: 3 } }], { seed: 7 });
  expect([...spoilt, `delay: ${steps.join(' ')}`]).toMatchInlineSnapshot(`
    [
      "junk: 0 affc",
      "corrupt: 0 010304010203065bbc",
      "change: 0 010304010203671b15",
      "noise: 0 affc010304010203045b3c",
      "drop: 0 0103040102035b",
      "insert: 0 01030401affc0203045b3c",
      "extend: 0 010304010203045b3caffc",
      "delay: 6.10742946062237 010304010203045b3c",
    ]
  `);
});

describe('what a test is told of its rule', () => {
  const facts = {
    line: { name: 'bench', abilities: abilities('serial', RTU.name) },
    unitId: 1,
    device: 'meter',
    functionCode: 3,
    ranges: [],
  };
  const reason = 'no earlier reply to this client';
  const rules = () => {
    const all = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
    const set = () => all.set(ruleOf([{ stale: true }, { delay: 1 }]), { temporary: true });
    set();
    return { all, set, told: () => all.get('tested') };
  };

  it('is the last reply alone: a new act takes away what became of the one before', () => {
    const { all, told } = rules();
    expect(told()).toMatchObject({ isDecided: false });
    all.wereApplied(all.match(facts), [{ rule: 'tested', notAchieved: reason }]);
    expect(told()).toMatchObject({ isDecided: true, notAchieved: reason });
    const acting = all.match(facts);
    expect(told()).toMatchObject({ isDecided: false, hits: 2 });
    expect(told()).not.toHaveProperty('notAchieved');
    all.wereApplied(acting, [{ rule: 'tested', notAchieved: reason }, { rule: 'tested' }]);
    expect(told()).toMatchObject({ isDecided: true });
    expect(told()).not.toHaveProperty('notAchieved');
  });

  it('is nothing of a reply to which the rule of its name before has acted', () => {
    const { all, set, told } = rules();
    const acting = all.match(facts);
    set();
    all.wereApplied(acting, [{ rule: 'tested', notAchieved: reason }]);
    expect(told()).toMatchObject({ isDecided: false, hits: 0 });
    expect(told()).not.toHaveProperty('notAchieved');
  });
});
