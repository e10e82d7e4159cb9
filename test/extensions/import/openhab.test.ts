import { expect, it } from 'vitest';
import { importText } from '../../../src/extensions/import/import.js';
import { imported, refusedImport } from './helpers.js';

/* Things of openHAB, as its documentation and its users write them. */

const THINGS = `// The inverter
Bridge modbus:tcp:inverter "Inverter" [ host="192.0.2.7", port=1502, id=3 ] {
    /* A block */
    Bridge poller pv [ start=30775, length=6, refresh=5000, type="input" ] {
        Thing data power "PV power" @ "Roof" [ readStart="30775", readValueType="int32" ]
        Thing data total [ readStart="30777", readValueType="uint32_swap", readTransform="JS:divide1000.js" ]
    }
    Bridge poller states [ start=4, length=2, type="coil" ] {
        Thing data relay [ readStart="4", readValueType="bit", writeStart="4", writeValueType="bit", writeType="coil" ]
    }
    Bridge poller control [ start=100, length=1, type="holding" ] {
        Thing data setpoint [ readStart="100", readValueType="int16",
                              writeStart="100", writeValueType="int16", writeType="holding" ]
        Thing data ready [ readStart="100.3", readValueType="bit" ]
    }
    Thing data alone [ writeStart="5", writeValueType="int16", writeType="holding" ]
}
Thing http:url:prices [ baseURL="https://192.0.2.9/x" ] { Channels: Type string : json [ ] }
Bridge modbus:serial:bus [ port="/dev/ttyUSB0", id=7, baud=9600 ] {
    Bridge poller level [ start=0, length=2, type="discrete" ] { Thing data d0 [ readStart="0", readValueType="bit" ] }
}
`;

it('openHAB things become the devices that their pollers read', () => {
  const { registers, notes, data } = imported(THINGS, 'energy.things');
  expect(registers.input).toMatchObject([
    { address: 30775, type: 'int32', name: 'power', description: 'PV power' },
    { address: 30777, type: 'uint32', wordOrder: 'little', name: 'total' },
    { address: 30779 },
    { address: 30780 },
  ]);
  expect(registers.coils).toMatchObject([{ address: 4, name: 'relay', write: true }, { address: 5 }]);
  expect(registers.holding).toMatchObject([
    { address: 5, type: 'int16', name: 'alone', write: true },
    { address: 100, write: true },
  ]);
  expect(Object.values(data.lines).map(({ units }) => Object.keys(units))).toEqual([['3'], ['7']]);
  expect(notes.join()).toContain('"JS:divide1000.js" is not applied');
});

it.each([
  ['Bridge modbus:tcp:a [ host="x" ] {', 'expected a } for each {; 1 missing'],
  [
    'Bridge modbus:tcp:a [ host="x" ] { Bridge poller p [ start=1, length=9000, type="input" ] { } }',
    'poller "p": expected a type',
  ],
])('what is wrong with %s is said', (text, message) => {
  expect(refusedImport(text, 'a.things')).toContain(message);
});

it('a comment may separate a bridge from its brace', () => {
  const { registers } = imported(
    'Bridge modbus:tcp:a [ host="10.0.0.1", id=1 ]\n// Bridge modbus:tcp:b [ host="10.0.0.2" ]\n{\n Bridge poller p [ start=7, length=1, type="holding" ]\n {\n  Thing data v [ readStart="7", readValueType="int16" ]\n }\n}\n',
    'modbus.things',
  );
  expect(registers.holding).toMatchObject([{ address: 7, type: 'int16' }]);
});

it('a file of a megabyte of beginnings is read once', () => {
  const hostile = `Bridge modbus:tcp:a [ host="x" ] {\n${'Thing data [ '.repeat(80_000)}`;
  expect(importText(hostile, 'a.things', undefined).ok).toBe(false);
});
