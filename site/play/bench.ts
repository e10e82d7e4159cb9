import { compact } from '../../src/common/compact.js';
import { seededRandom } from '../../src/common/random.js';
import { At } from '../../src/common/schema/at.js';
import { fileFindings } from '../../src/common/schema/findings.js';
import type { Problem } from '../../src/common/schema/problem.js';
import type { Wire } from '../../src/common/timeline/pieces.js';
import { DependencyGraph } from '../../src/device/dependency-graph.js';
import { FaultRules } from '../../src/device/faults/rules.js';
import type { Connection } from '../../src/device/manners.js';
import type { Configuration, LineDefinition } from '../../src/document/configuration.js';
import { NativeDeviceReader } from '../../src/document/native/device.js';
import { nativeConfiguration } from '../../src/document/native/file.js';
import { parseText } from '../../src/document/text/parse-text.js';
import { onIdleLine } from '../../src/modbus/protocol/reply-plan.js';
import { BROADCAST } from '../../src/modbus/protocol/rtu.js';
import { ptyAdapter } from '../../src/modbus/transport/port/adapter.js';
import { serialTimes } from '../../src/modbus/transport/serial/behaviour.js';
import { Bus } from '../../src/simulator/bus/bus.js';
import { busLine } from '../../src/simulator/bus-line.js';
import { buildDevice } from '../../src/simulator/devices.js';
import type { NewEvent, TrafficEvent } from '../../src/simulator/traffic/event.js';
import { trafficView } from '../../src/simulator/traffic/view.js';
import type { TrafficView } from '../../src/simulator/traffic/view-schema.js';

/** What the page asks the devices of a file. */
export interface Asked {
  /** The name of a line; the first line of the file when absent. */
  readonly line?: string | undefined;
  readonly unit: number;
  /** The requests, each from its function code on. */
  readonly pdus: readonly Uint8Array[];
  /** How often they are asked, all one after the other. */
  readonly times: number;
  /** The time from the end of a reply to the next request, in ms. */
  readonly pauseMs: number;
}

/** What was wrong with the file, and what passed its line. */
export interface Played {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The names of the lines of the file, and of that which was asked. */
  readonly lines: readonly string[];
  readonly line?: string;
  readonly wire: Wire;
  readonly traffic: readonly TrafficView[];
}

/** All that is random is drawn from this seed, so that a link shows the same to everybody. */
const SEED = 1;
/** The most faults of a reply that are shown. */
const MOST_SHOWN = 64;
const NO_WIRE: Wire = { characterUs: undefined, t35Us: undefined };

/** Reads a file as the program does at its start. */
function read(
  text: string,
): Pick<Played, 'problems' | 'warnings'> & { readonly configuration?: Configuration } {
  const parsed = parseText(text);
  if (!parsed.ok) return { problems: parsed.problems, warnings: [] };
  const { value, locate } = parsed.source;
  const findings = fileFindings();
  const noFile = 'this page reads no files';
  const devices = new NativeDeviceReader(
    () => ({ ok: false, error: [noFile], warnings: [] }),
    () => ({ ok: false, error: noFile }),
  );
  const configuration = nativeConfiguration(new At(value, findings), { devices, api: {}, directory: '/' });
  const located = { problems: locate(findings.listed), warnings: locate(findings.warnings) };
  return findings.count > 0 ? located : { ...located, configuration };
}

/** What is wrong with a file. */
export function mistakesOf(text: string): readonly Problem[] {
  return read(text).problems;
}

/** Asks the devices of a file, in time that is only counted: with the program's own bus, devices and faults. */
export function play(text: string, asked: Asked): Played {
  const { configuration, ...found } = read(text);
  const definitions =
    configuration?.lines.filter((line) => !('mode' in line) || line.mode !== 'monitor') ?? [];
  const lines = definitions.map(({ name }) => name);
  const definition = definitions.find(({ name }) => name === asked.line) ?? definitions[0];
  if (!configuration || !definition) return { ...found, lines, wire: NO_WIRE, traffic: [] };
  const bench = new Bench(configuration, definition);
  for (let i = 0; i < asked.times; i++) for (const pdu of asked.pdus) bench.ask(asked, pdu);
  return { ...found, lines, line: definition.name, wire: bench.wire, traffic: bench.traffic };
}

/** The devices of one line and a client that asks them. */
class Bench {
  readonly wire: Wire;
  readonly #name: string;
  readonly #bus: Bus;
  readonly #turnaround: number;
  readonly #characterTime: number;
  readonly #connection: Connection | undefined;
  readonly #events: TrafficEvent[] = [];
  #now = 0;
  #quietSince: number | undefined;

  constructor({ devices, faults }: Configuration, definition: LineDefinition) {
    const random = seededRandom(SEED, 0);
    const now = () => this.#now;
    const source = { random: () => random.next(), now: () => new Date(now()), uptime: now };
    const graph = new DependencyGraph();
    const built = new Map(devices.map((each) => [each.name, buildDevice(each, source, graph, now)]));
    graph.link();
    const rules = new FaultRules(source);
    for (const rule of faults) rules.set(rule);
    const units = new Map(
      Array.from(definition.units, ([unit, name]) => {
        const device = built.get(name);
        if (!device) throw new Error(`no device ${name}`);
        return [unit, device] as const;
      }),
    );
    this.#name = definition.name;
    this.#bus = new Bus(busLine(definition), { units }, rules);
    const times = definition.kind === 'serial' ? serialTimes(definition, ptyAdapter) : undefined;
    this.#turnaround = times?.turnaround ?? 0;
    this.#characterTime = times?.characterTime ?? 0;
    this.wire = times ? { characterUs: 1000 * times.characterTime, t35Us: 1000 * times.t35 } : NO_WIRE;
    if (times === undefined) {
      this.#connection = { since: 0, afterLast: undefined, requests: 0 };
      this.#bus.connected(this.#connection, undefined);
    }
  }

  get traffic(): TrafficView[] {
    return this.#events.map((event) => trafficView(event, (seq) => this.#events[seq - 1]));
  }

  /** Sends a request and lets its reply pass. */
  ask({ unit: unitId, pauseMs }: Asked, pdu: Uint8Array): void {
    const { framing } = this.#bus;
    const transactionId = this.#connection ? ++this.#connection.requests : 0;
    const adu = framing.encode({ transactionId, unitId, pdu });
    const startedAt = this.#now;
    const receivedAt = startedAt + adu.length * this.#characterTime;
    const client = this.#connection
      ? { client: 'this page', clientId: 1 }
      : { client: undefined, clientId: 0 };
    const from = { ...client, framing, unitId, functionCode: pdu[0] as number };
    const moment = { startedAt, receivedAt, quietSince: this.#quietSince, connection: this.#connection };
    const request = this.#add({
      ...from,
      kind: this.#kindFor(unitId),
      at: receivedAt,
      bytes: adu,
      startedAt,
      pause: this.#quietSince === undefined ? undefined : startedAt - this.#quietSince,
      characterTime: this.#characterTime,
      answers: undefined,
    });
    this.#now = receivedAt;
    const reply = this.#bus.answer({ unitId, pdu, transactionId, ...compact(client) }, moment);
    this.#quietSince = receivedAt;
    if (reply?.plan) {
      const { plan, acted, refused } = reply;
      const steps = onIdleLine(plan, this.#turnaround, this.#characterTime).map((step) => ({
        ...step,
        plannedAt: receivedAt + step.plannedAt,
        achievedAt: receivedAt + step.achievedAt,
        endedAt: receivedAt + step.endedAt,
      }));
      this.#add({
        ...from,
        kind: 'reply',
        at: steps[0]?.achievedAt ?? receivedAt,
        request,
        requestAdu: adu,
        requestedAt: receivedAt,
        plan,
        report: { steps, ended: 'complete' },
        acted: acted.slice(0, MOST_SHOWN),
        omittedFaults: Math.max(0, acted.length - MOST_SHOWN),
        refused,
      });
      this.#now = steps.at(-1)?.endedAt ?? receivedAt;
      this.#quietSince = this.#now;
    }
    this.#now += pauseMs;
  }

  #kindFor(unitId: number): 'request' | 'broadcast' | 'foreign request' {
    const { framing } = this.#bus;
    if (!framing.broadcasts) return 'request';
    if (unitId === BROADCAST) return 'broadcast';
    return this.#bus.deviceAt(unitId) ? 'request' : 'foreign request';
  }

  /** @returns the number of the event */
  #add(event: NewEvent): number {
    const seq = this.#events.length + 1;
    this.#events.push({ ...event, seq, line: this.#name, time: event.at });
    return seq;
  }
}
