import { MAX_PDU_LENGTH } from '../protocol/limits.js';
import type { RegisterImage } from '../registers/image.js';
import type { Diagnostics } from './diagnostics.js';
import { Files } from './files.js';
import { answer } from './functions.js';
import { type IdentityObjects, identityObjects } from './identification.js';
import type { FifoQueues, Server, ServerId } from './server.js';
import type { Tables } from './tables.js';

export interface DeviceOptions {
  readonly name: string;
  readonly tables: Tables;
  /** Objects of the device identification; the basic ones must be there. */
  readonly identity?: IdentityObjects;
  readonly files?: Files;
  readonly queues?: FifoQueues;
  /** Coils that the exception status shows, the first in its least significant bit; up to eight. */
  readonly exceptionStatus?: readonly number[];
  readonly serverId?: ServerId;
  /** The list of cells behind all tables, where registers are numbered through (pymodbus files). */
  readonly cells?: RegisterImage;
}

/** One simulated server: answers request PDUs from its registers. Any number of lines may share it. */
export class Device implements Server {
  readonly name: string;
  readonly tables: Tables;
  readonly cells: RegisterImage | undefined;
  readonly identity: IdentityObjects;
  readonly files: Files;
  readonly queues: FifoQueues;
  readonly exceptionStatus: readonly number[];
  readonly serverId: ServerId;

  constructor(options: DeviceOptions) {
    this.name = options.name;
    this.tables = options.tables;
    this.cells = options.cells;
    this.identity = options.identity ?? identityObjects();
    this.files = options.files ?? new Files();
    this.queues = options.queues;
    this.exceptionStatus = options.exceptionStatus ?? [];
    this.serverId = options.serverId ?? { id: [0], running: true, additional: this.#productName() };
  }

  /**
   * The response PDU to a request PDU of at least one byte, an exception response where the specification asks for
   * one; undefined when it is not answered (force listen only). `diagnostics` is that of the line it came from.
   */
  respond(requestPdu: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined {
    return answer(this, diagnostics, requestPdu);
  }

  /** Cut to what a response holds besides its byte count, the identifier and the run indicator. */
  #productName(): string {
    const name = `${this.identity.get(0) ?? ''} ${this.identity.get(1) ?? ''}`;
    return name.trim().slice(0, MAX_PDU_LENGTH - 4);
  }
}
