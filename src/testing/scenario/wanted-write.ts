import type { At } from '../../common/schema/at.js';
import { isMapping } from '../../common/schema/parts.js';
import { wordsOfValue } from '../../device/registers/value.js';
import { parseChange, valueNamed } from '../../simulator/commands/device-value.js';
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
  const change = named && parseChange(named.value, at.value, false);
  if (!named || !change) return undefined;
  if ('expected' in change) return at.expected(change.expected);
  const { image, location } = named.value;
  const words = wordsOfValue(location.type, change.value, location.cells, image.orderAt(location.address));
  return { ...named.write, words };
}

/** Finds a value by its name, such as `meter.voltage`. */
function readName(name: string, at: At, simulator: Simulator) {
  const found = simulator.findValue(name);
  if (typeof found === 'string') return at.wrong(found);
  const { device, table, address, quantity } = found;
  if (table !== 'coils' && table !== 'holding') {
    return at.wrong(`${name} is in the table ${table}, which no client can write`);
  }
  const owner = simulator.devices.get(device);
  const value = owner && valueNamed(owner, name.slice(device.length + 1));
  return value && { value, write: { device, table, address, words: undefined, quantity } };
}

/** True when a request writes all that is wanted. */
export function matchesWrite({ device, table, address, words, quantity }: WantedWrite, seen: Seen): boolean {
  const written = writtenBy(seen.pdu);
  if (!written || (table !== undefined && written.table !== table)) return false;
  // A broadcast is for all devices of the line.
  if (device !== undefined && seen.device !== device && seen.event.kind !== 'broadcast') return false;
  const { values } = written;
  if (words === undefined) {
    const end = written.address + (values?.length ?? 1);
    return written.address < address + quantity && address < end;
  }
  return words.every((word, i) => values?.[address + i - written.address] === word);
}
