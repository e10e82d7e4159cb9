import { DependencyGraph } from '../../src/device/dependency-graph.js';
import type { Device } from '../../src/device/device.js';
import { Diagnostics } from '../../src/device/diagnostics.js';
import type { TableName } from '../../src/device/tables.js';
import { buildDevice } from '../../src/simulator/devices.js';
import { nativeSetup } from '../support/configuration.js';

type Parts = Readonly<Partial<Record<TableName, readonly object[]>>> & { readonly [other: string]: unknown };

/** Devices as a native file defines them, with a clock that the test moves. `meter` is the one that is asked. */
export function liveDevices(devices: Readonly<Record<string, Parts>>) {
  const file = Object.fromEntries(
    Object.entries(devices).map(([name, { coils, discrete, input, holding, ...others }]) => [
      name,
      { registers: JSON.parse(JSON.stringify({ coils, discrete, input, holding })), ...others },
    ]),
  );
  const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
  let now = 0;
  let looks = 0;
  const clock = () => {
    looks++;
    return now;
  };
  const graph = new DependencyGraph(clock);
  const source = { random: () => 0.5, now: () => new Date(0), uptime: () => now };
  const built = nativeSetup({ devices: file, lines }).devices.map((definition) =>
    buildDevice(definition, source, graph),
  );
  graph.link();
  const meter = built.find(({ name }) => name === 'meter') as Device;
  const activity = { messages: 0, errors: 0, overruns: 0, asciiDelimiter: undefined };
  const diagnostics = new Diagnostics(activity);
  const respond = (pdu: readonly number[]) => [...(meter.respond(Uint8Array.from(pdu), diagnostics) ?? [])];
  return {
    meter,
    graph,
    respond,
    /** How often any device looks at the time while `act` runs: a measure of the work. */
    looksDuring(act: () => void): number {
      const before = looks;
      act();
      return looks - before;
    },
    wait(ms: number): void {
      now += ms;
    },
    read(table: 'input' | 'holding', address: number, quantity: number): number[] {
      const [, , ...bytes] = respond([table === 'input' ? 4 : 3, 0, address, 0, quantity]);
      return Array.from(
        { length: quantity },
        (_, i) => 256 * (bytes[2 * i] as number) + (bytes[2 * i + 1] as number),
      );
    },
    write(address: number, value: number): void {
      respond([6, 0, address, value >>> 8, value & 0xff]);
    },
  };
}
