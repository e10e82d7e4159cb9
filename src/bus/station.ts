import type { Device } from '../device/device.js';
import { type Activity, Diagnostics, isRestart } from '../device/diagnostics.js';

/** A device under one unit identifier of one line: the line's own view of it, with its counters. */
export class Station {
  readonly device: Device;
  readonly #diagnostics: Diagnostics;

  constructor(device: Device, activity: Activity) {
    this.device = device;
    this.#diagnostics = new Diagnostics(activity);
  }

  /** Lets the device process a request; undefined when nothing is answered. */
  process(requestPdu: Uint8Array, broadcast: boolean): Uint8Array | undefined {
    const diagnostics = this.#diagnostics;
    const wasListening = diagnostics.listenOnly;
    diagnostics.received(broadcast);
    if (wasListening && !isRestart(requestPdu)) return undefined;
    const response = this.device.respond(requestPdu, diagnostics);
    // A server in listen-only mode restarts without a response (Application Protocol V1.1b3, 6.8).
    const isSent = response !== undefined && !broadcast && !wasListening;
    diagnostics.processed(response, isSent);
    return isSent ? response : undefined;
  }
}
