import { describe, expect, it } from 'vitest';
import type { ClientTarget } from '../../../src/modbus/client/wire.js';
import type { AduContent } from '../../../src/modbus/protocol/framing.js';
import { FRAMINGS } from '../../../src/modbus/protocol/framings.js';
import { cardText, conclusionOf, gradeOf } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { answering, modelDevice } from './model-device.js';
import { type Answer, testModel } from './model-servers.js';

/* Servers with one mistake in what they read or refuse, written by the Application Protocol alone. */

const word = (pdu: Uint8Array, at: number) => ((pdu[at] ?? 0) << 8) | (pdu[at + 1] ?? 0);
const numbers = (many: number) => Array.from({ length: many }, (_, i) => i);
/** A device with 200 registers that answers some requests in another way. */
const otherwise = (
  other: (pdu: Uint8Array, right: Answer) => ReturnType<Answer> | 'right',
  size = 200,
): Answer => {
  const right = answering(modelDevice({ holding: numbers(size), input: numbers(size) }));
  return (pdu) => {
    const answer = other(pdu, right);
    return answer === 'right' ? right(pdu) : answer;
  };
};
const violations = ({ findings }: ServerTest) =>
  findings.flatMap((each) =>
    each.verdict === 'violates' ? [`${each.check.id}: ${gradeOf(each)}: ${textOf(each)}`] : [],
  );

describe('blocks are looked for where they are', () => {
  it('a server that accepts 126 registers is found, though the scratch range is too near to the end', async () => {
    const answer = otherwise((pdu) =>
      pdu[0] === 3 && word(pdu, 3) === 126 && word(pdu, 1) + 126 <= 200
        ? [3, 252, ...numbers(252).map(() => 1)]
        : 'right',
    );
    const order = {
      scratch: { holding: { first: 100, last: 130 } },
      checks: ['refusals', 'fc03-quantity-125'],
    };
    const serverTest = await testModel(answer, order);
    expect(violations(serverTest).join()).toContain('fc03-quantity-126');
    expect(serverTest.findings.find(({ check }) => check.id === 'fc03-quantity-125')?.verdict).toBe(
      'conforms',
    );
  });
});

describe('what was seen once is asked again', () => {
  it('a reply with more values than were asked for, to one quantity alone, is certain', async () => {
    const answer = otherwise((pdu, right) =>
      pdu[0] === 3 && word(pdu, 3) === 125 ? [3, 252, ...(right(pdu) ?? []).slice(2), 0, 7] : 'right',
    );
    const serverTest = await testModel(answer, {});
    expect(violations(serverTest).join()).toContain('frames: dangerous: the reply has more values');
  });

  it('the first line does not praise what a line below leaves open', async () => {
    let seen = 0;
    const answer = otherwise((pdu, right) =>
      pdu[0] === 3 && word(pdu, 3) === 4 && seen++ === 0
        ? [3, 10, ...(right(pdu) ?? []).slice(2), 0, 7]
        : 'right',
    );
    const serverTest = await testModel(answer, { checks: ['frames', 'has'] });
    expect(cardText(serverTest)).toContain('once, ');
    expect(conclusionOf(serverTest)).toContain('not decided');
    expect(conclusionOf(serverTest)).toContain('No deviation found');
  });
});

describe('the grade follows what was seen', () => {
  it('an exception with another code is seldom met, whatever the check', async () => {
    const answer = otherwise((pdu) => (word(pdu, 1) === 0xffff && word(pdu, 3) === 2 ? [0x83, 4] : 'right'));
    const serverTest = await testModel(answer, { checks: ['address-wraps'] });
    expect(violations(serverTest)).toEqual(['address-wraps: seldom: exception 04 instead of 02']);
    const card = cardText(serverTest);
    expect(card).not.toContain('come back');
    expect(card).not.toContain('Not ready for the field');
  });

  it('registers that come back from the other end are dangerous', async () => {
    const answer = otherwise((pdu) =>
      word(pdu, 1) === 0xffff && word(pdu, 3) === 2 ? [3, 4, 0, 1, 0, 2] : 'right',
    );
    const serverTest = await testModel(answer, { checks: ['address-wraps'] });
    expect(violations(serverTest).join()).toContain('address-wraps: dangerous: ');
  });
});

describe('a slow server', () => {
  const plain = () => answering(modelDevice());

  it.each([700, 1500, 3000, 4500])('that takes %s ms is reached, and not accused', async (delayMs) => {
    const checks = ['frames', 'address-unknown', 'function-unknown', 'fc03-quantity-0'];
    const serverTest = await testModel(plain(), { delayMs, checks });
    expect(serverTest.isReached).toBe(true);
    expect(violations(serverTest)).toEqual([]);
    expect(serverTest.findings.filter(({ verdict }) => verdict === 'inconclusive')).toEqual([]);
  });

  it('that takes 0.7 s has a card within five minutes', async () => {
    const serverTest = await testModel(plain(), { delayMs: 700 });
    expect(violations(serverTest)).toEqual([]);
    expect(serverTest.durationMs).toBeLessThan(300_000);
  });
});

describe('blocks have the values of their registers', () => {
  it.each<[string, (pdu: Uint8Array) => boolean, (bytes: number[]) => number[]]>([
    [
      'shifted by one at odd addresses',
      (pdu) => word(pdu, 1) % 2 === 1 && word(pdu, 3) > 1,
      (all) => [...all.slice(2), 0, 0],
    ],
    [
      'byte-swapped beyond 100 registers',
      (pdu) => word(pdu, 3) > 100,
      (all) => all.map((_, i) => all[i ^ 1] ?? 0),
    ],
  ])('%s', async (_, isWrong, wrong) => {
    const answer = otherwise((pdu, right) => {
      const reply = right(pdu) ?? [];
      return pdu[0] === 3 && isWrong(pdu) && (reply[0] ?? 0) < 0x80
        ? [...reply.slice(0, 2), ...wrong(reply.slice(2))]
        : reply;
    });
    const serverTest = await testModel(answer, { checks: ['block-agrees'] });
    expect(violations(serverTest).join()).toContain('block-agrees: dangerous: ');
  });
});

describe('a server on a serial line', () => {
  const target = {
    ...{ kind: 'serial', path: '/dev/pts/1', framing: 'rtu', baudRate: 19200 },
    ...{ dataBits: 8, parity: 'even', stopBits: 1 },
  } as const satisfies ClientTarget;
  const right = FRAMINGS.rtu;
  /** The content of a frame whose CRC is not looked at. */
  const content = (bytes: Uint8Array) => ({
    transactionId: 0,
    unitId: bytes[0] ?? 0,
    pdu: bytes.slice(1, -2),
  });
  const crcIs = (bytes: Uint8Array, fromEnd: number) =>
    right.encode(content(bytes)).at(-fromEnd) === bytes.at(-fromEnd) &&
    bytes.length === right.encode(content(bytes)).length;
  const scratch = { holding: { first: 0, last: 40 } };

  it.each<[string, string, (bytes: Uint8Array) => AduContent | undefined]>([
    [
      'that compares the first byte of the CRC alone',
      'rtu-crc',
      (bytes) => (crcIs(bytes, 2) ? content(bytes) : undefined),
    ],
    [
      'that compares the second byte of the CRC alone',
      'rtu-crc',
      (bytes) => (crcIs(bytes, 1) ? content(bytes) : undefined),
    ],
    [
      'that writes whatever the CRC is',
      'rtu-crc-write',
      (bytes) => (bytes[1] === 6 && bytes.length === 8 ? content(bytes) : undefined),
    ],
    [
      'that compares seven bits of the unit',
      'rtu-other-unit',
      (bytes) => {
        const frame = right.decode(bytes);
        return frame && { ...frame, transactionId: 0, unitId: frame.unitId & 0x7f };
      },
    ],
  ])('%s', async (_, check, decode) => {
    const serverTest = await testModel(answering(modelDevice()), {
      target,
      decode,
      scratch,
      checks: [check],
    });
    expect(violations(serverTest).join()).toContain(`${check}: dangerous: `);
  });
});

it('replies that always have unit 1 are found by the check that asks another unit', async () => {
  const decode = (bytes: Uint8Array) => {
    const frame = FRAMINGS.socket.decode(bytes);
    return frame && { ...frame, unitId: 1 };
  };
  const checks = ['unit-255', 'unit-0', 'unit-other', 'frames'];
  const serverTest = await testModel(answering(modelDevice()), { decode, checks });
  expect(violations(serverTest).join()).toContain(
    'unit-255: seldom: the reply to a read of unit 255 has another unit',
  );
  for (const each of serverTest.findings) expect(textOf(each)).not.toContain('see frames');
});

describe('what an identification, a queue and a file record have', () => {
  it.each<[string, string, readonly number[], string]>([
    [
      'a conformity level that does not exist',
      'fc43-basic',
      [43, 14, 1, 4, 0, 0, 3, 0, 1, 65, 1, 1, 65, 2, 1, 65],
      'level 04',
    ],
    ['more than 31 values in a queue', 'fc24-answered', [24, 0, 82, 0, 40, ...numbers(80)], '40 values'],
    ['another reference type than 6', 'fc20-answered', [20, 4, 3, 5, 0, 7], 'reference type is 5'],
  ])('%s', async (_, check, reply, said) => {
    const answer = otherwise((pdu) => (pdu[0] === reply[0] ? reply : 'right'));
    const serverTest = await testModel(answer, { checks: [check] });
    expect(violations(serverTest).join()).toContain(said);
  });
});

it('coils that take no writes decide nothing, as registers do', async () => {
  const answer = otherwise((pdu) => ([5, 15].includes(pdu[0] ?? 0) ? [(pdu[0] ?? 0) | 0x80, 2] : 'right'));
  const scratch = { coils: { first: 0, last: 40 } };
  const checks = ['fc05-value-illegal', 'fc15-quantity-0', 'fc15-byte-count', 'fc05-echo', 'fc15-echo'];
  const serverTest = await testModel(answer, { scratch, checks });
  expect(violations(serverTest)).toEqual([]);
});
