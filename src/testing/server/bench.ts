import type { Random } from '../../common/random.js';
import { bitsAt } from '../../modbus/protocol/bytes.js';
import { MAX_BITS_READ, MAX_REGISTERS_READ } from '../../modbus/protocol/limits.js';
import { Lateness } from '../lateness.js';
import type { Claims } from '../order-schemas.js';
import type { Range } from '../survey/table-survey.js';
import { Asker, BUSY_MS, type Carrier } from './asker.js';
import type { Oddity } from './codes/oddities.js';
import { type AskOptions, type Exchange, hasValues, isBusy, isDecisive } from './exchange.js';
import type { Found } from './found.js';
import { hasOtherQuantity } from './reading.js';
import { type AddressSpan, readPdu, type ScratchTable, valuesOf } from './requests.js';
import { Scratch } from './scratch.js';
import type { ConnectionsFound } from './words.js';

/** What to test, and the user's permissions. Times are in ms. */
export interface ServerTestOrder {
  readonly unitId: number;
  /** The silence before each request. */
  readonly pauseMs: number;
  /** Addresses that the user permits to be written. Their values are restored. */
  readonly scratch: { readonly holding?: AddressSpan; readonly coils?: AddressSpan };
  /** True if requests to all servers on the bus may be sent. */
  readonly broadcast: boolean;
  /** Duration of the endurance check; 0: none. */
  readonly soakMs: number;
  /** How long a reply may take; absent: derived from the replies. */
  readonly timeoutMs?: number;
  /** Time limit of the server test, without the endurance check and the survey; absent: none. */
  readonly limitMs?: number;
  /** How long the server is left idle before the next request. */
  readonly idleMs: number;
  /** Identifiers of checks and names of groups; empty: all. */
  readonly checks: readonly string[];
  readonly seed: number;
  /** What the server must have according to a device map, if there is one. */
  readonly map?: DeviceMap;
  /** The manufacturer's claims about the server, if known. */
  readonly claims?: Claims;
  /** The addresses to survey at the end, for a file about the server; absent: no survey. */
  readonly survey?: readonly Range[];
  /** Runs a command or prompts the user to restart a server that no longer answers; undefined if there is neither. */
  readonly powerCycle?: (signal: AbortSignal) => Promise<void>;
}

/** The functions that read a table (6.1 to 6.4). */
export type ReadCode = 1 | 2 | 3 | 4;
export const READ_CODES: readonly ReadCode[] = [3, 4, 1, 2];

/** A value of the server according to a device map. */
export interface MappedValue {
  /** The function that reads the value. */
  readonly code: ReadCode;
  readonly address: number;
  /** The number of registers or bits. */
  readonly cells: number;
  readonly isWritable: boolean;
  readonly isText: boolean;
  /** The words of values just outside the limits: one below, one above, if the type allows them. */
  readonly beyond: readonly (readonly number[])[];
  readonly name?: string;
}

/** The content of a server according to a native file about it. */
export interface DeviceMap {
  /** The values in each table, by address. */
  readonly values: readonly MappedValue[];
  /** Whether reading part of a value is refused; undefined if the file does not say. */
  readonly wholeValues: boolean | undefined;
  /** True if the file says how reads across undefined addresses are answered. */
  readonly hasHoles: boolean;
}

/** What the checks have found out about a server. */
export interface ServerFacts {
  vendor?: readonly string[];
  identificationLevel?: number;
  serverId?: string;
  /** The maximum number of registers or bits per read, by function; absent if the map is too small to tell. */
  most: Partial<Record<ReadCode, number>>;
  /** The last address found, by function. */
  lastAddress: Partial<Record<ReadCode, number>>;
  /** The pause that the server needs between a reply and the next request, in ms. */
  pauseMs?: number;
  /** The fraction of requests without a reply, whatever the pause. */
  losses?: number;
  /** True if the server sometimes reports that it is busy, and loses nothing else. */
  isBusy?: boolean;
  connections?: ConnectionsFound;
  /**
   * True if the scratch registers refuse values far from the current ones with exception 03, and accept
   * adjacent ones.
   */
  isNarrow?: boolean;
  /** Whether a broadcast write was executed. */
  broadcast?: boolean;
  /** A unit on the bus that no device has. */
  absentUnit?: number;
  /** The server loses every request that contains one of these bytes. */
  lostBytes?: readonly number[];
  /** True if the server does not answer functions that it lacks. */
  isMuteToUnknown?: boolean;
  /** The server's exception for a function that no server has, if it is not 01. */
  unknownRefusal?: number;
  /** Functions by how they are answered. */
  functions: { there: Set<number>; missing: Set<number>; silent: Set<number> };
}

/** The default pause and idle time, in ms. */
export const DEFAULT_PAUSE_MS = 20;
export const DEFAULT_IDLE_MS = 3000;
/** The default time limit of a server test, in ms. With the work after the limit, a card takes at most five minutes. */
export const DEFAULT_LIMIT_MS = 240_000;

/** How long a server may report that it is busy before it counts as gone, in ms. */
const LONGEST_BUSY_MS = 10_000;

/** The pauses between two requests to a server that is gone, in ms. */
const ASK_AGAIN_MS = 1000;
/** How many requests in a row it may take to wake a server. */
const WAKING = 6;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Functions without an address and a value: if the server refuses one with the exception code for an unknown
 * function, it lacks that function.
 */
const NO_ADDRESS = [7, 8, 11, 12, 17, 43];

/** Where to look for addresses if the user does not give any. */
const LIKELY = [0, 1, 100, 1000, 40000, 30000, 4096, 2000, 10];

/** The server under test, and what is known about it: everything that a check works with. */
export class Bench {
  readonly asker: Asker;
  readonly lateness: Lateness;
  readonly order: ServerTestOrder;
  readonly random: Random;
  readonly carrier: Carrier;
  /** Why nothing else can be judged; undefined if more can be. */
  blocked: Found | undefined;
  /** A read that the server answers; undefined until one is found. */
  read: { readonly code: ReadCode; readonly address: number } | undefined;
  readonly facts: ServerFacts = {
    most: {},
    lastAddress: {},
    functions: { there: new Set(), missing: new Set(), silent: new Set() },
  };
  /** The addresses that may be written. */
  readonly scratch = new Scratch(this);
  /** Reports the current activity. */
  readonly progress: (text: string) => void;
  readonly #tables = new Map<ReadCode, number | Exchange>();
  readonly #starts = new Map<ReadCode, number>();

  constructor(carrier: Carrier, order: ServerTestOrder, random: Random, progress: (text: string) => void) {
    this.carrier = carrier;
    this.order = order;
    this.random = random;
    this.progress = progress;
    this.asker = new Asker(carrier, order.unitId, order.pauseMs, random, order.timeoutMs);
    this.lateness = new Lateness(carrier.clock);
    this.asker.guard = (unitId, pdu) => this.scratch.guard(unitId, pdu);
  }

  get log(): readonly Exchange[] {
    return this.asker.log;
  }

  ask(pdu: Uint8Array, options?: AskOptions): Promise<Exchange> {
    return this.asker.ask(pdu, options);
  }

  /** A read that the server has answered. There is one after the first check. */
  get good(): NonNullable<Bench['read']> {
    return this.read ?? { code: 3, address: 0 };
  }

  get goodRead(): Uint8Array {
    return readPdu(this.good.code, this.good.address, 1);
  }

  /** The frame of a request; by default, of the good read. */
  frameOf(pdu = this.goodRead, unitId = this.asker.unitId, transactionId = 0): Uint8Array {
    return this.asker.framing.encode({ transactionId, unitId, pdu });
  }

  /** The last exchange, and whether it was with the server itself. */
  get lastAsked(): Pick<Exchange, 'isPlain' | 'answer'> & { readonly isOwn: boolean } {
    const last = this.log.at(-1);
    return {
      ...{ isPlain: last?.isPlain ?? false, answer: last?.answer ?? { kind: 'silent' } },
      isOwn: last?.unitId === this.asker.unitId,
    };
  }

  /** Sends the good read once, with a long time-out, because its answer is known to come. */
  askGood(options: AskOptions = {}): Promise<Exchange> {
    return this.asker.once(this.goodRead, { isExpected: true, ...options });
  }

  /** Addresses to try in a table, most likely first. */
  candidates(code: ReadCode): readonly number[] {
    const { scratch, map } = this.order;
    const given = code === 3 ? scratch.holding : code === 1 ? scratch.coils : undefined;
    const mapped = (map?.values ?? []).filter((value) => value.code === code).slice(0, 3);
    return [
      ...new Set([...(given ? [given.first] : []), ...mapped.map(({ address }) => address), ...LIKELY]),
    ];
  }

  /**
   * Finds an address in the table that a function reads.
   * @returns the last refusal if none was found
   */
  async table(code: ReadCode): Promise<number | Exchange> {
    const known = this.#tables.get(code);
    if (known !== undefined) return known;
    if (this.read?.code === code) return this.#found(code, this.read.address);
    let last: Exchange | undefined;
    for (const address of this.candidates(code)) {
      const exchange = await this.ask(readPdu(code, address, 1));
      last = exchange;
      if (hasValues(exchange)) return this.#found(code, address);
      const { answer } = exchange;
      if (answer.kind !== 'exception' || answer.code === 1) break;
    }
    const refusal = last as Exchange;
    this.#tables.set(code, refusal);
    this.noteFunction(code, refusal);
    return refusal;
  }

  /**
   * Finds the start of the longest block in a table that includes a known address: either a block of the
   * maximum size is answered, or the address before the start does not exist.
   */
  async start(code: ReadCode): Promise<number | Exchange> {
    const address = this.#starts.get(code) ?? (await this.table(code));
    if (typeof address !== 'number' || this.#starts.has(code)) return address;
    let start = address;
    const many = code <= 2 ? MAX_BITS_READ : MAX_REGISTERS_READ;
    if (start > 0 && (await this.ask(readPdu(code, start, many))).answer.kind !== 'data') {
      const isThere = async (at: number) => hasValues(await this.ask(readPdu(code, at, 1)));
      let absent = -1;
      // Steps grow until an address does not exist; the start is between the last two.
      for (let step = 1; start > 0 && absent < 0; step *= 2) {
        const at = Math.max(0, start - step);
        if (await isThere(at)) start = at;
        else absent = at;
      }
      while (absent >= 0 && start - absent > 1) {
        const middle = (start + absent) >> 1;
        if (await isThere(middle)) start = middle;
        else absent = middle;
      }
    }
    this.#starts.set(code, start);
    return start;
  }

  #found(code: ReadCode, address: number): number {
    this.#tables.set(code, address);
    this.facts.functions.there.add(code);
    return address;
  }

  /** True if an exchange has shown how the server answers a function. */
  isFunctionKnown(code: number): boolean {
    const { there, missing, silent } = this.facts.functions;
    return there.has(code) || missing.has(code) || silent.has(code);
  }

  /** True for an unanswered request with a byte for which the server loses requests. */
  isLostForBytes({ answer, sent }: Exchange): boolean {
    const { lostBytes } = this.facts;
    if (answer.kind !== 'silent' || lostBytes === undefined) return false;
    return sent.some(({ bytes }) => bytes.some((byte) => lostBytes.includes(byte)));
  }

  /** Records whether the server has a function, according to an exchange. */
  noteFunction(code: number, exchange: Exchange): void {
    if (this.isLostForBytes(exchange)) return;
    const { answer } = exchange;
    const { there, missing, silent } = this.facts.functions;
    const isRefused = answer.kind === 'exception' && answer.code === (this.facts.unknownRefusal ?? 1);
    if ((answer.kind === 'exception' && answer.code === 1) || (isRefused && NO_ADDRESS.includes(code)))
      missing.add(code);
    // An exception code that is not in the specification says nothing about the function.
    else if (exchange.oddities.includes('exception-code')) return;
    else if (answer.kind === 'data' || answer.kind === 'exception') there.add(code);
    else silent.add(code);
  }

  /** Reads registers; undefined if no data come back. */
  async words(code: 3 | 4, address: number, quantity: number): Promise<number[] | undefined> {
    const { answer } = await this.ask(readPdu(code, address, quantity));
    return answer.kind === 'data' ? valuesOf(answer.pdu).slice(0, quantity) : undefined;
  }

  async bits(code: 1 | 2, address: number, quantity: number): Promise<boolean[] | undefined> {
    const { answer } = await this.ask(readPdu(code, address, quantity));
    return answer.kind === 'data' ? bitsAt(answer.pdu, 2, quantity) : undefined;
  }

  /** Reads writable registers or coils. @param isSure repeats the read until the values are certain */
  async cells(
    table: ScratchTable,
    first: number,
    many: number,
    isSure = false,
  ): Promise<number[] | undefined> {
    if (isSure) return this.scratch.read(table, first, many);
    if (many > 1 && table === 'holding' && this.scratch.isSingle) {
      const before = await this.cells(table, first, many - 1);
      const last = before && (await this.cells(table, first + many - 1, 1));
      return before && last && [...before, ...last];
    }
    const exchange = await this.ask(readPdu(table === 'holding' ? 3 : 1, first, many));
    const { answer } = exchange;
    if (answer.kind !== 'data' || hasOtherQuantity(exchange)) return undefined;
    return table === 'holding' ? valuesOf(answer.pdu) : bitsAt(answer.pdu, 2, many).map(Number);
  }

  /** True if several replies of the tested unit were odd in this way, so that the frames are to blame. */
  isOdd(oddity: Oddity): boolean {
    const { unitId } = this.asker;
    const those = this.log.filter((each) => each.isPlain && each.unitId === unitId);
    return those.filter(({ oddities }) => oddities.includes(oddity)).length >= 2;
  }

  /** True if the server answers its good read; tries several times if replies get lost. */
  async isAlive(): Promise<boolean> {
    const busyUntil = this.asker.clock.now() + LONGEST_BUSY_MS;
    for (let i = 0; i < Math.max(3, this.asker.tries); ) {
      const exchange = await this.askGood();
      if (isDecisive(exchange)) return true;
      // A server that reports that it is busy is there, and gets more time.
      if (isBusy(exchange.answer) && this.asker.clock.now() < busyUntil) await this.asker.wait(BUSY_MS);
      else i++;
    }
    // A sleeping server may need several requests in quick succession. On a connection, their replies could
    // be confused.
    for (let i = 0; i < WAKING && this.asker.t35 > 0; i++)
      if (isDecisive(await this.askGood({ timeout: this.asker.silence }))) return true;
    return false;
  }

  /**
   * Polls a server that is gone until it is back, for at most `limit` ms. The pauses grow: some servers lock
   * up for longer if they get requests in the meantime.
   */
  async isBack(limit: number): Promise<boolean> {
    const { asker } = this;
    const end = asker.clock.now() + limit;
    for (let pause = ASK_AGAIN_MS; asker.clock.now() < end; pause = Math.min(1.5 * pause, LONGEST_PAUSE_MS)) {
      await asker.disconnect();
      await asker.wait(pause);
      if ((await this.askGood()).answer.kind === 'data') return true;
    }
    return false;
  }
}
