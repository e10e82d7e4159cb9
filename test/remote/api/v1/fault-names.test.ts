import { describe, expect, it } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { Rest } from '../rest.js';

const SETUP = {
  devices: {
    meter: {
      registers: {
        holding: [
          { address: 0, quantity: 10 },
          { address: 10, type: 'float32', name: 'voltage', value: 230 },
          { address: 12, quantity: 10, write: true },
        ],
        input: [{ address: 0, quantity: 30 }],
        coils: [{ address: 0, name: 'relay', write: true }],
      },
    },
    other: { registers: { holding: [{ address: 0, quantity: 30 }] } },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'other', 7: 'meter', 9: { copyOf: 'meter' } } } },
};

const mute = (name: unknown) => ({ name: 'mute', when: { name }, do: [{ exception: 4 }] });

describe('a fault rule for the name of a value', () => {
  stopAfterEach();

  it('acts on the requests that touch the value, in its table, under every unit of its device', async () => {
    const running = await startSimulator(
      nativeSetup({ ...SETUP, faults: [mute(['meter.voltage', 'meter.relay'])] }),
    );
    const client = running.client();
    const requests: readonly [unit: number, pdu: string, acts: boolean][] = [
      [1, '03 000A 0002', true],
      [1, '03 0000 000B', true],
      [1, '03 0000 000A', false],
      [1, '03 000C 0001', false],
      [1, '04 000A 0002', false],
      [1, '06 000C 0001', false],
      [1, '01 0000 0001', true],
      [1, '05 0000 FF00', true],
      [7, '03 000B 0001', true],
      [9, '03 000A 0002', false],
      [2, '03 000A 0002', false],
    ];
    for (const [unitId, pdu] of requests) {
      client.send(SOCKET.encode({ unitId, transactionId: 1, pdu: bytesOf(pdu) }));
    }
    const responses = await client.responsesOf(requests.length);
    const acted = responses.map(({ pdu }, i) => [
      ...(requests[i] ?? []).slice(0, 2),
      ((pdu[0] ?? 0) & 0x80) !== 0,
    ]);
    expect(acted).toEqual(requests);
  });

  it('acts on the requests that touch the value of a bit with a name', async () => {
    const entry = { address: 40, name: 'status', bits: { 3: 'overload' } };
    const meter = { registers: { holding: [entry, { address: 41 }] } };
    const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
    const running = await startSimulator(
      nativeSetup({ devices: { meter }, lines, faults: [mute('meter.status.overload')] }),
    );
    const client = running.client();
    for (const pdu of ['03 0028 0001', '03 0029 0001'])
      client.send(SOCKET.encode({ unitId: 1, transactionId: 1, pdu: bytesOf(pdu) }));
    expect((await client.responsesOf(2)).map(({ pdu }) => pdu[0])).toEqual([0x83, 3]);
    const refused = await running.rest.send<{ detail: string }>('POST', '/api/v1/faults', {
      ...mute('meter.status.overlaod'),
      name: 'other',
    });
    expect(JSON.stringify(refused.body)).toContain(
      'unknown bit of meter.status \\"overlaod\\", did you mean',
    );
    const { body } = await running.rest.send<{ registers: readonly { label: string }[] }>(
      'GET',
      '/api/v1/devices/meter/registers?names=status',
    );
    expect(body.registers.map(({ label }) => label)).toEqual(['none']);
  });

  it('means the value of its name after a reset, also in a device that was replaced', async () => {
    const device = (address: number) => ({
      registers: {
        holding: [
          { address: 0, quantity: 5 },
          { address: 5 + address, name: 'flow' },
        ],
      },
    });
    const lines = { lan: { tcp: { port: 0 }, units: { 1: 'pump', 2: 'spare' } } };
    const running = await startSimulator(
      nativeSetup({ devices: { pump: device(0), spare: device(0) }, lines, faults: [mute('pump.flow')] }),
    );
    const { rest } = running;
    await rest.send('DELETE', '/api/v1/faults/mute');
    expect((await rest.send('DELETE', '/api/v1/devices/pump?force')).status).toBe(204);
    await rest.send('POST', '/api/v1/faults/reset');
    await rest.send('DELETE', '/api/v1/faults/mute');
    expect((await rest.send('POST', '/api/v1/devices', { name: 'pump', ...device(4) })).status).toBe(201);
    await rest.send('PUT', '/api/v1/lines/lan', { units: { 1: 'pump', 2: 'spare' } });
    await rest.send('POST', '/api/v1/faults/reset');
    const client = running.client();
    for (const pdu of ['03 0000 0001', '03 0009 0001']) {
      client.send(SOCKET.encode({ unitId: 1, transactionId: 1, pdu: bytesOf(pdu) }));
    }
    expect((await client.responsesOf(2)).map(({ pdu }) => pdu[0])).toEqual([0x03, 0x83]);
  });

  it('is shown as it was written', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    const made = await rest.send('POST', '/api/v1/faults', mute('meter.voltage'));
    expect(made).toMatchObject({ status: 201, body: { when: { name: 'meter.voltage' } } });
    expect(await rest.send('PUT', '/api/v1/faults/mute', mute(['meter.relay']))).toMatchObject({
      status: 200,
      body: { when: { name: ['meter.relay'] } },
    });
  });

  it.each([
    ['meter.voltag', 'when.name: unknown name "voltag", did you mean "voltage"? (known: relay, voltage)'],
    [
      'meeter.voltage',
      'when.name: unknown device "meeter", did you mean "meter"? (known: meter, other, meter-9)',
    ],
    [
      'voltage',
      'when.name: expected the name of a device, a dot and the name of a value, as in meter.voltage',
    ],
    [['meter.relay', 'other.x'], 'when.name: unknown name "x" (known: none)'],
  ])('is refused when nothing is called %j', async (name, message) => {
    const rest = new Rest(nativeSetup(SETUP));
    expect(await rest.send('POST', '/api/v1/faults', mute(name))).toMatchObject({
      status: 400,
      body: { error: message },
    });
    expect(() => nativeSetup({ ...SETUP, faults: [mute(name)] })).toThrow();
  });

  it('is refused when it names an address, too', async () => {
    const rest = new Rest(nativeSetup(SETUP));
    const rule = { name: 'both', when: { name: 'meter.voltage', address: 1 }, do: { delay: 1 } };
    expect(await rest.send('POST', '/api/v1/faults', rule)).toMatchObject({
      status: 400,
      body: { error: 'when: expected either address or name' },
    });
  });
});
