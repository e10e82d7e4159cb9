import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importText } from '../../../src/extensions/import/import.js';
import { imported, refusedImport } from './helpers.js';

/* In the form of samples/project02.xmpp of modbuspal-runtime. */
const FILE = `<?xml version="1.0" encoding="ISO-8859-1" ?>
<!DOCTYPE modbuspal_project SYSTEM "modbuspal.dtd">
<modbuspal_project>
<links selected="TCP/IP" ><tcpip port="503" /></links>
<automation name="up" step="1.0" loop="true" init="0.0">
</automation>
<slave id="127.0.0.1(23)" enabled="true" name="Boiler" implementation="modbus">
<holding_registers>
<register address="100" value="123" name="flow & <return>"/>
<register address="101" value="7">
<binding automation="up" class="Binding_SINT16" order="0"/>
</register>
</holding_registers>
<coils>
<coil address="3" value="1" name="pump"/>
</coils>
<tuning>
<reply_delay min="0" max="50" />
<error_rates no_reply="0.0" />
</tuning>
</slave>
<slave id="2" enabled="false" name="Old" implementation="j-bus">
<holding_registers>
<register address="0" value="70000"/>
</holding_registers>
</slave>
</modbuspal_project>
`;

describe('a project of ModbusPal', () => {
  const { data, notes } = imported(FILE, 'plant.xmpp');

  it('becomes a device for each slave', () => {
    expect(data.lines.lan?.units).toEqual({ 23: 'Boiler', 2: 'Old' });
    expect(data.devices.Boiler?.registers).toEqual({
      coils: [{ address: 3, name: 'pump', value: 1, write: true }],
      holding: [
        {
          address: 100,
          name: 'flow_return',
          type: 'uint16',
          value: 123,
          write: true,
          description: 'flow & <return>',
        },
        { address: 101, type: 'uint16', value: 7, write: true },
      ],
    });
  });

  it('has what is not kept listed, with its lines', () => {
    expect(notes).toEqual([
      'line 11: the automation up is not imported; a signal can do the same: see docs/signals.md',
      'line 18: reply_delay is not imported; a fault rule can do the same: see docs/faults.md',
      'line 22: slave 2 is disabled in ModbusPal, but served here',
      'line 22: ModbusPal shows the addresses of slave 2 from 0; they are the same on the wire',
      'line 24: value 70000 is ignored: expected a whole number from 0 to 65535 (uint16)',
    ]);
  });

  it('expands no entity, and reads no other file', () => {
    const text = `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><modbuspal_project><slave id="1" name="&e;"><register address="1" value="2" name="&e;"/></slave></modbuspal_project>`;
    expect(imported(text, 'x.xmpp').text).not.toContain('root:');
  });

  it('is read in time that grows with its length', () => {
    const many = `<modbuspal_project>${'<slave id="1" '.repeat(200_000)}`;
    expect(refusedImport(many, 'x.xmpp')).toContain('no registers found');
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', '>', 'slave', 'register', ' id="1"', ' address="1"', '"', '/', '=')),
        (parts) => {
          importText(`<modbuspal_project>${parts.join('')}`, 'x.xmpp', undefined);
        },
      ),
    );
  });
});
