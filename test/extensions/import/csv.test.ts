import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { importText } from '../../../src/extensions/import/import.js';
import { writeNative } from '../../../src/extensions/import/write.js';
import { tries } from '../../support/tries.js';
import { imported, refusedImport } from './helpers.js';

describe('a CSV file', () => {
  it('becomes a device, its columns found by their names', () => {
    const { registers, notes, data } = imported(
      'address,name,type,scale,unit,access\n0,Voltage L1,uint16,0.1,V,R\n1,Power,int32,,W,RW\n3,Temp,float32,,°C,r/w\n',
    );
    expect(registers).toEqual({
      holding: [
        {
          address: 0,
          name: 'Voltage_L1',
          type: 'uint16',
          value: 0,
          unit: 'V',
          scale: 0.1,
          description: 'Voltage L1',
        },
        { address: 1, name: 'Power', type: 'int32', value: 0, unit: 'W', write: true },
        { address: 3, name: 'Temp', type: 'float32', value: 0, unit: '°C', write: true },
      ],
    });
    expect(data.lines).toEqual({ lan: { tcp: { host: '127.0.0.1', port: 5020 }, units: { 1: 'meter' } } });
    expect(notes).toEqual([]);
  });

  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['vertical bars', '|'],
  ])('may have %s, a byte order mark and Windows line ends', (_, separator) => {
    const rows = [
      ['Adresse', 'Bezeichnung', 'Datentyp'],
      ['0x10', '"Spannung, L1"', 'U16'],
    ];
    const text = `\uFEFF${rows.map((row) => row.join(separator)).join('\r\n')}\r\n`;
    expect(imported(text).registers.holding).toMatchObject([
      { address: 16, name: 'Spannung_L1', type: 'uint16' },
    ]);
  });

  it('may be a table of Markdown', () => {
    const { registers, notes } = imported('| Register Nr | Datatype |\n|---|:---:|\n| 40092 | Float 32 |\n');
    expect(registers.holding).toMatchObject([{ address: 91, type: 'float32' }]);
    expect(notes).toEqual([]);
  });

  it('may have quotes, doubled quotes and line ends in a cell', () => {
    const { registers, notes } = imported('name,address\n"a ""b"",\nc",7\nd,x\n');
    expect(registers.holding).toMatchObject([{ address: 7, name: 'a_b_c' }]);
    expect(notes).toEqual(['line 4: address "x": expected a number']);
  });

  it('loses nothing behind a quote that is not closed', () => {
    const rest = Array.from({ length: 300 }, (_, i) => `${i + 1},r${i + 1}`).join('\n');
    expect(imported(`address,name\n0,"half\n${rest}\n`).registers.holding).toHaveLength(301);
  });

  it('is read with register numbers of manuals where all addresses are ones', () => {
    const { registers, preview } = imported(
      'register,name,type\n40001,a,uint16\n30003,b,uint16\n10001,c,bool\n00002,d,bool\n',
    );
    expect(registers).toMatchObject({
      coils: [{ address: 1, name: 'd' }],
      discrete: [{ address: 0, name: 'c' }],
      input: [{ address: 2, name: 'b' }],
      holding: [{ address: 0, name: 'a' }],
    });
    expect(preview.join()).toContain('register numbers: 40001 is holding register 0');
  });

  it('is read with six digits too', () => {
    expect(imported('register,name\n400001,a\n465536,b\n').registers.holding).toMatchObject([
      { address: 0 },
      { address: 65535 },
    ]);
  });

  it.each([
    ['one is no register number', '40000,a\n40001,b\n', [40000, 40001]],
    ['one is low', '40001,a\n12,b\n', [12, 40001]],
  ])('has addresses as on the wire where %s', (_, rows, addresses) => {
    const { registers } = imported(`address,name\n${rows}`);
    expect(registers.holding?.map(({ address }) => address)).toEqual(addresses);
  });

  it('has addresses as on the wire where a column says another table', () => {
    expect(imported('address,function,name\n40001,4,a\n').registers.input).toMatchObject([
      { address: 40001 },
    ]);
  });

  it.each([
    ['Address (hex)', ['10', '1A'], [0x10, 0x1a]],
    ['Address', ['10', '1A'], [0x10, 0x1a]],
    ['Address', ['10', '0x1A'], [10, 0x1a]],
    ['Address', ['10h', '12'], [0x10, 12].sort((a, b) => a - b)],
  ])('under the header %s has %j as %j', (header, cells, addresses) => {
    const { registers } = imported(`${header};name\n${cells.map((cell) => `${cell};x`).join('\n')}\n`);
    expect(registers.holding?.map(({ address }) => address)).toEqual(addresses);
  });

  it('says the table by words and function codes, and that it may be written', () => {
    const { registers } = imported(
      'address;register type;name\n0;Coil;a\n1;FC02;b\n2;input register;c\n3;3,6,16;d\n4;0x04;e\n5;03;f\n',
    );
    expect(registers).toMatchObject({
      coils: [{ address: 0 }],
      discrete: [{ address: 1 }],
      input: [{ address: 2 }, { address: 4 }],
      holding: [{ address: 3, write: true }, { address: 5 }],
    });
    expect(registers.holding?.[1]).not.toHaveProperty('write');
  });

  it.each([
    ['U_DWORD', 'uint32', undefined],
    ['unsigned int 32', 'uint32', undefined],
    ['UINT32 (CDAB)', 'uint32', 'little'],
    ['float_le', 'float32', 'little'],
    ['REAL', 'float32', undefined],
    ['LREAL', 'float64', undefined],
    ['Double', 'float64', undefined],
    ['S64', 'int64', undefined],
    ['bitfield16', 'bits', undefined],
  ])('with type %s is %s', (text, type, wordOrder) => {
    const { registers } = imported(`address;name;type\n0;x;${text}\n`);
    expect(registers.holding?.[0]).toMatchObject({ type });
    expect(registers.holding?.[0]?.wordOrder).toBe(wordOrder);
  });

  it('takes the size of a type from the column of registers, and says what it assumes without one', () => {
    const { registers, notes } = imported(
      'address;name;type;registers\n0;a;int;2\n2;b;uint;4\n6;c;int;\n7;d;float;3\n',
    );
    expect(registers.holding?.map(({ type }) => type)).toEqual([
      ...['int32', 'uint64', 'int16'],
      ...['uint16', 'uint16', 'uint16'],
    ]);
    expect(notes).toEqual([
      'line 4: type "int" has no size, read as int16',
      'line 5: unknown type "float", so plain registers are served',
    ]);
  });

  it('has strings with their registers, characters or bytes', () => {
    const { registers, notes } = imported(
      'address;name;type;bytes\n0;a;string;10\n5;b;ascii(7);\n9;c;text;\n',
    );
    expect(registers.holding).toMatchObject([{ length: 5 }, { length: 4 }, { length: 1 }]);
    expect(notes).toEqual(['line 4: a string without a length is served as 1 register']);
  });

  it.each([
    ['scale', '0,1', 0.1],
    ['factor', 'x10', 10],
    ['multiplier', '1/100', 0.01],
    ['resolution', '10^-3', 0.001],
    ['gain', '10', 0.1],
    ['decimals', '2', 0.01],
  ])('with %s %s multiplies by %d', (header, text, scale) => {
    expect(imported(`address;name;${header}\n0;a;${text}\n`).registers.holding?.[0]?.scale).toBe(scale);
  });

  it('begins with the value of the file, or in the middle of its limits', () => {
    const { registers, notes } = imported(
      'address;name;type;scale;value;min;max\n0;a;uint16;;7;;\n1;b;int16;0.1;;-20;60\n2;c;uint16;;99999;;\n3;d;uint16;;;;\n',
    );
    expect(registers.holding?.map(({ value }) => value)).toEqual([7, 200, 0, 0]);
    expect(notes).toEqual([
      'line 4: value 99999 is ignored: expected a whole number from 0 to 65535 (uint16)',
    ]);
  });

  it('shows bits of one register as what that register means', () => {
    const { registers } = imported('address;name;type\n5.0;alarm;bool\n5.3;door;bool\n6;x;uint16\n');
    expect(registers.holding).toMatchObject([
      { address: 5, type: 'uint16', description: 'bit 0: alarm; bit 3: door' },
      { address: 6 },
    ]);
  });

  it('gives each unit a device of its own', () => {
    const { data } = imported('slave id;address;name\n1;0;a\n2;0;a\n');
    expect(data.lines.lan?.units).toEqual({ 1: 'meter', 2: 'meter-2' });
  });

  it('keeps the first of values that overlap, and serves the registers of the others', () => {
    const { registers, notes } = imported('address;name;type\n0;a;uint32\n1;b;uint32\n1;c;uint16\n');
    expect(registers.holding).toMatchObject([
      { address: 0, name: 'a', type: 'uint32' },
      { address: 2, type: 'uint16' },
    ]);
    expect(notes).toEqual([
      'line 3: b overlaps a, which is kept; its other registers, 2, are served without a name',
      'line 4: c overlaps a, which is kept',
    ]);
  });

  it('makes names that fit: unique, of letters and digits, not the time', () => {
    const { registers } = imported('address;name\n0;t\n1;3 phases\n2;Größe\n3;größe\n4;größe\n5;電圧\n');
    expect(registers.holding?.map(({ name }) => name)).toEqual([
      'value_t',
      'value_3_phases',
      'Groesse',
      'groesse',
      'groesse_2',
      'value',
    ]);
  });

  it('lists what was not understood with its line, in the file too', () => {
    const { notes, text } = imported(
      'address;name;type;access\nGeneral;;;\n1;a;BCD;R\n2;b;uint16;often\n70000;c;uint16;R\n',
    );
    expect(notes).toEqual([
      'line 2: not a register: "General"',
      'line 3: unknown type "BCD", so a plain register is served',
      'line 4: unknown access "often", so clients can only read the value',
      'line 5: addresses 70000 to 70000: expected 0 to 65535',
    ]);
    for (const note of notes) expect(text).toContain(`# ${note}`);
  });

  it('serves one register for an unknown type whose length no read can have', () => {
    const { registers, notes } = imported(
      'address,name,type,length\n0,a,BCD,1e99\n5,b,BCD,126\n9,c,BCD,-1\n',
    );
    expect(registers.holding?.map(({ address }) => address)).toEqual([0, 5, 9]);
    expect(notes[0]).toBe('line 2 and 2 more: unknown type "BCD", so a plain register is served');
  });

  it('says what columns it looks for when it finds none', () => {
    expect(refusedImport('a,b\n1,2\n', 'x.csv')).toContain('a column "address"');
  });

  it('never throws, and what it writes has no mistakes, whatever the text', () => {
    const cell = fc.oneof(
      fc.constantFrom(
        '0',
        '40001',
        '0x10',
        'uint16',
        'float',
        'string',
        '-1',
        '1e99',
        '"',
        '__proto__',
        '5.99',
        '/0',
        '\u2028# x',
        'RW',
      ),
      fc.string({ maxLength: 12 }),
    );
    const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 9 }), { maxLength: 12 });
    fc.assert(
      fc.property(rows, fc.constantFrom(',', ';', '\t'), (all, separator) => {
        const header = ['address', 'name', 'type', 'length', 'scale', 'unit', 'value', 'access', 'bit'];
        const text = [header, ...all].map((row) => row.join(separator)).join('\n');
        const result = importText(text, 'x.csv', 'csv');
        if (!result.ok) return;
        const loaded = loadNative(writeNative(result.value, 'x.csv').text, '.');
        expect(loaded.ok ? [] : loaded.problems).toEqual([]);
      }),
      { numRuns: tries(500) },
    );
  });
});

describe('numbers and limits of a table', () => {
  it('have decimal commas and points for thousands where the file shows it', () => {
    const { registers, notes } = imported(
      'Adresse;Bezeichnung;Typ;Faktor;Standardwert;Min;Max;Zugriff\n0;a;uint16;1;5.000;0;10.000;RW\n1;b;uint16;0,1;12,5;0;100,5;RW\n',
    );
    expect(registers.holding?.[0]).toMatchObject({ value: 5000, limits: { min: 0, max: 10_000 } });
    expect(registers.holding?.[1]).toMatchObject({ limits: { min: 0, max: 100.5 } });
    expect(notes.filter((note) => note.startsWith('line 2'))).toEqual([]);
    const unknown = imported('address;name;type;default\n0;a;uint16;5.000\n');
    expect(unknown.registers.holding?.[0]).toMatchObject({ value: 5000 });
    expect(unknown.notes).toEqual([
      'line 2: value "5.000" is taken as 5000; write it without the . if that is wrong',
    ]);
  });

  it('become limits where clients may write, and the middle as a value elsewhere', () => {
    const { registers } = imported(
      'address,name,type,scale,min,max,access\n0,a,int16,0.1,10,30,RW\n1,b,int16,0.1,10,30,R\n2,c,int16,1,5,,RW\n',
    );
    expect(registers.holding?.map(({ limits, value }) => ({ limits, value }))).toEqual([
      { limits: { min: 10, max: 30 }, value: 200 },
      { limits: undefined, value: 200 },
      { limits: { min: 5 }, value: 0 },
    ]);
  });

  it('are in the unit of the value on demand', () => {
    const table = 'address,name,type,scale,default\n0,a,int16,0.1,21.5\n1,b,float32,1,3.5\n';
    const result = importText(table, 'x.csv', undefined, { inUnits: true });
    if (!result.ok) throw new Error(result.error);
    expect(result.value.lines[0]?.devices[0]?.values.map(({ value }) => value)).toEqual([215, 3.5]);
  });

  it('of a string in brackets are registers when the next address is as far', () => {
    const { registers, notes } = imported(
      'Address,Name,Type\n800,Serial,string[6]\n806,Relay,uint16\n810,Text,string[6]\n813,Next,uint16\n',
    );
    expect(registers.holding?.map(({ address, length }) => [address, length])).toEqual([
      [800, 6],
      [806, undefined],
      [810, 3],
      [813, undefined],
    ]);
    expect(notes).toEqual(['line 2: type "string[6]": 6 registers, because the next address is 6 higher']);
  });
});
