import { isDeepStrictEqual } from 'node:util';
import { compact } from '../../common/compact.js';
import { isMapping } from '../../common/schema/parts.js';
import { hex } from '../../modbus/protocol/bytes.js';
import type {
  DeviceDefinition,
  LineDefinition,
  SerialLineDefinition,
  SocketLineDefinition,
  UnitNames,
  UnsolicitedDefinition,
} from '../configuration.js';
import { usualClients } from './endpoints.js';

/** A complete line in the form of the native file. Reading it again gives the same definition. */
export type LineSource = Readonly<Record<string, unknown>>;

export function lineSource(definition: LineDefinition): LineSource {
  return definition.kind === 'serial' ? serialSource(definition) : socketSource(definition);
}

/**
 * The line as `lineSource` gives it, without `maxClients` when that follows from the number of addresses:
 * other addresses have another limit.
 */
export function sourceToChange(definition: LineDefinition): LineSource {
  const source = lineSource(definition);
  if (definition.kind === 'serial' || definition.maxClients !== usualClients(definition.hosts)) return source;
  const { maxClients, ...socket } = source[definition.kind] as Readonly<Record<string, unknown>>;
  return { ...source, [definition.kind]: socket };
}

function serialSource({
  kind,
  name,
  framing,
  mode,
  timing,
  whenBusy,
  echo,
  start,
  unsolicited,
  units,
  ...serial
}: SerialLineDefinition): LineSource {
  return compact({
    ...{ serial, framing, mode, timing, whenBusy, echo, start },
    ...{ unsolicited: unsolicitedSource(unsolicited), units: unitsSource(units) },
  });
}

function socketSource({
  kind,
  name,
  framing,
  files,
  start,
  unsolicited,
  units,
  missingUnit,
  host,
  hosts,
  each,
  ...listening
}: SocketLineDefinition): LineSource {
  const socket = compact({ ...(hosts ? { hosts: host } : { host }), ...listening, ...files });
  return compact({
    ...{ [kind]: socket, framing, start, unsolicited: unsolicitedSource(unsolicited) },
    ...{ units: unitsSource(units), each: each === undefined ? undefined : { copyOf: each }, missingUnit },
  });
}

function unsolicitedSource(unsolicited: readonly UnsolicitedDefinition[] | undefined): unknown {
  return unsolicited?.map(({ bytes, frame, ...when }) => ({
    ...(bytes && { bytes: hex(bytes) }),
    ...(frame && { frame: { unit: frame.unit, pdu: hex(frame.pdu) } }),
    ...when,
  }));
}

function unitsSource(units: UnitNames): Record<string, string> {
  return Object.fromEntries(Array.from(units, ([unitId, device]) => [String(unitId), device]));
}

/**
 * Changes some settings of a line. Settings that `change` leaves out stay as they are, and null restores the
 * default. Units are replaced as a whole. Another transport drops the settings of the old one, and another
 * framing drops the character format of the old one.
 */
export function mergedSource(source: LineSource, change: Readonly<Record<string, unknown>>): LineSource {
  const transports = ['serial', 'tcp', 'udp', 'tls'];
  const isOther = transports.some((key) => change[key] != null && source[key] === undefined);
  if (isOther) return merged({ units: source.units }, change);
  const isReframed = 'framing' in change && change.framing !== source.framing;
  return merged(isReframed ? withoutFramingSettings(source) : source, change);
}

/**
 * The change that turns `before` into `after` (see `mergedSource`). Equal settings are left out; settings
 * that `after` does not have are null.
 */
export function sourceChange(before: LineSource, after: LineSource): LineSource {
  const gone = Object.keys(before).filter((key) => !(key in after));
  const changed = Object.entries(after).flatMap(([key, value]) => {
    const old = before[key];
    if (isDeepStrictEqual(old, value)) return [];
    return [[key, key !== 'units' && isMapping(old) && isMapping(value) ? sourceChange(old, value) : value]];
  });
  return Object.fromEntries([...gone.map((key) => [key, null]), ...changed]);
}

function withoutFramingSettings({ serial, ...source }: LineSource): LineSource {
  if (!isMapping(serial)) return source;
  const { dataBits, ...rest } = serial;
  return { ...source, serial: rest };
}

function merged(base: LineSource, change: LineSource): LineSource {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const before = result[key];
    if (value === null) delete result[key];
    else
      result[key] = key !== 'units' && isMapping(before) && isMapping(value) ? merged(before, value) : value;
  }
  return result;
}

/**
 * A line in the form of a file: copies of devices are written as `copyOf` with the names of their sources.
 */
export function sourceWithCopies(devices: readonly DeviceDefinition[], line: LineDefinition): LineSource {
  const sources = new Map(devices.map(({ name, copyOf }) => [name, copyOf]));
  const units = Array.from(line.units, ([unitId, device]) => {
    const source = sources.get(device);
    return [unitId, source === undefined ? device : { copyOf: source }];
  });
  return { ...lineSource(line), units: Object.fromEntries(units) };
}
