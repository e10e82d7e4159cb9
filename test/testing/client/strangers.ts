import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import type { Clock } from '../../../src/modbus/transport/clock.js';
import type { Wire } from './model-client.js';
import type { VirtualBench } from './virtual-bench.js';

/** What became of a request. */
export type Got =
  | { readonly kind: 'data'; readonly pdu: Uint8Array }
  | { readonly kind: 'exception'; readonly code: number }
  | { readonly kind: 'none' | 'closed' };

const T35_MS = 2;

/** What a client does not look at, or does wrongly, when it reads a reply. */
export type Lax =
  | 'transaction'
  | 'high byte of the transaction'
  | 'unit'
  | 'function'
  | 'byte count'
  | 'CRC'
  | 'second byte of the CRC'
  /** What comes in one piece is a whole reply. */
  | 'pieces'
  /** What was received before the request is not thrown away. */
  | 'stray bytes'
  /** Bytes that are no reply end the program. */
  | 'damage'
  /** After an exception it takes nothing more that comes over its connection. */
  | 'exceptions'
  /** It takes bytes for the rest of a reply as long as its connection or port is open. */
  | 'rest'
  /** A reply with another transaction ends its request. */
  | 'give up'
  /** The header of a reply has to come in one piece. */
  | 'header'
  /** What came of a reply stays for the next request, once. */
  | 'half'
  /** The protocol identifier may be any. */
  | 'protocol'
  /** A float32 that is not a number ends the program. */
  | 'NaN'
  /** More values than were asked for end the program. */
  | 'more values';

/** The hands of a client that was written by somebody else: it sends requests, and takes only what answers them. */
export class Hands {
  readonly #clock: Clock;
  readonly #connect: () => Wire;
  #wire: Wire;
  #received = new Uint8Array();
  #wake = () => {};
  #transaction = 0;
  #quietFrom = 0;
  #isDeaf = false;
  isOver = false;
  /** What its page shows. */
  shown = '';
  lax: ReadonlySet<Lax> = new Set();

  constructor({ clock, tcp, serial }: VirtualBench) {
    this.#clock = clock;
    const received = (bytes: Uint8Array) => {
      // A frame of RTU begins after a silence.
      if (!tcp && !this.lax.has('rest') && clock.now() > this.#quietFrom) this.#received = new Uint8Array();
      this.#received = Uint8Array.of(...this.#received, ...bytes);
      this.#quietFrom = clock.now() + T35_MS;
      this.#wake();
    };
    this.#connect = () => tcp?.wire({ received, closed: () => this.#wake() }) ?? serial.wire;
    this.#wire = this.#connect();
    if (!tcp) serial.received = received;
  }

  get now(): number {
    return this.#clock.now();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.callAfter(Math.max(0, ms), resolve));
  }

  close(): void {
    this.#wire.close();
  }

  /** Leaves its connection open, and opens another for the next request. */
  leave(): void {
    this.#wire = this.#connect();
  }

  /** Asks once. Without a connection it opens one, and `closed` says that nobody listens. */
  async ask(unitId: number, pdu: readonly number[], timeoutMs: number): Promise<Got> {
    const asked = Uint8Array.from(pdu);
    if (!this.#wire.isOpen) {
      this.#isDeaf = false;
      this.#received = new Uint8Array();
      if (!(await this.#wire.open())) return { kind: 'closed' };
    }
    await this.sleep(this.#quietFrom - this.now);
    this.#hasKept = this.lax.has('half') && !this.#hasKept && this.#received.length > 0;
    const keeps = this.#hasKept || this.lax.has('stray bytes') || this.lax.has('rest');
    if (!keeps) this.#received = new Uint8Array();
    const transactionId = ++this.#transaction & 0xffff;
    const isRtu = this.#wire.framing === 'rtu';
    this.#wire.send(isRtu ? encodeRtu(unitId, asked) : SOCKET.encode({ unitId, transactionId, pdu: asked }));
    const end = this.now + timeoutMs;
    for (;;) {
      const reply = isRtu ? this.#rtuReply() : this.#replyTo(transactionId, asked[0] as number);
      const [code = 0, second = 0] = reply?.pdu ?? [];
      if (reply && !this.#isDeaf && (reply.unitId === unitId || this.lax.has('unit'))) {
        if (code === ((asked[0] as number) | 0x80)) {
          this.#isDeaf = this.lax.has('exceptions');
          return { kind: 'exception', code: second };
        }
        const isAsked = code === asked[0] || (this.lax.has('function') && code < 0x80);
        if (isAsked && this.lax.has('NaN') && reply.pdu[2] === 0xff && reply.pdu[3] === 0xff) this.end();
        if (isAsked && this.lax.has('more values') && (reply.pdu[1] ?? 0) > 2 * (asked[4] ?? 0)) this.end();
        if (isAsked && (isWhole(asked, reply.pdu) || this.lax.has('byte count')))
          return { kind: 'data', pdu: reply.pdu };
      }
      if (this.lax.has('damage') && this.#received.length > 0 && (isRtu || this.#isDamaged)) this.end();
      if (!this.#wire.isOpen || this.isOver) return { kind: 'closed' };
      if (this.now >= end) return { kind: 'none' };
      await this.#bytesBefore(end);
    }
  }

  /** The program ends. */
  end(): void {
    this.isOver = true;
    this.close();
  }

  #rtuReply() {
    const received = this.#received;
    const reply = RTU.decode(received);
    const isSpoilt = this.lax.has('CRC') && received.length > 4;
    // The other byte of the CRC is right.
    const crc = encodeRtu(received[0] ?? 0, received.slice(1, -2)).slice(-2);
    const isHalf =
      this.lax.has('second byte of the CRC') && received.length > 4 && crc[0] === received.at(-2);
    if (reply && this.lax.has('rest')) this.#received = new Uint8Array();
    if (reply || !(isSpoilt || isHalf)) return reply;
    return { unitId: received[0] as number, pdu: received.slice(1, -2) };
  }

  #isDamaged = false;
  #hasKept = false;

  #replyTo(transactionId: number, asked: number) {
    const mask = this.lax.has('transaction')
      ? 0
      : this.lax.has('high byte of the transaction')
        ? 0xff
        : 0xffff;
    while (this.#received.length > 7) {
      const size = 6 + (((this.#received[4] as number) << 8) | (this.#received[5] as number));
      this.#isDamaged = size > 260;
      if (this.#received.length < size) {
        if (this.lax.has('pieces')) this.#received = new Uint8Array();
        return undefined;
      }
      if (this.lax.has('protocol')) this.#received.fill(0, 2, 4);
      const reply = SOCKET.decode(this.#received.slice(0, size));
      this.#isDamaged = !reply;
      this.#received = this.#received.slice(size);
      if (reply && (reply.transactionId & mask) === (transactionId & mask)) return reply;
      if (reply && this.lax.has('give up')) return { ...reply, pdu: Uint8Array.of(0x80 | asked, 0) };
    }
    if (this.lax.has('pieces') || this.lax.has('header')) this.#received = new Uint8Array();
    return undefined;
  }

  #bytesBefore(end: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = Number.isFinite(end) ? this.#clock.callAt(end, resolve) : () => {};
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}

function isWhole(asked: Uint8Array, pdu: Uint8Array): boolean {
  const [code = 0, , , high = 0, low = 0] = asked;
  const quantity = high * 256 + low;
  if (code > 4) return pdu.length === 5;
  return pdu[1] === (code < 3 ? Math.ceil(quantity / 8) : 2 * quantity) && pdu.length === 2 + pdu[1];
}

/** Reads two holding registers. */
const READ = [3, 0, 0, 0, 2];
const OTHER = [3, 0, 10, 0, 4];
const FOR_EVER = Number.POSITIVE_INFINITY;

/** Polls until its hands are over. A second pair is another connection. */
export type Stranger = (hands: Hands, second: () => Hands) => Promise<void>;

/** Asks up to `attempts` times while nothing comes. */
async function patient(hands: Hands, unitId: number, pdu: readonly number[], attempts = 3, timeoutMs = 300) {
  let got: Got = { kind: 'none' };
  for (let i = 0; i < attempts && !hands.isOver; i++) {
    got = await hands.ask(unitId, pdu, timeoutMs);
    if (got.kind === 'data' || got.kind === 'exception') return got;
    hands.close();
    if (got.kind === 'closed') await hands.sleep(100);
  }
  return got;
}

/** Polls two units, and leaves one for ever after something has happened to it. */
function drops(when: (got: Got, times: number) => boolean): Stranger {
  return async (hands) => {
    let bad = 0;
    let isDropped = false;
    while (!hands.isOver) {
      if (!isDropped) {
        const got = await patient(hands, 1, READ, 2);
        bad = got.kind === 'data' ? 0 : bad + 1;
        isDropped = when(got, bad);
      }
      await patient(hands, 2, READ, 2);
      await hands.sleep(250);
    }
  };
}

/** Polls one or two units, and does something after a reply that it minds. */
function polls(
  units: readonly number[],
  minds: (got: Got, hands: Hands) => Promise<void> | void = () => {},
  { periodMs = 250, attempts = 3, timeoutMs = 300 } = {},
): Stranger {
  return async (hands) => {
    while (!hands.isOver) {
      for (const unit of units) await minds(await patient(hands, unit, READ, attempts, timeoutMs), hands);
      await hands.sleep(periodMs);
    }
  };
}

const isException = (got: Got, ...codes: number[]) => got.kind === 'exception' && codes.includes(got.code);

/** Shows a float32 of two registers. @param bytes the order in which it takes the bytes of the reply */
function shows(...bytes: number[]): Stranger {
  return async (hands) => {
    while (!hands.isOver) {
      const got = await patient(hands, 1, [3, 0, 30, 0, 2]);
      if (got.kind === 'data') {
        const float = new DataView(Uint8Array.from(bytes, (i) => got.pdu[2 + i] as number).buffer).getFloat32(
          0,
        );
        hands.shown = String(Math.abs(float) < 1e-3 ? float : Number(float.toFixed(3)));
      }
      await hands.sleep(250);
    }
  };
}

/** Clients that show a float32, by what a test says of them. */
export const SHOWING = {
  '^the observer shows "23\\d\\.\\d+", which is right for holding 30$': shows(0, 1, 2, 3),
  'for 23\\d\\.\\d+ of holding 30: its words are swapped$': shows(2, 3, 0, 1),
  'for 23\\d\\.\\d+ of holding 30: the bytes of its words are swapped$': shows(1, 0, 3, 2),
  'for 23\\d\\.\\d+ of holding 30: its words and their bytes are swapped$': shows(3, 2, 1, 0),
} satisfies Record<string, Stranger>;

/** Clients with a mistake that the reports of users tell of. */
export const MISTAKEN = {
  'drops a unit at any exception': drops((got) => got.kind === 'exception'),
  'drops a unit after three polls without a value': drops((_, times) => times >= 3),
  'ends at exception 4 only': polls([1, 2], (got, hands) => {
    if (!isException(got, 4)) return;
    hands.isOver = true;
    hands.close();
  }),
  'hangs at exception 0B': polls([1, 2], async (got, hands) => {
    while (isException(got, 11) && !hands.isOver) await hands.sleep(1000);
  }),
  'waits for ever': polls([1, 2], undefined, { timeoutMs: FOR_EVER, attempts: 1 }),
  'sleeps for a minute when nothing comes': polls([1], (got, hands) =>
    got.kind === 'none' ? hands.sleep(60_000) : undefined,
  ),
  'sleeps for a minute at each request without a reply': polls(
    [1],
    (got, hands) => (got.kind === 'none' ? hands.sleep(60_000) : undefined),
    { attempts: 1 },
  ),
} satisfies Record<string, Stranger>;

/** Clients without a mistake, which are not like others. */
export const UNUSUAL = {
  'polls once in ten seconds': polls([1], undefined, { periodMs: 10_000 }),
  'opens a connection for each request': polls([1, 2], (_, hands) => hands.close()),
  'asks as fast as it gets replies': async (hands) => {
    for (let i = 0; !hands.isOver; i++) {
      await patient(hands, 1 + (i % 2), i % 3 ? READ : OTHER);
      await hands.sleep(3);
    }
  },
  'has a connection for each unit': async (hands, second) => {
    const other = second();
    void polls([2], undefined, { periodMs: 150 })(other, second);
    await polls([1], undefined, { periodMs: 250 })(hands, second);
    other.isOver = true;
  },
  'has a seldom question': async (hands) => {
    for (let i = 0; !hands.isOver; i++) {
      await patient(hands, 1, READ);
      if (i % 10 === 0) await patient(hands, 2, OTHER);
      await hands.sleep(250);
    }
  },
  'connects anew after an exception': polls([1, 2], (got, hands) =>
    got.kind === 'exception' ? hands.close() : undefined,
  ),
} satisfies Record<string, Stranger>;
