import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/*
 * node-red.mjs HOST PORT TIMEOUT_MS FILE DIRECTORY
 *
 * Runs Node-RED, as installed in DIRECTORY by test/support/node-red.mjs, with a flow that reads two registers
 * each from 0 and from 10 of unit 1, both twice a second. All other settings have the editor's defaults: a
 * client that gives up a request reconnects 4.5 s later. The values read go to a file, like those of the
 * other pollers.
 */
const [host, port, clientTimeout, file = '', directory = ''] = process.argv.slice(2);
const PERIOD_MS = 500;
const UNIT = 1;
/** Node-RED takes a node without a position on a flow for a configuration node. */
const ON_FLOW = { z: 'flow', x: 0, y: 0 };

const client = {
  id: 'client',
  type: 'modbus-client',
  clienttype: 'tcp',
  bufferCommands: true,
  tcpHost: host,
  tcpPort: port,
  tcpType: 'DEFAULT',
  unit_id: UNIT,
  commandDelay: 1,
  clientTimeout,
  reconnectOnTimeout: true,
  reconnectTimeout: 2000,
  parallelUnitIdsAllowed: true,
};

/** @param {number} address */
const read = (address) => ({
  id: `read-${address}`,
  ...ON_FLOW,
  type: 'modbus-read',
  unitid: UNIT,
  dataType: 'HoldingRegister',
  adr: address,
  quantity: 2,
  rate: PERIOD_MS,
  rateUnit: 'ms',
  server: client.id,
  wires: [[`keep-${address}`], []],
});

/** @param {number} address */
const keep = (address) => ({
  id: `keep-${address}`,
  ...ON_FLOW,
  type: 'function',
  outputs: 1,
  func: `flow.set('at${address}', msg.payload);
    return { payload: [flow.get('at0') ?? [0, 0], flow.get('at10') ?? [0, 0]].join(' ') };`,
  wires: [['file']],
});

const show = {
  id: 'file',
  ...ON_FLOW,
  type: 'file',
  filename: file,
  filenameType: 'str',
  overwriteFile: 'true',
  appendNewline: true,
  wires: [[]],
};

const flow = [
  { id: 'flow', type: 'tab', label: 'cards' },
  client,
  ...[0, 10].flatMap((address) => [read(address), keep(address)]),
  show,
];

const userDir = mkdtempSync(join(directory, 'flow-'));
writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flow));
const RED = createRequire(join(directory, 'node_modules/'))('node-red');
RED.init(createServer(), {
  userDir,
  flowFile: 'flows.json',
  nodesDir: [join(directory, 'node_modules/node-red-contrib-modbus')],
  httpAdminRoot: false,
  httpNodeRoot: false,
  logging: { console: { level: 'error', metrics: false, audit: false } },
});
await RED.start();
