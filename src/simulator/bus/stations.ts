import type { Device } from '../../device/device.js';
import type { Activity } from '../../device/diagnostics.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { SERVER_ITSELF } from '../../modbus/protocol/mbap.js';
import { Station } from './station.js';

/** The device that answers for each unit identifier; `*` stands for every identifier that is not listed. */
export type Units = ReadonlyMap<number | '*', Device>;

/** The devices of a line, and the devices of each of its addresses if these differ. */
export interface Served {
  readonly units: Units;
  readonly at?: ReadonlyMap<string, Units>;
}

/** The stations at an address of a line. If all addresses of a line have the same devices, they share one object. */
class AddressStations {
  readonly stations: ReadonlyMap<number | '*', Station>;
  /** The station of the first unit, on a line with MBAP headers where every unit is the same device. */
  readonly only: Station | undefined;
  /** Traffic counts for these devices. The line updates them; the devices' diagnostics read them. */
  readonly activity: Activity;

  /** @param before the stations before the change; a unit that keeps its device also keeps its counters */
  constructor(units: Units, framing: Framing, before?: AddressStations) {
    this.activity = before?.activity ?? { messages: 0, errors: 0, overruns: 0 };
    this.stations = new Map(
      Array.from(units, ([unitId, device]) => {
        const station = before?.stations.get(unitId);
        return [unitId, station?.device === device ? station : new Station(device, this.activity)];
      }),
    );
    const [first] = this.stations.values();
    this.only = framing.broadcasts || this.devices.size > 1 ? undefined : first;
  }

  /** The devices, without duplicates. */
  get devices(): ReadonlySet<Device> {
    return new Set(Array.from(this.stations.values(), ({ device }) => device));
  }

  /**
   * The station for a unit identifier. On a line with MBAP headers, 0 and 255 mean its only device if no unit
   * has these identifiers.
   */
  of(unitId: number): Station | undefined {
    const station = this.stations.get(unitId) ?? this.stations.get('*');
    return station ?? (SERVER_ITSELF.includes(unitId) ? this.only : undefined);
  }
}

/** The stations of a line. Immutable: a change of units or devices makes new ones. */
export class Stations {
  /** The stations of the line, or of its first address. */
  readonly #first: AddressStations;
  /** The stations by address; empty if all addresses have the same devices. */
  readonly byAddress: ReadonlyMap<string, AddressStations>;
  readonly #unitsOf = new Map<Device, Set<number | '*'>>();

  /** @param before the stations before the change; a unit that keeps its device also keeps its counters */
  constructor({ units, at = new Map() }: Served, framing: Framing, before?: Stations) {
    const endpoints = Array.from(at, ([host, unitsThere]) => {
      return [host, new AddressStations(unitsThere, framing, before?.byAddress.get(host))] as const;
    });
    this.#first = endpoints[0]?.[1] ?? new AddressStations(units, framing, before?.at(undefined));
    this.byAddress = new Map(endpoints);
    for (const { stations } of endpoints.length > 0 ? this.byAddress.values() : [this.#first]) {
      for (const [unitId, { device }] of stations) {
        const known = this.#unitsOf.get(device) ?? new Set();
        this.#unitsOf.set(device, known.add(unitId));
      }
    }
  }

  /** The stations at an address, or the first ones if the address has none of its own. */
  at(host: string | undefined): AddressStations {
    return (host === undefined ? undefined : this.byAddress.get(host)) ?? this.#first;
  }

  /** True if a device on this line answers for `unitId`. */
  owns(unitId: number): boolean {
    return this.#first.of(unitId) !== undefined;
  }

  /** The unit identifiers that a device answers for; empty if it is not on this line. */
  unitsOf(device: Device): (number | '*')[] {
    return [...(this.#unitsOf.get(device) ?? [])];
  }

  has(device: Device): boolean {
    return this.#unitsOf.has(device);
  }

  /** The devices on this line, without duplicates. */
  get devices(): ReadonlySet<Device> {
    return new Set(this.#unitsOf.keys());
  }
}
