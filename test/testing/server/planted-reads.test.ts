import { describe, expect, it } from 'vitest';
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
    expect(conclusionOf(serverTest)).not.toContain('happy');
  });
});

describe('the grade follows what was seen', () => {
  it('an exception with another code is seldom met, whatever the check', async () => {
    const answer = otherwise((pdu) => (word(pdu, 1) === 0xffff && word(pdu, 3) === 2 ? [0x83, 4] : 'right'));
    const serverTest = await testModel(answer, { checks: ['address-wraps'] });
    expect(violations(serverTest)).toEqual(['address-wraps: seldom: exception 04 in place of 02']);
    const card = cardText(serverTest);
    expect(card).not.toContain('come back');
    expect(card).not.toContain('not fit for the field');
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
