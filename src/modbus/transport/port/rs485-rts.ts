import { type Clock, systemClock } from '../clock.js';
import type { RtsSwitching } from '../settings.js';
import type { TransmitterState } from './uart.js';

/** What switching by RTS needs from a port and a clock. */
export interface RtsOptions {
  readonly switching: RtsSwitching;
  /** Time of one character on the wire, in ms. */
  readonly characterTime: number;
  /** How long a byte may wait in the adapter before it is on the wire, in ms. */
  readonly outputHold: number;
  setRts(level: 'high' | 'low'): void;
  /** Hands bytes to the driver. */
  write(bytes: Uint8Array): void;
  /** Says how far the driver has got with the bytes that were handed to it. */
  transmitter(): TransmitterState;
  /** The clock; the system's when absent. */
  readonly clock?: Clock;
}

/** Sends with RTS at its sending level, and sets RTS back as soon as the last character has left. */
export interface RtsSwitch {
  /**
   * Sends bytes. Bytes that come while others are sent follow them directly; bytes that come during a `hold`
   * wait.
   */
  write(bytes: Uint8Array): void;
  /** Reserves the line for a break. Resolves when the break may begin. */
  hold(): Promise<void>;
  /** Ends `hold`. */
  release(): void;
  /** Lets go of the line at once. */
  stop(): void;
}

/** How often to ask whether the transmitter is empty, in ms: at first, and when it stays busy. */
const POLL = 0.25;
const SLOW_POLL = 5;
/** When a transmitter is later than expected by this many ms, something holds it up. */
const STUCK_AFTER = 20;

/**
 * Starts the switch with the line listening. The order is: RTS up, `delayBeforeSend`, the bytes, until the
 * computed end of their last character and until the driver says that its transmitter is empty (where it does
 * not know, one `outputHold` more), `delayAfterSend`, RTS down.
 */
export function startRtsSwitch(options: RtsOptions): RtsSwitch {
  const { characterTime, outputHold, transmitter, clock = systemClock } = options;
  const { rtsOnSend, delayBeforeSend, delayAfterSend } = options.switching;
  const rtsOnListen = rtsOnSend === 'high' ? 'low' : 'high';
  let isOurs = false;
  let isHeld = false;
  let mayStartAt = 0;
  let waiting: Uint8Array[] = [];
  let endsAt = Number.NEGATIVE_INFINITY;
  let callOff = (): void => {};

  const next = (at: number, step: () => void): void => {
    callOff();
    callOff = clock.callAt(at, step);
  };
  const takeLine = (): void => {
    if (isOurs) return;
    isOurs = true;
    options.setRts(rtsOnSend);
    mayStartAt = clock.now() + delayBeforeSend;
  };
  const letGo = (): void => {
    callOff();
    if (!isOurs) return;
    isOurs = false;
    options.setRts(rtsOnListen);
  };
  const send = (): void => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    const start = Math.max(clock.now(), endsAt);
    options.write(bytes);
    endsAt = start + bytes.length * characterTime;
    next(endsAt, awaitEnd);
  };
  const awaitEnd = (): void => {
    const now = clock.now();
    const state = transmitter();
    if (state === 'sending') {
      next(now + (now - endsAt > STUCK_AFTER ? SLOW_POLL : POLL), awaitEnd);
      return;
    }
    if (isHeld) return;
    const leftAt = state === 'empty' ? now : Math.max(now, endsAt + outputHold);
    const at = leftAt + delayAfterSend;
    if (at > now) next(at, letGo);
    else letGo();
  };

  return {
    write(bytes) {
      takeLine();
      waiting.push(bytes);
      // Setting RTS may have failed, and that ends everything.
      if (isHeld || !isOurs) return;
      if (clock.now() >= mayStartAt) send();
      else next(mayStartAt, send);
    },
    hold: () => {
      isHeld = true;
      callOff();
      takeLine();
      return new Promise((resolve) => {
        if (clock.now() >= mayStartAt) resolve();
        else clock.callAt(mayStartAt, resolve);
      });
    },
    release() {
      isHeld = false;
      endsAt = clock.now();
      if (waiting.length > 0) send();
      else awaitEnd();
    },
    stop() {
      waiting = [];
      letGo();
    },
  };
}
