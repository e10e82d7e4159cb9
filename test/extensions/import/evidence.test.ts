import { describe, expect, it } from 'vitest';
import { importText } from '../../../src/extensions/import/import.js';
import { writeNative } from '../../../src/extensions/import/write.js';
import { imported } from './helpers.js';

/* Tables of vendors, as vendors write them: what decides is the header, the cells and the next addresses. */

const table = (header: string, ...rows: string[]) => `${[header, ...rows].join('\n')}\n`;

describe('a table of a vendor', () => {
  it('of NIBE, with tables and types in its own words', () => {
    const { registers, notes } = imported(
      table(
        'Title\tRegister type\tRegister\tDivision factor\tUnit\tSize of variable\tMin value\tMax value\tDefault value\t',
        'Outdoor temperature (BT1)\tMODBUS_INPUT_REGISTER\t1\t10\t°C\ts16\t0\t0\t0\t',
        'Compressor, total time\tMODBUS_INPUT_REGISTER\t179\t1\th\tu32\t0\t0\t0\t',
        'Degree minutes\tMODBUS_HOLDING_REGISTER\t11\t10\tDM\ts16\t-30000\t30000\t-60\t',
        'Pump mode\tMODBUS_HOLDING_REGISTER\t1\t1\t\tu8\t0\t30\t10\t',
      ),
    );
    expect(registers.input).toMatchObject([
      { address: 1, type: 'int16', scale: 0.1, value: 0 },
      { address: 179, type: 'uint32' },
    ]);
    expect(registers.holding).toMatchObject([
      { address: 1, type: 'uint16', value: 10 },
      { address: 11, type: 'int16', value: -60, scale: 0.1 },
    ]);
    expect(notes).toEqual([]);
  });

  it('of NIBE with numbers for the types', () => {
    const { registers } = imported(
      table(
        'Title;Register type;Register;Division factor;Unit;Size of variable',
        'A;MODBUS_INPUT_REGISTER;1;10;°C;2',
        'B;MODBUS_INPUT_REGISTER;2;1;h;6',
        'C;MODBUS_INPUT_REGISTER;4;1;;4',
      ),
    );
    expect(registers.input?.map(({ type }) => type)).toEqual(['int16', 'uint32', 'uint16']);
  });

  it('whose length counts bytes, because the next value begins half as far away', () => {
    const { registers, notes, preview } = imported(
      table(
        'Register,Address (Hex),Parameter,Length,Units,Data Type',
        '30001,00 00,Voltage,4,Volts,Float',
        '30007,00 06,Current,4,Amps,Float',
        '30071,00 46,Frequency,4,Hz,Float',
        '30073,00 48,Import active energy,4,kWh,Float',
        '30075,00 4A,Export active energy,4,kWh,Float',
      ),
    );
    expect(registers.input?.map(({ address, type }) => [address, type])).toEqual(
      [0, 6, 70, 72, 74].map((address) => [address, 'float32']),
    );
    expect(notes).toEqual([]);
    expect(preview).toContain('column "Length": words, bytes');
  });

  it('without a type, whose negative limit or default says that the value is signed', () => {
    const { registers, notes } = imported(
      table(
        'Function_Code,Address_DEC,Access,Register_Name,Min,Max,Default_Value,Multiplier,Unit',
        '03,100,R/W,correction,-20,20,0,0.5,°C',
        '03,101,R/W,degree_minutes,-30000,30000,-60,1,DM',
        '03,102,R/W,hours,0,100,5,1,h',
      ),
    );
    expect(registers.holding?.map(({ type, value }) => [type, value])).toEqual([
      ['int16', 0],
      ['int16', -60],
      ['uint16', 5],
    ]);
    expect(notes).toEqual([]);
  });

  it('of ioBroker.modbus, with orders behind the types', () => {
    const { registers, notes } = imported(
      table(
        '_address\tname\tdescription\tunit\ttype\tlen\tfactor\toffset',
        '100\tId\tid\t\tuint32be\t2\t1\t0',
        '102\tCurrent\ti\tA\tint16be\t1\t0.1\t0',
        '103\tEnergy\te\tWh\tuint32sw\t2\t1\t0',
        '105\tPower\tp\tW\tfloatsw\t2\t1\t0',
        '107\tModel\tm\t\tstring\t8\t1\t0',
      ),
      'modbus.tsv',
    );
    expect(registers.holding).toMatchObject([
      { address: 100, type: 'uint32' },
      { address: 102, type: 'int16', scale: 0.1 },
      { address: 103, type: 'uint32', wordOrder: 'little' },
      { address: 105, type: 'float32', wordOrder: 'little' },
      { address: 107, type: 'string', length: 8 },
    ]);
    expect(registers.holding?.[0]).not.toHaveProperty('wordOrder');
    expect(notes).toEqual([]);
  });

  it('of KEPServerEX, with linear scaling, access of clients, bits and strings', () => {
    const { registers, notes } = imported(
      table(
        'Tag Name,Address,Data Type,Respect Data Type,Client Access,Scan Rate,Scaling,Raw Low,Raw High,Scaled Low,Scaled High,Scaled Data Type,Clamp Low,Clamp High,Eng Units,Description,Negate Value',
        '"Pump1.Speed","400001",Word,1,R/W,100,Linear,0,4095,0,100,Double,1,1,"%","Pump speed",0',
        '"Pump1.Flow","400003",Float,1,RO,100,,,,,,,,,,"Flow",',
        '"Pump1.Total","400005",DWord,1,R/W,100,,,,,,,,,,"Total",',
        '"Pump1.Temp","300001",Short,1,RO,100,,,,,,,,,,"Temperature",',
        '"Pump1.Run","000001",Boolean,1,R/W,100,,,,,,,,,,"Run command",',
        '"Pump1.Bit","400010.03",Boolean,1,R/W,100,,,,,,,,,,"a bit",',
        '"Pump1.Serial","400020.16H",String,1,RO,100,,,,,,,,,,"Serial",',
      ),
    );
    expect(registers.holding).toMatchObject([
      { address: 0, type: 'uint16', write: true, unit: '%', scale: Number((100 / 4095).toPrecision(12)) },
      { address: 2, type: 'float32' },
      { address: 4, type: 'uint32', write: true },
      { address: 9, type: 'uint16', description: 'bit 3: Pump1.Bit', write: true },
      { address: 19, type: 'string', length: 8 },
    ]);
    expect(registers.coils).toMatchObject([{ address: 0, write: true }]);
    expect(registers.input).toMatchObject([{ address: 0, type: 'int16' }]);
    expect(notes).toEqual([]);
  });

  it.each([
    ['Unsigned 16', 'uint16', undefined],
    ['32BIT_FLAGS', 'uint32', undefined],
    ['16-bit signed', 'int16', undefined],
    ['8bit', 'uint16', undefined],
    ['U_DWORD (LW,HW)', 'uint32', 'little'],
    ['Float (32 bit, CDAB)', 'float32', 'little'],
    ['uint32 (4 bytes)', 'uint32', undefined],
    ['double word unsigned', 'uint32', undefined],
  ])('with the type %s is %s', (text, type, wordOrder) => {
    const { registers } = imported(`address;name;type\n0;x;${text}\n`);
    expect(registers.holding?.[0]).toMatchObject({ type });
    expect(registers.holding?.[0]?.wordOrder).toBe(wordOrder);
  });

  it.each(['Input Registers (3x)', 'R-INPUT', 'MODBUS_INPUT_REGISTER', 'AI', 'Read Input Registers (FC04)'])(
    'in which %s says the table is of input registers',
    (text) => {
      expect(imported(`address;name;register type\n0;x;${text}\n`).registers.input).toHaveLength(1);
    },
  );

  it.each([
    ['R/W', true],
    ['L/S', true],
    ['Lesen/Schreiben', true],
    ['nur lesen', undefined],
    ['R', undefined],
  ])('with the access %s', (text, write) => {
    expect(imported(`Adresse;Bezeichnung;Zugriff\n0;x;${text}\n`).registers.holding?.[0]?.write).toBe(write);
  });

  it('with a factor before its units, ranges of addresses and a last address', () => {
    const { registers } = imported(
      table(
        'register,documented name,data type,unit,end address',
        '1,Vpv1,,0.1V,',
        '3~4,SN,ASCII,,',
        '5,Blob,U16,10mV,8',
      ),
    );
    expect(registers.holding).toMatchObject([
      { address: 1, unit: 'V', scale: 0.1 },
      { address: 3, type: 'string', length: 2 },
      { address: 5, unit: 'mV', scale: 10 },
      { address: 6 },
      { address: 7 },
      { address: 8 },
    ]);
  });

  it('whose defaults have decimals that only the scale explains has them in units', () => {
    const { registers, preview } = imported(
      table('address;name;type;factor;default', '0;a;int16;0,1;21,5', '1;b;int16;0,1;20'),
    );
    expect(registers.holding?.map(({ value }) => value)).toEqual([215, 200]);
    expect(preview).toContain('column "default": value, in the unit of the value');
  });

  it('of Markdown, each with a heading that says what it has', () => {
    const { registers, notes } = imported(
      [
        '# Meter',
        '## Input registers',
        '| Address | Name | Type |',
        '|---|---|---|',
        '| <!-- x --> 30001 (0) <br /> 30002 (1) | `Voltage` | Float32 |',
        '',
        '## Coils',
        '',
        '| Address | Name |',
        '|:--|---:|',
        '| 5 | **Relay** |',
        '| Key | Value |',
        '',
      ].join('\n'),
      'modbus.md',
    );
    expect(registers.input).toMatchObject([{ address: 0, name: 'Voltage', type: 'float32' }]);
    expect(registers.coils).toMatchObject([{ address: 5, name: 'Relay' }]);
    expect(notes).toEqual(['line 12: address "Key": expected a number']);
  });

  it('with a title between its rows has the table that the title names', () => {
    const { registers } = imported('address,name\nInput registers,\n0,a\nHolding registers,\n0,b\n');
    expect(registers).toMatchObject({ input: [{ name: 'a' }], holding: [{ name: 'b' }] });
  });

  it('with register numbers that would be coils of 16 bits has addresses as on the wire', () => {
    const { registers } = imported('address,name,type\n40004,a,int16\n10012,b,uint16\n');
    expect(registers.holding?.map(({ address }) => address)).toEqual([10012, 40004]);
  });
});

describe('a word of the user', () => {
  const text = 'Kennung;Was;Form\n40001;Spannung;U32\n40003;Strom;U16\n';
  const read = (extras: Parameters<typeof importText>[3]) => importText(text, 'x.csv', undefined, extras);

  it('is asked for, with the headers of the file, where nothing decides', () => {
    expect(read({})).toMatchObject({
      ok: false,
      error: expect.stringContaining(
        'line 1, has "Kennung", "Was", "Form"; name the column with --column address=HEADER',
      ),
    });
  });

  it('decides what a column holds, how addresses count and the table, and stands in the file', () => {
    const columns = new Map([
      ['Kennung', 'address'],
      ['Was', 'name'],
      ['Form', 'type'],
    ]);
    const result = read({ columns, base: '1', table: 'input' });
    if (!result.ok) throw new Error(result.error);
    const { text: written } = writeNative(result.value, 'x.csv');
    expect(written).toContain(
      '# options of the import: --column "address=Kennung" --column "name=Was" --column "type=Form" --base 1 --table input\n',
    );
    const values = result.value.lines[0]?.devices[0]?.values;
    expect(values?.map((each) => [each.table, each.address, each.type])).toEqual([
      ['input', 40000, 'uint32'],
      ['input', 40002, 'uint16'],
    ]);
    const entity = read({ columns, base: 'entity' });
    expect(entity.ok && entity.value.lines[0]?.devices[0]?.values.map(({ address }) => address)).toEqual([
      0, 2,
    ]);
    const wire = read({ columns, base: 'wire' });
    expect(wire.ok && wire.value.lines[0]?.devices[0]?.values[0]?.address).toBe(40001);
  });

  it.each([
    [new Map([['Kennung', 'adress']]), 'unknown column "adress", did you mean "address"?'],
    [new Map([['Kenung', 'address']]), '--column address: unknown column "Kenung", did you mean "Kennung"?'],
  ])('that fits nothing is refused: %#', (columns, error) => {
    expect(read({ columns })).toMatchObject({ ok: false, error: expect.stringContaining(error) });
  });
});

it('a node of ESPHome with its controller in a package is read, as the docs say', () => {
  const node =
    'packages:\n  meter: !include package.yaml\nesphome: {name: node}\nuart: {id: mod_bus, baud_rate: 9600}\nmodbus:\n  send_wait_time: 200ms\n  id: rs485\n';
  const pack =
    'modbus_controller:\n  - id: meter\n    address: 7\n    modbus_id: rs485\nsensor:\n  - platform: modbus_controller\n    modbus_controller_id: meter\n    name: "Voltage"\n    address: 0x0000\n    value_type: FP32\n    register_type: read\n';
  const result = importText(node, 'node.yaml', undefined, { packages: [['package.yaml', pack]] });
  if (!result.ok) throw new Error(result.error);
  const [device] = result.value.lines[0]?.devices ?? [];
  expect(device).toMatchObject({ unit: 7, values: [{ table: 'input', address: 0, type: 'float32' }] });
});

it('a Node-RED flow with nodes of modbustcp is read', () => {
  const nodes = [
    { id: 's', type: 'modbustcp-server', name: 'e3dc', host: '192.0.2.7', port: '502', unit_id: '1' },
    {
      id: 'r',
      type: 'modbustcp-read',
      name: 'pv',
      dataType: 'HoldingRegister',
      adr: '40067',
      quantity: '2',
      server: 's',
    },
    { id: 'w', type: 'modbustcp-write', name: 'on', dataType: 'Coil', adr: '3', quantity: '1', server: 's' },
  ];
  const result = importText(JSON.stringify(nodes), 'flow.json', undefined);
  if (!result.ok) throw new Error(result.error);
  expect(result.value.lines).toMatchObject([{ original: 'tcp://192.0.2.7:502', devices: [{ unit: 1 }] }]);
  expect(result.value.lines[0]?.devices[0]?.values.map(({ table, address }) => [table, address])).toEqual([
    ['holding', 40067],
    ['holding', 40068],
    ['coils', 3],
  ]);
});

it('a ConfigMap of Kubernetes is opened', () => {
  const inner =
    'modbus:\n  - name: hub\n    type: tcp\n    host: 192.0.2.7\n    port: 502\n    sensors:\n      - {name: power, address: 5}\n';
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ha}\ndata:\n  note.txt: hello\n  configuration.yaml: |\n${inner.replace(/^/gm, '    ')}`;
  const result = importText(text, 'map.yaml', undefined);
  expect(result.ok && result.value.what).toBe('Home Assistant modbus');
  expect(importText('kind: ConfigMap\ndata: {}\n', 'map.yaml', undefined)).toEqual({
    ok: false,
    error: 'is a ConfigMap without a file in its data',
  });
});

describe('addresses of six digits', () => {
  const rows = (...addresses: (number | string)[]) =>
    addresses.map((address, i) => `Value ${i},${address},UINT16`);
  const read = (...addresses: (number | string)[]) => {
    const { registers, notes, preview } = imported(table('Signal,Address,Type', ...rows(...addresses)));
    const at = Object.entries(registers).flatMap(([name, entries]) =>
      entries.map(({ address }) => `${name} ${address}`),
    );
    return { at, notes, preview };
  };

  it('are register numbers also where one of the file is not, which is then taken as on the wire and listed', () => {
    const { at, notes } = read(403020, 403000, 14320, 300007);
    expect(at).toEqual(['input 6', 'holding 2999', 'holding 3019', 'holding 14320']);
    expect(notes).toEqual([expect.stringContaining('14320 is not a register number')]);
  });

  it('count from 0 where 400000 is one of them', () => {
    const { at, preview } = read(400000, 400006, 419012);
    expect(at).toEqual(['holding 0', 'holding 6', 'holding 19012']);
    expect(preview.join()).toContain('register numbers counted from 0: 400000 is holding register 0');
  });

  it('are what they are, whatever the name of a vendor above them means', () => {
    const text = `# Phoenix Contact EEM Register Map\n\n| Signal | Address | Type |\n|---|---|---|\n| U12 | 450514 | UINT32 |\n`;
    expect(imported(text, 'eem.md').registers).toMatchObject({
      holding: [{ address: 50513, type: 'uint32' }],
    });
  });

  it('of five digits are on the wire when one is not a register number, and the other reading is named when it is near', () => {
    const { at, preview } = read(40001, 40003, 40005, 40007, 12);
    expect(at[0]).toBe('holding 12');
    expect(preview.join()).toContain('(but 4 could be register numbers: --base entity)');
  });
});

describe('a table of a public file', () => {
  it('without a header has columns with numbers, which the cells explain', () => {
    const { registers, preview, notes } = imported(
      '0;Reserved;\n1;T_OP1;int16\n2;T_OP2;int16\n3;FAN;uint16\n',
    );
    expect(registers.holding).toMatchObject([
      { address: 0, type: 'uint16' },
      { address: 1, name: 'T_OP1', type: 'int16' },
      { address: 2, type: 'int16' },
      { address: 3, type: 'uint16' },
    ]);
    expect(preview.slice(0, 3)).toEqual([
      'column "1": address, 0-based, as on the wire',
      'column "2": name',
      'column "3": type',
    ]);
    expect(notes).toEqual([]);
    const hexadecimal = imported('0x0000;v1\n0x0002;v2\n0x000A;a3\n');
    expect(hexadecimal.registers.holding?.map(({ address }) => address)).toEqual([0, 2, 10]);
    const said = importText('a;7;x\nb;9;y\n', 'x.csv', undefined, {
      columns: new Map([
        ['2', 'address'],
        ['1', 'name'],
      ]),
    });
    if (!said.ok) throw new Error(said.error);
    expect(said.value.lines[0]?.devices[0]?.values.map(({ address, name }) => [address, name])).toEqual([
      [7, 'a'],
      [9, 'b'],
    ]);
    expect(importText('name;value\nx;1\ny;2\nz;3\n', 'x.csv', undefined).ok).toBe(false);
  });

  it('of Markdown may lack the bars at the ends of its rows, and its ruler below a heading', () => {
    const open = imported('# x\n\nRegister | Name\n---|---\n1 | a\n2 | b\n\nNothing | else\n', 'x.md');
    expect(open.registers.holding?.map(({ name }) => name)).toEqual(['a', 'b']);
    const half = imported(
      '## Input registers\n| Register | Name |\n|---|---|\n| 1 | [a](#a) |\n| 2 | b\n',
      'x.md',
    );
    expect(half.registers.input?.map(({ address }) => address)).toEqual([1, 2]);
    const bare = imported(
      '# Input registers\n| Register | Type | Scale |\n| 8 | uint32 | -3 |\n| 10 | uint32 | 0 |\n',
      'x.md',
    );
    expect(bare.registers.input).toMatchObject([{ address: 8, scale: 0.001 }, { address: 10 }]);
    expect(bare.registers.input?.[1]).not.toHaveProperty('scale');
  });

  it.each([
    ['Coil', 'coils'],
    ['Discrete Input', 'discrete'],
    ['Input Register', 'input'],
    ['Holding Register', 'holding'],
  ])('whose addresses are below "%s" has the table %s', (header, name) => {
    const { registers } = imported(`| ${header} | Name |\n|---|---|\n| 3 | a |\n`, 'x.md');
    expect(registers[name]).toMatchObject([{ address: 3, name: 'a' }]);
  });

  it('has access in a column "type", and addresses in a column "Registers"', () => {
    const access = imported('address,description,type\n1000,Run,R/W\n1001,Mode,R\n');
    expect(access.registers.holding?.map(({ write }) => write)).toEqual([true, undefined]);
    const addresses = imported(
      'Name,Registers,Data Type\nModel,33000,Uint16\nSerial,33004 - 33019,String\nx,33022,S16\n',
    );
    expect(addresses.registers.holding).toMatchObject([
      { address: 33_000 },
      { address: 33_004, type: 'string', length: 16 },
      { address: 33_022, type: 'int16' },
    ]);
    expect(addresses.preview.join()).toContain('(but 3 could be register numbers: --base entity)');
  });

  it('with identifiers as NIBE exports them has them as on the wire', () => {
    const text =
      'ModbusManager 1.0.9;;;;;;;;;\nTitle;Info;ID;Unit;Size;Factor;Min;Max;Default;Mode\nOutdoor;BT1;40004;C;s16;10;0;0;0;R\nDegree minutes;;43005;DM;s16;10;-3000;3000;0;R/W\n';
    const { registers, preview } = imported(text);
    expect(registers.holding?.map(({ address, write }) => [address, write])).toEqual([
      [40_004, undefined],
      [43_005, true],
    ]);
    expect(preview.join()).toContain('could be register numbers: --base entity');
  });

  it('has pairs of hexadecimal addresses, bits in its types and mixed order in a column', () => {
    const pairs = imported(
      'Modbus address,name,type\n"07,08",Current,S_WORD\n"0F,10",Power,S_WORD\n100A,x,U_WORD\n',
    );
    expect(pairs.registers.holding?.map(({ address }) => address)).toEqual([7, 8, 15, 16, 0x100a]);
    const bits = imported('register,name,datatype\n275,cooling,bool (bit 4)\n275,zones,bool (bit 0)\n');
    expect(bits.registers.holding).toMatchObject([
      { address: 275, description: 'bit 4: cooling; bit 0: zones' },
    ]);
    const mixed = imported('Register Name,Address,Type,Mixed Endian\na,0,uint32,TRUE\nb,2,uint32,FALSE\n');
    expect(mixed.registers.holding?.map(({ wordOrder }) => wordOrder)).toEqual(['little', undefined]);
    const struct = imported(
      'Point Name,Modbus Register,Writable,Point Address\na,>f,FALSE,1001\nb,>H,TRUE,1011\n',
    );
    expect(struct.registers.holding).toMatchObject([
      { address: 1001, type: 'float32' },
      { address: 1011, type: 'uint16', write: true },
    ]);
  });

  it('with types that nothing explains says so once, and takes a negative limit for a sign', () => {
    const { registers, notes } = imported(
      'address;name;data type;min\n501;a;2;-40\n502;b;2;0\n503;c;Analog;\n',
    );
    expect(registers.holding?.map(({ type }) => type)).toEqual(['int16', 'uint16', 'uint16']);
    expect(notes).toEqual(['line 2 and 1 more: unknown type "2", so a plain register is served']);
  });

  it('of CAN messages is refused by its name', () => {
    const text = 'register,name\nx311,a\nx312,b\n';
    expect(importText(text, 'bms_canbus.csv', undefined)).toEqual({
      ok: false,
      error: 'seems to be a CAN message map, judging by its name; --base wire reads it as a register map',
    });
    expect(importText(text, 'bms_canbus.csv', undefined, { base: 'wire' }).ok).toBe(true);
  });
});

it('a register that a row only counts gives way to a value of its own', () => {
  const { registers, notes } = imported(
    'address,count,name,type\n10,2,relays,uint16\n11,1,temperature,int16\n12,1,b,int16\n13,1,c,int16\n20,2,flags,BIT\n',
  );
  expect(registers.holding).toMatchObject([
    { address: 10, name: 'relays' },
    { address: 11, name: 'temperature', type: 'int16' },
    {},
    {},
    { address: 20, name: 'flags', type: 'uint32' },
  ]);
  expect(notes).toEqual([]);
});

it('a table in German, as one types it from a manual, has its tables, scales, types and access', () => {
  const { registers, notes } = imported(
    table(
      'Modbus-Adresse;Bezeichnung;Funktion;Auflösung;Einheit;Datentyp;Lesen/Schreiben;Werkseinstellung',
      '0;Vorlauftemperatur;Input Register;0,1;°C;int16;L;',
      '10;Betriebsstunden;Input Register;1;h;unsigned long;L;',
      '100;Sollwert Warmwasser;Holding Register;0,1;°C;int16;L/S;48,5',
      '200;Verdichter ein;Discrete Input;;;bit;L;',
      '300;Sperre EVU;Coil;;;bit;L/S;0',
    ),
  );
  expect(registers).toMatchObject({
    input: [
      { address: 0, type: 'int16', scale: 0.1, unit: '°C' },
      { address: 10, type: 'uint32' },
    ],
    holding: [{ address: 100, value: 485, write: true }],
    discrete: [{ address: 200 }],
    coils: [{ address: 300, write: true }],
  });
  expect(notes).toEqual([]);
});

/* The next ones are public files of other authors, typed again in a few lines. */

describe('a file with several tables', () => {
  const markdown = (...tables: readonly (readonly string[])[]) =>
    tables
      .map(([header = '', ...rows]) =>
        [header, header.replace(/[^|]+/g, '---'), ...rows].map((row) => `|${row}|`).join('\n'),
      )
      .join('\n\n');

  it('numbers its registers in one way: one table with 30000 decides for that with 32016', () => {
    const { registers, preview } = imported(
      markdown(
        [
          'Address|Len|Name',
          '30000|15|model_name',
          '30015|10|serial',
          '30070|1|id',
          '30071|1|a',
          '30072|1|b',
        ],
        ['Address|Len|Name', '32016|1|pv_01_voltage', '32017|1|pv_01_current'],
      ),
      'registers.md',
    );
    expect(Object.keys(registers)).toEqual(['holding']);
    expect(registers.holding?.slice(-2).map(({ address }) => address)).toEqual([32016, 32017]);
    expect(preview).toContain(
      'column "Address": address, 0-based, as on the wire (but 2 could be register numbers: --base entity)',
    );
  });

  it('has a header for each, also in CSV', () => {
    const { registers, notes } = imported(
      table(
        'register,address,size,type,function',
        'NS,30001,2,u32,read_input_register',
        'Counters',
        'register,address,min,size,type,function',
        'A,30011,,2,f32,read_input_register',
        'address,category,est type,use',
        '30021,x,uint16,1',
      ),
    );
    expect(registers.input?.map(({ address, type }) => [address, type])).toEqual([
      [0, 'uint32'],
      [10, 'float32'],
      [20, 'uint16'],
    ]);
    expect(notes).toEqual(['line 3: not a register: "Counters"']);
  });

  it.each([
    ['a remark of two words', 'Address,Name,Type', 'Notes,ID,', 'Notes'],
    ['a gap', 'Address,Name,Type', 'reserved,Address,,', 'reserved'],
  ])('has no further table where a row is %s', (_, header, row, shown) => {
    const { registers, notes } = imported(
      table(header, '40001,a,uint16', '40002,b,uint16', row, '40010,d,uint16', '40011,e,uint16'),
    );
    expect(registers.holding?.map(({ address }) => address)).toEqual([0, 1, 9, 10]);
    expect(notes).toEqual([`line 4: address "${shown}": expected a number`]);
  });

  it.each([
    ['HR101', 'HR102,Modbus address,uint16,RW', 'HR103', [101, 102, 103]],
    ['0x0100', '0x0200-0x0201,Modbus address,uint32,RW', '0x0300', [0x100, 0x200, 0x300]],
    ['4x0001', '4x0002,Offset,uint16,R', '4x0003', [0, 1, 2]],
  ])(
    'has no further table where a register after %s is called like an address',
    (before, row, after, all) => {
      const { registers, notes, preview } = imported(
        table('Register,Name,Type,Access', `${before},First,uint16,R`, row, `${after},Speed,uint16,R`),
      );
      expect(registers.holding?.map(({ address }) => address)).toEqual(all);
      expect(notes).toEqual([]);
      expect(preview.join()).not.toContain('without a header');
    },
  );

  it('has no header in a row that begins with an address', () => {
    const rows = ['0x0000;First', '0x0002;Second', '0x0004;Modbus address', '0x0006;Speed', '0x0008;Torque'];
    const { registers, notes } = imported(table('', ...rows.map((row) => `${row};uint32;RW`)));
    expect(registers.holding?.map(({ address }) => address)).toEqual([0, 2, 4, 6, 8]);
    expect(notes).toEqual([]);
  });

  it('lists a table of CSV that it did not read', () => {
    const { registers, notes } = imported(
      table('ID,Name,Type', '1,sdm,uint16', '2,abb,uint16', 'Address,Name,Type', '7,Power,uint16'),
    );
    expect(registers.holding).toMatchObject([{ address: 7, name: 'Power' }]);
    expect(registers.holding).toHaveLength(1);
    expect(notes).toEqual(['line 1: not read: the table with "ID", "Name", "Type"']);
  });

  it('may repeat a header, as after a page break, without a loss of the title above', () => {
    const header = 'Address,Name,Type';
    const { registers, notes } = imported(
      table(header, 'Input registers,,', '0,a,', '1,b,', `${header},`, '2,c,', '3,d,', header),
    );
    expect(Object.keys(registers)).toEqual(['input']);
    expect(registers.input?.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(notes).toEqual(['line 2: not a register: "Input registers"']);
  });

  it('may begin with a header of other words, whose rows are read too', () => {
    const { registers } = imported(
      table('Modbus addr. (dec),Name,Type', '0,a,uint16', '1,b,uint16', 'Address,Name,Type', '7,c,uint16'),
    );
    expect(registers.holding?.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('may have a title in the line above its header, the first one too', () => {
    const { registers } = imported(
      table('Meter', 'Input registers', 'Address,Name', '0,a', '1,b', 'Coils', 'Address,Label', '2,c', '3,d'),
    );
    expect(registers).toMatchObject({
      input: [{ name: 'a' }, { name: 'b' }],
      coils: [{ name: 'c' }, { name: 'd' }],
    });
  });

  it('may have a title in the first row of Markdown', () => {
    const { registers } = imported(
      '# Meter\n\n| Input registers | | |\n|---|---|---|\n| Address | Name | Type |\n| 7 | a | uint16 |\n',
      'meter.md',
    );
    expect(registers).toMatchObject({ input: [{ address: 7, name: 'a' }] });
  });

  it('has the addresses where the cells are hexadecimal, not where they are counts', () => {
    const { registers } = imported(
      markdown([
        'Range|Registers|Type|Description',
        '0x0000-0x0002|3 (6 B)|Holding|values',
        '0x0042|1 (2 B)|Holding|code',
        '0x0100-0x0101|2 (4 B)|Holding|energy',
      ]),
      'meter.md',
    );
    expect(registers.holding?.map(({ address }) => address)).toEqual([0, 1, 2, 66, 256]);
  });

  it('has no registers in a list with an ID next to a table of addresses, and says what is not read', () => {
    const { registers, notes } = imported(
      markdown(
        ['id|host|port|type|description', '0|10.0.0.1|502|sdm630|a', '1|10.0.0.2|502|sdm630|b'],
        ['address|name|function_code', '30|voltage|4', '32|current|4'],
        ['Register|Range', '7200|0 to 6', '7203|5.0 to 23.0'],
      ),
      'meters.md',
    );
    expect(Object.keys(registers)).toEqual(['input']);
    expect(notes).toEqual([
      'line 1: not read: the table with "id", "host", "port", "type", "description"',
      'line 11: not read: the table with "Register", "Range"',
    ]);
  });

  it('has no registers where a row of prose mentions an address, or a sum is divided by addresses', () => {
    const { registers } = imported(
      markdown(
        [
          'ID|Name|Access|Description',
          'serial_number|Serial|Read-only|x',
          'device_address|Device|Read-write|Modbus address (1-247)',
          'ct_rate|CT|Read-only|5',
        ],
        ['Category|Count|Avg/Addr', 'Faults|105|130', 'Energy|95|117', 'Grid|145|148'],
        ['FC|Operation|Address types', '01|Read coils|Y0-Y8, C', '02|Read inputs|X0-X8', '04|Read|XD'],
        ['Address|Name', '7|real'],
      ),
      'manual.md',
    );
    expect(registers).toMatchObject({ holding: [{ address: 7, name: 'real' }] });
    expect(registers.holding).toHaveLength(1);
  });
});

it('a table that names functions as FC=02 has them, and coil numbers may lack their zeros', () => {
  const rows = [
    'X001,BIT,100001,"FC=02"',
    'C1,BIT,16385,"FC=01,05,15"',
    'DS1,INT16,400001,"FC=03,06,16"',
    'XD0,HEX,357345,"FC=04"',
  ];
  const { registers, notes } = imported(
    table('Tag,Data Type,Modbus Address,Function Code', ...rows.map((row) => row.replace('HEX', 'UINT16'))),
  );
  expect(registers).toMatchObject({
    discrete: [{ address: 0 }],
    coils: [{ address: 16384, write: true }],
    holding: [{ address: 0, type: 'int16', write: true }],
    input: [{ address: 57344 }],
  });
  expect(notes).toEqual([]);
});

it('an address may follow the word for its table, and a range may leave out common digits', () => {
  const { registers, notes } = imported(
    table('Register,Name', 'input 35-36,power', 'holding 8,voltage', 'HR12,x', 'IR 104-05,z'),
  );
  expect(registers).toMatchObject({
    input: [
      { address: 35, type: 'uint32', name: 'power' },
      { address: 104, type: 'uint32' },
    ],
    holding: [{ address: 8 }, { address: 12 }],
  });
  expect(notes).toEqual([]);
});

it('a column whose cells all name a table decides, whatever its header', () => {
  const { registers } = imported(
    table(
      'address,type,datamodel',
      '0,bit,COIL',
      '2,bit,discrete',
      '3,uint16,HOLDING_REGISTER',
      '3,uint16,read_input_register',
    ),
  );
  expect(registers).toMatchObject({
    coils: [{ address: 0 }],
    discrete: [{ address: 2 }],
    holding: [{ address: 3 }],
    input: [{ address: 3 }],
  });
});

it('a column whose cells are no access is the name, and reserved[2] is two registers', () => {
  const { registers, notes } = imported(
    table('attribute,address,type', 'year,10,uint16', 'gap,11,reserved[2]', 'month,13,uint16'),
  );
  expect(registers.holding).toMatchObject([
    { name: 'year' },
    { name: 'gap' },
    { address: 12 },
    { name: 'month' },
  ]);
  expect(notes).toEqual(['line 3: unknown type "reserved[2]", so plain registers are served']);
});

it.each([
  ['in the last row', []],
  ['before a gap', ['16400,X,INT16']],
  ['before another group', ['0,X,INT16']],
])('INT2 %s is two registers if the other INT2 are', (_, rows) => {
  const { registers, notes } = imported(
    table('address,name,type', '16384,DD1,INT2', '16386,DD2,INT2', '16388,DD3,INT2', ...rows),
  );
  const found = registers.holding?.filter(({ type }) => type === 'int32');
  expect(found?.map(({ address }) => address)).toEqual([16384, 16386, 16388]);
  expect(notes).toContain('line 4: type "INT2": 2 registers, like the others of this type');
});

it('16-bit × 2 is two registers of 16 bits', () => {
  const { registers } = imported(table('address,name,type', '1-2,a,16-bit × 2', '3-4,b,32-bit'));
  expect(registers.holding?.map(({ address, type }) => [address, type])).toEqual([
    [1, 'uint16'],
    [2, 'uint16'],
    [3, 'uint32'],
  ]);
});

it('16 bits stay 16 where a column counts 16', () => {
  const { registers } = imported(
    table('address,name,type,length', '0,a,signed 16 bit,16', '1,b,signed 16 bit,16', '2,c,signed 16 bit,16'),
  );
  expect(registers.holding?.slice(0, 2)).toMatchObject([{ type: 'int16' }, { type: 'int16' }]);
});

it('INT2 is two registers where the next address is two higher, and two bytes elsewhere', () => {
  const { registers, notes } = imported(
    table(
      'address,name,type',
      '16384,DD1,INT2',
      '16386,DD2,INT2',
      '16388,DD3,INT16',
      '20,a,INT2',
      '21,b,INT2',
    ),
  );
  expect(registers.holding?.map(({ address, type }) => [address, type])).toEqual([
    [20, 'int16'],
    [21, 'int16'],
    [16384, 'int32'],
    [16386, 'int32'],
    [16388, 'int16'],
  ]);
  expect(notes).toEqual([
    'line 2 and 1 more: type "INT2": 2 registers, because the next address is 2 higher',
  ]);
});
