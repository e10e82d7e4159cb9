import { z } from 'zod';
import { MOST_TAKEN } from '../control/inlets.js';
import { targetRequest } from '../control/schemas/catalogue.js';
import { clockRequest, mannersRequest, newDevice, powerRequest } from '../control/schemas/device.js';
import { previewBody } from '../control/schemas/fault.js';
import { lineSettings, newLine } from '../control/schemas/line.js';
import { changeList, newValue, signalBody, valueQuery, wordQuery } from '../control/schemas/value.js';
import { TABLE_NAMES } from '../device/tables.js';
import type { CallName, ListName } from '../door/door.js';
import { ADDRESS_SPACE } from '../protocol/limits.js';
import { flag, number, numberFrom, oneOf, section, text, UNLIMITED, wholeNumber } from '../schema/parts.js';

/*
 * What each command and query of the door takes from those who send text: the same as REST, with the parts of the path beside those of
 * the body. What is deeper is checked by the command itself.
 */

const nothing = section({}).transform(() => undefined);
const line = text('the name of a line');
const device = text('the name of a device');
const value = text('the name of a value');
const name = text('the name of a rule');
const id = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a number of a test or an examination');
const ofLine = section({ line });
const ofDevice = section({ device });
const ofValue = section({ device, value });
const ofRule = section({ name });
const ofRun = section({ id });
const stopping = section({ id, failure: text('a reason').optional() });
const rule = z.record(z.string(), z.unknown(), { error: 'a fault rule' });
const table = oneOf(TABLE_NAMES);
const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');
const range = {
  device: device.optional(),
  table: table.optional(),
  from: address,
  to: address,
};
const entry = text('the identifier of an entry of the catalogue');
const taken = section({
  device,
  table,
  address,
  value: number,
  age: numberFrom(0, UNLIMITED, 'a time in ms'),
});

/** The schemas of what is sent, by the name of the command or query. */
export const INPUTS = {
  'program.ping': nothing,
  'program.summary': nothing,
  'program.map': nothing,
  'program.metrics': nothing,
  'program.ports': nothing,
  'program.configuration': nothing,
  'traffic.clear': nothing,
  'line.get': ofLine,
  'line.list': nothing,
  'line.metrics': nothing,
  'line.add': newLine,
  'line.change': section({ line, settings: lineSettings }),
  'line.remove': ofLine,
  'line.start': ofLine,
  'line.restart': ofLine,
  'line.stop': ofLine,
  'device.get': ofDevice,
  'device.list': nothing,
  'device.names': ofDevice,
  'device.add': newDevice,
  'device.remove': section({ device, force: flag.default(false) }),
  'device.power': section({ device, ...powerRequest.shape }),
  'device.clock': section({ device, ...clockRequest.shape }),
  'device.manners': section({ device, manners: mannersRequest }),
  'device.reset': ofDevice,
  'value.get': ofValue,
  'value.list': section({ device, ...valueQuery.shape }),
  'value.named': ofDevice,
  'value.set': section({ device, name: value, ...newValue.shape }),
  'value.change': section({ device, ...changeList.shape }),
  'value.words': section({ device, ...wordQuery.shape }),
  'signal.set': section({ device, value, signal: signalBody.nullable() }),
  'signal.remove': ofValue,
  'inlet.list': nothing,
  'inlet.take': section({
    values: z.array(taken).max(MOST_TAKEN, { error: `at most ${MOST_TAKEN} values` }),
  }),
  'cells.read': section(range),
  'cells.set': section({
    ...range,
    register: address,
    value: z.union([z.number(), z.string(), z.boolean()]).optional(),
    writable: flag,
  }),
  'rule.get': ofRule,
  'rule.list': nothing,
  'rule.add': section({ rule }),
  'rule.replace': section({ rule }),
  'rule.switch': section({ name, enabled: flag }),
  'rule.remove': ofRule,
  'rule.reset': nothing,
  'rule.preview': previewBody,
  'misbehaviour.arm': section({ id: entry, target: targetRequest }),
  'misbehaviour.disarm': section({ id: entry }),
  'test.list': nothing,
  'test.get': ofRun,
  'test.start': section({ scenario: z.unknown() }),
  'test.stop': stopping,
  'test.findings': ofRun,
  'examination.list': nothing,
  'examination.get': ofRun,
  'examination.start': section({ order: z.unknown() }),
  'examination.stop': stopping,
  'examination.findings': ofRun,
  'examination.checks': section({ line: line.optional() }),
} as const satisfies Readonly<Record<CallName | ListName, z.ZodType>>;

/** Those that change nothing. */
const QUERIES =
  /^(?:program\.|(?:line|device|value|rule|test|examination|inlet)\.(?:get|list|names|named|metrics|words|preview|findings|checks)$|cells\.read$)/;

/** Whether somebody who may only read may ask for it. */
export function isQuery(name: CallName | ListName): boolean {
  return QUERIES.test(name);
}
