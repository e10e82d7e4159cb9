import { failure, type Result } from '../../common/result.js';
import { describeFound, quote } from '../../common/schema/problem.js';
import { isOfBits, type TableName } from '../../device/tables.js';
import {
  Collector,
  type Imported,
  numberOf,
  readYaml,
  type Section,
  sectionOf,
  sectionsOf,
  wordOf,
} from './collected.js';
import { byWord } from './data-types.js';

/**
 * Node-RED flows with nodes of node-red-contrib-modbus or node-red-contrib-modbustcp: an exported list of
 * nodes. A `modbus-client` or `modbustcp-server` is a connection; nodes that read or write refer to it and
 * give a unit, table, address and quantity.
 */

const TABLES = byWord<TableName>({
  coils: 'Coil MCoils',
  discrete: 'Input',
  input: 'InputRegister',
  holding: 'HoldingRegister MHoldingRegisters',
});

const READS = /^modbus(?:tcp)?-(?:read|getter)$/;
const WRITES = /^modbus(?:tcp)?-write$/;
const CLIENTS = /^modbus-client$|^modbustcp-server$/;
/** Nodes that get their addresses from messages or from another file. */
const BY_MESSAGE = /^modbus-(?:flex-(?:getter|write|sequencer|fc)|io-config)$/;

export function importNodeRed(text: string): Result<Imported> {
  const read = readYaml(text);
  if (!read.ok) return read;
  const file = read.value;
  const list = Array.isArray(file.value) ? file.value : sectionOf(file.value)?.flows;
  if (!Array.isArray(list)) return failure('expected a list of nodes, as Node-RED exports it');
  const path = Array.isArray(file.value) ? [] : ['flows'];
  const nodes = list.map((each) => sectionOf(each) ?? {});
  const clients = new Map(
    sectionsOf(nodes).flatMap((node) =>
      CLIENTS.test(wordOf(node.type) ?? '') ? [[node.id, node] as const] : [],
    ),
  );
  const collector = new Collector();
  for (const [i, node] of nodes.entries()) {
    const type = wordOf(node.type) ?? '';
    const location = file.locationOf([...path, i]);
    const called = `${type} ${quote(wordOf(node.name) || wordOf(node.id) || '')}`;
    if (BY_MESSAGE.test(type))
      collector.note(location, `${called}: its addresses arrive in messages, so it is left out`);
    if (!READS.test(type) && !WRITES.test(type)) continue;
    const problem = addNode(node, WRITES.test(type), clients.get(node.server) ?? {}, collector, location);
    if (problem !== undefined) collector.note(location, `${called}: ${problem}`);
  }
  return collector.end('a Node-RED flow');
}

/** Adds the registers of a node. @returns a message saying why it is left out */
function addNode(
  node: Section,
  write: boolean,
  client: Section,
  collector: Collector,
  location: string,
): string | undefined {
  const table = TABLES.get(wordOf(node.dataType) ?? '');
  if (table === undefined) return `unknown dataType ${describeFound(node.dataType)}`;
  const start = numberOf(node.adr);
  if (start === undefined) return `address ${describeFound(node.adr)}, expected a number`;
  const quantity = numberOf(node.quantity) ?? 1;
  if (!(quantity >= 1 && quantity <= 2000))
    return `quantity ${describeFound(node.quantity)}, expected 1 to 2000`;
  const unit = numberOf(node.unitid ?? node.unit_id) ?? numberOf(client.unit_id) ?? 1;
  const place =
    client.type === 'modbustcp-server'
      ? `tcp://${wordOf(client.host) ?? ''}:${wordOf(client.port) ?? '502'}`
      : client.clienttype === 'tcp'
        ? `tcp://${wordOf(client.tcpHost) ?? ''}:${wordOf(client.tcpPort) ?? '502'}`
        : (wordOf(client.serialPort) ?? '');
  const name = wordOf(node.name) || undefined;
  for (let i = 0; i < quantity; i++)
    collector.addOnce(place, unit, wordOf(client.name) || `unit-${unit}`, {
      table,
      address: start + i,
      type: isOfBits(table) ? 'bit' : 'uint16',
      name: name !== undefined && quantity > 1 ? `${name}_${i + 1}` : name,
      write,
      location,
    });
  return undefined;
}
