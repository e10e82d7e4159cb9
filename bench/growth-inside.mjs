import { pino } from 'pino';
import { fromSource } from './from-source.mjs';

/*
 * growth-inside.mjs
 *
 * The program without sockets, in this process: its lines get the decoder and the queue of a TCP connection, and bytes
 * are handed to them directly. When told `{points, requests, rounds}`, measures each point by turns and tells the
 * processor time of a request of each round, in µs. So differences show that are lost in the noise of a socket.
 */
const { Simulator, loadNative, MbapDecoder, ReplyQueue } = await fromSource(`
  export { Simulator } from './src/simulator/simulator.js';
  export { loadNative } from './src/files/config/load.js';
  export { MbapDecoder } from './src/modbus/transport/socket/mbap-decoder.js';
  export { ReplyQueue } from './src/modbus/transport/socket/reply-queue.js';`);

/** The garbage collector runs some times in each round, and V8 has compiled everything after these. */
const WARM_UP_ROUNDS = 3;

/** A line with one client, which takes its bytes without a system call. */
class BenchTransport {
  state = { kind: 'stopped' };
  clients = 1;
  #handler;
  #decoder = new MbapDecoder();
  #queue;
  /** Bytes that were sent. */
  sent = 0;

  constructor(handler) {
    this.#handler = handler;
    this.#queue = new ReplyQueue({
      outlet: {
        open: true,
        play: ({ bytes }) => {
          this.sent += bytes.length;
          return undefined;
        },
        complete: (report, tell) => tell(report),
        flush() {},
      },
      advanced() {},
    });
  }

  async start() {
    this.state = { kind: 'open', place: 'here' };
    return { ok: true, place: 'here' };
  }

  async stop() {
    this.state = { kind: 'stopped' };
  }

  reframe() {}

  /** What the operating system has read for this connection. */
  received(memory, length) {
    const at = performance.now();
    this.#decoder.push(memory, length, at);
    const { kind, content, adu } = this.#decoder.next();
    if (kind !== 'request') throw new Error(`${kind} in place of a request`);
    const { unitId, pdu, transactionId } = content;
    const reply = this.#handler.request({
      unitId,
      pdu,
      adu,
      transactionId,
      startedAt: at,
      receivedAt: at,
      clientId: 1,
      client: '127.0.0.1:40000',
    });
    this.#queue.add(reply, at);
    this.#decoder.keep();
  }
}

async function prepare({ config, rules = [], units = 1, addresses = 1, asked = ['lan'] }) {
  const loaded = loadNative({ ...config, ...(rules.length > 0 && { faults: rules }) }, '/');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const transports = new Map();
  const simulator = new Simulator(loaded.configuration, pino({ level: 'silent' }), {
    clock: { now: () => performance.now() },
    newTransport: ({ name }, _, handler) => {
      const transport = new BenchTransport(handler);
      transports.set(name, transport);
      return transport;
    },
  });
  for (const line of simulator.lines.values()) await line.start();
  const lines = asked.map((name) => transports.get(name));
  let turn = 0;
  return (requests) => {
    const memory = Buffer.from('00000000000601030000000a', 'hex');
    for (let i = 0; i < requests; i++, turn++) {
      const address = (turn * 7919) % addresses;
      memory[6] = 1 + (turn % units);
      memory[8] = address >> 8;
      memory[9] = address;
      lines[turn % lines.length].received(memory, memory.length);
    }
  };
}

/** µs of processor time for one request. */
function costOf(ask, requests) {
  const before = process.cpuUsage();
  ask(requests);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

process.on('message', async ({ points, requests, rounds }) => {
  const asks = [];
  for (const point of points) asks.push(await prepare(point));
  const costs = asks.map(() => []);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    // Forwards and backwards: what one leaves to the garbage collector is not always paid by the same other one.
    const order = round % 2 === 0 ? asks : asks.toReversed();
    for (const ask of order) {
      const cost = costOf(ask, requests);
      if (round >= 0) costs[asks.indexOf(ask)].push(cost);
    }
  }
  process.send({ costs });
});
process.send('ready');
