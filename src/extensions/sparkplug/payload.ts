import Pbf from 'pbf';

/** The data types that are published (Sparkplug 3.0, 6.4.16). */
export const TYPES = { int64: 4, double: 10, boolean: 11, string: 12 } as const;

export interface Metric {
  readonly name: string;
  readonly type: (typeof TYPES)[keyof typeof TYPES];
  /** The value; null while it is not available. */
  readonly value: number | boolean | string | null;
}

export interface Payload {
  /** The time in ms since 1970, used for each metric too. */
  readonly timestamp: number;
  readonly metrics: readonly Metric[];
  /** Sequence number; absent in a node's death message (NDEATH). */
  readonly seq?: number;
}

/**
 * A metric in a command. Its value is undefined for a null, and for a kind that no command here accepts, such
 * as a data set.
 */
export interface Commanded {
  readonly name: string | undefined;
  readonly value: number | boolean | string | undefined;
}

/** Field numbers of `org.eclipse.tahu.protobuf.Payload` and its `Metric` (sparkplug_b.proto of Eclipse Tahu). */
const PAYLOAD = { timestamp: 1, metrics: 2, seq: 3 } as const;
const METRIC = {
  ...{ name: 1, timestamp: 3, datatype: 4, isNull: 7 },
  ...{ int: 10, long: 11, float: 12, double: 13, boolean: 14, string: 15 },
} as const;

/** The wire types of Protocol Buffers. */
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

/**
 * Integer types whose sign is lost, because `int_value` and `long_value` are unsigned (6.4.16): Int8 to
 * Int32, and UInt64.
 */
const SIGNED = [1, 2, 3];
const UINT64 = 8;

/** Maximum length of a command in bytes, and maximum number of metrics in it. */
const LONGEST_COMMAND = 65_536;
const MOST_COMMANDED = 1000;

export function encodePayload({ timestamp, metrics, seq }: Payload): Uint8Array {
  const pbf = new Pbf();
  pbf.writeVarintField(PAYLOAD.timestamp, timestamp);
  for (const metric of metrics) pbf.writeMessage(PAYLOAD.metrics, writeMetric, { ...metric, timestamp });
  if (seq !== undefined) pbf.writeVarintField(PAYLOAD.seq, seq);
  return pbf.finish();
}

function writeMetric(
  { name, type, value, timestamp }: Metric & { readonly timestamp: number },
  pbf: Pbf,
): void {
  pbf.writeStringField(METRIC.name, name);
  pbf.writeVarintField(METRIC.timestamp, timestamp);
  // The type may be omitted in data messages (6.4.9), but Eclipse Tahu's decoder finds no value without it.
  pbf.writeVarintField(METRIC.datatype, type);
  if (value === null) pbf.writeBooleanField(METRIC.isNull, true);
  else if (typeof value === 'boolean') pbf.writeBooleanField(METRIC.boolean, value);
  else if (typeof value === 'string') pbf.writeStringField(METRIC.string, value);
  else if (type === TYPES.double) pbf.writeDoubleField(METRIC.double, value);
  else pbf.writeVarintField(METRIC.long, value);
}

/** The metrics in a command; undefined if the bytes are not a payload, or are too long. */
export function decodeCommand(payload: Uint8Array): Commanded[] | undefined {
  if (payload.length > LONGEST_COMMAND) return undefined;
  try {
    // A copy, because pbf does not accept a view of part of a buffer.
    const pbf = new Pbf(Uint8Array.from(payload));
    const metrics = pbf.readFields<Commanded[]>((tag, all) => {
      if (tag === PAYLOAD.metrics && pbf.type === BYTES)
        all.push(commanded(pbf.readMessage<Fields>(readField, {})));
    }, []);
    // A truncated payload announces more bytes than it has.
    return pbf.pos === pbf.length && metrics.length <= MOST_COMMANDED ? metrics : undefined;
  } catch {
    return undefined;
  }
}

/** The fields of a metric, which may come in any order. */
interface Fields {
  name?: string;
  datatype?: number;
  isNull?: boolean;
  int?: number;
  long?: number;
  value?: number | boolean | string;
}

/** Reads a field if it is known and has the right wire type; pbf skips others. */
function readField(tag: number, fields: Fields, pbf: Pbf): void {
  const { type } = pbf;
  if (tag === METRIC.name && type === BYTES) fields.name = pbf.readString();
  else if (tag === METRIC.datatype && type === VARINT) fields.datatype = pbf.readVarint();
  else if (tag === METRIC.isNull && type === VARINT) fields.isNull = pbf.readBoolean();
  else if (tag === METRIC.int && type === VARINT) fields.int = pbf.readVarint(true);
  else if (tag === METRIC.long && type === VARINT) fields.long = pbf.readVarint(true);
  else if (tag === METRIC.float && type === FIXED32) fields.value = pbf.readFloat();
  else if (tag === METRIC.double && type === FIXED64) fields.value = pbf.readDouble();
  else if (tag === METRIC.boolean && type === VARINT) fields.value = pbf.readBoolean();
  else if (tag === METRIC.string && type === BYTES) fields.value = pbf.readString();
}

function commanded({ name, datatype = 0, isNull, int, long, value }: Fields): Commanded {
  if (isNull) return { name, value: undefined };
  if (int !== undefined) return { name, value: SIGNED.includes(datatype) ? int | 0 : int >>> 0 };
  if (long !== undefined) return { name, value: datatype === UINT64 && long < 0 ? long + 2 ** 64 : long };
  return { name, value };
}
