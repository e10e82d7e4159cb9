import { Writer } from './bytes.js';
import type { NewEvent, TrafficEvent } from './event.js';
import { sizeOf, writeEvent } from './event-record.js';
import { EventBlock, KeptEvents, RECORDS_AT } from './kept-events.js';

/** How much is stored: the newest events within these limits. */
export interface TrafficLimits {
  /** Maximum number of events; 0 stores none. */
  readonly events: number;
  /** Maximum memory, in bytes. */
  readonly bytes: number;
}

export const DEFAULT_LIMITS: TrafficLimits = { events: 100_000, bytes: 64 * 1024 * 1024 };

type Listener = (event: TrafficEvent) => void;

/** What a mirror of a stream in another thread needs to know: plain data and shared memory. */
export type StreamChange =
  | { readonly kind: 'line'; readonly name: string }
  | {
      readonly kind: 'block';
      readonly first: number;
      readonly memory: SharedArrayBuffer;
      readonly use: number;
    }
  /** The oldest block was dropped. Its memory may already be reused when the mirror receives this. */
  | { readonly kind: 'dropped' }
  /** The event that the mirror waits for has arrived. */
  | { readonly kind: 'event' }
  /** No events before this one are stored. */
  | { readonly kind: 'cleared'; readonly first: number };

/** The connection of a stream to its mirror. */
export interface Feed {
  end(): void;
}

/** The size of a block in bytes. A larger event gets a block of several times this size. */
const BLOCK_SIZE = 512 * 1024;
/**
 * How often the wall clock is read, in ms: it may be set while this program is running. A Raspberry Pi has no
 * clock of its own.
 */
const CLOCK_INTERVAL_MS = 1000;

/** The smallest difference, in ms, that means that the wall clock was set; less is jitter. */
const CLOCK_STEP_MS = 2;

/** The bytes before each record: line number, wall-clock time. */
const HEAD_SIZE = 2 + 8;
/** The size of a record's offset in its block, in bytes. */
const START_SIZE = 4;

/**
 * The newest events from all lines, as bytes in shared memory. A `TrafficMirror` in another thread reads the
 * same memory, so a reader there costs the lines one message per 512 KiB.
 */
export class TrafficStream extends KeptEvents {
  readonly limits: TrafficLimits;
  readonly #wallClock: () => number;
  readonly #listeners = new Set<Listener>();
  #first = 1;
  #last = 0;
  /** Writes into the newest block, which contains `#count` events. */
  #writer: Writer | undefined;
  #count = 0;
  /** The last stored event, while its record is in the newest block. */
  #newest: NewEvent | undefined;
  /** Size of all blocks, in bytes. */
  #size = 0;
  /** The memory of dropped blocks, to be reused: the garbage collector would free it too late. */
  readonly #spares: SharedArrayBuffer[] = [];
  #send: ((change: StreamChange) => void) | undefined;
  #wallOffset = 0;
  #wallReadAt = Number.NEGATIVE_INFINITY;

  /** @param wallClock the wall-clock time, in ms since 1970, at which `performance.now()` is 0 */
  constructor(limits = DEFAULT_LIMITS, wallClock = () => Date.now() - performance.now()) {
    super();
    this.limits = limits;
    this.#wallClock = wallClock;
  }

  get first(): number {
    return this.#first;
  }

  get last(): number {
    return this.#last;
  }

  /** The memory of all blocks, in bytes. */
  get size(): number {
    return this.#size;
  }

  /** The number of a line, for `add`. */
  lineNumber(name: string): number {
    const known = this.lines.indexOf(name);
    if (known >= 0) return known;
    this.#send?.({ kind: 'line', name });
    return this.lines.push(name) - 1;
  }

  /**
   * Calls `listener` with each event from now on. It must not throw and must be fast, because the line waits
   * for it.
   * @returns a function that ends the subscription
   */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  next(after: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#last > after) return resolve();
      const end = this.subscribe(() => {
        end();
        resolve();
      });
    });
  }

  /**
   * Feeds a mirror. Only one mirror can be fed at a time.
   * @param send is called with each change from now on, starting with the changes that lead to the present
   * content
   */
  feed(send: (change: StreamChange) => void): Feed {
    for (const name of this.lines) send({ kind: 'line', name });
    for (const { first, memory, use } of this.blocks) send({ kind: 'block', first, memory, use });
    send({ kind: 'cleared', first: this.#first });
    this.#send = send;
    return {
      end: () => {
        if (this.#send === send) this.#send = undefined;
      },
    };
  }

  /** Stores an event and calls the listeners. @returns its sequence number */
  add(lineNumber: number, event: NewEvent): number {
    const seq = ++this.#last;
    const time = event.at + this.offsetAt(event.at);
    if (this.limits.events > 0) this.#keep(seq, lineNumber, time, event);
    else this.#first = seq + 1;
    if (this.#listeners.size > 0) {
      // The stored event is read back: copying the event takes 10 µs, because V8 is slow to spread objects of
      // many shapes.
      const kept = this.read(seq) ?? { ...event, seq, line: this.lines[lineNumber] as string, time };
      for (const listener of this.#listeners) listener(kept);
    }
    return seq;
  }

  /** Deletes all events. Sequence numbers continue. */
  clear(): void {
    while (this.blocks.length > 0) this.#dropOldestBlock();
    this.#first = this.#last + 1;
    this.#writer = undefined;
    this.#newest = undefined;
    this.#send?.({ kind: 'cleared', first: this.#first });
  }

  /** The wall-clock time minus `performance.now()`, in ms. @param at the time of `performance.now()` to use */
  offsetAt(at: number): number {
    if (at - this.#wallReadAt > CLOCK_INTERVAL_MS) {
      this.#wallReadAt = at;
      const offset = this.#wallClock();
      // Readings jitter by the resolution of the clock, but times that were already shown must not change.
      if (Math.abs(offset - this.#wallOffset) > CLOCK_STEP_MS) this.#wallOffset = offset;
    }
    return this.#wallOffset;
  }

  #keep(seq: number, lineNumber: number, time: number, event: NewEvent): void {
    const writer = this.#writerFor(HEAD_SIZE + START_SIZE + sizeOf(event), seq);
    const start = writer.at;
    writer.word(lineNumber);
    writer.number(time);
    writeEvent(writer, event, seq, this.#newest);
    this.#newest = event;
    const block = this.blocks.at(-1) as EventBlock;
    if (block.publish(start, ++this.#count, lineNumber)) this.#send?.({ kind: 'event' });
    if (seq - this.#first >= this.limits.events) this.#forgetBefore(seq - this.limits.events + 1);
  }

  /** The writer of a block with room for `size` bytes. If all memory is used, the oldest blocks are dropped. */
  #writerFor(size: number, seq: number): Writer {
    const newest = this.blocks.at(-1);
    // An event that is larger than all allowed memory has a block of its own.
    const writer = this.#size <= this.limits.bytes ? this.#writer : undefined;
    if (newest && writer && size <= newest.room(writer.at, this.#count)) return writer;
    const blockSize = Math.ceil((size + RECORDS_AT) / BLOCK_SIZE) * BLOCK_SIZE;
    while (this.blocks.length > 0 && this.#size + blockSize > this.limits.bytes) {
      this.#dropOldestBlock();
      this.#first = Math.max(this.#first, this.blocks[0]?.first ?? seq);
    }
    const [memory, use] = this.#memoryOf(blockSize);
    const block = new EventBlock(memory, seq, use);
    this.blocks.push(block);
    this.#size += memory.byteLength;
    this.#count = 0;
    this.#newest = undefined;
    this.#writer = new Writer(new Uint8Array(memory));
    this.#writer.at = RECORDS_AT;
    this.#send?.({ kind: 'block', first: seq, memory, use });
    return this.#writer;
  }

  /** Deletes the events before `seq`, and drops blocks that have no others. */
  #forgetBefore(seq: number): void {
    this.#first = seq;
    while (this.blocks.length > 1 && (this.blocks[1] as EventBlock).first <= seq) this.#dropOldestBlock();
  }

  #dropOldestBlock(): void {
    const { memory } = this.blocks.shift() as EventBlock;
    this.#size -= memory.byteLength;
    this.#spares.push(memory);
    this.#send?.({ kind: 'dropped' });
  }

  /** Empty memory, and the number of its use. Memory that a mirror is reading is reused later. */
  #memoryOf(size: number): [memory: SharedArrayBuffer, use: number] {
    for (const [i, spare] of this.#spares.entries()) {
      const use = spare.byteLength === size ? EventBlock.begin(spare) : undefined;
      if (use === undefined) continue;
      this.#spares.splice(i, 1);
      return [spare, use];
    }
    // In addition to the stored blocks, at most one spare block stays, which a mirror may be reading.
    let taken = this.#size + this.#spares.reduce((sum, { byteLength }) => sum + byteLength, 0);
    while (this.#spares.length > 0 && taken + size > this.limits.bytes + BLOCK_SIZE)
      taken -= this.#spares.shift()?.byteLength ?? 0;
    const memory = new SharedArrayBuffer(size);
    return [memory, EventBlock.begin(memory) ?? 0];
  }

  /** In this thread, memory is never reused while it is being read. */
  protected hold(): boolean {
    return true;
  }

  protected letGo(): void {}
}
