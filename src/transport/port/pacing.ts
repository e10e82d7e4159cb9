import { callAt } from '../precise-timer.js';

/**
 * How a real adapter would hand over bytes, for a line that is none. A pseudo-terminal passes any write in one piece
 * and in no time; a UART takes a character time per byte and reports them in bursts.
 */
export interface Pacing {
  /** Bits per second; a character is counted as 11 bits. */
  readonly baudRate: number;
  /**
   * 1, 8 or 16: a UART's FIFO hands over every n-th character as it arrives, and the rest after 32 bit times of
   * idle line. 'usb': a USB adapter collects and hands over 62 bytes, or what it has when its latency timer ends.
   */
  readonly chunk: 1 | 8 | 16 | 'usb';
  /** Latency timer of 'usb' in ms, running from the first byte; 16 when not given (the default of FTDI). */
  readonly latency?: number;
}

/** One direction of a paced line as pure arithmetic. All times in ms on one clock of the caller's. */
export interface PacedQueue {
  /** Bytes are put on the wire at `now`, behind those still being sent. */
  put(bytes: Uint8Array, now: number): void;
  /** When the next chunk is due, as far as known now; undefined when nothing is under way. */
  nextDue(): number | undefined;
  /** The earliest chunk that is due at `now`, alone: what an adapter hands over separately is never merged. */
  take(now: number): Uint8Array | undefined;
  /** Number of bytes under way. */
  pending(): number;
  /** All bytes under way, which are so no longer. */
  takeAll(): Uint8Array;
}

/** Payload of a full-speed bulk packet of an FTDI adapter: 64 bytes less 2 of status. */
const USB_PAYLOAD = 62;

/** @returns an empty queue for one direction. */
export function createPacedQueue(pacing: Pacing): PacedQueue {
  const bitTime = 1000 / pacing.baudRate;
  const characterTime = 11 * bitTime;
  const nextChunk =
    pacing.chunk === 'usb' ? usbChunk(pacing.latency ?? 16) : fifoChunk(pacing.chunk, 32 * bitTime);
  let bytes: number[] = [];
  let arrivals: number[] = [];
  let lineFreeAt = Number.NEGATIVE_INFINITY;

  return {
    put(added, now) {
      let time = Math.max(now, lineFreeAt);
      for (const byte of added) {
        time += characterTime;
        bytes.push(byte);
        arrivals.push(time);
      }
      lineFreeAt = time;
    },
    nextDue: () => nextChunk(arrivals)?.dueAt,
    take(now) {
      const chunk = nextChunk(arrivals);
      if (chunk === undefined || chunk.dueAt > now) return undefined;
      const taken = Uint8Array.from(bytes.slice(0, chunk.count));
      bytes = bytes.slice(chunk.count);
      arrivals = arrivals.slice(chunk.count);
      return taken;
    },
    pending: () => bytes.length,
    takeAll() {
      const taken = Uint8Array.from(bytes);
      bytes = [];
      arrivals = [];
      return taken;
    },
  };
}

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
    const candidates = arrivals.slice(0, USB_PAYLOAD);
    return { dueAt: timerEnd, count: candidates.filter((arrival) => arrival <= timerEnd).length };
  };
}

/** A direction that runs: bytes written come out at `deliver` when and in the chunks in which an adapter would. */
export interface PacedLane {
  write(bytes: Uint8Array): void;
  /** Number of bytes under way. */
  pending(): number;
  /** Delivers what is under way at once, in one piece. */
  finish(): void;
  /** Forgets what is under way. */
  stop(): void;
}

/** Starts a lane. A late one delivers each due chunk by itself, one per turn of the event loop. */
export function startPacedLane(pacing: Pacing, deliver: (chunk: Uint8Array) => void): PacedLane {
  let queue = createPacedQueue(pacing);
  let callOff = (): void => {};
  let turn: NodeJS.Immediate | undefined;

  const disarm = (): void => {
    callOff();
    clearImmediate(turn);
  };
  const arm = (): void => {
    disarm();
    const dueAt = queue.nextDue();
    if (dueAt !== undefined) callOff = callAt(dueAt, step);
  };
  const step = (): void => {
    turn = setImmediate(arm);
    const chunk = queue.take(performance.now());
    if (chunk !== undefined) deliver(chunk);
  };

  return {
    write(bytes) {
      queue.put(bytes, performance.now());
      arm();
    },
    pending: () => queue.pending(),
    finish() {
      disarm();
      const rest = queue.takeAll();
      if (rest.length > 0) deliver(rest);
    },
    stop() {
      disarm();
      queue = createPacedQueue(pacing);
    },
  };
}
