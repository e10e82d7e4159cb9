import { Reader, Writer } from './bytes.js';
import type { NewEvent, TrafficEvent } from './event.js';
import { type RecordOutline, readEvent, readOutline } from './read-record.js';
import { sizeOf, writeEvent } from './write-record.js';

/** How much is kept: the newest events, as long as they are no more than this. */
export interface TrafficLimits {
  /** 0 keeps nothing. */
  readonly events: number;
  /** Bytes of memory. */
  readonly bytes: number;
}

export const DEFAULT_LIMITS: TrafficLimits = { events: 100_000, bytes: 64 * 1024 * 1024 };

/** What can be told of an event without reading all of it. */
export interface Outline extends RecordOutline {
  readonly line: string;
  /** By the wall clock, in ms since 1970. */
  readonly time: number;
}

type Listener = (event: TrafficEvent) => void;

/** Memory is taken in pieces of this size, or of the size of a larger event. */
const BLOCK_SIZE = 512 * 1024;
/** How often the wall clock is read: it may be set while this program runs. A Raspberry Pi has no clock of its own. */
const CLOCK_INTERVAL_MS = 1000;

/** Before each record: number of the line, wall-clock time. */
const HEAD_SIZE = 2 + 8;

interface Block {
  readonly size: number;
  readonly writer: Writer;
  readonly reader: Reader;
  /** Sequence number of the first event in it. */
  first: number;
  /** Where each event begins. */
  readonly starts: number[];
}

/**
 * The newest events of everything that passed the lines. Sequence numbers have no gaps; those below `first` are not
 * kept any more. Events are kept as bytes.
 */
export class TrafficStream {
  readonly limits: TrafficLimits;
  readonly #wallClock: () => number;
  readonly #lines: string[] = [];
  /** In the order of their events, none of them empty. */
  readonly #blocks: Block[] = [];
  /** Of all blocks. */
  #size = 0;
  /** A block that was given up, to be used again. */
  #spare: Block | undefined;
  readonly #listeners = new Set<Listener>();
  #first = 1;
  #last = 0;
  /** The event that was kept last. */
  #newest: NewEvent | undefined;
  #wallOffset = 0;
  #wallReadAt = Number.NEGATIVE_INFINITY;

  /** @param wallClock the moment of `performance.now()` 0 on the wall clock, in ms since 1970 */
  constructor(limits = DEFAULT_LIMITS, wallClock = () => Date.now() - performance.now()) {
    this.limits = limits;
    this.#wallClock = wallClock;
  }

  /** Sequence number of the oldest event that is kept; one more than `last` when there is none. */
  get first(): number {
    return this.#first;
  }

  /** Sequence number of the newest event; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Memory taken, in bytes. */
  get size(): number {
    return this.#size;
  }

  /** The moment of `performance.now()` 0 on the wall clock, in ms since 1970, as it was a second ago at most. */
  get wallOffset(): number {
    return this.#offsetAt(performance.now());
  }

  /** The names of all lines that there have been. The list grows with lines that are added. */
  get lineNames(): readonly string[] {
    return this.#lines;
  }

  /** A number for a line, to add its events by. */
  lineNumber(name: string): number {
    const known = this.#lines.indexOf(name);
    return known >= 0 ? known : this.#lines.push(name) - 1;
  }

  /**
   * Calls `listener` with each event from now on. It must not throw and must be quick: the line waits for it.
   * @returns a function that ends this
   */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Keeps an event and tells the listeners. @returns its sequence number */
  add(lineNumber: number, event: NewEvent): number {
    const seq = ++this.#last;
    const time = event.at + this.#offsetAt(event.at);
    if (this.limits.events > 0) this.#keep(seq, lineNumber, time, event);
    else this.#first = seq + 1;
    if (this.#listeners.size > 0) {
      // What was kept is read back: copying the event takes 10 µs, because V8 spreads objects of many shapes slowly.
      this.#tell(this.read(seq) ?? { ...event, seq, line: this.#lines[lineNumber] as string, time });
    }
    return seq;
  }

  /** The event with this sequence number; undefined when it is not kept. */
  read(seq: number): TrafficEvent | undefined {
    return seq < this.#first || seq > this.#last ? undefined : this.#read(this.#blockOf(seq), seq);
  }

  #read(block: Block, seq: number): TrafficEvent {
    const { reader, starts, first } = block;
    reader.at = starts[seq - first] as number;
    const line = this.#lines[reader.word()] as string;
    const time = reader.number() ?? 0;
    // The record before is there as long as its block, even if its event is given up.
    return readEvent(reader, { seq, line, time }, () => this.#read(block, seq - 1));
  }

  /** What `read` would return, in outline: this costs a tenth of it. */
  outline(seq: number): Outline | undefined {
    const reader = this.#readerAt(seq);
    if (!reader) return undefined;
    const line = this.#lines[reader.word()] as string;
    const time = reader.number() ?? 0;
    const { kind, unitId, functionCode } = readOutline(reader);
    return { line, time, kind, unitId, functionCode };
  }

  /** Forgets all events. Sequence numbers go on. */
  clear(): void {
    this.#first = this.#last + 1;
    this.#blocks.length = 0;
    this.#newest = undefined;
    this.#size = 0;
  }

  #tell(event: TrafficEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #offsetAt(at: number): number {
    if (at - this.#wallReadAt > CLOCK_INTERVAL_MS) {
      this.#wallReadAt = at;
      this.#wallOffset = this.#wallClock();
    }
    return this.#wallOffset;
  }

  #keep(seq: number, lineNumber: number, time: number, event: NewEvent): void {
    const { writer, starts, first } = this.#blockFor(HEAD_SIZE + sizeOf(event), seq);
    starts.push(writer.at);
    writer.word(lineNumber);
    writer.number(time);
    writeEvent(writer, event, seq, seq > first ? this.#newest : undefined);
    this.#newest = event;
    if (seq - this.#first >= this.limits.events) this.#forgetBefore(seq - this.limits.events + 1);
  }

  /** Where an event begins; undefined when it is not kept. */
  #readerAt(seq: number): Reader | undefined {
    if (seq < this.#first || seq > this.#last) return undefined;
    const { reader, starts, first } = this.#blockOf(seq);
    reader.at = starts[seq - first] as number;
    return reader;
  }

  #blockOf(seq: number): Block {
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#blocks[middle] as Block).first <= seq) low = middle;
      else high = middle - 1;
    }
    return this.#blocks[low] as Block;
  }

  /** The block that has room for `size` bytes. The oldest ones give up theirs when all memory is taken. */
  #blockFor(size: number, seq: number): Block {
    const newest = this.#blocks.at(-1);
    if (newest && newest.writer.at + size <= newest.size) return newest;
    const blockSize = Math.max(size, BLOCK_SIZE);
    while (this.#blocks.length > 0 && this.#size + blockSize > this.limits.bytes) {
      this.#dropOldestBlock();
      this.#first = Math.max(this.#first, this.#blocks[0]?.first ?? seq);
    }
    const block =
      blockSize === BLOCK_SIZE && this.#spare ? emptied(this.#spare, seq) : newBlock(blockSize, seq);
    this.#spare = undefined;
    this.#size += block.size;
    this.#blocks.push(block);
    return block;
  }

  /** Forgets the events before `seq`, and gives up the memory of blocks without others. */
  #forgetBefore(seq: number): void {
    this.#first = seq;
    while (this.#blocks.length > 1 && (this.#blocks[1] as Block).first <= seq) this.#dropOldestBlock();
  }

  #dropOldestBlock(): void {
    const oldest = this.#blocks.shift() as Block;
    this.#size -= oldest.size;
    if (oldest.size === BLOCK_SIZE) this.#spare = oldest;
  }
}

function newBlock(size: number, first: number): Block {
  const memory = new Uint8Array(size);
  return { size, writer: new Writer(memory), reader: new Reader(memory), first, starts: [] };
}

function emptied(block: Block, first: number): Block {
  block.first = first;
  block.starts.length = 0;
  block.writer.at = 0;
  return block;
}
