import sparkplug from 'sparkplug-payload';

const codec = sparkplug.get('spBv1.0');

/** A metric as the decoder of Eclipse Tahu reads it. */
interface DecodedMetric {
  readonly name: string;
  readonly type: string;
  readonly timestamp: number;
  readonly value: unknown;
}

export interface Decoded {
  readonly timestamp: number;
  /** NaN where there is none. */
  readonly seq: number;
  readonly metrics: readonly DecodedMetric[];
  /** The values by the names of their metrics. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What a payload says to the decoder of Eclipse Tahu, which is not ours. */
export function decoded(payload: string | Uint8Array): Decoded {
  const { timestamp, seq, metrics } = codec?.decodePayload(Buffer.from(payload)) ?? {};
  const read = (metrics ?? []).map(({ name, type, value, timestamp: at }) => ({
    name: name ?? '',
    type,
    timestamp: Number(at),
    // 64-bit integers come as objects.
    value: typeof value === 'object' && value !== null ? Number(value) : value,
  }));
  return {
    timestamp: Number(timestamp),
    seq: Number(seq ?? Number.NaN),
    metrics: read,
    values: Object.fromEntries(read.map(({ name, value }) => [name, value])),
  };
}

/** A command as the encoder of Eclipse Tahu writes it. */
export function command(name: string, type: string, value: unknown): Buffer {
  const metrics = [{ name, type, value }] as unknown as NonNullable<
    Parameters<NonNullable<typeof codec>['encodePayload']>[0]['metrics']
  >;
  return Buffer.from(codec?.encodePayload({ timestamp: Date.now(), metrics }) ?? []);
}
