import { describe, expect, it } from 'vitest';
import { wordAt } from '../../../src/modbus/protocol/bytes.js';
import { effectOf, gradeOf } from '../../../src/testing/server/card.js';
import { type ServerCheck, textOf } from '../../../src/testing/server/check.js';
import { SERVER_CHECKS } from '../../../src/testing/server/checks.js';
import { some } from '../../support/tries.js';
import { type Asked, device, type Peer, reply, rtu, rtuFrame, tcp, testPlanted } from './planted.js';

/*
 * Each check, of a server that does something else with what has to be refused, or with what has to be answered: grade,
 * effect and advice are those of what was seen. The table is docs/outcomes.md; `-u` writes it again, in the tier
 * `full-tries`.
 */

/** What a server does in place of what is right: a PDU, bytes that are no frame, nothing, or the end. */
type Outcome = (pdu: Uint8Array) => readonly number[] | 'garbage' | 'closes' | undefined;

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'exception 04': ([code = 0]) => [code | 0x80, 4],
  silence: () => undefined,
  closes: () => 'closes',
  'no reply': () => 'garbage',
  data: ([code = 0]) => [code & 0x7f, 2, 0, 7],
};

/** What a violation says of what was seen, where nothing but that came. */
const NAMED: Readonly<Record<string, RegExp>> = {
  'exception 04': /exception 04/,
  silence: /not answer|no answer/,
  closes: /closed/,
  'no reply': /not a reply/,
};

/** What a server answers in another way, and the checks that ask for it. */
interface What {
  readonly isOther: (pdu: Uint8Array, right: readonly number[]) => boolean;
  readonly isFor: (check: ServerCheck) => boolean;
}

const isRefusal = ([code = 0]: readonly number[]) => code > 0x7f;
const WRITES = [5, 6, 15, 16, 22, 23];
const WHAT: Readonly<Record<string, What>> = {
  'a refusal': {
    isOther: (_, right) => isRefusal(right),
    isFor: ({ provokes }) => provokes !== undefined,
  },
  'the confirmation of a write': {
    isOther: ([code = 0], right) => WRITES.includes(code) && !isRefusal(right),
    isFor: ({ needs = [] }) => needs.includes('holding') || needs.includes('coils'),
  },
  'a block of more than eight values': {
    isOther: (pdu, right) => (pdu[0] ?? 0) <= 4 && wordAt(pdu, 3) > 8 && !isRefusal(right),
    isFor: ({ group, id }) => group === 'has' || ['frames', 'repeat-block'].includes(id),
  },
};

function server(on: 'tcp' | 'rtu', { isOther }: What, outcome: Outcome) {
  const answer = device();
  const did = (pdu: Uint8Array) => {
    const right = answer(pdu);
    return right && isOther(pdu, right) ? outcome(pdu) : right;
  };
  const send = (asked: Asked, peer: Peer) => {
    const it = did(asked.pdu);
    if (it === 'closes') return peer.close(1);
    if (it === 'garbage') return peer.send(Uint8Array.of(0x55, 0xaa, 0x55, 0xaa), 5);
    if (on === 'tcp') return reply(asked, peer, it);
    if (it) peer.send(rtuFrame(asked.unitId, it), 5);
  };
  return on === 'tcp' ? tcp(send) : rtu({ answer, respond: send });
}

const GIVEN = ['map', 'claims', 'soak'];
const CHECKS = SERVER_CHECKS.filter(
  ({ group, needs = [], on }) =>
    group !== 'there' && on !== 'ascii' && !needs.some((each) => GIVEN.includes(each)),
);
const ORDER = { scratch: { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } } };
const CASES = Object.keys(WHAT).flatMap((what) =>
  CHECKS.flatMap((check) =>
    Object.keys(OUTCOMES).flatMap((name) =>
      WHAT[what]?.isFor(check) && (name !== 'closes' || check.on !== 'rtu') ? { what, check, name } : [],
    ),
  ),
);
const table = new Map<string, string>();

describe('grade, effect and advice are those of what was seen', () => {
  it.each(some(CASES, 17))('$check.id: $name for $what', async ({ what, check, name }) => {
    const on = check.on === 'rtu' ? 'rtu' : 'tcp';
    const outcome = OUTCOMES[name] as Outcome;
    const serverTest = await testPlanted(on, server(on, WHAT[what] as What, outcome), {
      ...ORDER,
      broadcast: on === 'rtu',
      checks: [check.id],
    });
    const finding = serverTest.findings.find((each) => each.check.id === check.id);
    if (!finding) throw new Error(`${check.id} has no finding`);
    const isViolated = finding.verdict === 'violates';
    const grade = isViolated ? gradeOf(finding) : '–';
    const text = textOf(finding);
    table.set(
      `${what} ${check.id} ${name}`,
      `| \`${check.id}\` | ${name} | ${finding.verdict} | ${grade} | ${text.replaceAll('|', ' ')} |\n`,
    );
    if (isViolated && finding.said.code === 'answered-not-refused')
      expect(effectOf(finding).matters).toBe('A client never learns that its request was wrong.');
    if (!isViolated || name === 'data') return;
    // Where nothing came but a refusal, or nothing at all, no value and no command got through.
    expect(grade, text).not.toBe('dangerous');
    expect(text).toMatch(NAMED[name] as RegExp);
    if (finding.said.code === 'wrong-exception') {
      expect(grade).toBe('seldom');
      expect(effectOf(finding).matters).toContain('The request is refused.');
    }
  });
});

const HEAD = `# Checks by outcome

This page lists what [a server test](test-server.md) reports about a wrong answer: another exception, no answer, a closed connection, bytes that are not a reply, or data. The grade depends
on what was seen, not on the check: \`dangerous\` is a wrong value or command, or a server that stops.
\`npx vitest run --project full-tries test/testing/server/outcomes.test.ts -u\` generates this page from runs of a model server.
`;

// The table is of all cases, which the full tier runs.
if (process.env.MODBUS_SIM_ALL_TRIES === '1') {
  it('docs/outcomes.md has each of them', async () => {
    const tables = Object.keys(WHAT).map((what) => {
      const lines = CASES.filter((each) => each.what === what).map(({ check, name }) =>
        table.get(`${what} ${check.id} ${name}`),
      );
      return `\n## Instead of ${what}\n\n| check | the server answers with | verdict | grade | what the report says |\n| --- | --- | --- | --- | --- |\n${lines.join('')}`;
    });
    await expect(HEAD + tables.join('')).toMatchFileSnapshot('../../../docs/outcomes.md');
  });
}
