import { isMapping } from '../common/schema/parts.js';
import { atOnce, type Work } from '../common/work.js';
import { DependencyGraph } from '../device/dependency-graph.js';
import { type DefinedRegisters, Device, type DeviceOptions } from '../device/device.js';
import { Files } from '../device/files.js';
import { identityObjects } from '../device/identification.js';
import type { ActionSource } from '../device/registers/actions.js';
import { RegisterImage } from '../device/registers/image.js';
import type { RegisterLayout } from '../device/registers/layout.js';
import { Table } from '../device/registers/table.js';
import { TABLE_NAMES, type TableName } from '../device/tables.js';
import type { DeviceDefinition, DeviceSource } from '../document/configuration.js';
import type { RealLines } from './proxy/bridge.js';

/** The entries, in the form of a native file, for the registers of a table that were defined at run time. */
function definedEntries(
  defined: readonly DefinedRegisters[],
  table: TableName,
): Readonly<Record<string, unknown>>[] {
  return defined
    .filter((each) => each.table === table)
    .map(({ address, quantity, write }) => ({ address, value: 0, ...(quantity > 1 && { quantity }), write }));
}

/** The entry of a device plus what was defined at run time; undefined if the entry has no registers of its own. */
export function sourceWith(
  source: DeviceSource,
  defined: readonly DefinedRegisters[],
): DeviceSource | undefined {
  const { registers } = source;
  if (!isMapping(registers)) return undefined;
  const tables = TABLE_NAMES.flatMap((table) => {
    const added = definedEntries(defined, table);
    const before = registers[table];
    return added.length === 0 ? [] : [[table, [...(Array.isArray(before) ? before : []), ...added]]];
  });
  return { ...source, registers: { ...registers, ...Object.fromEntries(tables) } };
}

/** Builds a device with its configured registers. Tables with the same layout share one image. */
export function buildDevice(
  definition: DeviceDefinition,
  source: ActionSource,
  graph: DependencyGraph = new DependencyGraph(),
): Device {
  const device = atOnce(buildingDevice(definition, source, { graph }));
  graph.add(device.points);
  return device;
}

interface Surroundings {
  readonly graph: DependencyGraph;
  /** The device whose currently defined registers the new one also gets. */
  readonly like?: Device | undefined;
}

/** Does the same as `buildDevice`, as work that can yield. The device's values are not in the graph yet. */
function* buildingDevice(
  { name, identity, extras, tables, cells, life }: DeviceDefinition,
  source: ActionSource,
  { graph, like }: Surroundings,
): Work<Device> {
  let made: Device | undefined;
  const images = new Map<RegisterLayout, RegisterImage>();
  const restart = () => made?.restart();
  const imageOf = (layout: RegisterLayout) => {
    const image = images.get(layout) ?? new RegisterImage(layout, source, restart);
    images.set(layout, image);
    return image;
  };
  const table = (tableName: keyof typeof tables) => {
    const { layout, ...window } = tables[tableName];
    // Copies share the layout of their source. Otherwise it would be rebuilt for each of hundreds of copies.
    const present = like?.tables[tableName].window;
    return present
      ? new Table({ ...present, image: imageOf(present.image.layout) })
      : new Table({ image: imageOf(layout), ...window });
  };
  const { files, ...others } = extras;
  const options: DeviceOptions = {
    name,
    identity: identityObjects(identity, identity.extended),
    ...others,
    ...(files && { files: new Files(files) }),
    tables: {
      coils: table('coils'),
      discrete: table('discrete'),
      input: table('input'),
      holding: table('holding'),
    },
    ...(cells && { cells: imageOf(cells) }),
    ...(life && { life }),
    ...(like && { defined: like.defined }),
    graph,
  };
  made = yield* Device.making(options);
  return made;
}

/** A device that was taken out or is to be added, with everything that belongs to it. */
export interface DeviceApart {
  readonly device: Device;
  readonly definition: DeviceDefinition;
  /** True for a copy that was made at run time. */
  readonly isCopy: boolean;
  /** The device that it was copied from, which may itself be a copy; absent if that is `copyOf` in its definition. */
  readonly source?: string;
}

/** The devices of a simulator: those in the configuration, and copies made at run time. */
export class Devices {
  readonly #devices = new Map<string, Device>();
  readonly #definitions = new Map<string, DeviceDefinition>();
  /** The names of the devices that are not in the configuration. */
  readonly #copies = new Set<string>();
  readonly #source: ActionSource;
  readonly #real: RealLines;
  /** The values of all devices, for signals that depend on them. */
  readonly graph = new DependencyGraph();
  /** How often a device was added or removed. */
  changes = 0;

  constructor(definitions: readonly DeviceDefinition[], source: ActionSource, real: RealLines) {
    this.#source = source;
    this.#real = real;
    for (const definition of definitions) this.#place(atOnce(this.building(definition)));
    this.graph.link();
  }

  get byName(): ReadonlyMap<string, Device> {
    return this.#devices;
  }

  get(name: string): Device {
    const device = this.#devices.get(name);
    if (!device) throw new Error(`configuration names an unknown device: ${name}`);
    return device;
  }

  /**
   * The names in `copies` that already belong to other devices.
   * @param copies the source of each copy, by the copy's name
   */
  takenNames(copies: ReadonlyMap<string, string>): string[] {
    return Array.from(copies).flatMap(([name, source]) => {
      const present = this.#definitions.get(name);
      return present && present.copyOf !== this.originalOf(source) ? [name] : [];
    });
  }

  /**
   * Builds the copies that do not exist yet, as work that can yield; `put` adds them.
   * @param copies as for `takenNames`
   */
  *copying(copies: ReadonlyMap<string, string>): Work<DeviceApart[]> {
    const built: DeviceApart[] = [];
    for (const [name, source] of copies) {
      const definition = this.#definitions.get(source);
      if (!definition || this.#devices.has(name)) continue;
      const copy = { ...definition, name, copyOf: this.originalOf(source) };
      built.push({ ...(yield* this.building(copy, source)), isCopy: true, source });
      yield;
    }
    return built;
  }

  /** Removes unused copies that were made at run time, with their registers. */
  keepCopies(inUse: ReadonlySet<string>): void {
    const unused = [...this.#copies].filter((name) => !inUse.has(name));
    for (const name of unused) this.#drop(name);
    if (unused.length > 0) this.graph.link();
  }

  /**
   * Builds a device, as work that can yield. The device stays unknown until `put` adds it.
   * @param source the running device that it is a copy of; what was defined there at run time is copied too
   */
  *building(definition: DeviceDefinition, source?: string): Work<DeviceApart> {
    const running = source === undefined ? undefined : this.#devices.get(source);
    const like = running && running.defined.length > 0 ? running : undefined;
    const device = yield* buildingDevice(definition, this.#source, { graph: this.graph, like });
    return { device, definition, isCopy: false };
  }

  /**
   * Adds built devices whose names are free. A copy also gets what was defined in its source at run time, and
   * is removed once no line uses it.
   */
  put(built: readonly DeviceApart[]): void {
    for (const each of built) {
      const { device, definition, source = definition.copyOf } = each;
      const wanted = this.#devices.get(source ?? '')?.defined ?? [];
      // Most of them existed when the copy was built.
      for (const { table, write, ...range } of missingIn(device.defined, wanted))
        device.define(table, [range], write);
      this.#place({ ...each, isCopy: definition.copyOf !== undefined });
    }
    this.graph.link();
  }

  remove(name: string): void {
    this.#drop(name);
    this.graph.link();
  }

  /** A device with its definition. */
  apart(name: string): DeviceApart {
    return { device: this.get(name), definition: this.definitionOf(name), isCopy: this.#copies.has(name) };
  }

  /** Sorts the devices in this order. Devices that are not named come last. */
  arrange(names: readonly string[]): void {
    inOrder(this.#devices, names);
  }

  /** Takes a device out. It keeps running until `putBack` or `end`. Call `graph.link` afterwards. */
  take(name: string): DeviceApart {
    const taken = this.apart(name);
    this.#copies.delete(name);
    this.#definitions.delete(name);
    this.#devices.delete(name);
    this.graph.remove(name);
    this.changes++;
    return taken;
  }

  /** Puts a device back as it was when it was taken out. Call `graph.link` afterwards. */
  putBack({ device, definition, isCopy }: DeviceApart): void {
    const { name } = definition;
    if (isCopy) this.#copies.add(name);
    this.#definitions.set(name, definition);
    this.#devices.set(name, device);
    this.graph.add(device.points);
    this.changes++;
  }

  /** Cleans up a device that has been removed. */
  end({ device }: DeviceApart): void {
    this.#real.detach(device);
    for (const image of device.images) image.forget();
    device.points.schedule.clear();
  }

  /** Defines registers of a device that are undefined so far. The definition of the device does not change. */
  define(device: Device, ...[table, ranges, write]: Parameters<Device['define']>): void {
    device.define(table, ranges, write);
    this.changes++;
  }

  definitionOf(name: string): DeviceDefinition {
    const definition = this.#definitions.get(name);
    if (!definition) throw new Error(`unknown device: ${name}`);
    return definition;
  }

  /**
   * The entry of a file that gives a device its current registers: the one in its definition, plus what was
   * defined at run time. Undefined if no entry can do that.
   */
  entryOf(name: string): DeviceSource | undefined {
    const { source } = this.definitionOf(name);
    const { defined } = this.get(name);
    return defined.length === 0 ? source : source && sourceWith(source, defined);
  }

  /** The names of a device's copies, both in the configuration and made at run time. */
  copiesOf(name: string): string[] {
    return Array.from(this.#definitions.values()).flatMap(({ copyOf, name: copy }) => {
      return copyOf === name ? [copy] : [];
    });
  }

  /**
   * The device at the start of a chain of copies. A copy of a copy counts as a copy of that device, because
   * the one in between may be removed.
   */
  originalOf(source: string): string {
    return this.#definitions.get(source)?.copyOf ?? source;
  }

  #drop(name: string): void {
    if (this.#devices.has(name)) this.end(this.take(name));
  }

  #place(built: DeviceApart): void {
    this.putBack(built);
    const { device, definition } = built;
    if (definition.real) this.#real.attach(device, definition.real);
  }
}

/** The registers missing from a list. Such a list only grows at its end, or by extending its last part. */
function missingIn(
  present: readonly DefinedRegisters[],
  wanted: readonly DefinedRegisters[],
): DefinedRegisters[] {
  return wanted.flatMap(({ table, address, quantity, write }, i) => {
    const there = present[i]?.quantity ?? 0;
    return there < quantity ? [{ table, address: address + there, quantity: quantity - there, write }] : [];
  });
}

/** Sorts the entries of a map in this order. Entries that are not named come last, in their present order. */
export function inOrder<Value>(map: Map<string, Value>, names: readonly string[]): void {
  for (const name of new Set([...names, ...map.keys()])) {
    const value = map.get(name);
    if (value === undefined) continue;
    map.delete(name);
    map.set(name, value);
  }
}
