import type { FastifyPluginCallback } from 'fastify';
import { z } from 'zod';
import { unpacked } from '../../simulator/commands/packed-sums.js';
import type { LineMetrics, ProgramMetrics } from '../../simulator/commands/program.js';
import type { MqttStatus } from '../../simulator/commands/schemas/mqtt.js';
import { COUNTERS, type FrameCounts, type LineCounters } from '../../simulator/traffic/counters.js';
import type { SumName } from '../../simulator/traffic/sums.js';
import { allParts } from '../rpc/rpc.js';
import { refuse, sendText } from './answers.js';
import type { ApiContext } from './desk.js';

type Labels = Readonly<Record<string, string | number>>;

interface FamilyValue {
  readonly labels: Labels;
  readonly value: number;
  /** The name of a part of a histogram; the family's name when absent. */
  readonly metricName?: string;
}

/** A metric with its values by label, in prom-client's form for the registry of another process. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram';
  readonly values: readonly FamilyValue[];
  readonly aggregator: 'first';
}

/** Counts of values up to each bound, and above the last bound. */
interface HistogramCounts {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Values of a metric, each with its labels. */
type Labelled = Iterable<readonly [labels: Labels, value: number]>;

function counter(name: string, help: string, values: Labelled): Family {
  return plain('counter', `${PREFIX}${name}_total`, help, values);
}

function gauge(name: string, help: string, values: Labelled): Family {
  return plain('gauge', `${PREFIX}${name}`, help, values);
}

/** @param histograms histograms of times in ms; they are reported in seconds */
function histogram(
  name: string,
  help: string,
  histograms: Iterable<readonly [Labels, HistogramCounts]>,
): Family {
  const fullName = `${PREFIX}${name}`;
  const values = Array.from(histograms).flatMap(([labels, each]) => histogramValues(fullName, labels, each));
  return { name: fullName, help, type: 'histogram', values, aggregator: 'first' };
}

const PREFIX = 'modbus_sim_';

function plain(type: 'counter' | 'gauge' | 'summary', name: string, help: string, values: Labelled): Family {
  const listed = Array.from(values, ([labels, value]) => ({ labels, value }));
  return { name, help, type, values: listed, aggregator: 'first' };
}

/** The values of a histogram for Prometheus, where each bucket counts all values up to its bound. */
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

type FrameCount = 'requests' | 'replies' | 'foreignRequests' | 'foreignResponses';

/** The metrics of a simulator. docs/rest.md describes them. */
function* simulatorFamilies(
  all: readonly LineMetrics[],
  { hits, lastEvent, firstEvent, lag, memory }: ProgramMetrics,
): Generator<Family> {
  yield plain(
    'summary',
    `${PREFIX}event_loop_lag_seconds`,
    'How late timers fired since the last scrape.',
    lag?.map(({ quantile, seconds }) => [{ quantile }, seconds]) ?? [],
  );
  yield counter('requests', COUNTERS.requests, byFrame(all, 'requests'));
  yield counter('replies', COUNTERS.replies, byFrame(all, 'replies'));
  yield counter('foreign_requests', 'Requests between other devices.', byFrame(all, 'foreignRequests'));
  yield counter('foreign_responses', 'Responses between other devices.', byFrame(all, 'foreignResponses'));
  for (const name of Object.keys(COUNTERS) as (keyof LineCounters)[]) {
    // These two are counted above, by unit and function.
    if (name === 'requests' || name === 'replies') continue;
    yield counter(
      snakeCase(name),
      COUNTERS[name],
      all.map((line) => [{ line: line.name }, line.counters[name]]),
    );
  }
  yield counter('exceptions', 'Replies that began with an exception, by exception code.', exceptions(all));
  yield counter('outcomes', 'Outcomes of requests.', outcomes(all));
  yield counter('bytes', 'Bytes on the line.', bytes(all));
  yield counter('speaking_seconds', 'Time that bytes took on the wire.', speaking(all));
  yield histogram(
    'turnaround_seconds',
    'Time from the end of a request to the beginning of its reply.',
    all.map((line) => [{ line: line.name }, line.turnaround]),
  );
  yield histogram(
    'lateness_seconds',
    'How much later than planned each step of a reply began.',
    all.map((line) => [{ line: line.name }, line.lateness]),
  );
  yield counter(
    'rule_hits',
    'Requests that a fault rule acted on.',
    hits.map(({ rule, hits }) => [{ rule }, hits]),
  );
  yield gauge(
    'line_open',
    'Whether the line is open (1) or not (0).',
    all.map((line) => [{ line: line.name }, line.isOpen ? 1 : 0]),
  );
  yield gauge(
    'clients',
    'Clients connected to the line now; not counted on serial lines.',
    all.flatMap(({ name, clients }) => (clients === undefined ? [] : [[{ line: name }, clients]])),
  );
  yield gauge(
    'added_memory_bytes',
    'Upper bound of the memory used by devices, signals and fault rules added over REST.',
    [[{}, memory.used]],
  );
  yield gauge(
    'added_memory_limit_bytes',
    'Maximum memory for devices, signals and fault rules added over REST.',
    [[{}, memory.limit]],
  );
  yield counter('traffic_events', 'Traffic events recorded on all lines.', [[{}, lastEvent]]);
  yield counter(
    'traffic_events_dropped',
    'Events no longer kept, because newer ones replaced them or they were cleared.',
    [[{}, firstEvent - 1]],
  );
}

/** The metrics of a simulator on an MQTT broker. */
export function* brokerFamilies({ connected, sent, received, waiting, lost }: MqttStatus): Generator<Family> {
  yield gauge('mqtt_connected', 'Whether the broker is connected (1) or not (0).', [[{}, connected ? 1 : 0]]);
  yield counter('mqtt_messages_out', 'Messages that the broker has acknowledged.', [[{}, sent]]);
  yield counter('mqtt_messages_in', 'Messages received from the broker.', [[{}, received]]);
  yield gauge('mqtt_messages_waiting', 'Messages waiting for the broker.', [[{}, waiting]]);
  yield counter('mqtt_messages_lost', 'Messages dropped because too many were waiting.', [[{}, lost]]);
}

/** Counts by line, unit and function, without zeros. */
function* byFrame(lines: readonly LineMetrics[], count: FrameCount): Labelled {
  for (const { name, frames: all } of lines) {
    for (const frames of all) {
      if (frames[count] > 0) yield [{ line: name, ...frameLabels(frames) }, frames[count]];
    }
  }
}

function frameLabels({ unitId, functionCode }: FrameCounts) {
  return { unit: unitId ?? 'other', function: functionCode ?? 'other' };
}

function* exceptions(lines: readonly LineMetrics[]): Labelled {
  for (const { name, exceptions } of lines) {
    for (const [code, count] of exceptions) yield [{ line: name, code }, count];
  }
}

/** The sums that are outcomes of requests, with their label values. */
const OUTCOMES = [
  ['good', 'good'],
  ['exceptions', 'exception'],
  ['ordered', 'ordered'],
  ['missing', 'missing'],
] as const;

function* outcomes(lines: readonly LineMetrics[]): Labelled {
  for (const { name: line, sums } of lines)
    for (const row of unpacked(sums))
      for (const [sum, outcome] of OUTCOMES)
        if (row[sum] > 0)
          yield [{ line, unit: known(row.unit), function: known(row.function), outcome }, row[sum]];
}

function known(number: number): number | 'other' {
  return number < 0 ? 'other' : number;
}

function* bytes(lines: readonly LineMetrics[]): Labelled {
  for (const { name: line, sums } of lines) {
    yield [{ line, direction: 'in' }, sumOf(sums, 'bytesIn')];
    yield [{ line, direction: 'out' }, sumOf(sums, 'bytesOut')];
  }
}

function* speaking(lines: readonly LineMetrics[]): Labelled {
  for (const { name: line, sums } of lines) yield [{ line }, sumOf(sums, 'speakingMs') / 1000];
}

function sumOf(rows: Float64Array, name: SumName): number {
  let sum = 0;
  for (const row of unpacked(rows)) sum += row[name];
  return sum;
}

const metrics = {
  summary: 'Get the metrics',
  description: 'Counters and times of every line, and how busy the program is, for Prometheus.',
  tags: ['program'],
  response: {
    200: { description: 'Metrics in the text format.', content: { 'text/plain': { schema: z.string() } } },
  },
};

/** Serves `/metrics`, for Prometheus. */
export function metricsRoutes(desk: ApiContext): FastifyPluginCallback {
  const { rpc } = desk;
  return (app, _, done) => {
    app.get('/metrics', { schema: metrics }, async (request, reply) => {
      const program = await rpc.call('program.metrics', undefined);
      const lines = await allParts(await rpc.list('line.metrics', undefined));
      if (!program.ok) return refuse(request, reply, program);
      if ('ok' in lines) return refuse(request, reply, lines);
      // Loaded late, because many programs run without Prometheus.
      const { default: prometheus } = await import('prom-client');
      const { AggregatorRegistry, Registry } = prometheus;
      // The counts are in another thread, so prom-client handles the metrics like those of other processes.
      const textOf = (family: Family) =>
        AggregatorRegistry.aggregate([[family]]).getSingleMetricAsString(family.name);
      const families = function* () {
        yield* simulatorFamilies(lines, program.value);
        if (desk.mqtt) yield* brokerFamilies(desk.mqtt.status);
      };
      return sendText(reply, Registry.PROMETHEUS_CONTENT_TYPE, writtenIn(families(), textOf));
    });
    done();
  };
}

/** How many values are written before a yield. A bench with 64 lines may have 250,000. */
const PIECE = 500;

/** Writes families one after another, in pieces. Only a family's first piece has its two head lines. */
async function* writtenIn(
  families: Iterable<Family>,
  textOf: (family: Family) => Promise<string>,
): AsyncGenerator<string> {
  for (const family of families) {
    for (let i = 0; i === 0 || i < family.values.length; i += PIECE) {
      const text = await textOf({ ...family, values: family.values.slice(i, i + PIECE) });
      yield `${i === 0 ? text : text.split('\n').slice(2).join('\n')}\n`;
    }
  }
}
