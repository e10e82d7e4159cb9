import type { Device, RealDevice, RealOutcome } from '../../device/device.js';
import type { Tables } from '../../device/tables.js';
import type { RealDefinition, RealTarget } from '../../document/configuration.js';
import { keyOf } from '../../document/native/real.js';
import type { ClientRequest, ModbusClient, RequestOutcome } from '../../modbus/client/client.js';
import { bitsAt, wordsAt } from '../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG, ExceptionCode, FunctionCode } from '../../modbus/protocol/function-code.js';
import { exceptionResponse } from '../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { BROADCAST } from '../../modbus/protocol/rtu.js';
import type { Clock } from '../../modbus/transport/clock.js';

/** Maximum number of requests waiting for a real device, which answers one at a time. */
const MOST_WAITING = 256;

/** A request to a real device. `pause` is the silence before it, in ms, added to the line's own. */
interface RealRequest extends ClientRequest {
  readonly pause: number;
}

interface PendingRequest {
  readonly request: RealRequest;
  /** Called with the outcome; undefined if no client waits for it any more. */
  done: ((outcome: RequestOutcome) => void) | undefined;
}

/**
 * The port or connection that leads to real devices. They share it: one request at a time, in order, each
 * sent once.
 */
export class RealLine {
  readonly #client: ModbusClient;
  readonly #clock: Clock;
  readonly #waiting: PendingRequest[] = [];
  #current: PendingRequest | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #callOffPause = (): void => {};

  constructor(client: ModbusClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Sends a request when its turn comes. If the request in progress is equal, and no client waits for that
   * reply any more, this request gets the reply: its client timed out and asked again.
   * @returns a function that cancels the request; the reply to a request that was already sent is dropped
   */
  ask(request: RealRequest, done: (outcome: RequestOutcome) => void): () => void {
    const current = this.#current;
    if (current && !current.done && this.#waiting.length === 0 && isSame(current.request, request)) {
      current.done = done;
      return () => this.#callOff(current);
    }
    if (this.#waiting.length >= MOST_WAITING) {
      done({ kind: 'failed', reason: `more than ${MOST_WAITING} requests are waiting for the real device` });
      return () => {};
    }
    const asked: PendingRequest = { request, done };
    this.#waiting.push(asked);
    this.#next();
    return () => this.#callOff(asked);
  }

  /** Closes the port or connection. Waiting requests fail. */
  async close(): Promise<void> {
    this.#callOffPause();
    for (const { done } of this.#waiting.splice(0)) done?.({ kind: 'failed', reason: 'the line is closed' });
    await this.#client.close();
  }

  #callOff(asked: PendingRequest): void {
    asked.done = undefined;
    const index = this.#waiting.indexOf(asked);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #next(): void {
    const first = this.#waiting[0];
    if (this.#current || !first) return;
    this.#callOffPause();
    const due = this.#endedAt + first.request.pause;
    if (due > this.#clock.now()) {
      this.#callOffPause = this.#clock.callAt(due, () => this.#next());
      return;
    }
    this.#waiting.shift();
    this.#current = first;
    void this.#client.ask(first.request).then((outcome) => {
      this.#current = undefined;
      this.#endedAt = this.#clock.now();
      first.done?.(outcome);
      this.#next();
    });
  }
}

function isSame(one: RealRequest, other: RealRequest): boolean {
  return one.unitId === other.unitId && Buffer.compare(one.pdu, other.pdu) === 0;
}

/** The functions that change nothing in a device. For function 43 this is true only of device identification. */
const READS: readonly number[] = [
  FunctionCode.readCoils,
  FunctionCode.readDiscreteInputs,
  FunctionCode.readHoldingRegisters,
  FunctionCode.readInputRegisters,
  FunctionCode.readExceptionStatus,
  FunctionCode.getCommEventCounter,
  FunctionCode.getCommEventLog,
  FunctionCode.reportServerId,
  FunctionCode.readFileRecord,
  FunctionCode.readFifoQueue,
];

const READ_IDENTIFICATION = 14;

/** How long to wait before asking an absent real device again, in ms. */
const PROBE_MS = 1000;

interface BridgeContext {
  readonly clock: Clock;
  /** The device itself. Without a fallback, its registers follow the values of the real device. */
  readonly device: Device;
  readonly fallback: () => Device | undefined;
  /** Called with a sentence for people. */
  readonly report: (text: string) => void;
}

interface WaitingRequest {
  readonly pdu: Uint8Array;
  readonly done: (outcome: RealOutcome) => void;
  callOff: () => void;
}

/**
 * Connects a simulated device to the real one behind it. While the real device does not answer, its fallback
 * does, and the last read is repeated every second. The first answer ends this.
 */
export class Bridge implements RealDevice {
  readonly #definition: RealDefinition;
  readonly #line: RealLine;
  readonly #around: BridgeContext;
  readonly #waiting = new Set<WaitingRequest>();
  #isAway = false;
  #lastRead: RealRequest | undefined;
  #stopProbing = (): void => {};

  constructor(definition: RealDefinition, line: RealLine, around: BridgeContext) {
    this.#definition = definition;
    this.#line = line;
    this.#around = around;
  }

  get status() {
    return { to: keyOf(this.#definition.target), answers: !this.#isAway };
  }

  ask(unitId: number, pdu: Uint8Array, done: (outcome: RealOutcome) => void): () => void {
    const { writes, unit = unitId, timeout, pause } = this.#definition;
    const isRead = reads(pdu);
    if (!isRead && !writes) {
      // A broadcast gets no answer, so it is not reported that the device does not accept it.
      if (unitId !== BROADCAST) this.#report(`function ${pdu[0]} was not forwarded: that needs writes: true`);
      done(exception(pdu, ExceptionCode.illegalFunction));
      return () => {};
    }
    const request = { unitId: unit, pdu, timeout, pause };
    if (isRead) this.#lastRead = request;
    const standIn = this.#isAway ? this.#around.fallback() : undefined;
    if (standIn) {
      done({ kind: 'fallback', device: standIn });
      return () => {};
    }
    const waiting: WaitingRequest = { pdu, done, callOff: () => {} };
    this.#waiting.add(waiting);
    waiting.callOff = this.#line.ask(request, (outcome) => {
      this.#waiting.delete(waiting);
      this.#ended(request, outcome, done);
    });
    return () => {
      this.#waiting.delete(waiting);
      waiting.callOff();
    };
  }

  /** Ends the bridge when the device is removed. The real device gets no more requests. */
  end(): void {
    this.#stopProbing();
    for (const { callOff } of this.#waiting) callOff();
  }

  #ended({ pdu }: RealRequest, outcome: RequestOutcome, done: (outcome: RealOutcome) => void): void {
    if (outcome.kind === 'answered') {
      this.#answered(pdu, outcome.pdu);
      done({ kind: 'response', pdu: outcome.pdu });
      return;
    }
    const late = `did not answer within ${this.#definition.timeout} ms`;
    const why = outcome.kind === 'failed' ? outcome.reason : late;
    // Without a read to repeat, there is no way to find out that the device is back.
    const standIn = this.#lastRead && this.#around.fallback();
    if (standIn && !this.#isAway) this.#goAway(why, standIn);
    // A write may already have been executed, so it is neither reported as failed nor executed again by the
    // fallback.
    if (standIn && reads(pdu)) done({ kind: 'fallback', device: standIn });
    else if (this.#definition.whenSilent === 'silence')
      done({ kind: 'silence', reason: `the real device: ${why}` });
    else done(exception(pdu, ExceptionCode.gatewayTargetDeviceFailedToRespond));
  }

  #answered(requestPdu: Uint8Array, responsePdu: Uint8Array): void {
    const { shadow } = this.#definition;
    if (shadow)
      keepReply((this.#around.fallback() ?? this.#around.device).servedTables, requestPdu, responsePdu);
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#stopProbing();
    this.#report('answers again');
  }

  /** Switches to the fallback. It also gets the requests that have not been sent; the last one sent has just ended. */
  #goAway(why: string, standIn: Device): void {
    this.#isAway = true;
    this.#report(`${why}; ${standIn.name} answers instead`);
    for (const waiting of this.#waiting) {
      waiting.callOff();
      waiting.done({ kind: 'fallback', device: standIn });
    }
    this.#waiting.clear();
    this.#probeLater();
  }

  /** Repeats the last read every second until it is answered. */
  #probeLater(): void {
    this.#stopProbing();
    this.#stopProbing = this.#around.clock.callAfter(PROBE_MS, () => {
      const request = this.#lastRead as RealRequest;
      this.#stopProbing = this.#line.ask(request, (outcome) => {
        if (outcome.kind === 'answered') this.#answered(request.pdu, outcome.pdu);
        else this.#probeLater();
      });
    });
  }

  #report(text: string): void {
    this.#around.report(`${this.#around.device.name}: ${text}`);
  }
}

function reads(pdu: Uint8Array): boolean {
  const [code = 0, type] = pdu;
  return (
    READS.includes(code) ||
    (code === FunctionCode.encapsulatedInterfaceTransport && type === READ_IDENTIFICATION)
  );
}

function exception(pdu: Uint8Array, code: ExceptionCode): RealOutcome {
  return { kind: 'response', pdu: exceptionResponse(pdu[0] as number, code) };
}

/**
 * Copies what a client has read from or written to a real device into the registers defined for it, so that
 * people see its values by name. Undefined registers are skipped.
 * @param tables the tables as clients see them
 */
function keepReply(tables: Tables, requestPdu: Uint8Array, responsePdu: Uint8Array): void {
  const decoded = decodeRequest(requestPdu);
  if (!decoded.ok || (responsePdu[0] as number) & EXCEPTION_FLAG) return;
  const { value: request } = decoded;
  const { coils, discrete, holding, input } = tables;
  switch (request.code) {
    case FunctionCode.readCoils:
      coils.follow(request.address, bitsAt(responsePdu, 2, request.quantity).map(Number), 'bits');
      break;
    case FunctionCode.readDiscreteInputs:
      discrete.follow(request.address, bitsAt(responsePdu, 2, request.quantity).map(Number), 'bits');
      break;
    case FunctionCode.readHoldingRegisters:
      holding.follow(request.address, wordsAt(responsePdu, 2, request.quantity), 'words');
      break;
    case FunctionCode.readInputRegisters:
      input.follow(request.address, wordsAt(responsePdu, 2, request.quantity), 'words');
      break;
    case FunctionCode.writeSingleCoil:
      coils.follow(request.address, [Number(request.on)], 'bits');
      break;
    case FunctionCode.writeMultipleCoils:
      coils.follow(request.address, request.bits.map(Number), 'bits');
      break;
    case FunctionCode.writeSingleRegister:
      holding.follow(request.address, [request.value], 'words');
      break;
    case FunctionCode.writeMultipleRegisters:
      holding.follow(request.address, request.words, 'words');
      break;
    case FunctionCode.maskWriteRegister: {
      const { address, andMask, orMask } = request;
      if (holding.defines(address, 'words'))
        holding.follow(address, [holding.maskedWord(address, andMask, orMask)], 'words');
      break;
    }
    case FunctionCode.readWriteMultipleRegisters:
      // The write comes before the read (Application Protocol V1.1b3, 6.17).
      holding.follow(request.writeAddress, request.words, 'words');
      holding.follow(request.readAddress, wordsAt(responsePdu, 2, request.readQuantity), 'words');
  }
}

/** What real devices need from the simulator. */
interface RealLinesContext {
  readonly clock: Clock;
  readonly newClient: (target: RealTarget) => ModbusClient;
  readonly device: (name: string) => Device | undefined;
  readonly report: (device: Device, text: string) => void;
}

interface Shared {
  readonly line: RealLine;
  users: number;
}

/** The ports and connections to real devices. Each is opened on the first request and closed with its last device. */
export class RealLines {
  readonly #surroundings: RealLinesContext;
  readonly #lines = new Map<string, Shared>();
  readonly #bridges = new Map<Device, { readonly bridge: Bridge; readonly key: string }>();

  constructor(surroundings: RealLinesContext) {
    this.#surroundings = surroundings;
  }

  /** Makes the real device answer instead of `device`. */
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
