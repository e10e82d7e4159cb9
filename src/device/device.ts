import { MAX_PDU_LENGTH } from '../protocol/limits.js';
import type { RegisterImage } from '../registers/image.js';
import type { Diagnostics } from './diagnostics.js';
import { Files } from './files.js';
import { answer } from './functions.js';
import { type IdentityObjects, identityObjects } from './identification.js';
import type { Server } from './server.js';
import type { Tables } from './tables.js';

/** What a device is built from; the constructor has a default for every part but its name and tables. */
export interface DeviceOptions extends Partial<Server> {
  readonly name: string;
  readonly tables: Tables;
  /** The list of cells behind all tables, where registers are numbered through (pymodbus files). */
  readonly cells?: RegisterImage;
}

/** One simulated server: answers request PDUs from its registers. Any number of lines may share it. */
export class Device {
  readonly name: string;
  readonly tables: Tables;
  readonly cells: RegisterImage | undefined;
  readonly #server: Server;

  constructor(options: DeviceOptions) {
    const { name, tables, cells, identity = identityObjects() } = options;
    this.name = name;
    this.tables = tables;
    this.cells = cells;
    this.#server = {
      tables,
      identity,
      files: options.files ?? new Files(),
      queues: options.queues,
      exceptionStatus: options.exceptionStatus ?? [],
      serverId: options.serverId ?? { id: [0], running: true, additional: productName(identity) },
    };
  }

  /**
   * The response PDU to a request PDU of at least one byte, an exception response where the specification asks for
   * one; undefined when it is not answered (force listen only). `diagnostics` is that of the line it came from.
   */
  respond(requestPdu: Uint8Array, diagnostics: Diagnostics): Uint8Array | undefined {
    return answer(this.#server, diagnostics, requestPdu);
  }
}

/** Cut to what a response holds besides its byte count, the identifier and the run indicator. */
function productName(identity: IdentityObjects): string {
  const name = `${identity.get(0) ?? ''} ${identity.get(1) ?? ''}`;
  return name.trim().slice(0, MAX_PDU_LENGTH - 4);
}
