import { Reader } from './bytes.js';
import type { TrafficEvent } from './event.js';
import { type RecordOutline, readEvent, readOutline } from './event-record.js';

/** What can be read of an event without decoding all of it. */
export interface Outline extends RecordOutline {
  readonly line: string;
  /** By the wall clock, in ms since 1970. */
  readonly time: number;
}

/**
 * Where the records of a block begin: behind the counts of its events and of the names they need, whether a reader waits, how
 * often the memory was used again, and whether a reader is reading.
 */
export const RECORDS_AT = 24;

/**
 * Events side by side in shared memory, so that another thread reads them without a copy. The records grow from the front.
 * From the end grows a list of 32-bit offsets: where each record begins. The count of the events is written last.
 *
 * Memory is used again for newer events, whether or not the other thread has heard of it. Each use has a number, and the reader
 * holds the memory while it reads. Each of the two says what it does before it looks at what the other has said, so that
 * at least one of them sees the other.
 */
export class EventBlock {
  readonly memory: SharedArrayBuffer;
  /** Sequence number of the first event in it. */
  readonly first: number;
  readonly reader: Reader;
  /** Which use of its memory this is. */
  readonly use: number;
  /** How many events there are, how many names of lines are needed to read them, whether a reader waits for another, the use, and whether it is held. */
  readonly #head: Int32Array;
  readonly #starts: Uint32Array;
  #count: number;

  /** @param use as `begin` has returned it */
  constructor(memory: SharedArrayBuffer, first: number, use: number) {
    this.memory = memory;
    this.first = first;
    this.reader = new Reader(new Uint8Array(memory));
    this.use = use;
    this.#head = new Int32Array(memory, 0, 5);
    this.#starts = new Uint32Array(memory);
    const count = Atomics.load(this.#head, 0);
    this.#count = this.isKept ? count : 0;
  }

  /**
   * Begins another use of memory: nothing is in it.
   * @returns the number of the use; undefined where a reader holds the memory
   */
  static begin(memory: SharedArrayBuffer): number | undefined {
    const head = new Int32Array(memory, 0, 5);
    const use = Atomics.add(head, 3, 1) + 1;
    if (Atomics.load(head, 4) === 1) return undefined;
    for (const i of [0, 1, 2]) Atomics.store(head, i, 0);
    return use;
  }

  /** Keeps the memory from being used again, until `letGo`. @returns false if it was used again before */
  hold(): boolean {
    Atomics.store(this.#head, 4, 1);
    if (this.isKept) return true;
    this.letGo();
    return false;
  }

  /** Whether its events are still there. */
  get isKept(): boolean {
    return Atomics.load(this.#head, 3) === this.use;
  }

  letGo(): void {
    Atomics.store(this.#head, 4, 0);
  }

  /** The last that was known, where the memory was used again. */
  get count(): number {
    const count = Atomics.load(this.#head, 0);
    if (this.isKept) this.#count = count;
    return this.#count;
  }

  /** At least those of all events that `count` said before. */
  get names(): number {
    return Atomics.load(this.#head, 1);
  }

  /** Bytes between the end of the newest record and the list of offsets. */
  room(end: number, count: number): number {
    return this.memory.byteLength - 4 * (count + 1) - end;
  }

  /** Lets readers see one more event, whose record is complete. @returns whether one has waited for it */
  publish(start: number, count: number, lineNumber: number): boolean {
    this.#starts[this.#starts.length - count] = start;
    if (lineNumber >= (this.#head[1] as number)) Atomics.store(this.#head, 1, lineNumber + 1);
    Atomics.store(this.#head, 0, count);
    return Atomics.load(this.#head, 2) === 1 && Atomics.exchange(this.#head, 2, 0) === 1;
  }

  /** A reader wants to be told of the next event. */
  wait(): void {
    Atomics.store(this.#head, 2, 1);
  }

  startOf(seq: number): number {
    return this.#starts[this.#starts.length - 1 - (seq - this.first)] as number;
  }
}

/** The newest events of all lines, as far as they are kept. Sequence numbers have no gaps. */
export abstract class KeptEvents {
  protected readonly lines: string[] = [];
  /** In the order of their events. */
  protected readonly blocks: EventBlock[] = [];

  /** Sequence number of the oldest event that is kept; one more than `last` when there is none. */
  abstract get first(): number;

  /** Sequence number of the newest event; 0 before the first. */
  abstract get last(): number;

  /** Resolves when there is an event after this one; at once when there is. */
  abstract next(after: number): Promise<void>;

  /** The names of all lines that there have been. The list grows with lines that are added. */
  get lineNames(): readonly string[] {
    return this.lines;
  }

  /** The event with this sequence number; undefined when it is not kept. */
  read(seq: number): TrafficEvent | undefined {
    const block = this.#blockOf(seq);
    if (!block || !this.hold(block)) return undefined;
    try {
      return this.#read(block, seq);
    } finally {
      this.letGo(block);
    }
  }

  /** What `read` would return, in outline: this costs a tenth of it. */
  outline(seq: number): Outline | undefined {
    const block = this.#blockOf(seq);
    if (!block || !this.hold(block)) return undefined;
    try {
      const { reader } = block;
      reader.at = block.startOf(seq);
      const line = this.lines[reader.word()] as string;
      const time = reader.number() ?? 0;
      const { kind, unitId, functionCode } = readOutline(reader);
      return { line, time, kind, unitId, functionCode };
    } finally {
      this.letGo(block);
    }
  }

  /** To be called before a block is read, and `letGo` afterwards. @returns whether its events are still there */
  protected abstract hold(block: EventBlock): boolean;

  protected abstract letGo(block: EventBlock): void;

  #read(block: EventBlock, seq: number): TrafficEvent {
    const { reader } = block;
    reader.at = block.startOf(seq);
    const line = this.lines[reader.word()] as string;
    const time = reader.number() ?? 0;
    // The record before is there as long as its block, even if its event is given up.
    return readEvent(reader, { seq, line, time }, () => this.#read(block, seq - 1));
  }

  #blockOf(seq: number): EventBlock | undefined {
    if (seq < this.first || seq > this.last) return undefined;
    let [low, high] = [0, this.blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.blocks[middle] as EventBlock).first <= seq) low = middle;
      else high = middle - 1;
    }
    return this.blocks[low];
  }
}
