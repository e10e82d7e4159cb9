import { describe, expect, it } from 'vitest';
import { importText } from '../../../src/extensions/import/import.js';
import { imported, refusedImport } from './helpers.js';

/* Files on which a reader that looks at a part of them again and again takes minutes; each is read in a second or so. */

const RULER = '|---|---|';

describe('a hostile file', () => {
  it.each([
    ['line ends', '\n'],
    ['line separators', '\u2028'],
    ['blanks', ' '],
  ])('of %s only is no table, and nothing else', (_, blank) => {
    const text = blank.repeat(300_000);
    expect(refusedImport(text, 'list.csv')).toMatch(
      /^expected a CSV file whose header has a column "address"/,
    );
    expect(refusedImport(text, 'list.yaml')).toMatch(
      /^the kind of file can't be recognised from its content/,
    );
  });

  it.each([
    ['devices without lines', 'devices:\n', "the kind of file can't be recognised from its content"],
    [
      'lists of servers without devices',
      '"server_list":\n',
      "the kind of file can't be recognised from its content",
    ],
  ])('of %s is refused', (_, line, why) => {
    expect(refusedImport(line.repeat(100_000), 'list')).toMatch(why);
  });

  it('may have a long title, and comments that never end', () => {
    const { registers } = imported(
      `a${'*'.repeat(700_000)}x\n\n| Address | Name |\n${RULER}\n| 5 | ${'<!--'.repeat(300_000)} |\n| 7 | a<!-- b --> |\n`,
      'list.md',
    );
    expect(registers.holding).toMatchObject([{ address: 5 }, { address: 7, name: 'a' }]);
  });

  it('may have 2000 tables, each with 60 other headers', () => {
    const tables = Array.from({ length: 2000 }, (_, i) => {
      const others = Array.from({ length: 60 }, (_, column) => `x${i} ${column}`);
      return `| Address | Name | ${others.join(' | ')} |\n${RULER}\n`;
    });
    const text = `${tables.join('\n')}\n| Address | Name |\n${RULER}\n| 7 | Power |\n`;
    const result = importText(text, 'list.md', undefined);
    expect(result.ok && result.value.preview).toHaveLength(120_004);
  });

  it('may have 130,000 tables without an address', () => {
    expect(refusedImport('| A |\n|---|\n\n'.repeat(130_000), 'list.md')).toMatch(/^expected a CSV file/);
  });

  it('may have a million columns, of which 500 are looked at', () => {
    expect(refusedImport('unit,'.repeat(1_000_000), 'list.csv')).toMatch(
      'only the first 500 columns were looked at',
    );
  });

  it('may have a header of brackets over several lines', () => {
    const header = `"${'('.repeat(1900)}\nx"`;
    const headers = Array.from({ length: 400 }, () => header).join();
    expect(imported(`address,name,${headers}\n7,Power\n`).registers.holding).toMatchObject([{ address: 7 }]);
  });

  it.each(['9007199254740992', '-1', '0.5', '65529'])('may have a poller of openHAB from %s on', (start) => {
    const text = (from: string) =>
      `Bridge modbus:tcp:a [ host="x" ] {\nBridge poller p [ start=${from}, length=8, type="holding" ] { }\nThing data d [ writeStart="5", writeValueType="int16", writeType="holding" ]\n}`;
    const { registers, notes } = imported(text(start), 'a.things');
    expect(registers.holding).toMatchObject([{ address: 5 }]);
    expect(notes).toEqual([expect.stringContaining('poller "p": expected a type, a start and a length')]);
    expect(imported(text('65528'), 'a.things').registers.holding).toHaveLength(9);
  });

  it('may have thousands of pollers of openHAB that overlap: each address is taken once, and a mistake is noted once for each', () => {
    const pollers = (start: number) => `Bridge poller p [ start=${start}, length=2000, type="holding" ] {`;
    const many = Array.from({ length: 2000 }, (_, i) => `${pollers(i)} }`).join('\n');
    const text = `Bridge modbus:tcp:a [ host="x" ] {
${pollers(0)} Thing data d [ readStart="0", readValueType="int32" ] }
${many}
}
Bridge modbus:tcp:b [ host="x", id=999 ] {
${pollers(0)} }
}`;
    const { registers, notes } = imported(text, 'a.things');
    expect(registers.holding?.slice(0, 2)).toMatchObject([{ address: 0, type: 'int32' }, { address: 2 }]);
    expect(registers.holding).toHaveLength(3998);
    expect(notes).toEqual([expect.stringContaining('unit 999: expected 0 to 255')]);
  });
});
