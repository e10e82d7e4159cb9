import { type Random, seededRandom } from '../../../src/common/random.js';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import type { Clock } from '../../../src/modbus/transport/clock.js';
import type { Deed, Effect, Trap } from '../fuzz/trap.js';
import type { Habits, Mistake, ModelQuestion } from './habits.js';

/** What a model client sends its bytes on. */
export interface Wire {
  readonly framing: 'rtu' | 'socket';
  /** Whether bytes can be sent; false on TCP while there is no connection. */
  readonly isOpen: boolean;
  send(bytes: Uint8Array): void;
  /** TCP: connects; resolves with false when nobody listens. */
  open(): Promise<boolean>;
  /** TCP: closes the connection. */
  close(): void;
}

/** What became of one request. */
type Result =
  | { readonly kind: 'reply'; readonly pdu: Uint8Array }
  | { readonly kind: 'none' }
  | { readonly kind: 'bad' }
  | { readonly kind: 'closed' };

const EXCEPTION = 0x80;
const BUSY: readonly number[] = [5, 6];
/** First words of replies that stand for no value, and those that a tired device gives. */
const NO_VALUES: readonly number[] = [0x7fc0, 0x7fff, 0x8000, 0xffff];
/** Bytes in place of a request: no frame of a serial line, no header of TCP. */
const NO_REQUEST = Uint8Array.of(0x55, 0xaa, 0x55, 0xaa, 0x13, 0x88, 0x01);
const T35_MS = 2;
/** A client without an end to its repetitions still takes a breath. */
const AT_ONCE_MS = 1;

/** A Modbus client of our own in virtual time, whose habits and mistakes are known exactly. */
export class ModelClient {
  readonly habits: Habits;
  readonly #clock: Clock;
  readonly #wire: Wire;
  readonly #random: Random;
  #received = new Uint8Array();
  #wake: () => void = () => {};
  #lastByteAt = Number.NEGATIVE_INFINITY;
  #transaction = 0;
  #isStopped = false;
  /** The number of the program, which goes up when it ends at a bad reply and is started again. */
  #life = 1;
  /** The last complete reply in what was received could not be taken. */
  #isBad = false;
  /** The first register of the first question each time it was read: what a page of the client would have shown. */
  readonly history: { readonly at: number; readonly word: number }[] = [];
  readonly #trap: Trap | undefined;
  #deed: Deed | undefined;
  /** A request waits for its reply. */
  #isPending = false;
  /** How many requests were sent. */
  #sent = 0;
  /** The first register of each question as it was at first. */
  readonly #usual = new Map<ModelQuestion, number>();
  #wakeUp: () => void = () => {};
  /** Called when the program has ended of itself. */
  onEnd: () => void = () => {};

  /** @param trap a mistake that shows only when several things have happened */
  constructor(habits: Habits, wire: Wire, clock: Clock, trap?: Trap) {
    this.habits = habits;
    this.#trap = trap;
    this.#wire = wire;
    this.#clock = clock;
    this.#random = seededRandom(habits.seed, 1);
  }

  /** Bytes came in. */
  received(bytes: Uint8Array): void {
    this.#lastByteAt = this.#clock.now();
    if (this.#deed === 'floods') return;
    if (!this.#isPending) this.#feel('late', { bytes: bytes.length });
    this.#received = Uint8Array.of(...this.#received, ...bytes);
    this.#wake();
  }

  /** The connection was closed. @param isOurs by this client itself */
  closed(isOurs: boolean): void {
    if (!isOurs && this.#deed === 'hangs') this.#deed = undefined;
    if (!isOurs) this.#feel('closed');
    this.#wake();
    this.#wakeUp();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#deed === 'floods') this.#deed = undefined;
    this.#wakeUp();
  }

  /** Ends the program from outside. */
  kill(): void {
    this.stop();
    this.#wire.close();
  }

  #feel(effect: Effect, { bytes = 0, code }: { readonly bytes?: number; readonly code?: number } = {}): void {
    if (this.#deed !== undefined || this.#isStopped) return;
    this.#deed = this.#trap?.({ effect, requests: this.#sent, bytes, ...(code !== undefined && { code }) });
    if (this.#deed === 'dies') this.stop();
    if (this.#deed === 'floods') void this.#flood();
    if (this.#deed !== 'ends') return;
    this.kill();
    this.onEnd();
  }

  async #flood(): Promise<void> {
    this.#isStopped = true;
    const [{ unitId, pdu }] = this.habits.questions as [ModelQuestion];
    while (this.#deed === 'floods') {
      if (this.#wire.isOpen || (await this.#wire.open())) this.#wire.send(this.#aduOf(unitId, pdu));
      await this.#sleep(this.#wire.framing === 'rtu' ? 2 * T35_MS : AT_ONCE_MS);
    }
  }

  /** Polls until it is stopped. */
  async poll(): Promise<void> {
    for (let life = 0; !this.#isStopped && life !== this.#life; ) {
      life = this.#life;
      if (this.habits.rhythm === 'queue') await this.#workOff(life);
      else await this.#rounds(life);
    }
  }

  /** @param life the program ends with it */
  async #rounds(life: number): Promise<void> {
    const { rhythm, periodMs, jitterMs } = this.habits;
    let due = this.#clock.now();
    while (!this.#isStopped && life === this.#life) {
      await this.#sleep(this.#random.next() * jitterMs);
      if (this.#makes('asks while a reply is pending')) void this.#round(life);
      else await this.#round(life);
      const slow = this.#slowness;
      const rest = rhythm === 'uneven' ? periodMs * (0.2 + 2.8 * this.#random.next()) : periodMs;
      due =
        rhythm === 'grid'
          ? Math.max(due + periodMs * slow, this.#clock.now())
          : this.#clock.now() + rest * slow;
      await this.#sleep(due - this.#clock.now());
    }
  }

  /** What a flow-based client does: timers put questions into a queue, and one worker asks them. */
  async #workOff(life: number): Promise<void> {
    const { questions, periodMs } = this.habits;
    const queue: number[] = [];
    const begin = this.#clock.now();
    const isOver = () => this.#isStopped || life !== this.#life;
    const put = (i: number, round: number) => {
      if (isOver() || (i > 0 && this.#deed === 'strays')) return;
      if (!queue.includes(i)) queue.push(i);
      const late = this.#random.next() * this.habits.jitterMs;
      this.#clock.callAt(begin + (round + 1) * periodMs + late, () => put(i, round + this.#slowness));
    };
    for (const i of questions.keys()) put(i, 0);
    while (!isOver()) {
      const next = queue.shift();
      if (next === undefined) await this.#sleep(AT_ONCE_MS);
      else await this.#askOne(next);
    }
  }

  async #round(life: number): Promise<void> {
    for (const i of this.habits.questions.keys()) {
      if (i > 0 && this.#deed === 'strays') return;
      if (i > 0) await this.#sleep(this.habits.betweenMs);
      if (this.#isStopped || life !== this.#life) return;
      await this.#askOne(i);
    }
  }

  async #askOne(i: number): Promise<void> {
    const pdu = await this.#ask(this.habits.questions[i] as ModelQuestion);
    if (!pdu || i > 0) return;
    const [, , high = 0, read = 0] = pdu;
    const kept = this.#deed === 'freezes' ? this.history.at(-1)?.word : undefined;
    const low = this.#deed === 'invents' ? read ^ 0x55 : read;
    const word = kept ?? (high << 8) | low;
    if (word === 0xffff && this.#makes('crashes at no value')) return this.kill();
    this.history.push({ at: this.#clock.now(), word });
    await this.#writeBack(word >> 8, word & 0xff);
  }

  /** The program ends, and is started again where it has a supervisor. */
  async #end(): Promise<void> {
    this.#life++;
    this.#wire.close();
    if (this.#makes('crashes at a bad reply')) {
      this.stop();
      return;
    }
    await this.#sleep(this.habits.restartMs);
    this.#transaction = 0;
    this.#received = new Uint8Array();
  }

  /** What a panel or a gateway does that passes on what it has read. */
  async #writeBack(high: number, low: number): Promise<void> {
    const { writesBack, betweenMs } = this.habits;
    if (!writesBack) return;
    const { unitId, address } = writesBack;
    await this.#sleep(betweenMs);
    await this.#ask({ unitId, pdu: Uint8Array.of(6, address >> 8, address & 0xff, high, low) });
  }

  get #slowness(): number {
    return this.#deed === 'slows' ? 10 : this.#deed === 'drags' ? 1.35 : 1;
  }

  /** Asks until there is a reply or all attempts are used up. */
  async #ask(question: ModelQuestion): Promise<Uint8Array | undefined> {
    const { attempts, pausesMs, busyPauseMs, repeatsTransaction } = this.habits;
    const { reconnectsOnTimeout, reconnectsOnGivingUp } = this.habits;
    if (this.#makes('connects for each request')) this.#wire.close();
    let isSilent = true;
    for (let attempt = 1; attempt <= attempts && !this.#isStopped; attempt++) {
      if (attempt > 1) await this.#sleep(pausesMs[attempt - 2] ?? 0);
      if (!(await this.#connected())) continue;
      if (attempt === 1 || !repeatsTransaction) this.#transaction = (this.#transaction + 1) & 0xffff;
      const result = await this.#attempt(question);
      isSilent &&= result.kind === 'none' && !this.#isBad && this.#received.length === 0;
      if (result.kind === 'closed') continue;
      if (result.kind === 'bad') {
        if (this.#makes('crashes at a bad reply') || this.#makes('restarts at a bad reply')) {
          await this.#end();
          return undefined;
        }
        if (this.habits.atBadReply === 'connects anew') this.#wire.close();
        continue;
      }
      if (result.kind === 'none') {
        if (reconnectsOnTimeout) this.#wire.close();
        continue;
      }
      const [code = 0, exception = 0] = result.pdu;
      if ((code & EXCEPTION) === 0) return result.pdu;
      if (this.#makes('takes exceptions for zeros')) return Uint8Array.of(code, 2, 0, 0);
      if (this.#makes('stops after an exception')) this.stop();
      if (this.#makes('restarts at an exception')) {
        await this.#end();
        return undefined;
      }
      if (this.#makes('repeats after exceptions without end')) {
        await this.#sleep(AT_ONCE_MS);
        attempt = 0;
      } else if (BUSY.includes(exception) && busyPauseMs !== undefined) await this.#sleep(busyPauseMs);
      else return undefined;
    }
    if (isSilent) this.#feel('gave up');
    if (reconnectsOnGivingUp) this.#wire.close();
    if (this.#makes('stops after an outage')) this.stop();
    return undefined;
  }

  async #connected(): Promise<boolean> {
    while (this.#deed === 'hangs' && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#wakeUp = resolve;
      });
    }
    if (this.#isStopped) return false;
    if (this.#wire.isOpen) return true;
    if (this.#transaction > 0) {
      if (this.#makes('never reconnects')) {
        this.stop();
        return false;
      }
      await this.#sleep(this.habits.reconnectPauseMs);
    }
    this.#received = new Uint8Array();
    const isConnected = await this.#wire.open();
    this.#feel(isConnected ? 'connected' : 'refused');
    return isConnected && !this.#isStopped;
  }

  async #attempt(question: ModelQuestion): Promise<Result> {
    const result = await this.#exchange(question);
    this.#isPending = false;
    if (result.kind === 'reply') this.#feelReply(question, result.pdu);
    else if (result.kind === 'none' && !this.#isBad)
      this.#feel(this.#received.length > 0 ? 'partial' : 'none');
    return result;
  }

  #feelReply(question: ModelQuestion, pdu: Uint8Array): void {
    const [code = 0, second = 0, high = 0, low = 0] = pdu;
    if ((code & EXCEPTION) !== 0) {
      this.#feel('exception', { code: second });
      return;
    }
    const word = (high << 8) | low;
    const usual = this.#usual.get(question) ?? word;
    this.#usual.set(question, usual);
    const isStrange = NO_VALUES.includes(word) || Math.abs(word - usual) > usual / 2;
    this.#feel(isStrange && code > 2 && code < 5 ? 'value' : 'good');
  }

  #aduOf(unitId: number, pdu: Uint8Array): Uint8Array {
    this.#sent++;
    if (this.#deed === 'babbles') {
      this.#deed = undefined;
      return NO_REQUEST;
    }
    if (this.#wire.framing === 'rtu') return encodeRtu(unitId, pdu);
    return SOCKET.encode({ unitId, transactionId: this.#transaction, pdu });
  }

  async #exchange({ unitId, pdu }: ModelQuestion): Promise<Result> {
    const isSerial = this.#wire.framing === 'rtu';
    if (isSerial && !this.#makes('ignores t3.5')) {
      await this.#sleep(this.#lastByteAt + T35_MS - this.#clock.now());
    }
    if (!this.#makes('takes late replies')) this.#received = new Uint8Array();
    this.#isBad = false;
    const id = this.#transaction;
    this.#wire.send(this.#aduOf(unitId, pdu));
    this.#isPending = true;
    const sentAt = this.#clock.now();
    const more = this.#random.next() * this.habits.timeoutSpreadMs;
    for (;;) {
      const reply = this.#reply(unitId, pdu, id);
      if (reply) return { kind: 'reply', pdu: reply };
      if (this.#isBad && this.#mindsBadReplies) return { kind: 'bad' };
      if (!this.#wire.isOpen) return { kind: 'closed' };
      const left = sentAt + this.#limit() + more - this.#clock.now();
      if (left <= 0) return { kind: 'none' };
      await this.#bytesWithin(left + this.#random.next() * this.habits.latenessMs);
    }
  }

  get #mindsBadReplies(): boolean {
    const ends = this.#makes('crashes at a bad reply') || this.#makes('restarts at a bad reply');
    return ends || this.habits.atBadReply !== 'waits';
  }

  /** How long a reply is waited for; a client that waits for the first byte then waits for the others. */
  #limit(): number {
    const { timeoutIsFor, timeoutMs } = this.habits;
    return timeoutIsFor === 'first byte' && this.#received.length > 0 ? timeoutMs * 2 : timeoutMs;
  }

  /** The first reply in what was received that fits the request; what does not fit is thrown away. */
  #reply(unitId: number, asked: Uint8Array, id: number): Uint8Array | undefined {
    return this.#wire.framing === 'rtu' ? this.#rtuReply(unitId, asked) : this.#tcpReply(unitId, asked, id);
  }

  #rtuReply(unitId: number, asked: Uint8Array): Uint8Array | undefined {
    const isOneRead = this.#makes('takes one read for a reply') && this.#received.length > 0;
    const size = isOneRead ? this.#received.length : rtuSize(this.#received);
    if (size === undefined || this.#received.length < size) return undefined;
    const frame = this.#received.slice(0, size);
    const whole = this.#received;
    this.#received = new Uint8Array();
    const isRight = this.#makes('no CRC check') || RTU.decode(whole) !== undefined;
    const pdu = frame.slice(1, -2);
    if (isRight && this.#fits(frame[0], unitId, pdu, asked)) return pdu;
    this.#isBad = true;
    this.#feel('bad', { bytes: whole.length });
    return undefined;
  }

  #tcpReply(unitId: number, asked: Uint8Array, id: number): Uint8Array | undefined {
    const isOneRead = this.#makes('takes one read for a reply');
    while (this.#received.length >= (isOneRead ? 1 : 8)) {
      const length = 6 + (((this.#received[4] as number) << 8) | (this.#received[5] as number));
      const size = isOneRead ? this.#received.length : length;
      if (this.#received.length < size) return undefined;
      const frame = this.#received.slice(0, size);
      this.#received = this.#received.slice(size);
      const itsId = ((frame[0] as number) << 8) | (frame[1] as number);
      const isModbus = this.#makes('ignores the protocol identifier') || (frame[2] === 0 && frame[3] === 0);
      const isRight = this.#makes('ignores the transaction identifier') || itsId === id;
      const pdu = frame.slice(7);
      if (isModbus && isRight && this.#fits(frame[6], unitId, pdu, asked)) return pdu;
      this.#isBad = true;
      this.#feel(itsId < id ? 'late' : 'bad', { bytes: size });
    }
    return undefined;
  }

  #fits(unitId: number | undefined, wanted: number, pdu: Uint8Array, asked: Uint8Array): boolean {
    const [code = 0, count = 0] = pdu;
    const [function_ = 0] = asked;
    if (unitId !== wanted && !this.#makes('ignores the unit')) return false;
    if ((code & ~EXCEPTION) !== function_ && !this.#makes('ignores the function')) return false;
    if ((code & EXCEPTION) !== 0 || this.#makes('ignores the byte count')) return true;
    const quantity = ((asked[3] as number) << 8) | (asked[4] as number);
    if (function_ === 3 || function_ === 4) return count === 2 * quantity && pdu.length === 2 + count;
    return function_ > 2 || (count === Math.ceil(quantity / 8) && pdu.length === 2 + count);
  }

  #makes(mistake: Mistake): boolean {
    return this.habits.mistakes.includes(mistake);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (ms <= 0) resolve();
      else this.#clock.callAfter(ms + this.#random.next() * this.habits.latenessMs, resolve);
    });
  }

  #bytesWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#clock.callAfter(ms, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}

/** Size of the reply at the beginning of these bytes, as far as they show it. */
function rtuSize(bytes: Uint8Array): number | undefined {
  const [, code, count] = bytes;
  if (code === undefined) return undefined;
  if ((code & EXCEPTION) !== 0) return 5;
  if (code > 4) return 8;
  return count === undefined ? undefined : 5 + count;
}
