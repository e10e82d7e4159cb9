import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { sunspecIds } from '../../../src/document/sunspec/place.js';
import { importText } from '../../../src/extensions/import/import.js';
import { some } from '../../support/tries.js';
import { imported, refusedImport } from './helpers.js';

/* The forms are those of evcc's and mbmd's Go programs and of pysunspec2; values as in public threads (evcc-io/evcc#31535, mbmd#98). */

const EVCC = `[main  ] INFO 2026/07/09 16:45:28 evcc 0.311.0
--------- Model 1 common ---------
Mn             KOSTAL    string
Md   PLENTICORE plus8    string
Opt                      string
Vr           01.30.12    string
SN      90523TD90001R    string
DA              71.00    uint16
Pad            0x5a5a    pad
--------- Model 103 inverter_three_phase ---------
A                    4.29    uint16
AphA                 1.46    uint16
A_SF                   -2    sunssf
PPVphAB               n/a    uint16
PhVphA             228.60    uint16
V_SF                   -1    sunssf
W                  940.00    int16
W_SF                    0    sunssf
VA                    n/a    int16
VA_SF                 n/a    sunssf
WH            56985670.00    acc32
WH_SF                   0    sunssf
St                      4    enum16
Evt1                    0    bitfield32
Nonsense                1    uint16
--------- Model 160 mppt ---------
DCA_SF                 -2    sunssf
DCV_SF                 -1    sunssf
N                    2.00    uint16
-- Block 1 --
ID              1.00    uint16
IDStr       string 1    string
DCA             3.15    uint16
DCV           480.50    uint16
-- Block 2 --
ID              2.00    uint16
DCV           470.00    uint16
--------- Model 64999  ---------
`;

const RAW = {
  name: null,
  did: 'fa0a9f2d-d503-470e-8ce8-ec9c51428829',
  models: [
    {
      ID: 1,
      L: 65,
      Mn: 'Maker',
      Md: 'Inverter 123',
      Opt: null,
      Vr: null,
      SN: '9999abcd',
      DA: null,
      Pad: 32768,
    },
    {
      ID: 129,
      L: 210,
      ActCrv: 1,
      NCrv: 2,
      NPt: 10,
      Tms_SF: -2,
      V_SF: -1,
      Extra: 5,
      curve: [
        { ActPt: 4, Tms1: 200, V1: 880, CrvNam: null, ReadOnly: 1 },
        { ActPt: 0, Tms1: 0, V1: 755, ReadOnly: 0 },
      ],
      mid: null,
      error: '',
      model_id: 129,
    },
    { ID: 12, L: 98, Addr: '192.168.1.20' },
    { ID: 65535, L: 0 },
  ],
};

const COMPUTED = `{"models": [{"ID": 103, "L": 50, "A": 12.0, "A_SF": -2, "W": 2870, "W_SF": 0, "St": 4}]}`;

const SUNS = `
Timestamp: 2026-07-09T10:00:00Z

Model: common (1)

      ID                                                     1
      Mn                                               A Maker
      SN                                                  None

Model: inverter_three_phase (103)

      A                                                   1250 A
      A_SF                                                  -2
      PhVphA                                              None V
      WH                                              56985670 Wh

Model: mppt (160)

      DCV_SF                                                -1
      N                                                      2
   01:ID                                                     1
   01:DCV                                                 4800 V
   02:ID                                                     2
   02:DCV                                                 4700 V
`;

function modelsOf(text: string, file: string) {
  const { data, notes, configuration, preview } = imported(text, file);
  const [device] = Object.values(data.devices) as unknown as { sunspec: unknown }[];
  return { models: device?.sunspec, notes, configuration, preview };
}

describe('a dump of SunSpec models', () => {
  it('of evcc or mbmd becomes the same models, with their values in units', () => {
    const { models, notes, preview } = modelsOf(EVCC, 'dump.txt');
    expect(preview).toEqual(['values are in their units']);
    expect(models).toEqual([
      {
        model: 1,
        values: {
          Mn: 'KOSTAL',
          Md: 'PLENTICORE plus8',
          Opt: '',
          Vr: '01.30.12',
          SN: '90523TD90001R',
          DA: 71,
        },
      },
      {
        model: 103,
        values: {
          A: 4.29,
          AphA: 1.46,
          A_SF: -2,
          PhVphA: 228.6,
          V_SF: -1,
          W: 940,
          W_SF: 0,
          VA_SF: 0,
          WH: 56_985_670,
          WH_SF: 0,
          St: 4,
          Evt1: 0,
        },
      },
      {
        model: 160,
        values: {
          DCA_SF: -2,
          DCV_SF: -1,
          N: 2,
          module1_ID: 1,
          module1_IDStr: 'string 1',
          module1_DCA: 3.15,
          module1_DCV: 480.5,
          module2_ID: 2,
          module2_DCV: 470,
        },
        repeat: { module: 2 },
      },
    ]);
    expect(notes).toEqual([
      'line 25: Nonsense: model 103 has no such point',
      expect.stringContaining('line 38: unknown SunSpec model "64999"'),
      'line 10: VA_SF: not available in the dump, so it is set to 0',
    ]);
  });

  it('of pysunspec2 has its stored numbers scaled, and its groups counted', () => {
    const { models, notes, preview } = modelsOf(JSON.stringify(RAW, undefined, 2), 'inverter.json');
    expect(preview).toEqual(['values are stored numbers, so their scale factors were applied']);
    expect(models).toMatchObject([
      { model: 1, values: { Mn: 'Maker', Md: 'Inverter 123', Vr: '', SN: '9999abcd' } },
      {
        model: 129,
        values: { Tms_SF: -2, V_SF: -1, curve1_Tms1: 2, curve1_V1: 88, curve2_V1: 75.5 },
        repeat: { curve: 2 },
      },
      { model: 12, values: { Addr: '192.168.1.20' } },
    ]);
    expect(notes).toEqual([
      'models[1]: Extra: model 129 has no such point',
      'models[0]: model 1 is 65 registers long in the dump, but 66 here',
      expect.stringContaining('models[1]: model 129 is 210 registers long in the dump, but '),
    ]);
  });

  it('that pysunspec2 has computed is left as it is', () => {
    const { models, preview } = modelsOf(COMPUTED, 'x.json');
    expect(preview).toEqual(['values are in their units']);
    expect(models).toEqual([{ model: 103, values: { A: 12, A_SF: -2, W: 2870, W_SF: 0, St: 4 } }]);
  });

  it('of suns.py has its stored numbers scaled, whatever stands behind them', () => {
    expect(modelsOf(SUNS, 'suns.txt')).toMatchObject({
      models: [
        { model: 1, values: { Mn: 'A Maker', SN: '' } },
        { model: 103, values: { A: 12.5, A_SF: -2, WH: 56_985_670 } },
        {
          model: 160,
          values: { DCV_SF: -1, N: 2, module1_ID: 1, module1_DCV: 480, module2_ID: 2, module2_DCV: 470 },
          repeat: { module: 2 },
        },
      ],
      notes: [],
    });
  });

  it('gives a device that stores what the real one did', () => {
    const { configuration } = modelsOf(SUNS, 'suns.txt');
    const { words } = configuration.devices[0]?.tables.holding.layout ?? { words: new Uint16Array() };
    const model103 = 40_002 + 68;
    expect([...words.subarray(model103, model103 + 3)]).toEqual([103, 50, 1250]);
    // 101 registers further: ID, L and 8 more of model 160, then ID, IDStr and DCA of its first module.
    const module = model103 + 52 + 10;
    expect([words[module], words[module + 10], words[module + 30]]).toEqual([1, 4800, 4700]);
  });

  it.each([
    [
      '{"models": [5, {"ID": "x"}, {}]}',
      'no registers found; read as a pysunspec2 dump; models[0]: expected a model',
    ],
    ['{"models": 5, "ID": 1}', 'expected a model with its group, or a device with its models'],
    ['nothing', 'expected a SunSpec model, or a dump of models'],
    ['{"models": [', 'this [ is not closed'],
  ])('that is none is refused: %s', (text, message) => {
    expect(refusedImport(text, 'x.json', 'sunspec')).toContain(message);
  });

  it('with groups in groups that are there too often is left out', () => {
    const curve = [{ Pt: Array(100).fill({ V: 1 }) }, ...Array(300).fill({})];
    expect(refusedImport(JSON.stringify({ models: [{ ID: 705, Crv: curve }] }), 'x.json')).toContain(
      'no registers found; read as a pysunspec2 dump',
    );
  });

  it('never throws, whatever its lines are', () => {
    const line = fc.constantFrom(
      ...EVCC.split('\n'),
      ...SUNS.split('\n'),
      '   01:02:V 5',
      '-- Block 9999 --',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const result = importText(lines.join('\n'), 'x.txt', 'sunspec');
        if (result.ok) expect(result.value.lines).toHaveLength(1);
      }),
    );
  });
});

describe('a definition of a SunSpec model', () => {
  /** As it is published: symbols are a list. */
  function published(id: number): string {
    const text = readFileSync(new URL(`../../../sunspec/model_${id}.json`, import.meta.url), 'utf8');
    return JSON.stringify(
      JSON.parse(text, (key, value) =>
        key === 'symbols'
          ? Object.entries(value).map(([number, name]) => ({ name, value: Number(number) }))
          : value,
      ),
    );
  }

  it.each(some(sunspecIds(), 10))('%i gives the registers that `sunspec` of a device gives', (id) => {
    const { configuration } = imported(published(id), `model_${id}.json`);
    const file = `devices: {m: {sunspec: [${id === 1 ? id : `1, ${id}`}]}}\nlines: {l: {tcp: {port: 5020}, units: {1: m}}}`;
    const bundled = loadNative(file, '.');
    if (!bundled.ok) throw new Error(JSON.stringify(bundled.problems));
    const [one, other] = [configuration, bundled.configuration].map(({ devices }) => devices[0]);
    expect(one?.tables.holding.layout.words.subarray(40_000)).toEqual(
      other?.tables.holding.layout.words.subarray(40_000),
    );
    expect(one?.tables.holding.layout.meta.subarray(40_000)).toEqual(
      other?.tables.holding.layout.meta.subarray(40_000),
    );
    expect(one?.life?.points).toEqual(other?.life?.points);
  });

  it('of a vendor is served behind the common model', () => {
    const vendor = {
      id: 64_999,
      group: {
        name: 'vendor',
        type: 'group',
        points: [
          { name: 'ID', type: 'uint16', size: 1, value: 64_999, desc: 'left out' },
          { name: 'L', type: 'uint16', size: 1 },
          { name: 'Heat', type: 'int16', size: 1, sf: -1, units: 'C', access: 'RW' },
        ],
      },
    };
    const { registers, notes } = imported(JSON.stringify(vendor), 'vendor.json');
    expect(notes).toEqual([]);
    expect(registers.holding?.slice(-4)).toEqual([
      { address: 40_070, name: 'm64999_ID', type: 'uint16', value: 64_999 },
      { address: 40_071, name: 'm64999_L', type: 'uint16', value: 1 },
      {
        address: 40_072,
        name: 'm64999_Heat',
        write: true,
        type: 'int16',
        scale: 0.1,
        value: 0,
        available: 'whenWritten',
        unit: 'C',
      },
      { address: 40_073, value: [0xffff, 0] },
    ]);
  });

  it.each([
    [{ id: 0, group: { name: 'x' } }, 'id: expected the number of a model from 1 to 65534, got 0'],
    [
      { id: 7, group: { name: 'x', points: [{ name: 'A', type: 'uint15', size: 1 }] } },
      'group.points[0].type',
    ],
    [{ id: 7, group: { name: 'a b' } }, 'group.name: expected a name of letters'],
    [
      {
        id: 7,
        group: {
          name: 'x',
          groups: Array(3000).fill({ name: 'y', count: 4096, points: [{ name: 'A', type: 'pad', size: 1 }] }),
        },
      },
      'has too many points',
    ],
  ])('with a mistake is refused: %#', (model, message) => {
    expect(refusedImport(JSON.stringify(model), 'x.json', 'sunspec')).toContain(message);
  });
});
