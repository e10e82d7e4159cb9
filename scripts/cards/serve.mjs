import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';

/*
 * serve.mjs LIBRARY PORT|PATH BAUD DIRECTORY
 *
 * Serves one device with a library, as shown in the library's documentation, on a port of 127.0.0.1 or on a
 * serial line: unit 1, 300 registers and 2100 bits in each table, all different; both writable tables accept
 * writes. If the library asks the application for values, the application refuses an address that does not
 * exist with exception 02, and checks nothing else. DIRECTORY has the packages that this project does not
 * use.
 */
const [library = '', place = '', baud = '', directory = ''] = process.argv.slice(2);
const port = Number(place);
const isSerial = place.startsWith('/');
const host = '127.0.0.1';
const REGISTERS = 300;
const BITS = 2100;
const ILLEGAL_ADDRESS = 2;
const require = createRequire(import.meta.url);
const requireThere = createRequire(join(directory, 'node_modules/'));

const holding = Array.from({ length: REGISTERS }, (_, i) => 1000 + i);
const input = Array.from({ length: REGISTERS }, (_, i) => 2000 + i);
const coils = Array.from({ length: BITS }, (_, i) => i % 3 !== 0);
const discrete = Array.from({ length: BITS }, (_, i) => i % 3 !== 1);

/**
 * The value at an address.
 * @template T
 * @param {readonly T[]} table
 * @param {number} address
 */
function valueAt(table, address) {
  const value = table[address];
  if (value === undefined)
    throw Object.assign(new Error('no such address'), { modbusErrorCode: ILLEGAL_ADDRESS });
  return value;
}

/**
 * @template T
 * @param {T[]} table
 * @param {number} address
 * @param {T} value
 */
function keep(table, address, value) {
  valueAt(table, address);
  table[address] = value;
}

function modbusSerial() {
  const { ServerSerial, ServerTCP } = require('modbus-serial');
  const vector = {
    getCoil: (/** @type {number} */ address) => valueAt(coils, address),
    getDiscreteInput: (/** @type {number} */ address) => valueAt(discrete, address),
    getHoldingRegister: (/** @type {number} */ address) => valueAt(holding, address),
    getInputRegister: (/** @type {number} */ address) => valueAt(input, address),
    setCoil: (/** @type {number} */ address, /** @type {boolean} */ value) => keep(coils, address, value),
    setRegister: (/** @type {number} */ address, /** @type {number} */ value) =>
      keep(holding, address, value),
    readDeviceIdentification: () => ({ 0: 'modbus-serial', 1: 'server', 2: '8' }),
  };
  const serial = { path: place, baudRate: Number(baud), unitID: 1 };
  /** @type {import('node:events').EventEmitter} */
  const server = isSerial
    ? new ServerSerial(vector, serial)
    : new ServerTCP(vector, { host, port, unitID: 1 });
  // Without a listener, a broken connection ends the process.
  for (const event of ['socketError', 'serverError', 'error']) server.on(event, () => {});
}

/** The tables in the form that jsmodbus uses. */
function buffers() {
  const bytes = (/** @type {readonly boolean[]} */ bits) => {
    const packed = Buffer.alloc(Math.ceil(bits.length / 8));
    for (const [i, bit] of bits.entries()) if (bit) packed[i >> 3] = (packed[i >> 3] ?? 0) | (1 << (i % 8));
    return packed;
  };
  const words = (/** @type {readonly number[]} */ values) => {
    const packed = Buffer.alloc(2 * values.length);
    for (const [i, value] of values.entries()) packed.writeUInt16BE(value, 2 * i);
    return packed;
  };
  return { holding: words(holding), input: words(input), coils: bytes(coils), discrete: bytes(discrete) };
}

function jsmodbus() {
  const { server } = require('jsmodbus');
  if (isSerial) {
    const { SerialPort } = require('serialport');
    new server.RTU(new SerialPort({ path: place, baudRate: Number(baud) }), buffers());
    return;
  }
  const listener = createServer();
  new server.TCP(listener, buffers());
  listener.listen(port, host);
}

function modbusStream() {
  const { tcp } = requireThere('modbus-stream');
  const serve = (/** @type {any} */ connection) => {
    const on = (/** @type {string} */ event, /** @type {(request: any) => unknown} */ answer) =>
      connection.on(event, (/** @type {any} */ { request }, /** @type {any} */ reply) => {
        try {
          reply(null, answer(request));
        } catch {
          reply('IllegalDataAddress');
        }
      });
    const block = (/** @type {readonly any[]} */ table, /** @type {any} */ { address, quantity }) =>
      Array.from({ length: quantity }, (_, i) => valueAt(table, address + i));
    const words = (/** @type {readonly number[]} */ table, /** @type {any} */ request) =>
      block(table, request).map((value) => Buffer.of(value >> 8, value & 0xff));
    on('read-coils', (request) => block(coils, request));
    on('read-discrete-inputs', (request) => block(discrete, request));
    on('read-holding-registers', (request) => words(holding, request));
    on('read-input-registers', (request) => words(input, request));
    connection.on('write-single-register', (/** @type {any} */ { request }, /** @type {any} */ reply) => {
      if (request.address >= REGISTERS) return reply('IllegalDataAddress');
      keep(holding, request.address, request.value.readUInt16BE(0));
      return reply(null, request.address, request.value);
    });
    connection.on('write-multiple-registers', (/** @type {any} */ { request }, /** @type {any} */ reply) => {
      if (request.address + request.values.length > REGISTERS) return reply('IllegalDataAddress');
      for (const [i, value] of request.values.entries())
        keep(holding, request.address + i, value.readUInt16BE(0));
      return reply(null, request.address, request.quantity);
    });
    connection.on('write-single-coil', (/** @type {any} */ { request }, /** @type {any} */ reply) => {
      if (request.address >= BITS) return reply('IllegalDataAddress');
      keep(coils, request.address, Boolean(request.value));
      return reply(null, request.address, request.value);
    });
    connection.on('write-multiple-coils', (/** @type {any} */ { request }, /** @type {any} */ reply) => {
      if (request.address + request.values.length > BITS) return reply('IllegalDataAddress');
      for (const [i, value] of request.values.entries()) keep(coils, request.address + i, Boolean(value));
      return reply(null, request.address, request.quantity);
    });
    connection.on('error', () => {});
  };
  tcp.server({ debug: null }, serve).listen(port, host);
}

function modbusTcp() {
  const { Server } = requireThere('modbus-tcp');
  createServer((socket) => {
    const server = new Server();
    server.pipe(socket);
    socket.on('error', () => socket.destroy());
    const NO_ADDRESS = { code: ILLEGAL_ADDRESS };
    const read = (
      /** @type {string} */ event,
      /** @type {readonly any[]} */ table,
      /** @type {(value: any) => unknown} */ form,
    ) =>
      server.on(event, (/** @type {number} */ from, /** @type {number} */ to, /** @type {any} */ reply) =>
        to >= table.length ? reply(NO_ADDRESS) : reply(null, table.slice(from, to + 1).map(form)),
      );
    read('read-coils', coils, Number);
    read('read-discrete-inputs', discrete, Number);
    read('read-holding-registers', holding, (value) => Buffer.of(value >> 8, value & 0xff));
    read('read-input-registers', input, (value) => Buffer.of(value >> 8, value & 0xff));
    const write = (
      /** @type {string} */ event,
      /** @type {any[]} */ table,
      /** @type {(value: any) => unknown} */ value,
    ) =>
      server.on(event, (/** @type {number} */ address, /** @type {any} */ item, /** @type {any} */ reply) => {
        if (address >= table.length) return reply(NO_ADDRESS);
        table[address] = value(item);
        return reply();
      });
    write('write-single-register', holding, (item) => item.readUInt16BE(0));
    write('write-single-coil', coils, (item) => item[0] === 0xff);
    const writeAll = (
      /** @type {string} */ event,
      /** @type {any[]} */ table,
      /** @type {(value: any) => unknown} */ value,
    ) =>
      server.on(
        event,
        (
          /** @type {number} */ from,
          /** @type {number} */ to,
          /** @type {readonly any[]} */ items,
          /** @type {any} */ reply,
        ) => {
          if (to >= table.length) return reply(NO_ADDRESS);
          for (const [i, item] of items.slice(0, to - from + 1).entries()) table[from + i] = value(item);
          return reply();
        },
      );
    writeAll('write-multiple-registers', holding, (item) => item.readUInt16BE(0));
    writeAll('write-multiple-coils', coils, Boolean);
  }).listen(port, host);
}

/** Node-RED with a flow that contains a server, with the editor's defaults. */
async function nodeRed() {
  const size = {
    coilsBufferSize: 10_000,
    holdingBufferSize: 10_000,
    inputBufferSize: 10_000,
    discreteBufferSize: 10_000,
  };
  const server = {
    ...{ id: 'server', z: 'flow', x: 0, y: 0, type: 'modbus-server', name: '', logEnabled: false },
    ...{ hostname: host, serverPort: port, responseDelay: 100, delayUnit: 'ms', ...size, showErrors: false },
    wires: [[], [], [], [], []],
  };
  const userDir = mkdtempSync(join(directory, 'flow-'));
  writeFileSync(
    join(userDir, 'flows.json'),
    JSON.stringify([{ id: 'flow', type: 'tab', label: 'cards' }, server]),
  );
  const RED = requireThere('node-red');
  RED.init(createHttpServer(), {
    userDir,
    flowFile: 'flows.json',
    nodesDir: [join(directory, 'node_modules/node-red-contrib-modbus')],
    httpAdminRoot: false,
    httpNodeRoot: false,
    logging: { console: { level: 'error', metrics: false, audit: false } },
  });
  await RED.start();
}

/** @type {Readonly<Record<string, () => unknown>>} */
const SERVERS = {
  'modbus-serial': modbusSerial,
  jsmodbus,
  'modbus-stream': modbusStream,
  'modbus-tcp': modbusTcp,
  'node-red': nodeRed,
};
await SERVERS[library]?.();
