import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { cardText, conclusionOf, gradeOf } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { rows } from '../../support/tries.js';
import { testPlanted } from './planted.js';
import { FAULTLESS, RTU_PLANTS, TCP_PLANTS } from './plants.js';

/*
 * Whole tests of servers with one mistake each, in virtual time: each is found under a check that is about its mistake,
 * and nothing else is said of it but what is true, too. Faultless ones are not accused.
 */

const SCRATCH = { holding: { first: 0, last: 129 }, coils: { first: 0, last: 40 } };
const QUICK = [
  'discrete inputs begin at the byte that contains the first one',
  'exceptions have no flag',
  'function 6 has no value in its reply',
  'closes after each exception',
  'takes the end of a frame from its function, not its length, like libmodbus',
  'never frees a connection, and accepts 8',
  'function 16 writes with any CRC',
  'compares five bits of the unit',
];
const QUICK_FAULTLESS = [
  'that is busy at every third request',
  'that is busy for 1.5 s after a write',
  'that answers out of order',
  'read only on RTU',
];

/** `MODBUS_SIM_PLANTED_FILE=planted.md` gets the table of docs/error-rates.md, and below it all that was said. */
const { MODBUS_SIM_PLANTED_FILE: file } = process.env;
const table: string[] = [];
const said: string[] = [];
afterAll(() => {
  if (file) writeFileSync(file, `${table.join('\n')}\n\n${said.join('\n')}\n`);
});

const violationsIn = ({ findings }: ServerTest) => findings.filter(({ verdict }) => verdict === 'violates');
const factsIn = ({ findings }: ServerTest) =>
  findings.flatMap(({ check, verdict }) => (verdict === 'fact' ? `fact: ${check.id}` : []));

function note(name: string, serverTest: ServerTest): void {
  said.push(`${name}: ${Math.round(serverTest.durationMs / 1000)} s, ${serverTest.requests} requests`);
  for (const each of serverTest.findings)
    if (['violates', 'inconclusive'].includes(each.verdict))
      said.push(
        `    ${each.verdict === 'violates' ? gradeOf(each) : 'not decided'}: ${each.check.id}: ${textOf(each)}`,
      );
}

/** What a finding refers to has to say it: `see frames` where frames conforms would send a reader round in a circle. */
function expectReferencesToHold({ findings }: ServerTest): void {
  for (const each of findings)
    for (const [, id] of textOf(each).matchAll(/\bsee ([a-z0-9-]+)/g)) {
      const other = findings.find(({ check }) => check.id === id);
      if (other)
        expect(other.verdict, `${each.check.id}: ${textOf(each)}`).not.toMatch(/conforms|unsupported/);
    }
}

/** The first line says that something is open where a line below does. */
function expectFirstLineToBeWhole(serverTest: ServerTest): void {
  const card = cardText(serverTest);
  const first = conclusionOf(serverTest);
  expect(card.split('\n')).toContain(first);
  if (first.startsWith('Not ready for the field')) return;
  expect(first.includes('not decided'), card).toBe(card.includes('NOT DECIDED'));
  if (/the limit of|may silence|no longer answers/.test(card)) expect(first, card).toContain('not reached');
  if (/DANGEROUS|CLIENTS WILL NOTICE|RARELY NOTICED/.test(card)) expect(first).not.toContain('No deviation');
}

const order = (on: 'tcp' | 'rtu') => ({ scratch: SCRATCH, broadcast: on === 'rtu' });

describe('a server with one mistake is found under a check that is about it', () => {
  it.each(Object.entries(rows({ ...TCP_PLANTS, ...RTU_PLANTS }, QUICK)))('%s', async (name, plant) => {
    const { on, server, by, too = [] } = plant;
    const serverTest = await testPlanted(on, server(), order(on));
    const violated = violationsIn(serverTest).map(({ check }) => check.id);
    const found = [...violated, ...factsIn(serverTest)].filter((id) => by.includes(id));
    table.push(
      `| ${on === 'tcp' ? 'TCP' : 'RTU'} | ${name} | ${found.map((id) => `\`${id}\``).join(', ')} |`,
    );
    note(name, serverTest);
    expectReferencesToHold(serverTest);
    expectFirstLineToBeWhole(serverTest);
    expect(found.length, `violated: ${violated}`).toBeGreaterThan(0);
    expect(violated.filter((id) => !by.includes(id) && !too.includes(id))).toEqual([]);
  });
});

describe('a faultless server is not accused', () => {
  it.each(Object.entries(rows(FAULTLESS, QUICK_FAULTLESS)))('%s', async (name, { on, server }) => {
    const serverTest = await testPlanted(on, server(), order(on));
    note(name, serverTest);
    expectReferencesToHold(serverTest);
    expectFirstLineToBeWhole(serverTest);
    expect(violationsIn(serverTest).map((each) => `${each.check.id}: ${textOf(each)}`)).toEqual([]);
  });
});
