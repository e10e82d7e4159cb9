type Labels = Readonly<Record<string, string | number>>;

interface FamilyValue {
  readonly labels: Labels;
  readonly value: number;
  /** The name of a part of a histogram; the name of the family when absent. */
  readonly metricName?: string;
}

/** A metric with its values by label, in the form of prom-client for the registry of another process. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly FamilyValue[];
  readonly aggregator: 'first';
}

/** Counts of values up to each bound, and of values above the last bound. */
interface HistogramCounts {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Values of a metric, each with its labels. */
export type Labelled = Iterable<readonly [labels: Labels, value: number]>;

export function counter(name: string, help: string, values: Labelled): Family {
  return plain('counter', `${PREFIX}${name}_total`, help, values);
}

export function gauge(name: string, help: string, values: Labelled): Family {
  return plain('gauge', `${PREFIX}${name}`, help, values);
}

/** @param histograms histograms of times in ms; they are reported in seconds */
export function histogram(
  name: string,
  help: string,
  histograms: Iterable<readonly [Labels, HistogramCounts]>,
): Family {
  const fullName = `${PREFIX}${name}`;
  const values = Array.from(histograms).flatMap(([labels, each]) => histogramValues(fullName, labels, each));
  return { name: fullName, help, type: 'histogram', values, aggregator: 'first' };
}

const PREFIX = 'modbus_sim_';

function plain(type: 'counter' | 'gauge', name: string, help: string, values: Labelled): Family {
  const listed = Array.from(values, ([labels, value]) => ({ labels, value }));
  return { name, help, type, values: listed, aggregator: 'first' };
}

/** The values of a histogram for Prometheus, in which each bucket counts all values up to its bound. */
function histogramValues(
  name: string,
  labels: Labels,
  { bounds, counts, sum }: HistogramCounts,
): FamilyValue[] {
  let count = 0;
  const buckets = counts.map((inBucket, i) => {
    count += inBucket;
    const bound = bounds[i];
    const le = bound === undefined ? '+Inf' : bound / 1000;
    return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum / 1000, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}

/** Converts a name: `damagedFrames` to `damaged_frames`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
