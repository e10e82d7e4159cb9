import { nameAt } from '../../files/config/native/each.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import type { MappedLine } from '../../simulator/commands/program.js';
import {
  type NamedView,
  valuesByTable,
  valuesWritten,
  type WrittenValue,
  withValues,
} from '../../simulator/commands/shown-values.js';
import type { CaptureLine, CaptureLines } from '../../simulator/traffic/capture/packet.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import { type TrafficView, trafficView } from '../../simulator/traffic/view.js';
import { allParts, type Rpc } from '../rpc/rpc.js';

/**
 * What is known here of the lines and their devices, to show the traffic with it. It is asked for anew when the simulator says
 * that something has changed.
 */
export class LineMap implements CaptureLines {
  readonly #rpc: Rpc;
  readonly #traffic: KeptEvents;
  #revision = -1;
  #lines: Lines = new Map();
  /** What is known of the values of each device. */
  #known = new Map<string, ReturnType<typeof valuesByTable>>();

  constructor(rpc: Rpc, traffic: KeptEvents) {
    this.#rpc = rpc;
    this.#traffic = traffic;
  }

  /** Asks for what has changed. To be awaited before `get` and `names`. */
  async refresh(): Promise<void> {
    const { revision } = this.#rpc;
    // The port of a line that waits or is opened again is known when it is open: a capture asks for it each time.
    const map = await this.#rpc.call('program.map', undefined);
    if (map.ok) this.#lines = new Map(map.value.map((line) => [line.name, line]));
    if (revision !== this.#revision) this.#known = new Map();
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

  /** Events as REST shows them. A few at a time: what is not known yet of their devices is asked for once. */
  async views(events: readonly TrafficEvent[]): Promise<NamedView[]> {
    return events.map(await this.viewer(events));
  }

  /** What shows each of these events, by what is known of their devices now. */
  async viewer(events: Iterable<TrafficEvent>): Promise<(event: TrafficEvent) => NamedView> {
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

  /** The device of which a view of `views` confirms a write, and the values with names that were written. */
  writtenIn(
    view: NamedView,
  ): { readonly device: string; readonly values: readonly WrittenValue[] } | undefined {
    const { written } = view;
    const device = deviceAbout(this.#lines, view);
    if (!written || device === undefined) return undefined;
    const known = this.#known.get(device)?.get(written.table);
    return { device, values: known ? valuesWritten(written, known) : [] };
  }
}

type Lines = ReadonlyMap<string, MappedLine>;

/** The device whose registers an event is about; undefined where it is about none. */
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
