import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import type { Problem } from '../../common/schema/problem.js';
import type { Device } from '../../device/device.js';
import { notDefined } from '../../device/registers/undefined.js';
import type { TableName } from '../../device/tables.js';
import type { CommandContext } from './context.js';
import type { DeclaredInput } from './declared.js';
import {
  type DeviceValue,
  findNamed,
  readValue,
  TOO_MUCH_TO_COME,
  unknownDevice,
  valueAtAddress,
  viewRegister,
  whyUnchangeable,
  writeValue,
} from './device-value.js';
import { readExpected, unexpected } from './expected-values.js';
import { type Code, done, type Outcome, refusal, refusalOf } from './refusal.js';
import type { Change, RegisterView, VALUE_COMMANDS } from './schemas/value.js';

/** Sets values by name, or by table and address: all of them, or none if one change has a mistake. */
export function changeValues(
  { simulator }: CommandContext,
  { device: name, ...request }: DeclaredInput<(typeof VALUE_COMMANDS)['value.change']>,
): Outcome<readonly RegisterView[]> {
  const device = simulator.devices.get(name);
  if (!device) return unknownDevice(simulator, name);
  const at = new At(request, new Findings());
  const ready = request.changes.flatMap(
    (change, i) => readyChange(device, change, at.key('changes').key(i)) ?? [],
  );
  if (at.findings.count > 0) return refusalOf(at.findings, 'value.invalid');
  const targets = ready.flatMap(({ targets }) => targets);
  const others = ready.flatMap(({ unmet }) => unmet?.() ?? []);
  if (others.length > 0) return unexpected(others, targets);
  if (!device.points.haveRoom(targets.flatMap(({ point }) => point ?? [])))
    return refusal('value.moved_by_signal', 'changes', TOO_MUCH_TO_COME);
  for (const { carryOut } of ready) carryOut();
  return done(targets.map(viewRegister));
}

/** A valid change that is not yet carried out. */
interface ReadyChange {
  readonly targets: readonly DeviceValue[];
  readonly carryOut: () => void;
  /** Finds what is there instead of the expected content; undefined if everything is as expected. */
  readonly unmet: (() => Problem | undefined) | undefined;
}

/** Prepares a change; undefined after reporting its mistakes. */
function readyChange(device: Device, change: Change, at: At): ReadyChange | undefined {
  if (change.words) return readyWords(device, change, change.words, at);
  const target = findTarget(device, change, at);
  const parsed = target && readValue(target, change.raw, at.key('value'));
  if (!target || !parsed) return undefined;
  const unmet = readExpected(device, target, change, at.key('expected'));
  return { targets: [target], carryOut: () => writeValue(target, parsed.value), unmet };
}

function readyWords(
  device: Device,
  change: Change,
  words: readonly number[],
  at: At,
): ReadyChange | undefined {
  const { name, table, address, value } = change;
  if (table === undefined || address === undefined || name !== undefined || value !== undefined)
    return at.wrong('expected words with a table and an address', 'request.invalid');
  const found = valuesOfWords(device, table, address, words);
  if ('wrong' in found) return at.key(found.key).wrong(found.wrong, found.code);
  const unmet = readExpected(device, { table, address }, change, at.key('expected'));
  return { targets: found.targets, carryOut: () => writeWords(device, table, address, words), unmet };
}

function findTarget(device: Device, { name, table, address }: Change, at: At): DeviceValue | undefined {
  const isByName = name !== undefined && table === undefined && address === undefined;
  if (isByName) return findNamed(device, name, at.key('name'));
  if (name !== undefined || table === undefined || address === undefined)
    return at.wrong('expected a name, or a table and an address', 'request.invalid');
  const found = valueAtAddress(device, table, address);
  if (!found) return at.key('address').wrong(notDefined(`${table} ${address}`), 'register.undefined');
  if (found.address === address) return found;
  return at
    .key('address')
    .wrong(
      `expected ${found.address}, where this ${found.location.type} begins, got ${address}`,
      'register.inside_value',
    );
}

/**
 * Finds the values in the registers from an address on. REST must be allowed to write all of them.
 * @returns otherwise what is wrong, and with which key of the change
 */
function valuesOfWords(
  device: Device,
  table: TableName,
  address: number,
  words: readonly number[],
):
  | { readonly targets: readonly DeviceValue[] }
  | { readonly key: 'address' | 'words'; readonly wrong: string; readonly code: Code } {
  const targets: DeviceValue[] = [];
  const end = address + words.length;
  for (let next = address; next < end; ) {
    const found = valueAtAddress(device, table, next);
    if (!found) return { key: 'address', wrong: notDefined(`${table} ${next}`), code: 'register.undefined' };
    const why = whyUnchangeable(found);
    if (why !== undefined)
      return { key: 'address', wrong: `${table} ${next} ${why}`, code: 'value.moved_by_signal' };
    if (found.location.type === 'bit' && (words[next - address] as number) > 1)
      return { key: 'words', wrong: `expected 0 or 1 for ${table} ${next}`, code: 'value.invalid' };
    targets.push(found);
    next = found.address + found.location.cells;
  }
  return { targets };
}

/** Writes registers for REST the way clients do, so a value may be written in part. Call this after `valuesOfWords`. */
function writeWords({ tables }: Device, table: TableName, address: number, words: readonly number[]): void {
  const { image, base } = tables[table].window;
  image.setWords(base + address, words);
  image.noteWrite(base + address, words.length, { by: 'REST' });
  image.live?.written(base + address, words.length);
}
