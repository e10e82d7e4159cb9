import type { RegisterImage } from '../registers/image.js';
import { answer } from './functions.js';
import type { Tables } from './tables.js';

/** Objects of the device identification by name (6.21); what function 43 and REST show. */
export type Identity = Readonly<Record<string, string>>;

/** One simulated server: answers request PDUs from its registers. Any number of lines may share it. */
export class Device {
  readonly name: string;
  readonly tables: Tables;
  readonly identity: Identity;
  /**
   * How people address the registers outside the protocol: `cells` is one list over all tables (pymodbus files),
   * undefined means by table and address.
   */
  readonly cells: RegisterImage | undefined;

  constructor(options: { name: string; tables: Tables; identity?: Identity; cells?: RegisterImage }) {
    this.name = options.name;
    this.tables = options.tables;
    this.identity = options.identity ?? {};
    this.cells = options.cells;
  }

  /** The response PDU to a request PDU of at least one byte: an exception response where the specification asks for one. */
  respond(requestPdu: Uint8Array): Uint8Array {
    return answer(this.tables, requestPdu);
  }
}
