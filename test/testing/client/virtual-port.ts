import { type Random, seededRandom } from '../../../src/common/random.js';
import type { Clock } from '../../../src/modbus/transport/clock.js';
import { ptyAdapter } from '../../../src/modbus/transport/port/adapter.js';
import type { BytePort, PortListener } from '../../../src/modbus/transport/port/port.js';
import type { Wire } from './model-client.js';

/** How long bytes take from one end to the other, in ms: a call within a call would have no order. */
const ON_THE_WAY_MS = 0.01;

/** How much longer than usual bytes take on a busy machine, in ms. */
export type Lateness = (random: Random) => number;

/** A serial line in virtual time: a port for the simulator, and the wire of a client. */
export class VirtualSerial {
  readonly #clock: Clock;
  /** Takes what the simulator sends. */
  received: (bytes: Uint8Array) => void = () => {};
  #listener: PortListener | undefined;
  readonly #lateness: Lateness;
  readonly #random: Random;
  readonly #latest = { in: 0, out: 0 };
  #isOpen = false;

  /**
   * @param lateness of bytes on each way, which stay in their order
   * @param seed of the lateness
   */
  constructor(clock: Clock, lateness: Lateness = () => 0, seed = 1) {
    this.#clock = clock;
    this.#lateness = lateness;
    this.#random = seededRandom(seed, 3);
  }

  #arrivesAt(way: 'in' | 'out'): number {
    const at = this.#clock.now() + ON_THE_WAY_MS + this.#lateness(this.#random);
    this.#latest[way] = Math.max(this.#latest[way], at);
    return this.#latest[way];
  }

  open(listener: PortListener): BytePort {
    this.#listener = listener;
    this.#isOpen = true;
    return {
      path: '/dev/pts/0',
      write: (bytes) => {
        const copy = Uint8Array.from(bytes);
        this.#clock.callAt(this.#arrivesAt('out'), () => this.received(copy));
        return undefined;
      },
      facts: () => ({
        adapter: ptyAdapter,
        settings: undefined,
        lowLatency: undefined,
        parityMarks: false,
        direction: 'by the adapter',
      }),
      close: async () => {
        this.#isOpen = false;
      },
    };
  }

  /** The cable is pulled out of the simulator. */
  unplug(): void {
    this.#isOpen = false;
    this.#listener?.onClose('unplugged');
  }

  get wire(): Wire {
    return {
      framing: 'rtu',
      isOpen: true,
      send: (bytes) => {
        this.#clock.callAt(this.#arrivesAt('in'), () => {
          if (this.#isOpen) this.#listener?.onData(bytes);
        });
      },
      open: async () => true,
      close: () => {},
    };
  }
}
