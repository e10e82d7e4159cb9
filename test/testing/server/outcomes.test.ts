import { describe, expect, it } from 'vitest';
import { effectOf, gradeOf } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import { SERVER_CHECKS } from '../../../src/testing/server/checks.js';
import { answering, modelDevice } from './model-device.js';
import { type Answer, testModel } from './model-servers.js';

/*
 * Each check that asks for a refusal, of a server that does something else with what has to be refused: grade, effect
 * and advice are those of what was seen. The table is docs/outcomes.md; `-u` writes it again.
 */

const OUTCOMES: Readonly<Record<string, (pdu: Uint8Array) => ReturnType<Answer>>> = {
  'exception 04': ([code = 0]) => [code | 0x80, 4],
  silence: () => undefined,
  data: ([code = 0]) => [code & 0x7f, 2, 0, 7],
};

/** A device that does this in place of each exception, if an exception is right. */
function server(outcome: (pdu: Uint8Array) => ReturnType<Answer>): Answer {
  const device = modelDevice();
  const right = answering(device);
  return (pdu) => {
    const answer = right(pdu);
    // A function that is there, and an address at which a table ends, are looked for by exceptions.
    const isAsked = (answer?.[0] ?? 0) > 0x7f;
    return isAsked ? outcome(pdu) : answer;
  };
}

const CHECKS = SERVER_CHECKS.filter(
  ({ provokes, on, group }) => provokes && on !== 'rtu' && on !== 'ascii' && group !== 'map',
).map(({ id }) => id);
const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 1999 } };
const rows = new Map<string, string>();

describe.each(Object.entries(OUTCOMES))('%s in place of a refusal', (name, outcome) => {
  it.each(CHECKS)('%s', async (id) => {
    const serverTest = await testModel(server(outcome), { scratch: SCRATCH, checks: [id] });
    const finding = serverTest.findings.find(({ check }) => check.id === id);
    if (!finding) throw new Error(`${id} has no finding`);
    const grade = finding.verdict === 'violates' ? gradeOf(finding) : '–';
    const text = textOf(finding).replaceAll('|', ' ');
    rows.set(`${id} ${name}`, `| \`${id}\` | ${name} | ${finding.verdict} | ${grade} | ${text} |\n`);
    // Where nothing came but a refusal, or nothing at all, no value and no command got through.
    if (name !== 'data') expect(grade, text).not.toBe('dangerous');
    if (name === 'exception 04' && finding.verdict === 'violates') {
      expect(grade).toBe('seldom');
      expect(effectOf(finding).matters).toContain('The request is refused.');
    }
  });
});

const HEAD = `# Checks by outcome

What [a server test](test-server.md) says of a server that does something else with what it has to refuse: another exception, silence, or data. The grade is that of what was seen, and
not that of the check. \`npx vitest run test/testing/server/outcomes.test.ts -u\` makes this page from runs of a model server.

| check | the server answers with | verdict | grade | what the report says |
| --- | --- | --- | --- | --- |
`;

it('docs/outcomes.md has each of them', async () => {
  const table = CHECKS.flatMap((id) => Object.keys(OUTCOMES).map((name) => rows.get(`${id} ${name}`)));
  await expect(HEAD + table.join('')).toMatchFileSnapshot('../../../docs/outcomes.md');
});
