import { z } from 'zod';
import {
  flag,
  number,
  numberFrom,
  oneOf,
  section,
  text,
  UNLIMITED,
  wholeNumber,
} from '../../../common/schema/parts.js';
import { TABLE_NAMES } from '../../../device/tables.js';
import { findMisbehaviour, rulesOf, type Target } from '../../../files/config/catalogue.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import { MOST_TAKEN } from '../inlets.js';
import { type Outcome, refusal } from '../refusal.js';
import { targetRequest } from './catalogue.js';
import { clockRequest, mannersRequest, newDevice, powerRequest } from './device.js';
import { switchRequest } from './fault.js';
import { lineSettings, newLine } from './line.js';
import { changeList, newRegisters, newValue, signalBody, valueQuery, wordQuery } from './value.js';

/**
 * The input of a command or query from a sender of text: an object without further keys by default. The
 * command itself checks nested input.
 */
export interface Takes {
  /** What the command is about. REST has these parts in the path, in this order. */
  readonly of?: z.core.$ZodLooseShape;
  /** The rest of the input: the body of REST, or its query. */
  readonly sent?: z.ZodType;
  /**
   * The key under which the command gets the rest; without it, the keys of the rest stand beside the others.
   */
  readonly as?: string;
  /**
   * Converts the input to what the command gets instead, because the main thread does not read the catalogue.
   */
  readonly means?: (input: never) => Outcome<unknown>;
}

const line = text('the name of a line');
const device = text('the name of a device');
const value = text('the name of a value');
const id = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a number of a test or an examination');
const ofLine = { of: { line } };
const ofDevice = { of: { device } };
const ofValue = { of: { device, value } };
const ofRule = { of: { name: text('the name of a rule') } };
const ofRun = { of: { id } };
const ofEntry = { of: { id: text('the identifier of an entry of the catalogue') } };
const stopping = { ...ofRun, sent: section({ failure: text('a reason').optional() }) };
const ofConfiguration = {
  sent: z.record(z.string(), z.unknown(), { error: 'a configuration' }),
  as: 'configuration',
};
const rule = z.record(z.string(), z.unknown(), { error: 'a fault rule' });
const table = oneOf(TABLE_NAMES);
const address = wholeNumber(0, ADDRESS_SPACE - 1, 'an address');
const range = {
  device: device.optional(),
  table: table.optional(),
  from: address,
  to: address,
};
const taken = section({
  device,
  table,
  address,
  value: number,
  age: numberFrom(0, UNLIMITED, 'a time in ms'),
});

/** The input of each command and query. */
export const INPUTS = {
  'program.ping': {},
  'program.summary': {},
  'program.map': {},
  'program.metrics': {},
  'program.ports': {},
  'program.configuration': {},
  'configuration.check': ofConfiguration,
  'configuration.apply': ofConfiguration,
  'traffic.clear': {},
  'line.get': ofLine,
  'line.list': {},
  'line.metrics': {},
  'line.add': { sent: newLine },
  'line.change': { ...ofLine, sent: lineSettings, as: 'settings' },
  'line.remove': ofLine,
  'line.start': ofLine,
  'line.restart': ofLine,
  'line.stop': ofLine,
  'device.get': ofDevice,
  'device.list': {},
  'device.names': ofDevice,
  'device.add': { sent: newDevice },
  'device.remove': { ...ofDevice, sent: section({ force: flag.default(false) }) },
  'device.power': { ...ofDevice, sent: powerRequest },
  'device.clock': { ...ofDevice, sent: clockRequest },
  'device.manners': { ...ofDevice, sent: mannersRequest, as: 'manners' },
  'device.reset': ofDevice,
  'value.get': ofValue,
  'value.list': { ...ofDevice, sent: valueQuery },
  'value.named': ofDevice,
  'value.set': { of: { device, name: value }, sent: newValue },
  'value.change': { ...ofDevice, sent: changeList },
  'value.define': { ...ofDevice, sent: newRegisters },
  'value.words': { ...ofDevice, sent: wordQuery },
  'signal.set': { ...ofValue, sent: signalBody, as: 'signal' },
  'signal.remove': ofValue,
  'inlet.list': {},
  'inlet.take': {
    sent: section({ values: z.array(taken).max(MOST_TAKEN, { error: `at most ${MOST_TAKEN} values` }) }),
  },
  'cells.read': { sent: section(range) },
  'cells.set': {
    sent: section({
      ...range,
      register: address,
      value: z.union([z.number(), z.string(), z.boolean()]).optional(),
      writable: flag,
    }),
  },
  'rule.get': ofRule,
  'rule.list': {},
  'rule.add': { sent: rule, as: 'rule' },
  'rule.replace': { sent: rule, as: 'rule' },
  'rule.switch': { ...ofRule, sent: switchRequest },
  'rule.remove': ofRule,
  'rule.reset': {},
  'rule.preview': { sent: section({ rule, like: z.unknown().optional() }) },
  'misbehaviour.arm': { ...ofEntry, sent: targetRequest, as: 'target', means: arming },
  'misbehaviour.disarm': { ...ofEntry, means: arming },
  'test.list': {},
  'test.get': ofRun,
  'test.start': { sent: z.unknown(), as: 'scenario' },
  'test.stop': stopping,
  'test.findings': ofRun,
  'examination.list': {},
  'examination.get': ofRun,
  'examination.start': { sent: z.unknown(), as: 'order' },
  'examination.stop': stopping,
  'examination.findings': ofRun,
  'examination.checks': { sent: section({ line: line.optional() }) },
} as const satisfies Readonly<Record<string, Takes>>;

type Name = keyof typeof INPUTS;

/** The whole input of a command or a query as one mapping. */
export function inputSchema(name: Name): z.ZodType {
  const known = schemas.get(name);
  if (known) return known;
  const made = madeOf(name);
  schemas.set(name, made);
  return made;
}

/** Schemas, each made when it is first needed: making a schema takes longer than a check by it. */
const schemas = new Map<Name, z.ZodType>();

function madeOf(name: Name): z.ZodType {
  const { of = {}, sent, as }: Takes = INPUTS[name];
  if (sent && as !== undefined) return section({ ...of, [as]: sent });
  if (!(sent instanceof z.ZodObject)) return section(of);
  return Object.keys(of).length === 0 ? sent : section({ ...of, ...sent.shape });
}

/** The input of the command itself, for an input that fits its schema. */
export function meantBy(name: Name, input: object): Outcome<unknown> {
  const { means }: Takes = INPUTS[name];
  return means ? means(input as never) : { ok: true, value: input };
}

/** The entry of the catalogue that an input names, with the target. */
function arming({ id, target }: { readonly id: string; readonly target?: Target }): Outcome<unknown> {
  const entry = findMisbehaviour(id);
  if (typeof entry === 'string') return refusal('misbehaviour.unknown', 'id', entry);
  const { manners, line } = entry;
  const rules = target && rulesOf(entry, target);
  return { ok: true, value: { id: entry.id, manners, line, ...(target && { rules, target }) } };
}

/** The names of queries, which change nothing. */
const QUERIES =
  /^(?:program\.|configuration\.check$|(?:line|device|value|rule|test|examination|inlet)\.(?:get|list|names|named|metrics|words|preview|findings|checks)$|cells\.read$)/;

/** True when a client with a read-only token may call it. */
export function isQuery(name: Name): boolean {
  return QUERIES.test(name);
}
