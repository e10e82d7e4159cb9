import type { LineMetrics, ProgramMetrics } from '../../../simulator/commands/program.js';
import type { MqttStatus } from '../../../simulator/commands/schemas/mqtt.js';
import { COUNTERS, type FrameCounts, type LineCounters } from '../../../simulator/traffic/counters.js';
import { counter, type Family, gauge, histogram, type Labelled, snakeCase } from './family.js';

type FrameCount = 'requests' | 'replies' | 'foreignRequests' | 'foreignResponses';

/** The quantiles that are reported of the delay of the lines' event loop. */
const QUANTILES = [0.5, 0.99, 1];

/** The metrics of a simulator. docs/rest.md has their names and meanings. */
export function* simulatorFamilies(
  all: readonly LineMetrics[],
  { hits, lastEvent, firstEvent, lag, memory }: ProgramMetrics,
): Generator<Family> {
  yield gauge(
    'event_loop_lag_seconds',
    'How late timers were since the metrics were read last.',
    lag?.map((seconds, i) => [{ quantile: QUANTILES[i] as number }, seconds]) ?? [],
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
  yield counter('exceptions', 'Replies that began with an exception, by its code.', exceptions(all));
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
    'Clients connected to the line now. Serial lines can not know theirs.',
    all.flatMap(({ name, clients }) => (clients === undefined ? [] : [[{ line: name }, clients]])),
  );
  yield gauge('added_memory_bytes', 'Upper bound of the memory used by what REST added.', [
    [{}, memory.used],
  ]);
  yield gauge('added_memory_limit_bytes', 'How much memory it may take.', [[{}, memory.limit]]);
  yield counter('traffic_events', 'Events of all lines in the stream of traffic.', [[{}, lastEvent]]);
  yield counter(
    'traffic_events_dropped',
    'Events that are not kept any more: newer ones took their place, or they were cleared.',
    [[{}, firstEvent - 1]],
  );
}

/** The metrics of a simulator on an MQTT broker. */
export function* brokerFamilies({ connected, sent, received, waiting, lost }: MqttStatus): Generator<Family> {
  yield gauge('mqtt_connected', 'Whether the broker is there (1) or not (0).', [[{}, connected ? 1 : 0]]);
  yield counter('mqtt_messages_out', 'Messages that the broker has acknowledged.', [[{}, sent]]);
  yield counter('mqtt_messages_in', 'Messages that came from the broker.', [[{}, received]]);
  yield gauge('mqtt_messages_waiting', 'Messages that wait for the broker.', [[{}, waiting]]);
  yield counter('mqtt_messages_lost', 'Messages that were given up, because too many waited.', [[{}, lost]]);
}

/** Counts by line, unit and function; those that are 0 are left out. */
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
