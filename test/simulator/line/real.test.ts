import { describe, expect, it } from 'vitest';
import { encodeMbap } from '../../../src/modbus/protocol/mbap.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';

/* A real device behind a simulated one. The real device is another simulator, which its own tests hold against the specification. */

stopAfterEach();

/** Unit 5: registers 0 to 2 are 7, 8 and 9 and may be written, coils 0 and 1 are on and off. */
function startPlant(port = 0): Promise<RunningSimulator> {
  const registers = {
    holding: [{ address: 0, value: [7, 8, 9], write: true }],
    coils: [{ address: 0, value: [true, false], write: true }],
  };
  return startSimulator(
    nativeSetup({
      devices: { meter: { identity: { vendorName: 'Real' }, registers } },
      lines: { plant: { tcp: { port }, units: { 5: 'meter' } } },
    }),
  );
}

interface Beside {
  readonly device?: object;
  readonly real?: object;
  readonly devices?: object;
  readonly framing?: string;
}

async function stand({ device = {}, real = {}, devices = {}, framing = 'socket' }: Beside = {}) {
  const plant = await startPlant();
  const front = await startSimulator(
    nativeSetup({
      devices: {
        meter: {
          real: { tcp: { host: '127.0.0.1', port: plant.port('plant') }, unit: 5, timeout: '10s', ...real },
          ...device,
        },
        ...devices,
      },
      lines: { bench: { tcp: { port: 0 }, framing, units: { 1: 'meter' } } },
    }),
  );
  const client = front.client('bench');
  let transactionId = 0;
  /** The PDU of the reply to one, as hexadecimal text. */
  const ask = async (pdu: string): Promise<string> => {
    client.send(encodeMbap({ transactionId: ++transactionId, unitId: 1, pdu: bytesOf(pdu) }));
    const reply = (await client.responsesOf(transactionId)).at(-1);
    expect(reply).toMatchObject({ transactionId, unitId: 1 });
    return hexOf(reply?.pdu ?? new Uint8Array());
  };
  const texts = async () => {
    const { body } = await front.rest.send('GET', '/api/v1/traffic?kind=line');
    return (body as { events: { text: string }[] }).events
      .map(({ text }) => text)
      .filter((text) => text.startsWith('real device'));
  };
  return { plant, front, client, ask, texts };
}

const READ = '03 0000 0003';
const VALUES = '0306000700080009';

describe('a real device behind a simulated one', () => {
  it('answers, with its values, its exceptions and its identification', async () => {
    const { ask } = await stand();
    expect(await ask(READ)).toBe(VALUES);
    expect(await ask('01 0000 0002')).toBe('010101');
    expect(await ask('03 0002 0002')).toBe('8302');
    expect(await ask('2b 0e 01 00')).toContain(Buffer.from('Real').toString('hex'));
  });

  it('is only read, unless writes is true', async () => {
    const { ask, plant, texts } = await stand();
    expect(await ask('06 0000 0001')).toBe('8601');
    expect(holding(plant, 'meter', 0, 1)).toEqual([7]);
    expect(plant.simulator.lines.get('plant')?.counters.requests).toBe(0);
    expect(await texts()).toEqual([
      'real device meter: function 6 was not forwarded: that needs writes: true',
    ]);
    const open = await stand({ device: { writes: true } });
    expect(await open.ask('06 0000 0001')).toBe('0600000001');
    expect(holding(open.plant, 'meter', 0, 1)).toEqual([1]);
  });

  it('answers late, and rules act on its replies', async () => {
    const { ask, front } = await stand();
    front.addRule({ name: 'busy', do: [{ exception: 6 }], when: { function: 1 } });
    front.addRule({ name: 'wrong', do: [{ values: [1, 2, 3] }], when: { function: 3 } });
    expect(await ask('01 0000 0002')).toBe('8106');
    expect(await ask(READ)).toBe('0306000100020003');
  });

  it('keeps the order of pipelined requests', async () => {
    const { client } = await stand();
    const requests = [1, 2, 3].map((transactionId) =>
      encodeMbap({ transactionId, unitId: 1, pdu: bytesOf('03 0000 0001') }),
    );
    client.send(Buffer.concat(requests));
    expect((await client.responsesOf(3)).map(({ transactionId }) => transactionId)).toEqual([1, 2, 3]);
  });

  it('is silent where the real one is, or exception 0B', async () => {
    const real = { unit: 9, timeout: '100ms' };
    const { ask, plant } = await stand({ real, device: { whenSilent: 'exception' } });
    const { rules } = plant.simulator.faults;
    expect(rules.list()).toEqual([]);
    // Unit 9 is missing: the plant is a gateway, and says so itself.
    expect(await ask(READ)).toBe('830b');
    await plant.stop();
    expect(await ask(READ)).toBe('830b');
  });

  it('shows its values under their names', async () => {
    const registers = { holding: [{ address: 1, value: 0, name: 'power' }] };
    const { ask, front } = await stand({ device: { registers } });
    await ask(READ);
    const { body } = await front.rest.send('GET', '/api/v1/devices/meter/values/power');
    expect(body).toMatchObject({ value: 8 });
    const hidden = await stand({ device: { registers, shadow: false } });
    await hidden.ask(READ);
    expect(holding(hidden.front, 'meter', 1, 1)).toEqual([0]);
  });

  it('is reached by requests of Modbus clients alone', async () => {
    const registers = { holding: [{ address: 1, value: 0, name: 'power', write: true }] };
    const { plant, front, ask } = await stand({ device: { registers, writes: true } });
    const { rest } = front;
    expect(await rest.send('PUT', '/api/v1/devices/meter/values/power', { value: 5 })).toMatchObject({
      status: 200,
    });
    expect(await rest.send('POST', '/api/v1/devices/meter/reset')).toMatchObject({ status: 200 });
    expect(plant.simulator.lines.get('plant')?.counters.requests).toBe(0);
    expect(holding(plant, 'meter', 0, 3)).toEqual([7, 8, 9]);
    // What clients read is real, whatever REST has written here.
    expect(await ask(READ)).toBe(VALUES);
  });

  it('gives way to its fallback after one time-out, and comes back', async () => {
    const spare = { registers: { holding: [{ address: 0, value: [1, 2, 3], write: true }] } };
    const { ask, plant, texts, front } = await stand({
      device: { writes: true, fallback: 'spare' },
      devices: { spare },
    });
    const port = plant.port('plant');
    expect(await ask(READ)).toBe(VALUES);
    // The fallback has what the real device said last.
    expect(holding(front, 'spare', 0, 3)).toEqual([7, 8, 9]);
    await plant.stop();
    expect(await ask(READ)).toBe(VALUES);
    expect(await ask('06 0000 0063')).toBe('0600000063');
    expect(holding(front, 'spare', 0, 1)).toEqual([99]);
    const again = await startPlant(port);
    await expect.poll(texts).toHaveLength(2);
    const [away, back] = await texts();
    expect(away).toMatch(/^real device meter: .*; spare answers instead$/);
    expect(back).toBe('real device meter: answers again');
    expect(await ask(READ)).toBe(VALUES);
    expect(holding(again, 'meter', 0, 1)).toEqual([7]);
  });
});
