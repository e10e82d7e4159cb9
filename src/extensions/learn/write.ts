import { printableLine } from '../../common/rest-client/printable.js';
import { counted } from '../../common/words.js';
import type { TableName } from '../../device/tables.js';
import { delayRule, listed, nativeText, registersOf, valueLists } from '../../document/native-file.js';
import { fileText } from '../../document/print.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { SERVER_ITSELF } from '../../modbus/protocol/mbap.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import type { Conversation } from './exchanges.js';
import { conditionOf, type LearnedDevice, type LearnedLine, type OddReply } from './learned.js';
import { writtenValues } from './model.js';
import { type Recorded, Recording, SHORTEST_DELAY } from './recording.js';

/** The result of learning from a log. */
export interface Learned {
  readonly source: string;
  readonly conversation: Conversation;
  readonly lines: readonly LearnedLine[];
  /** True if line numbers are packet numbers. */
  readonly isCapture: boolean;
  /** The parts that were not understood, one sentence each. */
  readonly notes: readonly string[];
  /** How to replay values and reply times as recorded; undefined: values by reads, and usual reply times. */
  readonly recorded?: Recorded | undefined;
}

const FRAMINGS = { socket: 'Modbus TCP', rtu: 'RTU', ascii: 'ASCII' };
/** Maximum number of rules in a file: the program allows 256. */
const MOST_RULES = 250;
/** Maximum number of ranges of addresses or turns in a rule. */
const MOST_RANGES = 256;
/** The highest turn number that a rule can name. */
const LAST_TURN = 99_999;

/** Writes the learned devices as a native file. */
export function writeLearned({ source, conversation, lines, notes, recorded }: Learned): string {
  const { framing, exchanges } = conversation;
  const devices = lines.flatMap((line, i) =>
    line.devices.map((device) => ({ device, name: nameOf(device, i) })),
  );
  const replies = [
    ...lines.flatMap((line, i) => silencesOf(line, lineName(framing, i))),
    ...devices.flatMap(({ device, name }) => rulesOf(device, name)),
  ];
  const recording = recorded && new Recording(recorded, conversation, devices, MOST_RULES - replies.length);
  const faults = [
    ...replies,
    ...devices.flatMap(({ device, name }) => recording?.delaysOf(device, name) ?? delayOf(device, name)),
  ];
  const registers = devices.map(({ device }) => registersOf((table) => entriesOf(table, device, recording)));
  return nativeText({
    remarks: [
      `Written by modbus-sim learn from ${source}: ${counted(exchanges.length, 'request')}, ${FRAMINGS[framing.name]}.`,
      ...devices.flatMap(({ device, name }) =>
        [...device.remarks].map(([how, what]) => `${name}: ${how}: ${listed(what)}`),
      ),
      ...lines.flatMap(({ silent }, i) =>
        silent.length > 0 ? [`${lineName(framing, i)}: these units never answered: ${listed(silent)}`] : [],
      ),
      ...notes,
      ...(recording?.notes ?? []),
      ...(faults.length > MOST_RULES ? [`Fault rules left out: ${faults.length - MOST_RULES}.`] : []),
    ],
    devices: devices.map(({ device, name }, i) => [
      name,
      {
        ...(device.answersBroadcasts && { manners: { answersBroadcasts: 'own' } }),
        registers: registers[i],
      },
    ]),
    lines: lines.map(({ devices: own, silent }, i) => ({
      name: lineName(framing, i),
      kind: framing.name === 'socket' ? 'tcp' : framing.name,
      units: own.map((device) => [device.unit, nameOf(device, i)]),
      isSilent: framing.name === 'socket' && silent.length > 0,
    })),
    faults: faults.slice(0, MOST_RULES),
  });
}

/** The name of a line in a learned file. */
export function lineName({ name }: Framing, i: number): string {
  return `${name === 'socket' ? 'lan' : 'bus'}${i === 0 ? '' : `-${i + 1}`}`;
}

function nameOf({ unit }: LearnedDevice, line: number): string {
  return `unit-${unit}${line === 0 ? '' : `-${line + 1}`}`;
}

type RegisterEntry = { readonly address: number } & Readonly<Record<string, unknown>>;

/** Writes registers that only writes changed as lists, and one entry for each other register. */
function entriesOf(
  table: TableName,
  { tables }: LearnedDevice,
  recording: Recording | undefined,
): RegisterEntry[] {
  const cells = [...(tables.get(table) ?? [])].sort(([a], [b]) => a - b);
  const still = (isWritable: boolean) =>
    valueLists(
      cells.flatMap(([address, { first, writable, replayed }]) =>
        replayed.length === 0 && writable === isWritable ? [[address, first] as const] : [],
      ),
    );
  return [
    ...cells.flatMap(([address, cell]): RegisterEntry[] => {
      const { first, writable, replayed } = cell;
      if (replayed.length === 0) return [];
      const signal = recording?.signalOf(cell);
      if (signal) return [{ address, signal }];
      const reads = replayed.map(([read, value]) => [read, value]);
      return [{ address, value: first, action: 'replay', reads, ...(writable && { write: true }) }];
    }),
    ...still(false),
    ...still(true).map((list) => ({ ...list, write: true })),
  ].sort((a, b) => a.address - b.address);
}

/** Silence rules for unit identifiers that address the line's only device as well, but never got a reply. */
function silencesOf({ devices, silent }: LearnedLine, line: string): object[] {
  return silent
    .filter((unit) => devices.length === 1 && SERVER_ITSELF.includes(unit))
    .map((unit) => ({ name: `${line}-silent-${unit}`, when: { line, unit }, do: [{ silence: true }] }));
}

function rulesOf(device: LearnedDevice, name: string): object[] {
  const [first] = device.odd;
  const same = device.odd.every(
    (odd) => isAlways(odd) && JSON.stringify(odd.faults) === JSON.stringify(first?.faults),
  );
  // If all replies share an oddity, one rule for the device covers them; otherwise each rule names its
  // requests.
  const isOfDevice =
    first !== undefined &&
    same &&
    device.odd.length === device.requests &&
    (isHeader(first) || device.tables.size === 0);
  const rules = isOfDevice ? [{ ...first, when: {} }] : joined(device.odd);
  return [
    ...rules
      .flatMap(({ when, faults, turns }) =>
        turnsOf(turns).map((each) => ({ when: { ...when, ...each }, faults })),
      )
      .map(({ when, faults }, i) => ({
        name: `${name}-${i + 1}`,
        when: { device: name, ...when },
        do: faults,
      })),
  ];
}

/** True if all requests of this kind got the reply. */
function isAlways({ turns: [first] }: OddReply): boolean {
  return first?.[0] === 1 && first[1] === Number.POSITIVE_INFINITY;
}

/** The keys of conditions that match these turns: for one rule or, if there are many turns, several. */
function turnsOf(turns: OddReply['turns']): object[] {
  const closed = turns.filter(([, last]) => last <= LAST_TURN);
  const open = turns.filter(([, last]) => last > LAST_TURN);
  const written = closed.map(([first, last]) => (first === last ? first : `${first}-${last}`));
  const lists = Array.from({ length: Math.ceil(written.length / MOST_RANGES) }, (_, i) =>
    written.slice(i * MOST_RANGES, (i + 1) * MOST_RANGES),
  );
  return [
    ...lists.map((list) => ({ turns: list.length === 1 ? list[0] : list })),
    ...open.map(([first]) => (first === 1 ? {} : { after: first - 1 })),
  ];
}

/** Merges into one rule all requests with the same function and quantity that always got the same odd reply. */
function joined(all: readonly OddReply[]): (Omit<OddReply, 'when'> & { readonly when: object })[] {
  const groups = new Map<string, { odd: OddReply; ranges: (readonly [number, number])[] }>();
  for (const [i, odd] of all.entries()) {
    const { address, ...others } = odd.when;
    const key = address && isAlways(odd) ? JSON.stringify([others, odd.faults]) : String(i);
    const known = groups.get(key);
    const group = known && known.ranges.length < MOST_RANGES ? known : { odd, ranges: [] };
    if (address) group.ranges.push(address);
    groups.set(known && group !== known ? `${key} ${i}` : key, group);
  }
  return Array.from(groups.values(), ({ odd, ranges }) => {
    const address = ranges.length > 1 ? ranges : ranges[0];
    return { ...odd, when: { ...odd.when, ...(address && { address }) } };
  });
}

/** True if the reply is odd only in its header. */
function isHeader({ faults }: OddReply): boolean {
  return faults.every((fault) => 'unit' in fault || 'transaction' in fault);
}

function delayOf({ times }: LearnedDevice, device: string): object[] {
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] ?? 0;
  const ms = Math.round(at(0.5));
  if (ms < SHORTEST_DELAY) return [];
  const jitter = Math.min(ms, Math.round((at(0.9) - at(0.1)) / 2));
  return [delayRule(device, ms, jitter)];
}

/** Maximum number of requests in a scenario, each of which is a step. */
const MOST_LEARNT_STEPS = 1000;
/** Maximum number of values listed in a step. */
const MOST_VALUES = 256;
/** A step's default time limit, in ms. */
const USUAL_WAIT = 10_000;
const LONGEST_WAIT = 86_400_000;

/**
 * Writes a scenario that expects the requests in a log, in order, on the learned devices.
 * @param configuration path of the learned file, as written in the scenario
 */
export function writeScenario({ source, conversation, lines }: Learned, configuration: string): string {
  const { exchanges, framing } = conversation;
  const servers = [...new Set(exchanges.map(({ server }) => server))];
  const steps: { repeat?: number; expect: object; within?: string }[] = [];
  let before: number | undefined;
  for (const { request, at, server } of exchanges.slice(0, MOST_LEARNT_STEPS)) {
    const line = lines.length > 1 && { line: lineName(framing, servers.indexOf(server)) };
    const wait = Math.min(2 * ((at ?? 0) - (before ?? at ?? 0)), LONGEST_WAIT);
    const step = {
      expect: { ...line, unit: request.unitId, ...conditionOf(request.pdu), ...writeOf(request.pdu) },
      ...(wait > USUAL_WAIT && { within: `${Math.ceil(wait / 1000)}s` }),
    };
    before = at ?? before;
    const last = steps.at(-1);
    const { repeat = 1, ...same } = last ?? {};
    if (last && JSON.stringify(same) === JSON.stringify(step))
      steps.splice(-1, 1, { repeat: repeat + 1, ...step });
    else steps.push(step);
  }
  const [first = 'lan'] = lines.map((_, i) => lineName(framing, i));
  const place =
    framing.name === 'socket' ? `{lines.${first}.host} {lines.${first}.port}` : `{lines.${first}.path}`;
  const left = exchanges.length - MOST_LEARNT_STEPS;
  const remarks = [
    `To start the client: dut: {command: "my-client ${place}"}`,
    ...(left > 0 ? [`The last ${left} of ${exchanges.length} requests were left out.`] : []),
  ];
  const name = `the requests of ${printableLine(source)}`;
  return fileText({ name, configuration, steps }, remarks);
}

/** The values of functions 5, 6, 15 and 16, if a step may list them. */
function writeOf(pdu: Uint8Array): object {
  const [range] = addressRanges(pdu);
  const values = writtenValues(pdu);
  if (!range || !values || values.length > MOST_VALUES) return {};
  const table = functionOf(pdu[0])?.table;
  return { write: { [`${table} ${range.address}`]: values.length === 1 ? values[0] : values } };
}
