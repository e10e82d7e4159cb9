import type { TableName } from '../../device/tables.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { delayRule, nativeText, registersOf, valueLists } from '../import/native-file.js';
import type { Conversation } from './exchanges.js';
import type { LearnedDevice, OddReply, SeenValue } from './learned.js';

/** What was learned from a log. */
export interface Learned {
  readonly source: string;
  readonly conversation: Conversation;
  /** The devices of each line. */
  readonly lines: readonly (readonly LearnedDevice[])[];
  /** What was not understood, a sentence each. */
  readonly notes: readonly string[];
}

const FRAMINGS = { socket: 'Modbus TCP', rtu: 'RTU', ascii: 'ASCII' };
/** The most changes of a value that are played. */
const MOST_STEPS = 1000;
const MOST_RULES = 200;
const SHORTEST_STEP = 1;
/**
 * The shortest delay that is written, in ms. A shorter one is lost in the time that the program itself takes.
 */
const SHORTEST_DELAY = 2;
const MOST_LISTED = 20;

/** Writes what was learned as a native file in block style. */
export function writeLearned({ source, conversation, lines, notes }: Learned): string {
  const { framing, exchanges } = conversation;
  const devices = lines.flatMap((line, i) => line.map((device) => ({ device, name: nameOf(device, i) })));
  const faults = devices.flatMap(({ device, name }) => rulesOf(device, name));
  return nativeText({
    remarks: [
      `Written by modbus-sim learn from ${source}: ${exchanges.length} requests, ${FRAMINGS[framing.name]}.`,
      ...devices.flatMap(({ device, name }) =>
        [...device.remarks].map(([how, what]) => `${name}: ${how}: ${listed(what)}`),
      ),
      ...notes,
      ...(faults.length > MOST_RULES ? [`${faults.length - MOST_RULES} more rules were left out.`] : []),
    ],
    devices: devices.map(({ device, name }) => [
      name,
      { registers: registersOf((table) => entriesOf(table, device)) },
    ]),
    lines: lines.map((line, i) => ({
      name: lineName(framing, i),
      kind: framing.name === 'socket' ? 'tcp' : framing.name,
      units: line.map((device) => [device.unit, nameOf(device, i)]),
    })),
    faults: faults.slice(0, MOST_RULES),
  });
}

/** The name of a line of a learned file. */
export function lineName({ name }: Framing, i: number): string {
  return `${name === 'socket' ? 'lan' : 'bus'}${i === 0 ? '' : `-${i + 1}`}`;
}

function listed(texts: readonly string[]): string {
  const more = texts.length > MOST_LISTED ? ` and ${texts.length - MOST_LISTED} more` : '';
  return texts.slice(0, MOST_LISTED).join(', ') + more;
}

function nameOf({ unit }: LearnedDevice, line: number): string {
  return `unit-${unit}${line === 0 ? '' : `-${line + 1}`}`;
}

/** Writes registers that never changed as lists, and one entry for each register that did. */
function entriesOf(table: TableName, { tables, written }: LearnedDevice): { address: number }[] {
  const values = [...(tables.get(table) ?? [])];
  const isWritten = (address: number) => written.has(`${table} ${address}`);
  const moving = values.filter(([address, seen]) => seen.length > 1 && !isWritten(address));
  const still = values
    .filter(([address, seen]) => seen.length <= 1 || isWritten(address))
    .map(([address, seen]) => [address, seen.at(-1)?.value ?? 0] as const)
    .sort(([a], [b]) => a - b);
  return [
    ...moving.map(([address, seen]) => ({ address, signal: { steps: stepsOf(seen) } })),
    ...valueLists(still.filter(([address]) => !isWritten(address))),
    ...valueLists(still.filter(([address]) => isWritten(address))).map((list) => ({ ...list, write: true })),
  ].sort((a, b) => a.address - b.address);
}

/** The steps that play a value: each value for as long as it was there; the last one stays. */
function stepsOf(seen: readonly SeenValue[]): object[] {
  const some = seen.slice(0, MOST_STEPS);
  return some.map(({ at, value }, i) => {
    const next = some[i + 1];
    return next ? { value, for: Math.max(SHORTEST_STEP, Math.round(next.at - at)) } : { value };
  });
}

function rulesOf(device: LearnedDevice, name: string): object[] {
  const [first] = device.odd;
  const same = device.odd.every(
    ({ faults, after, count }) =>
      after === 0 && count === undefined && JSON.stringify(faults) === JSON.stringify(first?.faults),
  );
  // An oddity of all replies belongs to the device, and that of some replies to their requests.
  const isAlways = same && device.odd.length === device.requests && isHeader(first);
  return [
    ...(isAlways ? device.odd.slice(0, 1) : device.odd).map(({ when, faults, after, count }, i) => ({
      name: `${name}-${i + 1}`,
      when: {
        device: name,
        ...(!isAlways && when),
        ...(after > 0 && { after }),
        ...(count !== undefined && { count }),
      },
      do: faults,
    })),
    ...delayOf(device, name),
  ];
}

/** True when only the header of the reply is odd. */
function isHeader(odd: OddReply | undefined): boolean {
  return odd?.faults.every((fault) => 'unit' in fault || 'transaction' in fault) === true;
}

function delayOf({ times }: LearnedDevice, device: string): object[] {
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] ?? 0;
  const ms = Math.round(at(0.5));
  if (ms < SHORTEST_DELAY) return [];
  const jitter = Math.min(ms, Math.round((at(0.9) - at(0.1)) / 2));
  return [delayRule(device, ms, jitter)];
}
