import type { Line } from '../../simulator/line.js';
import type { Simulator } from '../../simulator/simulator.js';
import { COUNTERS, type LineCounters } from '../../traffic/counters.js';
import type { FrameCounts } from '../../traffic/meters.js';
import { counter, type Family, gauge, histogram, type Labelled } from './family.js';

type FrameCount = 'requests' | 'replies' | 'foreignRequests' | 'foreignResponses';

/**
 * The metrics of a simulator, each made when it is asked for. `metrics.ts` adds those of the process.
 * The names and meanings stand in docs/rest.md.
 */
export function* simulatorFamilies({ lines, faults, traffic }: Simulator): Generator<Family> {
  const all = [...lines.values()];
  yield counter('requests', COUNTERS.requests, byFrame(all, 'requests'));
  yield counter('replies', COUNTERS.replies, byFrame(all, 'replies'));
  yield counter('foreign_requests', 'Requests between other devices.', byFrame(all, 'foreignRequests'));
  yield counter('foreign_responses', 'Responses between other devices.', byFrame(all, 'foreignResponses'));
  for (const name of Object.keys(COUNTERS) as (keyof LineCounters)[]) {
    // These two are told above, by unit and function.
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
    all.map((line) => [{ line: line.name }, line.meters.turnaround]),
  );
  yield histogram(
    'lateness_seconds',
    'How much later than planned each step of a reply began.',
    all.map((line) => [{ line: line.name }, line.meters.lateness]),
  );
  const rules = faults.rules.list();
  yield counter(
    'rule_hits',
    'Requests that a fault rule acted on.',
    rules.map(({ rule, hits }) => [{ rule: rule.name }, hits]),
  );
  yield gauge(
    'line_open',
    'Whether the line is open (1) or not (0).',
    all.map((line) => [{ line: line.name }, line.state.kind === 'open' ? 1 : 0]),
  );
  yield gauge(
    'clients',
    'Clients connected to the line now. Serial lines can not know theirs.',
    all.flatMap(({ name, clients }) => (clients === undefined ? [] : [[{ line: name }, clients]])),
  );
  yield counter('traffic_events', 'Events of all lines in the stream of traffic.', [[{}, traffic.last]]);
  yield counter(
    'traffic_events_dropped',
    'Events that are not kept any more: newer ones took their place, or they were cleared.',
    [[{}, traffic.first - 1]],
  );
}

/** Counts by line, unit and function, without those that are 0. */
function* byFrame(lines: readonly Line[], count: FrameCount): Labelled {
  for (const { name, meters } of lines) {
    for (const frames of meters.frames) {
      if (frames[count] > 0) yield [{ line: name, ...frameLabels(frames) }, frames[count]];
    }
  }
}

function frameLabels({ unitId, functionCode }: FrameCounts) {
  return { unit: unitId ?? 'other', function: functionCode ?? 'other' };
}

function* exceptions(lines: readonly Line[]): Labelled {
  for (const { name, meters } of lines) {
    for (const [code, count] of meters.exceptions) yield [{ line: name, code }, count];
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
