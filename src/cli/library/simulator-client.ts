import { pathOf } from '../../common/rest-client/client.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Armed } from '../../simulator/commands/catalogue.js';
import type { Call } from './call.js';
import { DeviceClient } from './device-client.js';
import { FaultsClient } from './faults-client.js';
import { LineClient, type LineView } from './line-client.js';
import { TrafficClient } from './traffic-client.js';

/** The operations that a test has on a simulator, in its own process or elsewhere. */
export interface SimulatorClient {
  readonly lines: readonly LineClient[];
  readonly faults: FaultsClient;
  readonly traffic: TrafficClient;
  /** The line of this name; throws when there is none. */
  line(name: string): LineClient;
  /** The device of this name. The first use of the client fails when there is no such device. */
  device(name: string): DeviceClient;
  /**
   * Lets a device, or all devices of a line, misbehave as an entry of the catalogue describes. `behave` ends
   * it.
   */
  misbehave(id: string, target: { readonly device: string } | { readonly line: string }): Promise<Armed>;
  behave(id: string): Promise<Armed>;
}

/** Makes a client of a simulator that is asked by `call`. */
export async function simulatorClient(call: Call): Promise<SimulatorClient> {
  const views = ((await call('GET', '/lines')) as { lines: LineView[] }).lines;
  const lines = new Map(views.map((view) => [view.name, new LineClient(call, view)]));
  return {
    lines: [...lines.values()],
    faults: new FaultsClient(call),
    traffic: new TrafficClient(call),
    device: (name) => new DeviceClient(call, name),
    misbehave: (id, target) => call('POST', pathOf('catalogue', id), target) as Promise<Armed>,
    behave: (id) => call('DELETE', pathOf('catalogue', id)) as Promise<Armed>,
    line(name) {
      const found = lines.get(name);
      if (!found) throw new Error(unknownName('line', name, [...lines.keys()]));
      return found;
    },
  };
}
