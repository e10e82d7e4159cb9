import { nameAt } from '../config/native/each.js';
import type { MappedLine } from '../control/program.js';
import type { Door } from '../door/door.js';
import { functionOf } from '../protocol/function-table.js';
import type { CaptureLine, CaptureLines } from '../traffic/capture/packet.js';
import type { TrafficEvent } from '../traffic/event.js';
import type { KeptEvents } from '../traffic/kept-events.js';
import { type TrafficView, trafficView } from '../traffic/view.js';

/** An event as REST shows it: with the names of the registers that it is about. */
export interface NamedView extends TrafficView {
  readonly names?: readonly string[];
}

/** The names of the values of a device: by table, then by each address that the value takes. */
type Names = ReadonlyMap<string, ReadonlyMap<number, string>>;

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

  /** The device of which a view of `views` confirms a write, and the names of the values that were written. */
  writtenIn(view: NamedView): { readonly device: string; readonly names: readonly string[] } | undefined {
    const { written } = view;
    const device = this.#deviceOf(view);
    if (!written || device === undefined) return undefined;
    const table = this.#names.get(device)?.get(written.table);
    return { device, names: table ? namesBetween(table, written.address, written.values?.length ?? 1) : [] };
  }

  #deviceOf({ line, unit, address, quantity, host }: TrafficView): string | undefined {
    if (unit === undefined || address === undefined || quantity === undefined) return undefined;
    const { units, each } = this.#lines.get(line) ?? {};
    const device = units?.get(unit) ?? units?.get('*');
    return device === each && device !== undefined && host !== undefined ? nameAt(device, host) : device;
  }

  async #learn(device: string): Promise<void> {
    const came = await this.#door.call('device.names', { device });
    const tables = new Map<string, Map<number, string>>();
    for (const [table, address, cells, name] of came.ok ? came.value.values : []) {
      const names = tables.get(table) ?? new Map<number, string>();
      for (let at = address; at < address + cells; at++) names.set(at, name);
      tables.set(table, names);
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
  return table ? namesBetween(table, address, quantity).map((name) => `${device}.${name}`) : [];
}

function namesBetween(table: ReadonlyMap<number, string>, address: number, quantity: number): string[] {
  const names = new Set<string>();
  for (let at = address; at < address + quantity; at++) {
    const name = table.get(at);
    if (name !== undefined) names.add(name);
  }
  return [...names];
}
