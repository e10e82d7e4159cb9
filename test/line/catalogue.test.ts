import modbusSerial from 'modbus-serial';
import { afterEach, describe, expect, it } from 'vitest';
import { nativeSetup } from '../support/configuration.js';
import { startSimulator, stopAfterEach } from '../support/simulator.js';

/* Entries of the catalogue as a client sees them that we did not write. Entries about time have a shorter one here. */

type Client = InstanceType<typeof modbusSerial.default>;

stopAfterEach();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await new Promise<void>((resolve) => client.close(resolve));
});

/** A client of a device that is like an entry. */
async function clientOf(like: string, timeout = 300): Promise<Client> {
  const running = await startSimulator(
    nativeSetup({
      devices: {
        meter: {
          like,
          registers: {
            holding: [
              { address: 0, value: [10, 11, 12, 13], write: true },
              { address: 5, value: [15, 16] },
              { address: 10, type: 'uint32', value: 70_000 },
            ],
            input: [{ address: 0, value: [90, 91] }],
            coils: [{ address: 0, value: [1, 0], write: true }],
          },
        },
      },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    }),
  );
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port: running.port('lan') });
  client.setID(1);
  client.setTimeout(timeout);
  clients.push(client);
  return client;
}

const holding = async (client: Client, address: number, quantity = 1) =>
  (await client.readHoldingRegisters(address, quantity)).data;
/** The values, or why there are none, of each read in turn. */
async function reads(client: Client, times: number): Promise<(number | string | undefined)[]> {
  const seen: (number | string | undefined)[] = [];
  for (let i = 0; i < times; i++) {
    seen.push(
      await holding(client, 0).then(
        ([value]) => value,
        (error: Error) => error.message,
      ),
    );
  }
  return seen;
}
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: Error) => error.message,
  );

describe('modbus-serial on TCP sees', () => {
  it('few-registers: exception 03 for 41, and all of 40', async () => {
    const client = await clientOf('few-registers', 5000);
    expect(await failure(holding(client, 0, 41))).toContain('Illegal data value');
    expect(await holding(client, 0, 4)).toEqual([10, 11, 12, 13]);
  });

  it('no-half-values: exception 02 for one of two registers', async () => {
    const client = await clientOf('no-half-values', 5000);
    expect(await failure(holding(client, 10, 1))).toContain('Illegal data address');
    expect(await holding(client, 10, 2)).toEqual([1, 4464]);
  });

  it('holes: moved together, zeros, or nothing', async () => {
    expect(await holding(await clientOf('holes-shift', 5000), 2, 4)).toEqual([12, 13, 15, 0]);
    expect(await holding(await clientOf('holes-all-or-nothing', 5000), 2, 4)).toEqual([12, 13, 0, 15]);
    expect(await failure(holding(await clientOf('holes-silent'), 2, 4))).toBe('Timed out');
  });

  it('only-function-16 and only-function-6: exception 01 for the other', async () => {
    const sixteen = await clientOf('only-function-16', 5000);
    expect(await failure(sixteen.writeRegister(0, 1))).toContain('Illegal function');
    await sixteen.writeRegisters(0, [1]);
    const six = await clientOf('only-function-6', 5000);
    expect(await failure(six.writeRegisters(0, [1]))).toContain('Illegal function');
    await six.writeRegister(0, 1);
  });

  it('shared-memory and map-off-by-one: other registers than the map says', async () => {
    const shared = await clientOf('shared-memory', 5000);
    expect((await shared.readInputRegisters(0, 1)).data).toEqual([10]);
    expect(await holding(await clientOf('map-off-by-one', 5000), 0)).toEqual([11]);
  });

  it('first-request-lost: a time-out, and then an answer on the same connection', async () => {
    const client = await clientOf('first-request-lost', 1100);
    expect(await reads(client, 2)).toEqual(['Timed out', 10]);
  });

  it('deaf-after-early-request: no answer on this connection any more', async () => {
    const client = await clientOf('deaf-after-early-request', 1100);
    expect(await reads(client, 2)).toEqual(['Timed out', 'Timed out']);
  });

  it('first-reply-slow: the first one only', async () => {
    const client = await clientOf('first-reply-slow', 400);
    expect((await reads(client, 3))[0]).toBe('Timed out');
    client.setTimeout(5000);
    expect(await reads(client, 1)).toEqual([10]);
  });

  it('locks-up-after-bad-read: nothing after an exception 02', async () => {
    const client = await clientOf('locks-up-after-bad-read');
    expect(await reads(client, 1)).toEqual([10]);
    expect(await failure(holding(client, 100))).toContain('Illegal data address');
    expect(await reads(client, 2)).toEqual(['Timed out', 'Timed out']);
  });

  it('busy-every-other: exception 06 or silence by turns', async () => {
    const client = await clientOf('busy-every-other');
    const seen = await reads(client, 4);
    expect(seen[0]).toBe(10);
    expect(seen.slice(1)).not.toContain(10);
  });

  it('zero-for-a-poll, gateway-gives-up and exception-zero: what is said, when it is said', async () => {
    expect((await reads(await clientOf('gateway-gives-up', 5000), 21)).at(-1)).toContain('Gateway target');
    expect((await reads(await clientOf('zero-for-a-poll', 5000), 30)).at(-1)).toBe(0);
    expect((await reads(await clientOf('exception-zero', 5000), 10)).at(-1)).not.toBe(10);
  });

  it('old-value-after-write: the value of before, and later the new one', async () => {
    const client = await clientOf('old-value-after-write', 5000);
    await client.writeRegister(0, 99);
    expect(await holding(client, 0)).toEqual([10]);
    await new Promise((resolve) => setTimeout(resolve, 2100));
    expect(await holding(client, 0)).toEqual([99]);
  });

  it('one-behind-for-ever and wrong-unit: replies that a client must not take', async () => {
    const behind = await clientOf('one-behind-for-ever');
    const seen = await reads(behind, 5);
    expect(seen.slice(0, 3)).toEqual([10, 10, 10]);
    expect(seen.slice(3)).toEqual(['Timed out', 'Timed out']);
    const wrong = await reads(await clientOf('wrong-unit'), 5);
    expect(wrong.slice(0, 4)).toEqual([10, 10, 10, 10]);
    expect(wrong[4]).not.toBe(10);
  });

  it.each(['transaction-off-by-one', 'transaction-swapped', 'wide-registers'])('%s: no value', async (id) => {
    expect(await reads(await clientOf(id), 2)).not.toContain(10);
  });

  it('short-block: fewer registers than it asked for', async () => {
    expect(await failure(holding(await clientOf('short-block'), 0, 4))).not.toBe('answered');
  });
});
