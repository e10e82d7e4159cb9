import { nameAt } from '../../document/native/units.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import type { MappedLine } from '../../simulator/commands/program.js';
import {
  placeOf,
  valuesByTable,
  valuesWritten,
  type WrittenValue,
  withValues,
} from '../../simulator/commands/shown-values.js';
import { type FieldName, type Filter, testsIn } from '../../simulator/filter/filter.js';
import type { CaptureLine, CaptureLines } from '../../simulator/traffic/capture/packet.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { NamedPlace } from '../../simulator/traffic/facts.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import type { TrafficFilter } from '../../simulator/traffic/reading.js';
import { trafficView } from '../../simulator/traffic/view.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import { allParts, type Rpc } from '../rpc/rpc.js';

/**
 * What is needed of the lines and their devices to show the traffic. It is read again when the simulator
 * reports a change.
 */
export class LineMap implements CaptureLines {
  readonly #rpc: Rpc;
  readonly #traffic: KeptEvents;
  #revision = -1;
  #lines: Lines = new Map();
  /** The values of each device, by table. */
  #known = new Map<string, ReturnType<typeof valuesByTable>>();

  /** The places of the names in filters. */
  #places = new Map<string, NamedPlace[]>();

  constructor(rpc: Rpc, traffic: KeptEvents) {
    this.#rpc = rpc;
    this.#traffic = traffic;
  }

  /** Reads what has changed. Await this before `get` and `names`. */
  async refresh(): Promise<void> {
    const { revision } = this.#rpc;
    // A line that waits or is reopened knows its port only once it is open, so a capture asks for it each
    // time.
    const map = await this.#rpc.call('program.map', undefined);
    if (map.ok) this.#lines = new Map(map.value.map((line) => [line.name, line]));
    if (revision !== this.#revision) {
      this.#known = new Map();
      this.#places = new Map();
    }
    this.#revision = revision;
  }

  names(): Iterable<string> {
    return this.#lines.keys();
  }

  get(name: string): CaptureLine | undefined {
    const line = this.#lines.get(name);
    if (!line) return undefined;
    const description = line.kind === 'tls' ? `${line.description} (decrypted)` : line.description;
    return { ...line, describe: () => description };
  }

  /**
   * Shows events in REST form. Pass a few at a time: values of devices that are not known yet are read once
   * for all of them.
   */
  async views(events: readonly TrafficEvent[]): Promise<TrafficView[]> {
    return events.map(await this.viewer(events));
  }

  /** Makes a function that shows each of these events, with the current values of their devices. */
  async viewer(events: Iterable<TrafficEvent>): Promise<(event: TrafficEvent) => TrafficView> {
    if (this.#rpc.revision !== this.#revision) await this.refresh();
    const [lines, known] = [this.#lines, this.#known];
    for (const event of events) {
      const device = 'unitId' in event ? deviceOf(lines, event, event.unitId) : undefined;
      if (device === undefined || known.has(device)) continue;
      const values = await allParts(await this.#rpc.list('device.names', { device }));
      known.set(device, valuesByTable('ok' in values ? [] : values));
    }
    return (event) => {
      const view = trafficView(event, (seq) => this.#traffic.read(seq));
      const { table } = functionOf(view.function) ?? {};
      const device = deviceAbout(lines, view);
      const values = device === undefined ? undefined : known.get(device)?.get(table ?? '');
      return values && device !== undefined ? withValues(view, device, values) : view;
    };
  }

  /** The devices that received or answered these events, and the times of the events in order, in ms since 1970. */
  async devicesIn(events: Iterable<TrafficEvent>) {
    if (this.#rpc.revision !== this.#revision) await this.refresh();
    const [names, times] = [new Set<string>(), new Set<number>()];
    for (const event of events) {
      times.add(event.time);
      const device = 'unitId' in event ? deviceOf(this.#lines, event, event.unitId) : undefined;
      if (device !== undefined) names.add(device);
    }
    return { names: [...names], times: [...times].sort((a, b) => a - b) };
  }

  /** A filter with the device properties that it tests. These are read only once until devices change. */
  async filter(wanted: Filter | undefined): Promise<TrafficFilter> {
    const tests = wanted ? testsIn(wanted).filter(({ field }) => ASKS_DEVICES.has(field)) : [];
    if (tests.length === 0) return { wanted };
    if (this.#rpc.revision !== this.#revision) await this.refresh();
    const names = tests.flatMap((test) => ('name' in test ? test.name : 'texts' in test ? test.texts : []));
    // A stream uses the same filter again and again.
    if (this.#places.size > MOST_PLACES) this.#places = new Map();
    const places = this.#places;
    for (const name of new Set(names)) {
      if (places.has(name)) continue;
      const found = await allParts(await this.#rpc.list('value.places', { name }));
      places.set(name, 'ok' in found ? [] : found.flatMap((each) => (each ? [placeOf(each)] : [])));
    }
    const lines = this.#lines;
    return {
      wanted,
      devices: { deviceOf: (line, unit, host) => deviceOf(lines, { line, host }, unit), places },
    };
  }

  /** The device and the named values written by a confirmed write. @param view one of `views` */
  writtenIn(
    view: TrafficView,
  ): { readonly device: string; readonly values: readonly WrittenValue[] } | undefined {
    const { written } = view;
    const device = deviceAbout(this.#lines, view);
    if (!written || device === undefined) return undefined;
    const known = this.#known.get(device)?.get(written.table);
    return { device, values: known ? valuesWritten(written, known) : [] };
  }
}

/** Number of names whose places are stored until devices change. */
const MOST_PLACES = 1000;

/** The fields that test devices. */
const ASKS_DEVICES: ReadonlySet<FieldName> = new Set(['device', 'name', 'value']);

type Lines = ReadonlyMap<string, MappedLine>;

/** The device whose registers an event is about; undefined if it is about none. */
function deviceAbout(lines: Lines, view: TrafficView): string | undefined {
  const { unit, address, quantity } = view;
  const isAboutRegisters = unit !== undefined && address !== undefined && quantity !== undefined;
  return isAboutRegisters ? deviceOf(lines, view, unit) : undefined;
}

function deviceOf(
  lines: Lines,
  event: { readonly line: string; readonly host?: string | undefined },
  unit: number,
): string | undefined {
  const { units, each } = lines.get(event.line) ?? {};
  const device = units?.get(unit) ?? units?.get('*');
  return device === each && device !== undefined && event.host !== undefined
    ? nameAt(device, event.host)
    : device;
}
