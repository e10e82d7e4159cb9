import { concatBytes } from '../../protocol/bytes.js';
import type { ReplyPlan } from '../../protocol/reply-plan.js';

/** What is left of received bytes once the echo of our own is taken out, and what was noticed about it. */
export interface Filtered {
  readonly bytes: Uint8Array;
  readonly noticed: 'echo' | 'collision' | undefined;
}

export interface EchoFilterOptions {
  /** Do bytes take time on the line? Then what comes back while we speak can only be an echo, or a collision. */
  readonly hasWire: boolean;
  /** May a reply be cut in two to see whether it comes back? Not on a real wire, where a pause spoils the frame. */
  readonly mayProbe: boolean;
  /** Could these bytes, sent by us, be a client's request as well? */
  readonly mayBeRequest: (adu: Uint8Array) => boolean;
  /** Fewer bytes prove nothing: what a client sends begins like what it is sent. */
  readonly shortestFrame: number;
  readonly t35: number;
  /** How long the adapter may hold received bytes back, in ms. */
  readonly latency: number;
}

/** A frame of ours, as far as it was sent, whose echo may still come. */
interface Transmission {
  bytes: Uint8Array;
  /** Will more pieces of the frame follow? Then what has come back may not be all of it. */
  open: boolean;
  /** Could the frame, as far as it was sent, be a client's request as well? */
  repeats: boolean;
  /** When nobody else could have spoken yet: the end of the transmission and t3.5. */
  quietUntil: number;
  /** When an echo of it would have come in at the latest, unless this process was stalled. */
  until: number;
}

/** Which piece of a frame was sent. */
export interface Piece {
  /** It belongs to the frame of the piece before it. */
  readonly continues: boolean;
  /** Another piece of the frame follows. */
  readonly more: boolean;
}

/** A line driver that switches on late leaves so many bytes before the echo. */
const MAX_STRAY_BYTES = 2;

/** Frames whose echoes are waited for at most. */
const MAX_WAITING = 16;

/** More copies in a row of replies of our own, each in time for an echo, are no client's any more. */
const LOOP = 2;
/** The same where replies that could be no request have not come back. */
const UNLIKELY_LOOP = 16;
const SEVERAL = 2;

/** An adapter that is slower than is known brings its echo so much later at most, in ms. */
const LATE_MS = 200;
/** So many copies in a row, each that late: a client that writes the same again and again, or such an adapter. */
const LATE_LOOP = 256;

const NOTHING = new Uint8Array(0);

/**
 * Takes the echo of our own replies out of what is received. Some two-wire adapters hear what they send, and the
 * response to functions such as 5 and 6 is the same bytes as the request: without this, such a reply would be
 * executed as a request, answered, heard again, and so on for ever.
 *
 * Whether there is an echo is learned. A reply that can't be a request and comes back tells it, and so does one that
 * comes back before anybody else may speak. Where a copy may as well be a client that repeats its write, a line
 * without a wire takes it for a request and cuts the next such reply in two: only an echo answers its first half. A
 * real line takes it for the echo, until it is known that there is none. Nothing learned is final, and copies that go
 * on and on, each in time for an echo, are one whatever was learned: a stall can make any of this look different.
 * Of copies that go on and on a little too late for an echo, one in many is left unanswered: that ends an echo through
 * an adapter slower than is known, and a client asks again.
 *
 * Pure: the caller brings the clock.
 */
export class EchoFilter {
  #options: EchoFilterOptions;
  #echoes: 'unknown' | 'yes' | 'no' = 'unknown';
  readonly #waiting: Transmission[] = [];
  /** Received bytes that may be the beginning of an echo. */
  #held: Uint8Array = NOTHING;
  #heldSince = 0;
  #speakingUntil = Number.NEGATIVE_INFINITY;
  #misses = 0;
  /** Replies that could be no request and did not come back, since one of them did. */
  #unechoed = 0;
  /** Copies of our replies in a row that were passed on as requests. */
  #copies = 0;
  /** The same of copies that came a little too late for an echo. */
  #lateCopies = 0;
  #nextProbe = 1;
  #probing = false;

  constructor(options: EchoFilterOptions) {
    this.#options = options;
  }

  /** The line goes on with other settings: what was sent before may still come back, and what was learned holds. */
  change(options: EchoFilterOptions): void {
    this.#options = options;
    this.#probing = false;
    const last = this.#waiting.at(-1);
    if (last) last.open = false;
  }

  /** The plan as it is to be played: cut in two where that tells whether there is an echo. */
  probe(plan: ReplyPlan): ReplyPlan {
    const [step, more] = plan.kind === 'send' ? plan.steps : [];
    if (plan.kind !== 'send' || step?.kind !== 'bytes' || more || !this.#options.mayBeRequest(step.bytes))
      return plan;
    if (!this.#options.mayProbe || this.#echoes === 'yes' || this.#copies < this.#nextProbe) return plan;
    this.#nextProbe *= 4;
    this.#probing = true;
    const half = step.bytes.length >> 1;
    const waitMs = this.#options.latency;
    return {
      ...plan,
      steps: [
        { ...step, bytes: step.bytes.subarray(0, half) },
        { ...step, bytes: step.bytes.subarray(half), waitMs, continues: true },
      ],
    };
  }

  /** These bytes were written; the last of them is on the wire at `endsAt`. */
  sent(bytes: Uint8Array, endsAt: number, { continues, more }: Piece): void {
    const { t35, latency } = this.#options;
    if (this.#probing && continues) {
      // The first half has not come back.
      this.#echoes = 'no';
      this.#probing = false;
    }
    this.#speakingUntil = endsAt;
    const quietUntil = endsAt + t35;
    const last = this.#waiting.at(-1);
    if (last && continues) {
      const joined = concatBytes(last.bytes, bytes);
      const repeats = this.#options.mayBeRequest(joined);
      Object.assign(last, { bytes: joined, repeats, open: more, quietUntil, until: quietUntil + latency });
      return;
    }
    if (last) last.open = false;
    if (this.#waiting.length === MAX_WAITING) this.#waiting.shift();
    const repeats = this.#options.mayBeRequest(bytes);
    this.#waiting.push({ bytes, open: more, repeats, quietUntil, until: quietUntil + latency });
  }

  /** Bytes that were received at `at`. */
  received(chunk: Uint8Array, at: number): Filtered {
    if (this.#waiting.length === 0) return { bytes: chunk, noticed: this.#interrupted(at) };
    if (this.#held.length === 0) this.#heldSince = at;
    this.#held = this.#held.length === 0 ? chunk : concatBytes(this.#held, chunk);
    return this.#match(at);
  }

  /** The line has been silent: what began like an echo and did not go on was none. */
  silence(): Filtered {
    const [sent] = this.#waiting;
    const noticed = sent && this.#held.length > 0 ? this.#missed(sent) : undefined;
    return { bytes: this.#release(), noticed };
  }

  #match(at: number): Filtered {
    let noticed: Filtered['noticed'];
    for (let sent = this.#waiting[0]; sent && this.#held.length > 0; sent = this.#waiting[0]) {
      const strays = this.#strays(sent.bytes);
      if (strays === undefined) {
        noticed = this.#missed(sent) ?? noticed;
        this.#waiting.shift();
        continue;
      }
      const end = strays + sent.bytes.length;
      const unfinished = this.#isUnfinished(sent) && this.#held.length === end;
      if (this.#held.length < end || unfinished) return { bytes: NOTHING, noticed };
      const verdict = this.#judge(sent, at);
      if (verdict === 'request') return { bytes: this.#release(), noticed };
      if (verdict === 'new echo') noticed = 'echo';
      this.#waiting.shift();
      this.#held = this.#held.subarray(end);
      this.#heldSince = at;
    }
    return { bytes: this.#release(), noticed };
  }

  /** An echo brings everything that was sent: more pieces of a frame, and more frames, would follow. */
  #isUnfinished({ open, repeats }: Transmission): boolean {
    if (this.#probing) return false;
    return open || (repeats && this.#echoes === 'unknown' && this.#waiting.length > 1);
  }

  /** How many stray bytes are before what could be the echo of `bytes`; undefined when it is not. */
  #strays(bytes: Uint8Array): number | undefined {
    const most = this.#options.hasWire && this.#echoes !== 'no' ? MAX_STRAY_BYTES : 0;
    for (let strays = 0; strays <= most; strays++) {
      if (startsAlike(this.#held.subarray(strays), bytes)) return strays;
    }
    return undefined;
  }

  /** All of a transmission has come back: as an echo, or as a request that is the same bytes. */
  #judge({ bytes, repeats, quietUntil, until }: Transmission, at: number): 'echo' | 'new echo' | 'request' {
    const { hasWire, mayProbe } = this.#options;
    const enough = bytes.length >= this.#options.shortestFrame;
    const certain = enough && (!repeats || this.#probing || (hasWire && this.#heldSince < quietUntil));
    if (!certain && this.#echoes !== 'yes') {
      if (this.#waiting.length === 1 && (mayProbe || at <= until)) this.#copies++;
      const limit = this.#unechoed < SEVERAL ? LOOP : UNLIKELY_LOOP;
      const isLoop = !mayProbe && this.#copies > limit;
      const isSuspect = !mayProbe && this.#echoes === 'unknown' && at <= until;
      if (isSuspect || (!mayProbe && this.#endsLateLoop(at - until))) return 'echo';
      if (!isLoop) {
        if (!mayProbe) this.#echoes = 'no';
        return 'request';
      }
    }
    const isNew = this.#echoes !== 'yes';
    this.#echoes = 'yes';
    this.#probing = false;
    this.#misses = 0;
    this.#copies = 0;
    this.#unechoed = 0;
    return isNew ? 'new echo' : 'echo';
  }

  /** @param lateness in ms after the last moment of an echo */
  #endsLateLoop(lateness: number): boolean {
    if (lateness <= 0 || lateness > LATE_MS || ++this.#lateCopies < LATE_LOOP) return false;
    this.#lateCopies = 0;
    return true;
  }

  /** Something else than our transmission came. Where there is an echo, somebody spoke at the same time. */
  #missed({ repeats, quietUntil }: Transmission): 'collision' | undefined {
    this.#copies = 0;
    this.#lateCopies = 0;
    const collided = this.#options.hasWire && this.#heldSince < quietUntil;
    if (this.#echoes === 'yes') {
      this.#misses++;
      if (this.#misses > 1) this.#echoes = 'unknown';
    } else if (!collided) {
      this.#echoes = 'no';
      if (!repeats) this.#unechoed++;
    }
    return collided && this.#echoes !== 'no' ? 'collision' : this.#interrupted(this.#heldSince);
  }

  /** Whatever comes while we send on a line without echo is somebody else's; told once for each transmission. */
  #interrupted(at: number): 'collision' | undefined {
    if (!this.#options.hasWire || this.#echoes !== 'no' || at >= this.#speakingUntil) return undefined;
    this.#speakingUntil = Number.NEGATIVE_INFINITY;
    return 'collision';
  }

  #release(): Uint8Array {
    const released = this.#held;
    this.#held = NOTHING;
    if (released.length > 0) this.#waiting.length = 0;
    return released;
  }
}

/** True when one of the two is the beginning of the other. */
function startsAlike(received: Uint8Array, sent: Uint8Array): boolean {
  const length = Math.min(received.length, sent.length);
  for (let i = 0; i < length; i++) if (received[i] !== sent[i]) return false;
  return true;
}
