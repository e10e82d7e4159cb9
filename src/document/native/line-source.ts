import { isDeepStrictEqual } from 'node:util';
import { compact } from '../../common/compact.js';
import { isMapping, isSameData } from '../../common/schema/parts.js';
import { hex } from '../../modbus/protocol/bytes.js';
import type {
  LineDefinition,
  LineSource,
  SerialLineDefinition,
  SocketLineDefinition,
  UnitNames,
  UnsolicitedDefinition,
} from '../configuration.js';
import { TRANSPORTS } from './line-schema.js';

/** Returns all settings of a line, including defaults, in the form of an entry: for display. */
export function lineSettings(definition: LineDefinition): LineSource {
  return definition.kind === 'serial' ? serialSettings(definition) : socketSettings(definition);
}

/** Returns the kind of line that settings are for. */
export function transportOf(settings: LineSource): LineDefinition['kind'] | undefined {
  return TRANSPORTS.find((kind) => settings[kind] !== undefined);
}

/** Reports whether two lines have the same settings, however these are written. */
export function isSameLine(one: LineDefinition, other: LineDefinition): boolean {
  return isDeepStrictEqual({ ...one, source: {} }, { ...other, source: {} });
}

function serialSettings({
  kind,
  name,
  source,
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

function socketSettings({
  kind,
  name,
  source,
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
 * Changes some settings of a line. Settings that are not in `change` stay as they are, and null restores the
 * default. Units and `unsolicited` are replaced as a whole. Another transport drops the settings of the old
 * one, and another framing drops the character format of the old one.
 */
export function mergedSource(source: LineSource, change: Readonly<Record<string, unknown>>): LineSource {
  const isOther = TRANSPORTS.some((key) => change[key] != null && source[key] === undefined);
  if (isOther) return merged({ units: source.units }, change);
  const isReframed = 'framing' in change && change.framing !== source.framing;
  return merged(isReframed ? withoutFramingSettings(source) : source, change);
}

/**
 * Returns the change that turns `before` into `after` (see `mergedSource`). Equal settings are left out;
 * settings missing from `after` are null.
 */
export function sourceChange(before: LineSource, after: LineSource): LineSource {
  const gone = Object.keys(before).filter((key) => !(key in after));
  const changed = Object.entries(after).flatMap(([key, value]) => {
    const old = before[key];
    if (isSameData(old, value)) return [];
    return [[key, hasParts(key, value) && isMapping(old) ? sourceChange(old, value) : value]];
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
    else result[key] = hasParts(key, value) ? merged(isMapping(before) ? before : {}, value) : value;
  }
  return result;
}

/** Reports whether a setting's members change one by one. */
function hasParts(key: string, value: unknown): value is LineSource {
  return key !== 'units' && key !== 'unsolicited' && isMapping(value);
}
