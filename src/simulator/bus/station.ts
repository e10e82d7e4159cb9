import type { Device, RealOutcome } from '../../device/device.js';
import { type Activity, Diagnostics, isRestart } from '../../device/diagnostics.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG, FunctionCode } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { BROADCAST } from '../../modbus/protocol/rtu.js';

/** Response PDUs to one broadcast, by device. A device executes it once, and each of its units counts it. */
export type Executed = Map<Device, Uint8Array | undefined>;

/** A device under one unit identifier of one line, with the counters of that unit. */
export class Station {
  readonly device: Device;
  readonly #activity: Activity;
  #current: { readonly losses: number; readonly diagnostics: Diagnostics };

  constructor(device: Device, activity: Activity) {
    this.device = device;
    this.#activity = activity;
    this.#current = { losses: device.powerLosses, diagnostics: new Diagnostics(activity) };
  }

  /** False while the device is without power or booting. */
  get hasPower(): boolean {
    return this.device.power.state === 'on';
  }

  /** Counters and listen-only mode. A loss of power resets both. */
  get #diagnostics(): Diagnostics {
    const { powerLosses: losses } = this.device;
    if (this.#current.losses !== losses) {
      this.#current = { losses, diagnostics: new Diagnostics(this.#activity) };
    }
    return this.#current.diagnostics;
  }

  /** The framing of messages after the last request to this unit; undefined before the first one. */
  get framing(): Framing | undefined {
    return this.#diagnostics.framing;
  }

  /** Why `process` returned no response. */
  get whySilent(): string {
    return this.#diagnostics.listenOnly
      ? 'the device is in listen-only mode'
      : 'the device does not answer this kind of request';
  }

  /** Processes a request with this framing. @returns the response PDU; undefined for no reply. */
  process(requestPdu: Uint8Array, framing: Framing): Uint8Array | undefined {
    const wasListening = this.#diagnostics.listenOnly;
    this.#diagnostics.framing = framing;
    this.#diagnostics.received(false);
    if (wasListening && !isRestart(requestPdu)) return undefined;
    const response = this.device.respond(requestPdu, this.#diagnostics);
    // A server in listen-only mode restarts without a response (Application Protocol V1.1b3, 6.8).
    const isSent = response !== undefined && !wasListening;
    this.#diagnostics.processed(response, isSent);
    return isSent ? response : undefined;
  }

  /**
   * Counts a request that was sent to the real device. If the fallback answers, it executes the request now.
   * @returns the response PDU; undefined if there is none
   */
  passedOn(requestPdu: Uint8Array, outcome: RealOutcome, framing: Framing): Uint8Array | undefined {
    this.#diagnostics.framing = framing;
    this.#diagnostics.received(false);
    const response =
      outcome.kind === 'fallback'
        ? outcome.device.respond(requestPdu, this.#diagnostics)
        : outcome.kind === 'response'
          ? outcome.pdu
          : undefined;
    this.#diagnostics.processed(response, response !== undefined);
    return response;
  }

  /**
   * Counts an answer from a fault rule that replaced the device's. An exception counts as the device's,
   * because that is how the client sees it.
   */
  stoodIn(responsePdu: Uint8Array | undefined, framing: Framing): void {
    this.#diagnostics.framing = framing;
    if (((responsePdu?.[0] ?? 0) & EXCEPTION_FLAG) === 0) return;
    this.#diagnostics.received(false);
    this.#diagnostics.processed(responsePdu, true);
  }

  /** Counts a broadcast. Executes it on the device, once, if its function may be broadcast. */
  broadcast(requestPdu: Uint8Array, framing: Framing, executed: Executed): void {
    const wasListening = this.#diagnostics.listenOnly;
    this.#diagnostics.framing = framing;
    if (!this.hasPower) return;
    this.#diagnostics.received(true);
    if (wasListening && !isRestart(requestPdu)) return;
    if (!functionOf(requestPdu[0])?.broadcast) {
      this.#diagnostics.ignored();
      return;
    }
    this.#diagnostics.processed(this.#execute(requestPdu, executed), false);
  }

  /** Function 8 acts on the state of this unit. All other functions act on the device, once per broadcast. */
  #execute(requestPdu: Uint8Array, executed: Executed): Uint8Array | undefined {
    if (requestPdu[0] === FunctionCode.diagnostics) return this.device.respond(requestPdu, this.#diagnostics);
    const { device } = this;
    if (!executed.has(device)) {
      // A real device does not answer a broadcast, so there is no reply to wait for.
      device.real?.ask(BROADCAST, requestPdu, () => {});
      executed.set(device, device.real ? undefined : device.respond(requestPdu, this.#diagnostics));
    }
    return executed.get(device);
  }
}
