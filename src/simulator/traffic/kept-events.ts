import { Reader, sizeOfText, Writer } from './bytes.js';
import type { TrafficEvent } from './event.js';
import { type RecordOutline, readEvent, readOutline, sizeOf, writeEvent } from './event-record.js';

/** The bytes before each record: sequence number, wall-clock time, line name. */
const HEAD_SIZE = 8 + 8;

/** Converts events to bytes, for another thread. Events have functions, which can't be sent to a thread. */
export function packEvents(events: readonly TrafficEvent[]): Uint8Array {
  let size = 0;
  for (const event of events) size += HEAD_SIZE + sizeOfText(event.line) + sizeOf(event);
  const writer = new Writer(new Uint8Array(size));
  for (const event of events) {
    writer.number(event.seq);
    writer.number(event.time);
    writer.text(event.line);
    writeEvent(writer, event, event.seq, undefined);
  }
  return writer.written();
}

export function unpackEvents(bytes: Uint8Array): TrafficEvent[] {
  const reader = new Reader(bytes);
  const events: TrafficEvent[] = [];
  while (reader.at < bytes.length) {
    const [seq, time] = [reader.number() ?? 0, reader.number() ?? 0];
    // Records written here never refer to the previous one.
    events.push(readEvent(reader, { seq, time, line: reader.text() }, () => events.at(-1) as TrafficEvent));
  }
  return events;
}

/** The part of an event that can be read without decoding all of it. */
export interface Outline extends RecordOutline {
  readonly line: string;
  /** The time on the wall clock, in ms since 1970. */
  readonly time: number;
}

/**
 * The offset of the first record in a block. Before it are the number of events and of the line names that
 * they need, whether a reader waits, how often the memory was reused, and whether a reader is reading.
 */
export const RECORDS_AT = 24;

/**
 * Consecutive events in shared memory, so that another thread can read them without a copy. The records grow
 * from the front. A list of 32-bit offsets, which says where each record starts, grows from the end. The
 * number of events is written last.
 *
 * Memory is reused for newer events, even if the other thread does not know it yet. Each use has a number,
 * and the reader holds the memory while it reads. Each thread announces what it does before it checks what
 * the other has announced, so that at least one of them sees the other.
 */
export class EventBlock {
  readonly memory: SharedArrayBuffer;
  /** The sequence number of the first event in the block. */
  readonly first: number;
  readonly reader: Reader;
  /** The number of this use of the memory. */
  readonly use: number;
  /**
   * The number of events, the number of line names needed to read them, whether a reader waits for another
   * event, the number of the use, and whether a reader holds the memory.
   */
  readonly #head: Int32Array;
  readonly #starts: Uint32Array;
  #count: number;

  /** @param use the number that `begin` returned */
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
   * Starts another use of memory, which is then empty.
   * @returns the number of the use; undefined while a reader holds the memory
   */
  static begin(memory: SharedArrayBuffer): number | undefined {
    const head = new Int32Array(memory, 0, 5);
    const use = Atomics.add(head, 3, 1) + 1;
    if (Atomics.load(head, 4) === 1) return undefined;
    for (const i of [0, 1, 2]) Atomics.store(head, i, 0);
    return use;
  }

  /** Prevents the memory from being reused until `letGo`. @returns false if it has already been reused */
  hold(): boolean {
    Atomics.store(this.#head, 4, 1);
    if (this.isKept) return true;
    this.letGo();
    return false;
  }

  /** True while the block's events are still in its memory. */
  get isKept(): boolean {
    return Atomics.load(this.#head, 3) === this.use;
  }

  letGo(): void {
    Atomics.store(this.#head, 4, 0);
  }

  /** The number of events; once the memory has been reused, the last known number. */
  get count(): number {
    const count = Atomics.load(this.#head, 0);
    if (this.isKept) this.#count = count;
    return this.#count;
  }

  /** The number of line names needed to read the events that `count` has reported, or more. */
  get names(): number {
    return Atomics.load(this.#head, 1);
  }

  /** The number of bytes between the end of the newest record and the list of offsets. */
  room(end: number, count: number): number {
    return this.memory.byteLength - 4 * (count + 1) - end;
  }

  /**
   * Makes one more event, whose record is complete, visible to readers.
   * @returns true if the reader was waiting for it
   */
  publish(start: number, count: number, lineNumber: number): boolean {
    this.#starts[this.#starts.length - count] = start;
    if (lineNumber >= (this.#head[1] as number)) Atomics.store(this.#head, 1, lineNumber + 1);
    Atomics.store(this.#head, 0, count);
    return Atomics.load(this.#head, 2) === 1 && Atomics.exchange(this.#head, 2, 0) === 1;
  }

  /** Requests a call on the next event. */
  wait(): void {
    Atomics.store(this.#head, 2, 1);
  }

  startOf(seq: number): number {
    return this.#starts[this.#starts.length - 1 - (seq - this.first)] as number;
  }
}

/** The newest stored events of all lines. Sequence numbers have no gaps. */
export abstract class KeptEvents {
  protected readonly lines: string[] = [];
  /** The blocks in the order of their events. */
  protected readonly blocks: EventBlock[] = [];

  /** The sequence number of the oldest stored event; one more than `last` if there is none. */
  abstract get first(): number;

  /** The sequence number of the newest event; 0 before the first. */
  abstract get last(): number;

  /** Resolves when there is an event after this one; immediately if there already is. */
  abstract next(after: number): Promise<void>;

  /** The names of all lines that have existed. The list grows when lines are added. */
  get lineNames(): readonly string[] {
    return this.lines;
  }

  /** The event with this sequence number; undefined if it is not stored. */
  read(seq: number): TrafficEvent | undefined {
    const block = this.#blockOf(seq);
    if (!block || !this.hold(block)) return undefined;
    try {
      return this.#read(block, seq);
    } finally {
      this.letGo(block);
    }
  }

  /** Reads only an event's outline, at a tenth of the cost of `read`. */
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

  /**
   * Call this before reading a block, and `letGo` afterwards.
   * @returns true if the block's events are still there
   */
  protected abstract hold(block: EventBlock): boolean;

  protected abstract letGo(block: EventBlock): void;

  #read(block: EventBlock, seq: number): TrafficEvent {
    const { reader } = block;
    reader.at = block.startOf(seq);
    const line = this.lines[reader.word()] as string;
    const time = reader.number() ?? 0;
    // The preceding record exists as long as its block, even if its event was dropped.
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
