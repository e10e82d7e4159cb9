import modbusSerial from 'modbus-serial';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AT, MANY, METER, PEER_CONFIG } from '../../support/peer-config.js';
import { type RunningProgram, startProgram } from '../../support/program.mjs';

type Client = InstanceType<typeof modbusSerial.default>;

const SERIAL = { slow: { baudRate: 9600 }, fast: { baudRate: 115200, parity: 'even' } } as const;

let program: RunningProgram;
beforeAll(async () => {
  program = await startProgram({ config: PEER_CONFIG });
});
afterAll(async () => {
  expect(await program.stop()).toBe(0);
});

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await new Promise<void>((resolve) => client.close(resolve));
});

/** A master at a virtual serial line, through serialport. */
async function serialClient(line: keyof typeof SERIAL): Promise<Client> {
  const client = newClient();
  await client.connectRTUBuffered(program.serialPath(line), { ...SERIAL[line] });
  return client;
}

/** modbus-serial's buffered port does not know the functions 22, 23 and custom ones: it never gets their answers. */
async function plainSerialClient(line: keyof typeof SERIAL): Promise<Client> {
  const client = newClient();
  await client.connectRTU(program.serialPath(line), { ...SERIAL[line] });
  return client;
}

async function tcpClient(): Promise<Client> {
  const client = newClient();
  await client.connectTCP('127.0.0.1', { port: program.tcpPort('lan') });
  return client;
}

function newClient(): Client {
  const client = new modbusSerial.default();
  client.setTimeout(30_000);
  client.setID(1);
  clients.push(client);
  return client;
}

const asBits = (values: readonly number[]) => values.map((value) => value === 1);

describe.each(['slow', 'fast'] as const)('modbus-serial as the master of the %s line', (line) => {
  it('reads coils and discrete inputs', async () => {
    const client = await serialClient(line);
    const coils = await client.readCoils(0, METER.coils.length);
    const inputs = await client.readDiscreteInputs(0, METER.discrete.length);
    // It shows the unused bits of the last byte too; they have to be 0 (Application Protocol V1.1b3, 6.1).
    expect(coils.data).toEqual([...asBits(METER.coils), ...Array<boolean>(6).fill(false)]);
    expect(inputs.data).toEqual([...asBits(METER.discrete), ...Array<boolean>(5).fill(false)]);
  });

  it('reads input and holding registers', async () => {
    const client = await serialClient(line);
    expect((await client.readInputRegisters(0, 3)).data).toEqual(METER.input);
    expect((await client.readHoldingRegisters(0, 4)).data).toEqual(METER.holding);
    expect((await client.readHoldingRegisters(AT.many, 125)).data).toEqual(MANY);
    expect((await client.readHoldingRegisters(AT.bigFloat, 2)).buffer.readFloatBE()).toBeCloseTo(230.1, 4);
  });

  it('writes one coil and several', async () => {
    const client = await serialClient(line);
    expect(await client.writeCoil(AT.scratch, true)).toEqual({ address: AT.scratch, state: true });
    const states = asBits([0, 1, 1, 0, 1, 0, 0, 1, 1]);
    expect(await client.writeCoils(AT.scratch + 1, states)).toEqual({ address: AT.scratch + 1, length: 9 });
    expect((await client.readCoils(AT.scratch, 16)).data).toEqual(
      asBits([1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]),
    );
    await client.writeCoil(AT.scratch, false);
    await client.writeCoils(AT.scratch + 1, Array<boolean>(9).fill(false));
    expect((await client.readCoils(AT.scratch, 16)).data).toEqual(Array<boolean>(16).fill(false));
  });

  it('writes one register and several', async () => {
    const client = await serialClient(line);
    expect(await client.writeRegister(AT.scratch, 4711)).toEqual({ address: AT.scratch, value: 4711 });
    expect(await client.writeRegisters(AT.scratch + 1, [8, 15, 65535])).toEqual({
      address: AT.scratch + 1,
      length: 3,
    });
    expect((await client.readHoldingRegisters(AT.scratch, 4)).data).toEqual([4711, 8, 15, 65535]);
    const many = MANY.slice(0, 123).reverse();
    await client.writeRegisters(AT.many, many);
    expect((await client.readHoldingRegisters(AT.many, 123)).data).toEqual(many);
    await client.writeRegisters(AT.many, MANY.slice(0, 123));
  });

  it('masks a register', async () => {
    const client = await plainSerialClient(line);
    // The example of Application Protocol V1.1b3, 6.16.
    await client.writeRegister(AT.scratch + 8, 0x12);
    const masked = { address: AT.scratch + 8, andMask: 0xf2, orMask: 0x25 };
    expect(await client.maskWriteRegister(masked.address, masked.andMask, masked.orMask)).toEqual(masked);
    expect((await client.readHoldingRegisters(AT.scratch + 8, 1)).data).toEqual([0x17]);
  });

  it('writes and reads in one request, the write first', async () => {
    const client = await plainSerialClient(line);
    await client.writeRegisters(AT.scratch + 4, [0, 0, 0, 0]);
    const read = await new Promise<number[]>((resolve, reject) => {
      client.writeFC23(1, AT.scratch + 4, 4, AT.scratch + 5, 2, [21, 22], (error, result) =>
        error ? reject(error) : resolve(result.data),
      );
    });
    expect(read).toEqual([0, 21, 22, 0]);
  });

  it('gets exceptions 01, 02 and 03', async () => {
    const client = await plainSerialClient(line);
    await expect(client.customFunction(65, [1, 2, 3])).rejects.toThrow('Modbus exception 1:');
    await expect(client.readHoldingRegisters(AT.undefined, 1)).rejects.toThrow('Modbus exception 2:');
    await expect(client.readDiscreteInputs(METER.discrete.length - 1, 2)).rejects.toThrow(
      'Modbus exception 2:',
    );
    await expect(client.writeRegister(AT.readOnlyRegister, 1)).rejects.toThrow('Modbus exception 2:');
    await expect(client.writeCoil(AT.readOnlyCoil, false)).rejects.toThrow('Modbus exception 2:');
    await expect(client.writeRegisters(AT.scratch + 15, [9, 9])).rejects.toThrow('Modbus exception 2:');
    await expect(client.readHoldingRegisters(0, 126)).rejects.toThrow('Modbus exception 3:');
    expect((await client.readHoldingRegisters(AT.readOnlyRegister, 1)).data).toEqual([7]);
    expect((await client.readHoldingRegisters(AT.scratch + 15, 1)).data).toEqual([0]);
  });

  it('reads two units on the line by turns', async () => {
    const client = await serialClient(line);
    for (let turn = 0; turn < 5; turn++) {
      client.setID(1);
      expect((await client.readHoldingRegisters(0, 2)).data).toEqual(METER.holding.slice(0, 2));
      client.setID(17);
      expect((await client.readHoldingRegisters(0, 2)).data).toEqual([71, 72]);
    }
  });

  it('waits in vain for a unit that is not there, and the next request is answered', async () => {
    const client = await serialClient(line);
    client.setID(9);
    client.setTimeout(200);
    await expect(client.readHoldingRegisters(0, 1)).rejects.toMatchObject({ message: 'Timed out' });
    client.setID(1);
    client.setTimeout(30_000);
    expect((await client.readHoldingRegisters(0, 1)).data).toEqual([1]);
  });

  it('gets no answer to a broadcast, which every unit has executed', async () => {
    const client = await serialClient(line);
    client.setID(0);
    client.setTimeout(200);
    await expect(client.writeRegisters(2, [301])).rejects.toMatchObject({ message: 'Timed out' });
    await expect(client.writeRegister(0, 501)).rejects.toMatchObject({ message: 'Timed out' });
    client.setTimeout(30_000);
    client.setID(17);
    // Its device has no register 2.
    expect((await client.readHoldingRegisters(0, 2)).data).toEqual([501, 72]);
    await client.writeRegister(0, 71);
    client.setID(1);
    expect((await client.readHoldingRegisters(0, 3)).data).toEqual([501, 2, 301]);
    await client.writeRegisters(0, [...METER.holding]);
  });
});

describe.each(['slow', 'fast', 'tcp'] as const)(
  'modbus-serial, on %s, asking for more than registers',
  (way) => {
    const open = () => (way === 'tcp' ? tcpClient() : plainSerialClient(way));

    it('reads what the server is, and that it runs', async () => {
      const client = await open();
      // Its types name one argument, it calls back after two.
      const { reportServerID } = client as unknown as {
        reportServerID(...unused: [0, 0]): ReturnType<Client['reportServerID']>;
      };
      const { serverId, running, additionalData } = await reportServerID.call(client, 0, 0);
      expect({ serverId, running, additional: `${additionalData}` }).toEqual({
        serverId: 0,
        running: true,
        additional: 'Example Co EX-1',
      });
    });

    it('reads the 100 records of a file that it always asks for', async () => {
      const client = await open();
      // Its types know nothing of this.
      const { readFileRecords } = client as unknown as {
        readFileRecords(file: number, record: number): Promise<{ data: number[]; length: number }>;
      };
      const read = await readFileRecords.call(client, 4, 0);
      expect(read.length).toBe(2 + 200);
      expect(read.data.slice(0, 200)).toEqual(Array(200).fill(0));
    });

    it('reads the device identification, basic and one object alone', async () => {
      const client = await open();
      const basic = await client.readDeviceIdentification(1, 0);
      expect(Object.values(basic.data)).toEqual(['Example Co', 'EX-1', '1.2']);
      const single = await client.readDeviceIdentification(4, 1);
      expect(Object.values(single.data)).toEqual(['EX-1']);
    });
  },
);

describe('a device on serial lines and on TCP', () => {
  it('shows on each what a client wrote on another', async () => {
    const [slow, fast, tcp] = [await serialClient('slow'), await serialClient('fast'), await tcpClient()];
    const at = AT.scratch + 12;
    await tcp.writeRegister(at, 1111);
    expect((await slow.readHoldingRegisters(at, 1)).data).toEqual([1111]);
    await slow.writeRegister(at, 2222);
    expect((await fast.readHoldingRegisters(at, 1)).data).toEqual([2222]);
    await fast.writeRegister(at, 3333);
    expect((await tcp.readHoldingRegisters(at, 1)).data).toEqual([3333]);
  });

  it('serves clients of all lines at once', async () => {
    const lines = [await serialClient('slow'), await serialClient('fast'), await tcpClient()];
    const readers = lines.map(async (client) => {
      for (let turn = 0; turn < 20; turn++) {
        expect((await client.readHoldingRegisters(AT.many, 20)).data).toEqual(MANY.slice(0, 20));
      }
    });
    await Promise.all(readers);
  });
});
