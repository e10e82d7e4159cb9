import type { At } from '../../common/schema/at.js';
import { isMapping } from '../../common/schema/parts.js';
import { wordsOfValue } from '../../device/registers/value.js';
import { type DeviceValue, parseChange, valueNamed } from '../../simulator/commands/device-value.js';
import type { Simulator } from '../../simulator/simulator.js';
import { writtenBy } from '../../simulator/traffic/decode-request.js';
import type { Seen } from './seen.js';

/** Registers or coils that a request has to write. */
export interface WantedWrite {
  /** Name of the device; undefined for any device. */
  readonly device: string | undefined;
  /** The table; undefined for coils and holding registers alike. */
  readonly table: 'coils' | 'holding' | undefined;
  readonly address: number;
  /**
   * The words of registers, or coils as 0 and 1; undefined when only a name is given, and any value will do.
   */
  readonly words: readonly number[] | undefined;
  /** The number of registers or coils. */
  readonly quantity: number;
  /** For each word, the bits that matter; all of them when absent. */
  readonly mask?: readonly number[];
}

const EXPECTED = 'a name or names with values, as in {relay.coil: 1}, or addresses, as in {holding 5: 230}';
const ADDRESS = /^(?:(coils|holding) )?(\d{1,5})$/;
const WORD = 0xffff;

/** Reads `write`: values by name in their units, or words by address; a name alone for any value. */
export function readWrites(at: At, simulator: Simulator): WantedWrite[] | undefined {
  if (typeof at.value === 'string') {
    const wanted = readName(at.value, at, simulator);
    return wanted && [wanted.write];
  }
  if (!isMapping(at.value)) return at.expected(EXPECTED);
  return at.unlessWrong(() =>
    (at.entries(EXPECTED) ?? []).flatMap(([key, content]) => readEntry(key, content, simulator) ?? []),
  );
}

function readEntry(key: string, at: At, simulator: Simulator): WantedWrite | undefined {
  const found = ADDRESS.exec(key);
  if (!found) return readNamedValue(key, at, simulator);
  const address = Number(found[2]);
  if (address > WORD) return at.wrong(`expected an address from 0 to ${WORD}`);
  const words = [at.value].flat();
  if (words.length === 0 || !words.every(isWord)) {
    return at.expected(`a whole number from 0 to ${WORD}, or a list of them`);
  }
  const table = found[1] as 'coils' | 'holding' | undefined;
  return { device: undefined, table, address, words, quantity: words.length };
}

function isWord(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= WORD;
}

function readNamedValue(name: string, at: At, simulator: Simulator): WantedWrite | undefined {
  const named = readName(name, at, simulator);
  if (named?.bit !== undefined) return readBit(named.write, named.value, named.bit.number, at);
  const change = named && parseChange(named.value, at.value, false);
  if (!named || !change) return undefined;
  if (!change.ok) return at.expected(change.error);
  const { image, location } = named.value;
  const words = wordsOfValue(location.type, change.value, location.cells, image.orderAt(location.address));
  return { ...named.write, words };
}

/** Reads what a bit of a value has to be, as in {meter.status.overload: 1}: the other bits do not matter. */
function readBit(
  write: WantedWrite,
  { image, location }: DeviceValue,
  bit: number,
  at: At,
): WantedWrite | undefined {
  if (![0, 1, true, false].includes(at.value as number)) return at.expected('0, 1, true or false');
  const order = image.orderAt(location.address);
  const wordsOf = (isOn: boolean) =>
    wordsOfValue(location.type, isOn ? 1n << BigInt(bit) : 0n, location.cells, order);
  return { ...write, words: wordsOf(Boolean(at.value)), mask: wordsOf(true) };
}

/** Finds a value by its name, such as `meter.voltage`. */
function readName(name: string, at: At, simulator: Simulator) {
  const found = simulator.findValue(name);
  if (!found.ok) return at.wrong(found.error);
  const { device, table, address, quantity, bit } = found.value;
  if (table !== 'coils' && table !== 'holding') {
    return at.wrong(`${name} is in the table ${table}, which no client can write`);
  }
  const owner = simulator.devices.get(device);
  const value = owner && valueNamed(owner, bit?.of ?? name.slice(device.length + 1));
  return value && { value, bit, write: { device, table, address, words: undefined, quantity } };
}

/** True when a request writes all that is wanted. */
export function matchesWrite(
  { device, table, address, words, quantity, mask }: WantedWrite,
  seen: Seen,
): boolean {
  const written = writtenBy(seen.pdu);
  if (!written || (table !== undefined && written.table !== table)) return false;
  // A broadcast is for all devices of the line.
  if (device !== undefined && seen.device !== device && seen.event.kind !== 'broadcast') return false;
  const { values } = written;
  if (words === undefined) {
    const end = written.address + (values?.length ?? 1);
    return written.address < address + quantity && address < end;
  }
  return words.every((word, i) => {
    const found = values?.[address + i - written.address];
    if (mask === undefined) return found === word;
    const bits = mask[i] as number;
    return bits === 0 || (found !== undefined && (found & bits) === word);
  });
}
