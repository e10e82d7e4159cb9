import { momentOf } from '../../common/schema/milliseconds.js';
import { counted } from '../../common/words.js';
import type { Outcome, Refusal } from '../../simulator/commands/refusal.js';
import type { DeviceView } from '../../simulator/commands/schemas/device.js';
import type { Words } from '../../simulator/commands/schemas/value.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { isoTime } from '../../simulator/traffic/words.js';
import {
  differenceOf,
  type RecordedDevice,
  type RecordedRegisters,
  type RecordedState,
  type RecordedTable,
  type RecordedTables,
} from '../../testing/report/recorded-registers.js';
import { sentence } from '../../testing/report/words.js';
import type { Rpc } from '../rpc/rpc.js';
import type { LineMap } from './line-map.js';

/** Maximum size of the registers in one page, in characters of JSON. A page without them has about 0.4 MB. */
export const MOST_RECORDED = 400_000;
/** Maximum number of registers of a device. */
const MOST_REGISTERS = 4096;
/**
 * Maximum number of requests for words in a report. Each is one turn of the side of the lines, of about 2 ms if
 * all changes that are kept must be undone.
 */
const MOST_READS = 1000;
/** Maximum number of addresses in a request, as in `value.words`. */
const MOST_WORDS = 512;

type AskedWords = Pick<Words, 'table' | 'from'> & { to: number };

/**
 * Reads the registers of the devices that the events are about, as they were during these events: at each
 * write, and also at each event if a signal computes some of them. Starts at the last event and goes back as
 * far as the limits allow.
 * @param size maximum size of the result, in characters of JSON
 */
export async function recordRegisters(
  rpc: Rpc,
  map: LineMap,
  events: Iterable<TrafficEvent>,
  size = MOST_RECORDED,
): Promise<RecordedRegisters> {
  const [devices, missing]: [RecordedDevice[], string[]] = [[], []];
  const { names, times } = await map.devicesIn(events);
  let left = size;
  for (const [i, name] of names.entries()) {
    const shares = names.length - i;
    const limits = { size: left / shares, reads: MOST_READS / names.length };
    const found = await recordDevice(rpc, name, times.map(isoTime), limits);
    if (typeof found === 'string') missing.push(found);
    else {
      devices.push(found);
      left -= JSON.stringify(found).length;
    }
  }
  return { devices, missing };
}

/** @param times those of the events, oldest first @returns the registers, or why there are none */
async function recordDevice(
  rpc: Rpc,
  name: string,
  times: readonly string[],
  { size, reads }: { readonly size: number; readonly reads: number },
): Promise<RecordedDevice | string> {
  const view = await rpc.call('device.get', { device: name });
  if (!view.ok) return whyNot(view);
  const device = view.value;
  const parts = partsOf(device);
  const count = Object.values(device.defined ?? {}).reduce((sum, { registers }) => sum + registers, 0);
  const tooMany = `The registers of ${name} are left out: ${counted(count, 'register')} need too much room.`;
  if (count > MOST_REGISTERS || parts.length > reads) return tooMany;
  const states: RecordedState[] = [];
  const [first = ''] = times;
  let [newer, moments, spent, read]: [RecordedTables, readonly string[], number, number] = [
    {},
    [first],
    0,
    0,
  ];
  for (let at = times.at(-1); at !== undefined && read < reads; read += parts.length) {
    const answer = await stateAt(rpc, name, parts, at);
    if (!answer.ok && states.length === 0) return whyNot(answer);
    // Nothing earlier is known.
    if (!answer.ok) break;
    const { registers, past, replaced } = answer.value;
    const isWrite = past?.changed === at;
    const difference = differenceOf(newer, registers);
    const last = states.at(-1);
    if (last && !last.replaced && !isWrite && difference === undefined)
      states[states.length - 1] = { ...last, at };
    else {
      const state = { at, ...(isWrite && { replaced }), registers: difference ?? {} };
      spent += JSON.stringify(state).length;
      if (spent > size) break;
      states.push(state);
    }
    if (read === 0 && isMoving(registers)) moments = times;
    newer = registers;
    const now = at;
    const isEarlier = (time: string) => time >= first && time < now;
    const write = isWrite ? past.previous : past?.changed;
    at = [write ?? '', past?.since ?? '', moments.findLast(isEarlier) ?? ''].filter(isEarlier).sort().at(-1);
  }
  return states.length > 0 ? { device, states } : tooMany;
}

function whyNot({ problems: [first] }: Refusal): string {
  return sentence(first?.message ?? 'the device is gone');
}

/** Whether some values change without a write. */
function isMoving(registers: RecordedTables): boolean {
  return Object.values(registers).some(({ values }) =>
    Object.values(values).some((value) => value?.signal !== null),
  );
}

/** The address ranges to request. Ranges close together are one. */
function partsOf({ defined = {} }: DeviceView): AskedWords[] {
  const parts: AskedWords[] = [];
  for (const [name, { ranges }] of Object.entries(defined)) {
    const table = name as Words['table'];
    for (const [first, last] of ranges) {
      for (let from = first; from <= last; ) {
        const open = parts.at(-1);
        const begin = open?.table === table && from < open.from + MOST_WORDS ? open.from : from;
        const to = Math.min(last, begin + MOST_WORDS - 1);
        if (open && begin === open.from && open.table === table) open.to = to;
        else parts.push({ table, from, to });
        from = to + 1;
      }
    }
  }
  return parts;
}

interface Read {
  readonly registers: RecordedTables;
  readonly past: Words['past'];
  readonly replaced: NonNullable<RecordedState['replaced']>;
}

/** Reads all registers of a device as they were at a time, like `GET /devices/NAME/words?at=`. */
async function stateAt(
  rpc: Rpc,
  device: string,
  parts: readonly AskedWords[],
  time: string,
): Promise<Outcome<Read>> {
  const registers: RecordedTables = {};
  const replaced: [string, number, number][] = [];
  let past: Words['past'];
  for (const part of parts) {
    const answer = await rpc.call('value.words', { device, ...part, at: momentOf(time) });
    if (!answer.ok) return answer;
    const { table, from, bits, words, access, values } = answer.value;
    registers[table] ??= { bits, words: {}, access: {}, values: {} };
    const into: RecordedTable = registers[table];
    for (const [i, word] of words.entries()) {
      if (access[i] === '-') continue;
      into.words[from + i] = word;
      into.access[from + i] = access[i] as string;
    }
    for (const { reads: _, writes, lastWriter, saturated, ...value } of values)
      into.values[value.address] = value;
    past = answer.value.past;
    for (const [address, word] of past?.before ?? []) replaced.push([table, address, word]);
  }
  return { ok: true, value: { registers, past, replaced } };
}
