import type { Clock } from '../../../src/transport/clock.js';
import { ptyAdapter } from '../../../src/transport/port/adapter.js';
import type { BytePort, PortListener } from '../../../src/transport/port/port.js';
import type { Wire } from './model-client.js';

/** How long bytes take from one end to the other, in ms: a call within a call would have no order. */
const ON_THE_WAY_MS = 0.01;

/** A serial line in virtual time: a port for the simulator, and the wire of a client. */
export class VirtualSerial {
  readonly #clock: Clock;
  /** Takes what the simulator sends. */
  received: (bytes: Uint8Array) => void = () => {};
  #listener: PortListener | undefined;
  #isOpen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(listener: PortListener): BytePort {
    this.#listener = listener;
    this.#isOpen = true;
    return {
      path: '/dev/pts/0',
      write: (bytes) => {
        const copy = Uint8Array.from(bytes);
        this.#clock.callAfter(ON_THE_WAY_MS, () => this.received(copy));
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
        this.#clock.callAfter(ON_THE_WAY_MS, () => {
          if (this.#isOpen) this.#listener?.onData(bytes);
        });
      },
      open: async () => true,
      close: () => {},
    };
  }
}
