import type { Device } from '../../device/device.js';
import type { RealDefinition, RealTarget } from '../../files/config/configuration.js';
import { keyOf } from '../../files/config/native/real.js';
import type { ModbusClient } from '../../modbus/client/client.js';
import type { Clock } from '../../modbus/transport/clock.js';
import { Bridge } from './bridge.js';
import { RealLine } from './real-line.js';

/** What real devices need from the simulator. */
interface RealLinesContext {
  readonly clock: Clock;
  readonly newClient: (target: RealTarget) => ModbusClient;
  /** Finds a device by its name. */
  readonly device: (name: string) => Device | undefined;
  readonly report: (device: Device, text: string) => void;
}

interface Shared {
  readonly line: RealLine;
  users: number;
}

/**
 * The ports and connections to real devices. Each is opened by the first request and closed with its last
 * device.
 */
export class RealLines {
  readonly #surroundings: RealLinesContext;
  readonly #lines = new Map<string, Shared>();
  readonly #bridges = new Map<Device, { readonly bridge: Bridge; readonly key: string }>();

  constructor(surroundings: RealLinesContext) {
    this.#surroundings = surroundings;
  }

  /** Makes the real device answer in place of `device`. */
  attach(device: Device, definition: RealDefinition): void {
    const { clock, device: find, report } = this.#surroundings;
    const { target, fallback } = definition;
    const key = keyOf(target);
    const shared = this.#lines.get(key) ?? {
      line: new RealLine(this.#surroundings.newClient(target), clock),
      users: 0,
    };
    shared.users++;
    this.#lines.set(key, shared);
    const bridge = new Bridge(definition, shared.line, {
      clock,
      device,
      fallback: () => (fallback === undefined ? undefined : find(fallback)),
      report: (text) => report(device, text),
    });
    this.#bridges.set(device, { bridge, key });
    device.real = bridge;
  }

  /** Removes a device. A port that no other device uses is closed. */
  detach(device: Device): void {
    const attached = this.#bridges.get(device);
    if (!attached) return;
    const { bridge, key } = attached;
    bridge.end();
    this.#bridges.delete(device);
    const shared = this.#lines.get(key);
    if (!shared || --shared.users > 0) return;
    this.#lines.delete(key);
    void shared.line.close();
  }

  /** Closes all ports and connections. The next request opens them again. */
  async close(): Promise<void> {
    for (const { bridge } of this.#bridges.values()) bridge.end();
    await Promise.all(Array.from(this.#lines.values(), ({ line }) => line.close()));
  }
}
