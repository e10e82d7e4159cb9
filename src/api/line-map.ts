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
import { MAX_SHOWN, valuesText } from '../traffic/words.js';

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
type Names = ReadonlyMap<string, Places>;
type Places = ReadonlyMap<number, NamedPlace>;

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
      const { table } = functionOf(view.function) ?? {};
      const places = device === undefined ? undefined : this.#names.get(device)?.get(table ?? '');
      views.push(places && device !== undefined ? named(view, device, places) : view);
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

/** An event with the names of its registers, and with the values that they are: `… 100–103: voltage 230.1 V, 16560, 0`. */
function named(view: TrafficView, device: string, places: Places): NamedView {
  const { address = 0, quantity = 0, values = [], text } = view;
  const names = placesBetween(places, address, quantity).map(([, , , name]) => `${device}.${name}`);
  if (names.length === 0) return view;
  const tail = `: ${valuesText(values)}`;
  if (values.length !== quantity || values.length > MAX_SHOWN || !text.endsWith(tail))
    return { ...view, names };
  const shown: string[] = [];
  for (let i = 0; i < values.length; ) {
    const place = places.get(address + i);
    const value = place?.[1] === address + i ? valueIn({ address, values }, place) : undefined;
    shown.push(place && value ? valueText(place, value.value) : String(values[i]));
    i += place && value ? place[2] : 1;
  }
  return { ...view, names, text: `${text.slice(0, -tail.length)}: ${shown.join(', ')}` };
}

/** `voltage 230.1 V`, `serial "A17"`. */
function valueText([, , , name, type, , , unit]: NamedPlace, value: ValueView['value']): string {
  const text = type === 'string' ? JSON.stringify(value) : String(value);
  return unit === undefined ? `${name} ${text}` : `${name} ${text} ${unit}`;
}

function placesBetween(table: Places | undefined, address: number, quantity: number): NamedPlace[] {
  if (!table) return [];
  const places = new Set<NamedPlace>();
  for (let at = address; at < address + quantity; at++) {
    const place = table.get(at);
    if (place !== undefined) places.add(place);
  }
  return [...places];
}

function valueWritten(written: Written, place: NamedPlace): WrittenValue {
  return { name: place[3], asWritten: valueIn(written, place) };
}

/** The value at a place by the words from an address on; undefined where they have a part of it alone. */
function valueIn(
  { address: from, values = [] }: Pick<Written, 'address' | 'values'>,
  [, address, cells, , type, order, scale]: NamedPlace,
): WrittenValue['asWritten'] {
  const start = address - from;
  const isWhole = start >= 0 && start + cells <= values.length;
  return isWhole ? storedView(valueOfWords(type, values, order, start, cells), scale) : undefined;
}
