import { setTimeout as pause } from 'node:timers/promises';
import type { WrittenValue } from '../../simulator/commands/shown-values.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import type { ApiContext } from '../api/desk.js';

/** What is reported about the traffic. */
interface FindingEvents {
  /** Called when a client has written values of a device; `values` are the named ones. */
  readonly written: (device: string, values: readonly WrittenValue[], view: TrafficView) => Promise<void>;
  /** Called when the state of a line has changed, or a test has a result. */
  readonly happened: (view: TrafficView) => Promise<void>;
  /** Called with one event at regular intervals, as a sample of the traffic. */
  readonly sample: (view: TrafficView) => void;
}

/** Minimum time between two turns, in ms. */
const TURN_PAUSE_MS = 50;
/** Maximum number of events tested in one turn. Older ones are skipped and counted. */
const MOST_IN_A_TURN = 5000;
/** Maximum number of events per turn that are decoded and looked up; the others wait for the next turn. */
const MOST_DECODED = 50;
const WRITES: ReadonlySet<number> = new Set([5, 6, 15, 16, 22, 23]);

/** Reads the traffic in turns and finds what should be reported. */
export class Findings {
  readonly #desk: ApiContext;
  readonly #events: FindingEvents;
  readonly #sampleEvery: number | undefined;
  #read: number;
  #sampledAt = 0;
  /** Number of events skipped because there were too many. */
  missed = 0;

  /** @param sampleEvery time between two samples, in ms; undefined for no samples */
  constructor(desk: ApiContext, events: FindingEvents, sampleEvery: number | undefined) {
    this.#desk = desk;
    this.#events = events;
    this.#sampleEvery = sampleEvery;
    this.#read = desk.traffic.last;
  }

  /** Runs a turn whenever something has happened. @param attempt runs a turn and handles its failure */
  async follow(isStopped: AbortSignal, attempt: (turn: () => Promise<void>) => Promise<void>): Promise<void> {
    while (!isStopped.aborted) {
      await this.#desk.traffic.next(this.#read);
      if (!isStopped.aborted) await attempt(() => this.#turn());
      await pause(TURN_PAUSE_MS, undefined, { ref: false });
    }
  }

  async #turn(): Promise<void> {
    const { traffic } = this.#desk;
    const { last } = traffic;
    const first = Math.max(this.#read + 1, traffic.first, last - MOST_IN_A_TURN + 1);
    this.missed += Math.max(0, first - this.#read - 1);
    const wanted: number[] = [];
    for (let seq = first; seq <= last && wanted.length < MOST_DECODED; seq++) {
      this.#read = seq;
      const outline = traffic.outline(seq);
      if (!outline) continue;
      const { kind, functionCode } = outline;
      const isWrite = kind === 'reply' && functionCode !== undefined && WRITES.has(functionCode);
      if (isWrite || kind === 'line' || kind === 'test') wanted.push(seq);
    }
    if (last < first) this.#read = Math.max(this.#read, last);
    for (const view of await this.#views(wanted)) await this.#report(view);
    const every = this.#sampleEvery ?? Number.POSITIVE_INFINITY;
    if (last < first || performance.now() - this.#sampledAt < every) return;
    this.#sampledAt = performance.now();
    for (const view of await this.#views([last])) this.#events.sample(view);
  }

  #views(events: readonly number[]): Promise<TrafficView[]> {
    const { traffic, map } = this.#desk;
    return map.views(events.flatMap((seq) => traffic.read(seq) ?? []));
  }

  async #report(view: TrafficView): Promise<void> {
    if (view.kind === 'line' || view.kind === 'test') await this.#events.happened(view);
    const written = this.#desk.map.writtenIn(view);
    if (written) await this.#events.written(written.device, written.values, view);
  }
}
