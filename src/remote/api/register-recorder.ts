import { setTimeout as pause } from 'node:timers/promises';
import { momentOf } from '../../common/schema/milliseconds.js';
import { counted } from '../../common/words.js';
import type { Outcome, Refusal } from '../../simulator/commands/refusal.js';
import type { DeviceView } from '../../simulator/commands/schemas/device.js';
import type { Words } from '../../simulator/commands/schemas/value.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { isoTime } from '../../simulator/traffic/words.js';
import {
  differenceOf,
  merge,
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
/** Maximum duration in ms on a running simulator, with the pauses. A state that has begun is read to its end. */
const MOST_MS = 5000;
/** Maximum number of addresses in a request, as in `value.words`. */
const MOST_WORDS = 512;

type AskedWords = Pick<Words, 'table' | 'from'> & { to: number };

/**
 * Reads the registers of the devices that the events are about, as they were during these events: at each
 * write, and also at each event if a signal computes some of them. Starts at the last event and goes back as
 * far as the limits allow.
 * @param size maximum size of the result, in characters of JSON
 * @param isGone whether the client has disconnected, if the simulator is running: then requests are paced, and
 * their time is limited
 */
export async function recordRegisters(
  rpc: Rpc,
  map: LineMap,
  events: Iterable<TrafficEvent>,
  size = MOST_RECORDED,
  isGone?: () => boolean,
): Promise<RecordedRegisters> {
  const [devices, missing]: [RecordedDevice[], string[]] = [[], []];
  const { names, times } = await map.devicesIn(events);
  const calls = isGone ? paced(rpc) : rpc;
  const left = {
    size,
    reads: MOST_READS,
    endsAt: isGone ? performance.now() + MOST_MS : Number.POSITIVE_INFINITY,
    isGone: isGone ?? (() => false),
  };
  const isoTimes = times.map(isoTime);
  for (const [i, name] of names.entries()) {
    if (left.isGone()) break;
    const found = await recordDevice(calls, name, isoTimes, left, names.length - i);
    if (typeof found === 'string') missing.push(found);
    else {
      devices.push(found);
      left.size -= JSON.stringify(found).length;
    }
  }
  return { devices, missing };
}

type Calls = Pick<Rpc, 'call'>;

/** Calls a running simulator, and waits after each answer at least as long as it took: the lines come first. */
function paced(rpc: Calls): Calls {
  return {
    async call(name, input) {
      const calledAt = performance.now();
      const outcome = await rpc.call(name, input);
      await pause(Math.ceil(performance.now() - calledAt));
      return outcome;
    },
  };
}

/** What is left of the limits of all devices. */
interface RecordingLimits {
  readonly size: number;
  reads: number;
  /** On the clock of `performance`, in ms. */
  readonly endsAt: number;
  readonly isGone: () => boolean;
}

/**
 * @param times those of the events, oldest first
 * @param shares how many devices share what is left
 * @returns the registers, or why there are none
 */
async function recordDevice(
  rpc: Calls,
  name: string,
  times: readonly string[],
  left: RecordingLimits,
  shares: number,
): Promise<RecordedDevice | string> {
  const view = await rpc.call('device.get', { device: name });
  if (!view.ok) return whyNot(view);
  const device = view.value;
  const parts = partsOf(device);
  const count = Object.values(device.defined ?? {}).reduce((sum, { registers }) => sum + registers, 0);
  const leftOut = (why: string) => `The registers of ${name} are left out: ${why}.`;
  const tooMany = leftOut(`${counted(count, 'register')} need too much room`);
  if (count > MOST_REGISTERS) return tooMany;
  const usedUp = (what: string) => leftOut(`the other devices used up the ${what} of a report`);
  if (parts.length > left.reads) return usedUp(counted(MOST_READS, 'read'));
  const startedAt = performance.now();
  if (startedAt >= left.endsAt) return usedUp(`${MOST_MS / 1000} s`);
  const endsAt = startedAt + (left.endsAt - startedAt) / shares;
  const size = left.size / shares;
  const reserved = left.reads - left.reads / shares;
  const states: RecordedState[] = [];
  const [first = ''] = times;
  let [newer, moments, spent]: [readonly ReadPart[], readonly string[], number] = [[], [first], 0];
  for (let at = times.at(-1); at !== undefined; ) {
    const isFirst = newer.length === 0;
    const isOver = left.reads - parts.length < reserved || performance.now() >= endsAt || left.isGone();
    if (isOver && !isFirst) break;
    left.reads -= parts.length;
    const answer = await stateAt(rpc, name, parts, at, newer);
    if (!answer.ok && states.length === 0) return whyNot(answer);
    // Nothing earlier is known.
    if (!answer.ok) break;
    const { read, difference, past, replaced } = answer.value;
    const isWrite = past?.changed === at;
    const last = states.at(-1);
    if (last && !last.replaced && !isWrite && difference === undefined)
      states[states.length - 1] = { ...last, at };
    else {
      const state = { at, ...(isWrite && { replaced }), registers: difference ?? {} };
      spent += JSON.stringify(state).length;
      if (spent > size) break;
      states.push(state);
    }
    if (isFirst && read.some(({ registers }) => isMoving(registers))) moments = times;
    newer = read;
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

/** The registers in an address range, and their JSON. */
interface ReadPart {
  readonly registers: RecordedTables;
  readonly json: string;
}

interface Read {
  readonly read: readonly ReadPart[];
  /** How they differ from the newer state; undefined if they do not. */
  readonly difference: unknown;
  readonly past: Words['past'];
  readonly replaced: NonNullable<RecordedState['replaced']>;
}

/**
 * Reads all registers of a device as they were at a time, like `GET /devices/NAME/words?at=`. Each part is
 * compared before the next is read, so that other requests never wait for long.
 */
async function stateAt(
  rpc: Calls,
  device: string,
  parts: readonly AskedWords[],
  time: string,
  newer: readonly ReadPart[],
): Promise<Outcome<Read>> {
  const read: ReadPart[] = [];
  const difference: RecordedTables = {};
  const replaced: [string, number, number][] = [];
  let past: Words['past'];
  for (const part of parts) {
    const answer = await rpc.call('value.words', { device, ...part, at: momentOf(time) });
    if (!answer.ok) return answer;
    const { table, from, bits, words, access, values } = answer.value;
    const into: RecordedTable = { bits, words: {}, access: {}, values: {} };
    for (const [i, word] of words.entries()) {
      if (access[i] === '-') continue;
      into.words[from + i] = word;
      into.access[from + i] = access[i] as string;
    }
    for (const { reads: _, writes, lastWriter, saturated, ...value } of values)
      into.values[value.address] = value;
    const registers = { [table]: into };
    const json = JSON.stringify(into);
    const before = newer[read.length];
    if (json !== before?.json) merge(difference, differenceOf(before?.registers ?? {}, registers));
    read.push({ registers, json });
    past = answer.value.past;
    for (const [address, word] of past?.before ?? []) replaced.push([table, address, word]);
  }
  const isSame = Object.keys(difference).length === 0;
  return { ok: true, value: { read, difference: isSame ? undefined : difference, past, replaced } };
}
