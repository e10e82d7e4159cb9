import { once } from 'node:events';
import jsmodbus from 'jsmodbus';
import modbusSerial from 'modbus-serial';
import { SerialPort } from 'serialport';

/** A third-party client of one device. */
export class Master {
  readonly #wire: Wire | undefined;
  readonly access: Access;
  readonly #clients: Client[] = [];
  client!: Client;

  constructor(wire: Wire | undefined, access: Access) {
    this.#wire = wire;
    this.access = access;
  }

  /** Opens a connection for all further requests. */
  async connect(timeout: number, wire = this.#wire): Promise<this> {
    this.client = await newClient(wire, this.access);
    this.#clients.push(this.client);
    this.client.setID(1);
    this.client.setTimeout(timeout);
    return this;
  }

  async reconnect(timeout: number): Promise<this> {
    await closed(this.client);
    return this.connect(timeout);
  }

  /** Closes all connections, and opens one. */
  async alone(timeout: number): Promise<this> {
    await this.close();
    return this.connect(timeout);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map(closed));
  }

  /** Returns the values, or the message of the error. */
  read(address: number, quantity = 1): Promise<string> {
    return said(this.client.readHoldingRegisters(address, quantity).then(({ data }) => data.join(', ')));
  }

  /** Reads register 0 this many times, one after the other. */
  async times(count: number): Promise<string[]> {
    const seen: string[] = [];
    for (let i = 0; i < count; i++) seen.push(await this.read(0));
    return seen;
  }
}

type Client = InstanceType<typeof modbusSerial.default>;

type Wire = 'RTU' | 'RTU, unbuffered' | 'RTU over TCP';

async function newClient(wire: Wire | undefined, { path, port }: Access): Promise<Client> {
  const client = new modbusSerial.default();
  // One that a device throws out says so here, too.
  client.on('error', () => {});
  if (wire === 'RTU, unbuffered') await client.connectRTU(path(), { baudRate: 1200 });
  else if (wire === 'RTU') await client.connectRTUBuffered(path(), { baudRate: 1200 });
  else if (wire) await client.connectTelnet('127.0.0.1', { port: port() });
  else await client.connectTCP('127.0.0.1', { port: port() });
  return client;
}

/** How a line is reached. */
interface Access {
  readonly path: () => string;
  readonly port: () => number;
}

const closed = (client: Client) =>
  client.isOpen ? new Promise<void>((resolve) => client.close(() => resolve())) : Promise.resolve();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Resolves once the line has closed this connection. */
async function gone(client: Client): Promise<void> {
  while (client.isOpen) await pause(5);
}
const said = (answer: Promise<string>) => answer.catch((error: Error) => error.message || error.name);

/** What the client does, in words and in deed, and what comes of it. */
type Deed = readonly [words: string, act: (master: Master) => Promise<string>, says: string];

export interface Row {
  readonly id: string;
  /** How somebody asks who doesn't know the device. */
  readonly naive: Deed;
  /** What helps, after that; undefined where nothing does as long as the device is so. */
  readonly robust?: Deed;
  /** Modbus TCP, unless it is said. */
  readonly wire?: Wire;
  /** What is played in place of manners and rules that are about hours. */
  readonly played?: {
    readonly manners?: object;
    readonly faults?: readonly Record<string, unknown>[];
    readonly line?: object;
  };
}

/** How long an answer may take that comes, in ms: a busy machine stands still now and then. */
const PATIENCE = 30_000;

/** A first connection, and a read over it. */
const read =
  (address: number, quantity = 1, timeout = PATIENCE) =>
  async (master: Master) =>
    (await master.connect(timeout)).read(address, quantity);
/** A first connection, and the last of its reads of register 0. */
const nth =
  (count: number, timeout = PATIENCE) =>
  async (master: Master) =>
    (await (await master.connect(timeout)).times(count)).at(-1) ?? '';
/** RTU by modbus-serial's port without a buffer, and then by the one with it. */
const atOnce = async (master: Master) => (await master.connect(PATIENCE, 'RTU, unbuffered')).read(0);
const inPieces = async (master: Master) => (await master.reconnect(PATIENCE)).read(0);
/** What jsmodbus says to a read of register 0, a client that keeps what it hears between two requests. */
async function withJsmodbus({ access: { path } }: Master): Promise<string> {
  const port = new SerialPort({ path: path(), baudRate: 1200 });
  await once(port, 'open');
  const client = new jsmodbus.client.RTU(port, 1, 1000);
  await pause(1500);
  const seen = await client.readHoldingRegisters(0, 1).then(
    ({ response }) => response.body.valuesAsArray.join(', '),
    ({ message }: { readonly message: string }) => message,
  );
  await new Promise<void>((resolve) => port.close(() => resolve()));
  return seen;
}
/** One more read on the same connection. */
const next =
  (address = 0, quantity = 1) =>
  async (master: Master) => {
    master.client.setTimeout(PATIENCE);
    return master.read(address, quantity);
  };

/** One more read of register 0 on the same connection, with a time-out of `ms`. */
function within(ms: number, master: Master): Promise<string> {
  master.client.setTimeout(ms);
  return master.read(0);
}

/** Asks on over the same connection until it sees what it wants, a minute at most. */
const until =
  (wanted: string, quantity = 1) =>
  async (master: Master) => {
    master.client.setTimeout(2000);
    const end = Date.now() + 60_000;
    let seen = '';
    while (seen !== wanted && Date.now() < end) seen = await master.read(0, quantity);
    return seen;
  };

const OUT = 'Timed out';
const NO_FUNCTION = 'Modbus exception 1: Illegal function (device does not support this read/write function)';
const NO_ADDRESS = 'Modbus exception 2: Illegal data address (register not supported by device)';
const NO_VALUE = 'Modbus exception 3: Illegal data value (value cannot be written to this register)';

/** The registers of every device: a hole at 4, and 7 to 9; 70,000 at 10. */
export const REGISTERS = {
  holding: [
    { address: 0, value: [10, 11, 12, 13], write: true },
    { address: 5, value: [15, 16] },
    { address: 10, type: 'uint32', value: 70_000 },
  ],
  input: [{ address: 0, value: [90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101] }],
  coils: [{ address: 0, value: [1, 0], write: true }],
};

export const ROWS: readonly Row[] = [
  {
    id: 'few-registers',
    naive: ['reads 41 registers', read(0, 41), NO_VALUE],
    robust: ['reads 4', next(0, 4), '10, 11, 12, 13'],
  },
  {
    id: 'no-half-values',
    naive: ['reads one of two registers', read(10, 1), NO_ADDRESS],
    robust: ['reads both', next(10, 2), '1, 4464'],
  },
  {
    id: 'holes-shift',
    naive: ['reads 2 to 5, where 4 is a hole', read(2, 4), '12, 13, 15, 0'],
    robust: ['reads up to the hole', next(2, 2), '12, 13'],
  },
  {
    id: 'holes-all-or-nothing',
    naive: ['reads a hole of three registers', read(7, 3), NO_ADDRESS],
    robust: ['reads only mapped registers', next(5, 2), '15, 16'],
  },
  {
    id: 'holes-silent',
    naive: ['reads 2 to 5, where 4 is a hole', read(2, 4, 300), OUT],
    robust: ['reads up to the hole', next(2, 2), '12, 13'],
  },
  {
    id: 'only-function-16',
    naive: [
      'writes with function 6',
      async (m) => said((await m.connect(PATIENCE)).client.writeRegister(0, 1).then(() => 'written')),
      NO_FUNCTION,
    ],
    robust: [
      'writes with function 16',
      (m) => said(m.client.writeRegisters(0, [1]).then(() => 'written')),
      'written',
    ],
  },
  {
    id: 'only-function-6',
    naive: [
      'writes with function 16',
      async (m) => said((await m.connect(PATIENCE)).client.writeRegisters(0, [1]).then(() => 'written')),
      NO_FUNCTION,
    ],
    robust: [
      'writes with function 6',
      (m) => said(m.client.writeRegister(0, 1).then(() => 'written')),
      'written',
    ],
  },
  {
    id: 'shared-memory',
    naive: [
      'reads input registers 0 and 1, which are 90 and 91',
      async (m) =>
        said((await m.connect(PATIENCE)).client.readInputRegisters(0, 2).then(({ data }) => data.join(', '))),
      '10, 11',
    ],
  },
  {
    id: 'map-off-by-one',
    naive: ['reads register 1, which is 11', read(1), '12'],
    robust: ['reads one address lower', next(0), '11'],
  },
  {
    id: 'words-swapped',
    naive: ['reads 70,000 as two registers, 1 and 4464', read(10, 2), '4464, 1'],
    robust: [
      'reads each register separately',
      async (m) => [await m.read(10), await m.read(11)].join(', '),
      '1, 4464',
    ],
  },
  {
    id: 'first-request-lost',
    played: { manners: { connectPause: 3000 } },
    naive: ['sends a request immediately after connecting (the device needs 3 s here)', read(0, 1, 300), OUT],
    robust: ['waits 3.1 s and retries', (m) => pause(3100).then(() => next()(m)), '10'],
  },
  {
    id: 'deaf-after-early-request',
    played: { manners: { connectPause: { for: 3000, otherwise: 'deaf' } } },
    naive: [
      'sends a request immediately after connecting (the device needs 3 s here), and again after 3.1 s',
      async (m) => [await read(0, 1, 300)(m), await pause(3100).then(() => m.read(0))].join(', '),
      `${OUT}, ${OUT}`,
    ],
    robust: [
      'reconnects, waits 3.1 s, sends a request',
      async (m) => {
        await m.reconnect(PATIENCE);
        await pause(3100);
        return m.read(0);
      },
      '10',
    ],
  },
  {
    id: 'first-reply-slow',
    naive: ['uses a time-out of 300 ms', read(0, 1, 300), OUT],
    robust: ['uses a time-out of 30 s', next(), '10'],
  },
  {
    id: 'needs-a-pause',
    played: { manners: { pauseBefore: 3000 } },
    naive: [
      'sends two requests without a pause (the device needs 3 s here)',
      async (m) => [await read(0)(m), await within(300, m)].join(', '),
      `10, ${OUT}`,
    ],
    robust: ['waits 3.1 s and retries', (m) => pause(3100).then(() => next()(m)), '10'],
  },
  {
    id: 'deaf-after-neighbour',
    wire: 'RTU',
    played: { manners: { pauseBefore: 3000 } },
    naive: [
      'polls a neighbour on the same wires, and immediately the device (it needs 3 s here)',
      async (m) => {
        await m.connect(PATIENCE);
        m.client.setID(2);
        const neighbour = await m.read(0);
        m.client.setID(1);
        return [neighbour, await within(300, m)].join(', ');
      },
      `7, ${OUT}`,
    ],
    robust: ['waits 3.1 s and retries', (m) => pause(3100).then(() => next()(m)), '10'],
  },
  {
    id: 'sleeps',
    played: { manners: { sleeps: { after: 3000, wakes: 1 } } },
    naive: [
      'sends a request after a pause (3.2 s here; the device sleeps after 3 s)',
      async (m) => {
        // It may sleep already.
        await read(0, 1, 300)(m);
        await pause(3200);
        return within(150, m);
      },
      OUT,
    ],
    robust: ['retries at once', next(), '10'],
  },
  {
    id: 'locks-up-after-bad-read',
    naive: [
      'reads a missing address, then an existing one',
      async (m) => [await read(100)(m), await within(3000, m)].join(', '),
      `${NO_ADDRESS}, ${OUT}`,
    ],
  },
  {
    id: 'locks-up-on-fast-reconnect',
    played: { manners: { locksUp: { on: [{ reconnect: 3000 }], for: 5000 } } },
    naive: [
      'reconnects at once and sends a request (the device needs 3 s between connections here)',
      async (m) => {
        await m.connect(300);
        return (await m.reconnect(300)).read(0);
      },
      OUT,
    ],
    robust: ['keeps the connection and continues polling', until('10'), '10'],
  },
  {
    id: 'newcomer-evicts',
    naive: [
      'is connected when a second client connects, then sends a request',
      async (m) => {
        const { client } = await m.connect(PATIENCE);
        await m.read(0);
        await m.connect(PATIENCE);
        await m.read(0);
        await gone(client);
        return said(client.readHoldingRegisters(0, 1).then(() => 'answered'));
      },
      'Port Not Open',
    ],
    robust: [
      'reconnects after the other client has disconnected',
      (m) => m.reconnect(PATIENCE).then(() => m.read(0)),
      '10',
    ],
  },
  {
    id: 'one-client',
    naive: [
      'connects while another client is connected, and sends a request',
      async (m) => {
        await m.connect(PATIENCE);
        await m.read(0);
        await m.connect(PATIENCE);
        await gone(m.client);
        return m.read(0);
      },
      'Port Not Open',
    ],
    robust: [
      'connects after the other client has disconnected',
      (m) => m.alone(PATIENCE).then(() => m.read(0)),
      '10',
    ],
  },
  {
    id: 'second-client-unheard',
    naive: [
      'connects while another client is connected, and sends a request',
      async (m) => {
        await m.connect(PATIENCE);
        await m.read(0);
        await m.connect(300);
        return m.read(0);
      },
      OUT,
    ],
    robust: [
      'connects after the other client has disconnected',
      (m) => m.alone(PATIENCE).then(() => m.read(0)),
      '10',
    ],
  },
  {
    id: 'pipelined-dropped',
    played: { faults: [{ name: 'slow', do: { delay: 300 } }] },
    naive: [
      'sends three requests without waiting (each is answered after 0.3 s here)',
      async (m) => {
        await m.connect(5000);
        return (await Promise.all([m.read(0), m.read(1), m.read(2)])).join(', ');
      },
      `10, ${OUT}, ${OUT}`,
    ],
    robust: [
      'sends one request at a time',
      async (m) => {
        m.client.setTimeout(PATIENCE);
        return [await m.read(0), await m.read(1), await m.read(2)].join(', ');
      },
      '10, 11, 12',
    ],
  },
  {
    id: 'stray-byte-while-idle',
    wire: 'RTU',
    played: { line: { unsolicited: { bytes: 'ff', every: 300 } } },
    naive: ['jsmodbus reads one register (with a byte every 0.3 s here)', withJsmodbus, 'Req timed out'],
    robust: ['modbus-serial reads it', read(0), '10'],
  },
  {
    id: 'stranger-answers-first',
    wire: 'RTU',
    // So far apart that a busy machine hands over the two frames in two reads.
    played: { line: { timing: { t35: 3000 } } },
    naive: [
      'accepts the first frame received (3 s before the right one here)',
      atOnce,
      'Unexpected data error, expected address 1 got 77',
    ],
    robust: ['waits for the frame of its unit', inPieces, '10'],
  },
  { id: 'answers-for-others', wire: 'RTU', naive: ['reads one register', read(0), NO_FUNCTION] },
  {
    id: 'second-master',
    wire: 'RTU',
    naive: ['jsmodbus reads one register after 1.5 s', withJsmodbus, 'Req timed out'],
    robust: ['modbus-serial reads it', read(0), '10'],
  },
  {
    id: 'busy-every-other',
    naive: [
      'sends three requests',
      nth(3),
      'Modbus exception 6: Slave device busy (retry request again later)',
    ],
    robust: ['continues polling', until('10'), '10'],
  },
  {
    id: 'exception-zero',
    naive: ['sends ten requests', nth(10), 'Modbus exception 0: Unknown error'],
    robust: ['retries', next(), '10'],
  },
  {
    id: 'gateway-gives-up',
    naive: [
      'sends 21 requests',
      nth(21),
      'Modbus exception 11: Gateway target device failed to respond (retry request again later)',
    ],
  },
  {
    id: 'zero-for-a-poll',
    naive: ['reads 10 for the 30th time', nth(30), '0'],
    robust: ['reads again', next(), '10'],
  },
  {
    id: 'exception-without-code',
    naive: ['reads missing addresses', read(100), 'Data length error, expected 7 got 4'],
    robust: ['reads an existing address', next(), '10'],
  },
  {
    id: 'unknown-function-silent',
    naive: [
      'reads the identification',
      async (m) => said((await m.connect(300)).client.readDeviceIdentification(1, 0).then(() => 'answered')),
      OUT,
    ],
    robust: ['continues without it', next(), '10'],
  },
  {
    id: 'old-value-after-write',
    naive: [
      'writes 99 and reads it back',
      async (m) => {
        await (await m.connect(PATIENCE)).client.writeRegister(0, 99);
        return m.read(0);
      },
      '10',
    ],
    robust: ['reads after 2.2 s', (m) => pause(2200).then(() => m.read(0)), '99'],
  },
  {
    id: 'short-block',
    naive: ['reads 4 registers', read(0, 4), 'Data length error, expected 13 got 7'],
    robust: ['reads 2', next(0, 2), '10, 11'],
  },
  {
    id: 'wide-registers',
    naive: ['reads one register', read(0), 'Data length error, expected 7 got 9'],
  },
  {
    id: 'wrong-byte-count',
    naive: [
      'reads one register',
      read(0),
      'The value of "offset" is out of range. It must be >= 0 and <= 5. Received 7',
    ],
  },
  {
    id: 'wrong-unit',
    naive: ['sends five requests', nth(5), 'Unexpected data error, expected address 1 got 0'],
    robust: ['retries', next(), '10'],
  },
  { id: 'transaction-zero', naive: ['reads one register', read(0, 1, 300), OUT] },
  { id: 'transaction-swapped', naive: ['reads one register', read(0, 1, 300), OUT] },
  { id: 'transaction-off-by-one', naive: ['reads one register', read(0, 1, 300), OUT] },
  {
    id: 'late-by-one',
    wire: 'RTU over TCP',
    // Slower than in the entry: a busy machine has two seconds in either direction.
    played: { faults: [{ name: 'late', when: { after: 2, count: 1 }, do: { delay: 6000 } }] },
    naive: [
      'reads 0, 1, 2 (too late for a time-out of 4 s) and 3, which are 10 to 13',
      async (m) => {
        await m.connect(4000);
        return [await m.read(0), await m.read(1), await m.read(2), await m.read(3)].join(', ');
      },
      `10, 11, ${OUT}, 12`,
    ],
    robust: ['reconnects after the time-out', (m) => m.reconnect(PATIENCE).then(() => m.read(3)), '13'],
  },
  {
    id: 'one-behind-for-ever',
    wire: 'RTU over TCP',
    naive: [
      'reads 0, 1, 2, 3 and 0, which are 10, 11, 12, 13 and 10',
      async (m) => {
        await m.connect(PATIENCE);
        const seen: string[] = [];
        for (const address of [0, 1, 2, 3, 0]) seen.push(await m.read(address));
        return seen.join(', ');
      },
      '10, 11, 12, 12, 13',
    ],
  },
  {
    id: 'length-too-long',
    naive: ['reads one register', read(0, 1, 300), OUT],
    robust: ['reconnects after the time-out', (m) => m.reconnect(PATIENCE).then(() => m.read(0)), '10'],
  },
  {
    id: 'length-too-short',
    naive: ['reads 4 registers', read(0, 4), 'Data length error, expected 13 got 8'],
  },
  {
    id: 'two-replies-one-segment',
    naive: [
      'sends three requests without waiting',
      async (m) => {
        await m.connect(PATIENCE);
        return (await Promise.all([m.read(0), m.read(1), m.read(2)])).join(', ');
      },
      '10, 11, 12',
    ],
  },
  {
    id: 'one-bit-too-many',
    naive: [
      'reads one coil, which is on',
      async (m) =>
        said(
          (await m.connect(PATIENCE)).client.readCoils(0, 1).then(({ data }) => data.slice(0, 2).join(', ')),
        ),
      'true, true',
    ],
  },
  {
    id: 'substituted-block',
    naive: ['reads 10 for the 40th time', nth(40), '49320'],
    robust: ['reads again', next(), '10'],
  },
  {
    id: 'torn-value',
    naive: [
      'reads 1 and 4464 for the 20th time',
      async (m) => {
        await (await m.connect(PATIENCE)).times(19);
        return m.read(10, 2);
      },
      '1, 65535',
    ],
    robust: ['reads again', next(10, 2), '1, 4464'],
  },
  {
    id: 'reboots-when-polled',
    naive: [
      'reads 11 registers for the 50th time',
      async (m) => {
        await m.connect(PATIENCE);
        const ask = () => said(m.client.readInputRegisters(0, 11).then(() => 'answered'));
        for (let i = 0; i < 49; i++) await ask();
        const last = await ask();
        return [last, await (await m.reconnect(300)).read(0)].join(', ');
      },
      `answered, ${OUT}`,
    ],
  },
  {
    id: 'no-modbus-at-night',
    played: { faults: [{ name: 'night', when: { count: 3 }, do: { silence: true } }] },
    naive: ['sends a request at night (played at once, for three requests)', read(0, 1, 200), OUT],
    robust: ['continues polling until the morning', until('10'), '10'],
  },
  {
    id: 'not-available-at-night',
    played: { faults: [{ name: 'night', when: { quantity: '2-125' }, do: { values: [32_768, 0] } }] },
    naive: ['reads 70,000 at night (played at once)', read(10, 2), '32768, 0'],
  },
  {
    id: 'slower-than-default',
    played: {
      faults: [
        { name: 'slow', when: { probability: 0.2 }, do: { delay: { ms: 2500, jitter: 100 } }, seed: 3 },
      ],
    },
    naive: [
      'sends ten requests with a time-out of 2 s (some replies take 2.5 s here)',
      async (m) => (await (await m.connect(2000)).times(10)).join(', '),
      `10, 10, 10, 10, ${OUT}, 10, 10, 10, 10, ${OUT}`,
    ],
    robust: [
      'uses a time-out of 10 s',
      async (m) => {
        m.client.setTimeout(10_000);
        return (await m.times(10)).join(', ');
      },
      Array(10).fill('10').join(', '),
    ],
  },
  {
    id: 'noise-becomes-exception',
    naive: [
      'sends requests until one is refused',
      async (m) => {
        await m.connect(PATIENCE);
        for (let i = 0; i < 1000; i++) {
          const seen = await m.read(0);
          if (seen !== '10') return seen;
        }
        return 'never';
      },
      NO_VALUE,
    ],
    robust: ['retries', next(), '10'],
  },
  {
    id: 'extra-byte-before',
    wire: 'RTU',
    naive: ['treats the bytes of one read as a frame', atOnce, 'CRC error'],
    robust: ['collects bytes until a frame is complete', inPieces, '10'],
  },
  {
    id: 'extra-bytes-after',
    wire: 'RTU',
    naive: ['treats the bytes of one read as a frame', atOnce, 'Data length error, expected 7 got 10'],
    robust: ['collects bytes until a frame is complete', inPieces, '10'],
  },
  {
    id: 'gap-in-frame',
    wire: 'RTU',
    played: { faults: [{ name: 'gap', do: { gap: { after: 5, characters: 200 } } }] },
    naive: ['treats the bytes of one read as a frame (with a gap of 2 s here)', atOnce, 'CRC error'],
    robust: ['collects bytes until a frame is complete', inPieces, '10'],
  },
  {
    id: 'last-byte-apart',
    wire: 'RTU',
    played: { faults: [{ name: 'apart', do: { split: { at: 'middle', gap: 2000 } } }] },
    naive: [
      'treats the bytes of one read as a frame (in pieces 2 s apart here)',
      atOnce,
      'Data length error, expected 7 got 3',
    ],
    robust: ['collects bytes until a frame is complete', inPieces, '10'],
  },
  { id: 'echo', wire: 'RTU', naive: ['reads one register', read(0), 'CRC error'] },
  {
    id: 'last-byte-lost',
    wire: 'RTU',
    naive: [
      'reads two registers until it fails',
      async (m) => {
        await m.connect(400);
        for (let i = 0; i < 100; i++) {
          const seen = await m.read(0, 2);
          if (seen !== '10, 11') return seen;
        }
        return 'never';
      },
      OUT,
    ],
    robust: ['continues polling', until('10, 11', 2), '10, 11'],
  },
];
