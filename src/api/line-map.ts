import { nameAt } from '../config/native/each.js';
import type { NamedPlace } from '../control/devices.js';
import type { MappedLine } from '../control/program.js';
import type { ValueView } from '../control/schemas/value.js';
import { storedView } from '../control/value-view.js';
import type { Door } from '../door/door.js';
import { functionOf } from '../protocol/function-table.js';
import { valueOfWords } from '../registers/value.js';
import type { CaptureLine, CaptureLines } from '../traffic/capture/packet.js';
import type { Written } from '../traffic/decode-request.js';
import type { TrafficEvent } from '../traffic/event.js';
import type { KeptEvents } from '../traffic/kept-events.js';
import { type TrafficView, trafficView } from '../traffic/view.js';

/** An event as REST shows it: with the names of the registers that it is about. */
export interface NamedView extends TrafficView {
  readonly names?: readonly string[];
}

/** A value with a name that a client has written. */
export interface WrittenValue {
  readonly name: string;
  /** Undefined where the client wrote a part of the value, or some bits of it. */
  readonly asWritten: Pick<ValueView, 'value' | 'raw'> | undefined;
}

/** The values of a device that have names: by table, then by each address that the value takes. */
type Names = ReadonlyMap<string, ReadonlyMap<number, NamedPlace>>;

/**
 * What is known here of the lines and their devices, to show the traffic with it. It is asked for anew when the simulator says
 * that something has changed.
 */
export class LineMap implements CaptureLines {
  readonly #door: Door;
  readonly #traffic: KeptEvents;
  #revision = -1;
  #lines: ReadonlyMap<string, MappedLine> = new Map();
  #names = new Map<string, Names>();

  constructor(door: Door, traffic: KeptEvents) {
    this.#door = door;
    this.#traffic = traffic;
  }

  /** Asks for what has changed. To be awaited before `get` and `names`. */
  async refresh(): Promise<void> {
    const { revision } = this.#door;
    // The port of a line that waits or is opened again is known when it is open: a capture asks for it each time.
    const map = await this.#door.call('program.map', undefined);
    if (map.ok) this.#lines = new Map(map.value.map((line) => [line.name, line]));
    if (revision !== this.#revision) this.#names = new Map();
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

  /** Events as REST shows them. A few at a time: names that are not known yet are asked for once. */
  async views(events: readonly TrafficEvent[]): Promise<NamedView[]> {
    if (this.#door.revision !== this.#revision) await this.refresh();
    const read = (seq: number) => this.#traffic.read(seq);
    const views: NamedView[] = [];
    for (const event of events) {
      const view = trafficView(event, read);
      const device = this.#deviceOf(view);
      if (device !== undefined && !this.#names.has(device)) await this.#learn(device);
      const names = device === undefined ? [] : namesIn(view, device, this.#names.get(device));
      views.push(names.length > 0 ? { ...view, names } : view);
    }
    return views;
  }

  /** The device of which a view of `views` confirms a write, and the values with names that were written. */
  writtenIn(
    view: NamedView,
  ): { readonly device: string; readonly values: readonly WrittenValue[] } | undefined {
    const { written } = view;
    const device = this.#deviceOf(view);
    if (!written || device === undefined) return undefined;
    const places = placesBetween(
      this.#names.get(device)?.get(written.table),
      written.address,
      written.values?.length ?? 1,
    );
    return { device, values: places.map((place) => valueWritten(written, place)) };
  }

  #deviceOf({ line, unit, address, quantity, host }: TrafficView): string | undefined {
    if (unit === undefined || address === undefined || quantity === undefined) return undefined;
    const { units, each } = this.#lines.get(line) ?? {};
    const device = units?.get(unit) ?? units?.get('*');
    return device === each && device !== undefined && host !== undefined ? nameAt(device, host) : device;
  }

  async #learn(device: string): Promise<void> {
    const came = await this.#door.call('device.names', { device });
    const tables = new Map<string, Map<number, NamedPlace>>();
    for (const place of came.ok ? came.value.values : []) {
      const [table, address, cells] = place;
      const places = tables.get(table) ?? new Map<number, NamedPlace>();
      for (let at = address; at < address + cells; at++) places.set(at, place);
      tables.set(table, places);
    }
    this.#names.set(device, tables);
  }
}

function namesIn(
  { function: functionCode = 0, address = 0, quantity = 0 }: TrafficView,
  device: string,
  known: Names | undefined,
): string[] {
  const table = known?.get(functionOf(functionCode)?.table ?? '');
  return placesBetween(table, address, quantity).map(([, , , name]) => `${device}.${name}`);
}

function placesBetween(
  table: ReadonlyMap<number, NamedPlace> | undefined,
  address: number,
  quantity: number,
): NamedPlace[] {
  if (!table) return [];
  const places = new Set<NamedPlace>();
  for (let at = address; at < address + quantity; at++) {
    const place = table.get(at);
    if (place !== undefined) places.add(place);
  }
  return [...places];
}

function valueWritten(
  { address: from, values = [] }: Written,
  [, address, cells, name, type, order, scale]: NamedPlace,
): WrittenValue {
  const start = address - from;
  const isWhole = start >= 0 && start + cells <= values.length;
  const asWritten = isWhole ? storedView(valueOfWords(type, values, order, start, cells), scale) : undefined;
  return { name, asWritten };
}
