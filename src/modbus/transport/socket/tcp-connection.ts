import type { Socket } from 'node:net';
import { concatBytes } from '../../protocol/bytes.js';
import type { AduContent } from '../../protocol/framing.js';
import { type PlayReport, plainReply } from '../../protocol/reply-plan.js';
import type { LineReply } from '../transport.js';
import type { Channel } from './channel.js';
import type { ClientIdentity, WaitingClient } from './client-list.js';
import { LineDecoder } from './line-decoder.js';
import type { BindingContext } from './listen.js';
import { ReplyQueue } from './reply-queue.js';
import { TcpWriter } from './tcp-writer.js';

/** While more requests than this are waiting for their replies to leave, no more are read. */
const MAX_PENDING = 64;
/** While the client has left more bytes than this unread, no more requests are read. */
const MAX_UNSENT_BYTES = 64 * 1024;
/** After this many requests of one connection, or other items found in its bytes, other connections get their turn. */
const MAX_PER_TURN = 16;

const CLOSED_BY_PLAN = 'closed by the reply plan';

interface TcpConnectionOptions {
  readonly identity: ClientIdentity;
  /** Carries the requests and replies. Its socket must allow half-open connections. */
  readonly channel: Channel;
  /** The TCP connection itself, which is below the channel's socket if that is a TLS socket. */
  readonly raw: Socket;
  readonly context: BindingContext;
  /** True if nothing is answered before `serve` is called. */
  readonly isHeld?: boolean;
}

/**
 * One client of a line. Splits its bytes into requests, calls the handler, and has the plans played in order.
 *
 * Memory is bounded: while no more requests are read, at most the rest of one read (64 KiB) and the contents
 * of `ReadAhead` are kept.
 */
export class TcpConnection implements WaitingClient {
  readonly client: string;
  readonly clientId: number;
  readonly host: string | undefined;
  activeAt: number;
  spoke = false;
  readonly #socket: Socket;
  readonly #context: BindingContext;
  readonly #decoder: LineDecoder;
  readonly #writer: TcpWriter;
  readonly #replies: ReplyQueue;
  /** One function serves all requests. */
  readonly #begin = (reply: LineReply) => this.#replies.add(reply, this.#receivedAt);
  readonly #ahead: ReadAhead;
  #receivedAt: number;
  #nextTurn: NodeJS.Immediate | undefined;
  /** True if received requests are not answered yet: replies must leave first, or other connections have their turn. */
  #waits: boolean;
  /** True while there is no room for this client. */
  #isHeld: boolean;
  /** True if a request of the last read was accepted; the requests after it may be dropped. */
  #tookOne = false;
  #slowSince: number | undefined;
  /** Why nothing more is read or played; undefined while the connection works. */
  #closing: string | undefined;
  /** True if the client has closed its sending side. */
  #inputEnded = false;
  #isGone = false;

  /** Creates the client and starts reading at once. */
  constructor(options: TcpConnectionOptions) {
    const { identity, channel, raw, context, isHeld = false } = options;
    this.client = identity.client;
    this.clientId = identity.clientId;
    this.host = identity.host;
    this.activeAt = this.#receivedAt = performance.now();
    const { socket } = channel;
    this.#socket = socket;
    this.#context = context;
    this.#isHeld = this.#waits = isHeld;
    this.#decoder = new LineDecoder({
      framing: context.framing,
      owns: (unitId) => context.handler.owns(unitId),
      silent: () => this.#wasSilent(),
    });
    this.#ahead = new ReadAhead(socket);
    this.#writer = new TcpWriter(channel, raw, () => this.#continue());
    this.#replies = new ReplyQueue(this.#writer, () => {
      this.activeAt = performance.now();
      this.#continue();
    });
    channel.read((bytes, length) => this.#receive(bytes, length));
    socket.on('end', () => {
      this.#inputEnded = true;
      if (this.#isHeld) this.end('closed by the client');
      else this.#endIfDone();
    });
    socket.on('error', (error) => this.end(error.message));
    socket.on('close', () => this.end(CLOSED_BY_PLAN));
  }

  /** True while replies are still to be played. */
  get busy(): boolean {
    return this.#replies.length > 0;
  }

  serve(): void {
    this.#isHeld = false;
    this.activeAt = performance.now();
    // A place for this client became free while another connection was being handled.
    this.#continueLater();
  }

  sendUnsolicited(bytes: Uint8Array, { waits }: { readonly waits: boolean }): void {
    if (!this.#open || (this.busy && !waits) || this.#isBehind) return;
    const now = performance.now();
    const { client, clientId, host } = this;
    const played = ({ steps: [step] }: PlayReport) => {
      if (step?.outcome !== 'achieved') return;
      const frame = { bytes, startedAt: step.achievedAt, receivedAt: step.endedAt };
      this.#context.handler.event({ kind: 'unsolicited', frame, client, clientId, host });
    };
    this.#replies.add({ plan: plainReply(bytes), played }, now);
  }

  /** Closes the connection now. Bytes not yet written are lost. */
  end(text: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#close(text);
    const reason = this.#closing ?? text;
    this.#writer.abandon(reason);
    this.#socket.destroy();
    this.#context.clients.remove(this, reason);
  }

  slowFor(timeoutMs: number, now: number): boolean {
    if (!this.#isBehind) this.#slowSince = undefined;
    else this.#slowSince ??= now;
    return this.#slowSince !== undefined && now - this.#slowSince >= timeoutMs;
  }

  /** True while requests can still be answered; false as soon as either side closes. */
  get #open(): boolean {
    return this.#closing === undefined && this.#writer.open;
  }

  /** True if the client has left too much unread. */
  get #isBehind(): boolean {
    return this.#writer.unsent > MAX_UNSENT_BYTES || this.#writer.untaken > MAX_PENDING;
  }

  get #mayRead(): boolean {
    return this.#replies.length <= MAX_PENDING && !this.#isBehind;
  }

  #receive(bytes: Uint8Array, length: number): void {
    if (!this.#open) {
      // A device that has closed answers further bytes from the client with a reset, and so does this
      // connection.
      if (this.#socket.writableFinished) this.end(CLOSED_BY_PLAN);
      return;
    }
    if (this.#waits) {
      this.#ahead.add(bytes.slice(0, length));
      return;
    }
    this.#receivedAt = performance.now();
    this.#tookOne = false;
    this.#decoder.follow(this.#receivedAt, true);
    this.#decoder.now.push(bytes, length, this.#receivedAt);
    const finished = this.#work();
    this.#decoder.now.keep();
    if (finished) this.#decoder.watchSilence(this.#receivedAt, this.#open);
  }

  /** Continues after a wait, if the reason for it has gone. */
  #continue(): void {
    if (!this.#waits || this.#nextTurn !== undefined) return;
    if (!this.#open) {
      // Bytes are still read and discarded, to notice when the client closes.
      this.#waits = false;
      this.#ahead.drop();
      this.#socket.resume();
      return;
    }
    if (!this.#mayRead) return;
    if (this.#work()) this.#receiveAhead();
    this.#endIfDone();
  }

  /** Ends a wait. The requests that arrived before it are answered. */
  #receiveAhead(): void {
    this.#waits = false;
    const ahead = this.#ahead.take();
    if (ahead.length > 0) this.#receive(ahead, ahead.length);
    // Bytes may have arrived unread while reading was paused, so that time does not count as silence.
    else this.#decoder.watchSilence(performance.now(), this.#open);
  }

  /**
   * Ends the connection of a client that has closed its sending side, once everything it sent is answered.
   * Replies with further waits are given up, because the client has gone.
   */
  #endIfDone(): void {
    if (!this.#inputEnded || (this.#waits && !this.busy)) return;
    // Reading stopped only to give others their turn: there is more to answer.
    if (this.#nextTurn !== undefined && this.#mayRead) return;
    this.#close(this.#socket.writable ? 'closed by the client' : CLOSED_BY_PLAN);
    this.#writer.flush();
    this.#socket.end();
  }

  /** Answers the received requests. Returns false, and waits, if it must stop before the end of the input. */
  #work(): boolean {
    const finished = this.#answerInput();
    this.#writer.release();
    if (finished) return true;
    this.#waits = true;
    this.#decoder.stopWatching();
    // Other connections come first, even if the client has read everything by then.
    this.#continueLater();
    return false;
  }

  #continueLater(): void {
    this.#nextTurn = setImmediate(() => {
      this.#nextTurn = undefined;
      this.#continue();
    });
  }

  #answerInput(): boolean {
    for (let turn = 0; turn < MAX_PER_TURN; turn++) {
      if (!this.#mayRead) return false;
      const decoded = this.#decoder.now.next();
      if (decoded.kind === 'more') return true;
      if (decoded.kind === 'invalid') {
        this.#writer.flush();
        this.#context.clients.reject(this, 'protocol', decoded.reason);
        return true;
      }
      const { pending } = this.#decoder.now;
      if (decoded.kind === 'event') {
        // A valid frame to another unit shows that the client is alive; noise does not.
        if (decoded.event.kind !== 'noise') this.activeAt = this.#receivedAt;
        const { client, clientId, host } = this;
        this.#context.handler.event({ ...decoded.event, client, clientId, host });
      } else {
        // The replies of one turn leave in one write.
        if (pending) this.#writer.hold();
        this.#answer(decoded.content, decoded.adu);
      }
      if (!this.#decoder.now.pending || !this.#open) return true;
    }
    return false;
  }

  #answer({ transactionId, unitId, pdu }: AduContent, adu: Uint8Array): void {
    this.activeAt = this.#receivedAt;
    this.spoke = true;
    if (this.#loses(adu)) return;
    const request = {
      transactionId,
      unitId,
      pdu,
      adu,
      startedAt: this.#receivedAt,
      receivedAt: this.#receivedAt,
      client: this.client,
      clientId: this.clientId,
      host: this.host,
    };
    this.#context.handler.request(request, this.#begin);
    this.#decoder.follow(this.#receivedAt, this.#open);
  }

  /** Reports a request as dropped if the line drops it. Otherwise this request is the one accepted from its read. */
  #loses(adu: Uint8Array): boolean {
    const { pipelining = 'serve' } = this.#context.settings;
    if (pipelining === 'serve') return false;
    const isLost = this.#tookOne || (pipelining === 'drop' && this.busy);
    this.#tookOne = true;
    if (!isLost) return false;
    const frame = { bytes: adu, startedAt: this.#receivedAt, receivedAt: this.#receivedAt };
    const { client, clientId, host } = this;
    this.#context.handler.event({ kind: 'dropped', frame, client, clientId, host });
    return true;
  }

  #wasSilent(): void {
    this.#decoder.follow(this.#receivedAt, this.#open);
    this.#decoder.now.silence();
    this.#work();
  }

  /** Stops reading and playing. Only the first reason counts. */
  #close(text: string): void {
    if (this.#closing !== undefined) return;
    this.#closing = text;
    this.#decoder.now.clear();
    this.#ahead.drop();
    this.#decoder.stopWatching();
    clearImmediate(this.#nextTurn);
    this.#replies.abandon(text);
  }
}

/**
 * A connection that must wait reads ahead until it has this many bytes. While it does not read, it can't
 * notice that the client disconnects.
 */
const MAX_BYTES = 16 * 1024;

/**
 * The bytes that a connection reads while it can't answer. Holds `MAX_BYTES` and the read that exceeds them,
 * then pauses the socket.
 */
class ReadAhead {
  readonly #socket: Socket;
  #reads: Uint8Array[] = [];
  #length = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Adds the bytes of a read. @param bytes must not change later */
  add(bytes: Uint8Array): void {
    this.#reads.push(bytes);
    this.#length += bytes.length;
    if (this.#length >= MAX_BYTES) this.#socket.pause();
  }

  /** Returns all bytes in order. The socket reads again. */
  take(): Uint8Array {
    const bytes = concatBytes(...this.#reads);
    this.drop();
    this.#socket.resume();
    return bytes;
  }

  drop(): void {
    this.#reads = [];
    this.#length = 0;
  }
}
