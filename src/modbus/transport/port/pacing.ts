import { type CharacterSettings, characterTime } from '../../protocol/timing.js';
import { type Clock, systemClock } from '../clock.js';
import type { PacingSettings } from '../settings.js';

/**
 * Imitates how a real adapter delivers bytes, on a line without one. A pseudo-terminal passes any write in
 * one piece and in no time. A UART takes a character time per byte, and reports bytes in bursts.
 */
export type Pacing = PacingSettings & CharacterSettings;

/** One direction of a paced line, as pure arithmetic. All times are in ms of the caller's clock. */
export interface PacedQueue {
  /** Puts bytes on the wire at `now`, after those still being sent. */
  put(bytes: Uint8Array, now: number): void;
  /** Returns when the next chunk is due, as far as known; undefined if no bytes are in flight. */
  nextDue(): number | undefined;
  /**
   * Removes and returns the earliest chunk that is due at `now`, and no more: an adapter never merges
   * separate chunks.
   */
  take(now: number): Uint8Array | undefined;
  /** Returns the number of bytes in flight. */
  pending(): number;
  /** Removes and returns all bytes in flight. */
  takeAll(): Uint8Array;
}

/** The payload of a full-speed bulk packet of an FTDI adapter, in bytes: 64 minus 2 of status. */
const USB_PAYLOAD = 62;

/** The longest chunk, in bytes. Bytes beyond that do not affect the next chunk. */
const LONGEST_CHUNK = USB_PAYLOAD;

/** Creates an empty queue for one direction. Computing a chunk takes no longer when more bytes are waiting. */
export function createPacedQueue(pacing: Pacing): PacedQueue {
  const perCharacter = characterTime(pacing);
  const nextChunk =
    pacing.chunk === 'usb'
      ? usbChunk(pacing.latency ?? 16)
      : fifoChunk(pacing.chunk, 32_000 / pacing.baudRate);
  let bytes: number[] = [];
  let arrivals: number[] = [];
  /** How many of these bytes were already taken. */
  let taken = 0;
  let lineFreeAt = Number.NEGATIVE_INFINITY;

  const next = () => nextChunk(arrivals.slice(taken, taken + LONGEST_CHUNK));
  const drop = (count: number): void => {
    taken += count;
    // Old bytes are removed only when they make up half: moving the rest for each chunk would take quadratic
    // time.
    if (2 * taken < bytes.length) return;
    bytes = bytes.slice(taken);
    arrivals = arrivals.slice(taken);
    taken = 0;
  };

  return {
    put(added, now) {
      let time = Math.max(now, lineFreeAt);
      for (const byte of added) {
        time += perCharacter;
        bytes.push(byte);
        arrivals.push(time);
      }
      lineFreeAt = time;
    },
    nextDue: () => next()?.dueAt,
    take(now) {
      const chunk = next();
      if (chunk === undefined || chunk.dueAt > now) return undefined;
      const due = Uint8Array.from(bytes.slice(taken, taken + chunk.count));
      drop(chunk.count);
      return due;
    },
    pending: () => bytes.length - taken,
    takeAll() {
      const all = Uint8Array.from(bytes.slice(taken));
      drop(all.length);
      return all;
    },
  };
}

/**
 * Decides on the next chunk. @param arrivals when the next bytes arrive: `LONGEST_CHUNK` of them, or as many
 * as there are
 */
type NextChunk = (arrivals: readonly number[]) => { dueAt: number; count: number } | undefined;

function fifoChunk(depth: number, idle: number): NextChunk {
  return (arrivals) => {
    let previous: number | undefined;
    for (const [index, arrival] of arrivals.entries()) {
      if (previous !== undefined && arrival - previous > idle)
        return { dueAt: previous + idle, count: index };
      if (index + 1 === depth) return { dueAt: arrival, count: depth };
      previous = arrival;
    }
    return previous === undefined ? undefined : { dueAt: previous + idle, count: arrivals.length };
  };
}

function usbChunk(latency: number): NextChunk {
  return (arrivals) => {
    const [first] = arrivals;
    if (first === undefined) return undefined;
    const timerEnd = first + latency;
    const full = arrivals[USB_PAYLOAD - 1];
    if (full !== undefined && full <= timerEnd) return { dueAt: full, count: USB_PAYLOAD };
    return { dueAt: timerEnd, count: arrivals.filter((arrival) => arrival <= timerEnd).length };
  };
}

/**
 * A running direction of a paced line: `deliver` gets the written bytes at the times and in the chunks in
 * which an adapter would deliver them.
 */
export interface PacedLane {
  write(bytes: Uint8Array): void;
  pending(): number;
  /** Delivers the bytes in flight at once, in one piece. */
  finish(): void;
  /** Forgets the bytes in flight. */
  stop(): void;
}

/** Starts a lane. If it is late, it delivers each due chunk separately, one per turn of the event loop. */
export function startPacedLane(
  pacing: Pacing,
  deliver: (chunk: Uint8Array) => void,
  clock: Clock = systemClock,
): PacedLane {
  let queue = createPacedQueue(pacing);
  let callOff = (): void => {};

  const arm = (): void => {
    callOff();
    const dueAt = queue.nextDue();
    if (dueAt !== undefined) callOff = clock.callAt(dueAt, step);
  };
  const step = (): void => {
    const chunk = queue.take(clock.now());
    arm();
    if (chunk !== undefined) deliver(chunk);
  };

  return {
    write(bytes) {
      queue.put(bytes, clock.now());
      arm();
    },
    pending: () => queue.pending(),
    finish() {
      callOff();
      const rest = queue.takeAll();
      if (rest.length > 0) deliver(rest);
    },
    stop() {
      callOff();
      queue = createPacedQueue(pacing);
    },
  };
}
