import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { AduContent } from '../../protocol/framing.js';
import { notAchieved, type PlayReport, type Step } from '../../protocol/reply-plan.js';
import { BROADCAST } from '../../protocol/rtu.js';
import type { LineReply } from '../transport.js';
import type { Client, ClientIdentity } from './client-list.js';
import {
  type Binding,
  type BindingContext,
  clientName,
  type Listening,
  listenUdp,
  lookUpName,
} from './listen.js';
import { ReplyQueue, type ReplyWriter, type StepFailure } from './reply-queue.js';

type PlayReported = (report: PlayReport) => void;

/**
 * The outcome so far of the steps of one plan. The object is reused once that outcome is complete: under a
 * flood, new objects that wait for each send to end cost half as much as all the rest of a reply (measured).
 */
class PlayOutcome {
  steps = 0;
  /** How many datagrams the operating system has neither accepted nor refused. */
  unsent = 0;
  /** Why a step was not done, by step index; undefined for most plans. */
  failures: Map<number, string> | undefined;
  report: PlayReport | undefined;
  reported: PlayReported | undefined;
  /** Called when the first step of the plan has been sent. Most plans have only this step. */
  readonly firstSent: (error: Error | null) => void;

  constructor(sent: (outcome: PlayOutcome, index: number, error: Error | null) => void) {
    this.firstSent = (error) => sent(this, 0, error);
  }

  clear(): void {
    this.steps = 0;
    this.failures = undefined;
    this.report = undefined;
    this.reported = undefined;
  }
}

/**
 * Sends the replies to one address. Each step of bytes is one datagram, so a reply in pieces leaves as
 * several datagrams, which no client joins again.
 */
export class UdpWriter implements ReplyWriter {
  /** True, because there is no connection to close. */
  readonly open = true;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  #unsent = 0;
  readonly #sent = (outcome: PlayOutcome, index: number, error: Error | null) =>
    this.#settle(outcome, index, error);
  #outcome = new PlayOutcome(this.#sent);
  readonly #free: PlayOutcome[] = [];

  /** Creates the writer. @param socket is bound, and stays open while steps are played */
  constructor(socket: Socket, address: string, port: number) {
    this.#socket = socket;
    this.#address = address;
    this.#port = port;
  }

  /** How many datagrams are waiting for room in the operating system's send buffer. */
  get unsent(): number {
    return this.#unsent;
  }

  play(step: Step): StepFailure {
    const index = this.#outcome.steps++;
    switch (step.kind) {
      case 'bytes':
        // Port 0 is allowed as the source of a datagram (RFC 768), but not as a destination.
        if (this.#port === 0) return "the client's port is 0, so nothing can be sent to it";
        if (step.bytes.length > 0) this.#send(step.bytes, index);
        return undefined;
      case 'close':
        return 'UDP has no connection to close';
      case 'break':
        return 'UDP has no break state';
    }
  }

  /** Does nothing, because every datagram leaves separately. */
  flush(): void {}

  /**
   * Accepts the report of the plan that was played last, and passes it on with the failed sends once they are
   * known. Node reports them after the call that sends, usually before anything else happens.
   */
  complete(report: PlayReport, reported: PlayReported): void {
    const outcome = this.#outcome;
    if (outcome.unsent === 0) {
      const known = withFailures(report, outcome.failures);
      outcome.clear();
      reported(known);
      return;
    }
    outcome.report = report;
    outcome.reported = reported;
    this.#outcome = this.#free.pop() ?? new PlayOutcome(this.#sent);
  }

  #send(bytes: Uint8Array, index: number): void {
    const outcome = this.#outcome;
    outcome.unsent++;
    this.#unsent++;
    // With a callback, an error goes there instead of to the "error" event of the socket, which all clients
    // share.
    const sent =
      index === 0 ? outcome.firstSent : (error: Error | null) => this.#settle(outcome, index, error);
    this.#socket.send(bytes, this.#port, this.#address, sent);
  }

  #settle(outcome: PlayOutcome, index: number, error: Error | null): void {
    this.#unsent--;
    outcome.unsent--;
    if (error) {
      outcome.failures ??= new Map();
      outcome.failures.set(index, `not sent: ${error.message}`);
    }
    const { report, reported, failures } = outcome;
    if (outcome.unsent > 0 || report === undefined) return;
    outcome.clear();
    this.#free.push(outcome);
    reported?.(withFailures(report, failures));
  }
}

function withFailures(report: PlayReport, failures: ReadonlyMap<number, string> | undefined): PlayReport {
  if (failures === undefined) return report;
  const steps = report.steps.map((step, i) => {
    const failure = failures.get(i);
    return failure === undefined ? step : notAchieved(step.plannedAt, step.achievedAt, failure);
  });
  return { ...report, steps };
}

/**
 * The size of the receive buffer, in bytes. Datagrams wait there while this program is busy; those that do
 * not fit are lost. Linux grants at most net.core.rmem_max, which still results in twice the default.
 */
const RECEIVE_BUFFER_SIZE = 1024 * 1024;

/** The errors that the network reports about a datagram sent earlier. The socket continues to work. */
const OF_ONE_DATAGRAM: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'EMSGSIZE',
  'ENETUNREACH',
]);

/**
 * A UDP socket that answers Modbus requests. Every datagram is one ADU, and so is every reply unless a fault
 * splits it. No specification covers Modbus over UDP; this is what implementations agree on. Datagrams that
 * are not an ADU are reported as noise and not answered.
 *
 * UDP has no connections: an address is a client from its first request until it has been idle for a while.
 * The addresses of datagrams can be forged, so no more than `maxClients` are remembered.
 *
 * On `0.0.0.0` or `::`, a machine with several addresses may reply from a different address than the request
 * was sent to, because the system chooses it.
 */
export class UdpBinding implements Binding {
  readonly #context: BindingContext;
  readonly #socket: Socket;
  readonly #byAddress = new Map<string, UdpClient>();
  #state: 'opening' | 'open' | 'closed' = 'opening';

  constructor(context: BindingContext) {
    this.#context = context;
    this.#socket = createSocket({
      type: context.settings.host.includes(':') ? 'udp6' : 'udp4',
      reuseAddr: false,
      // If one address is requested, one is found.
      lookup: (name, options, found) =>
        lookUpName(name, options, (error, address, family = 4) => found(error, String(address), family)),
      recvBufferSize: RECEIVE_BUFFER_SIZE,
    });
    this.#socket.on('message', (bytes, remote) => this.#receive(bytes, remote));
    this.#socket.on('error', (error) => this.#onError(error));
  }

  async open(): Promise<Listening> {
    const { host, port } = this.#context.settings;
    const listening = await listenUdp(this.#socket, host, port);
    if (listening.ok) this.#state = 'open';
    return listening;
  }

  close(): Promise<void> {
    this.#state = 'closed';
    return new Promise((resolve) => {
      this.#socket.close(resolve);
    });
  }

  /** Handles an error of the open socket. `open` reports earlier errors. */
  #onError(error: NodeJS.ErrnoException): void {
    if (this.#state === 'open' && !OF_ONE_DATAGRAM.has(error.code ?? '')) this.#context.failed(error);
  }

  #receive(datagram: Buffer, remote: RemoteInfo): void {
    if (this.#state === 'closed') return;
    const { handler, host } = this.#context;
    const receivedAt = performance.now();
    // A Uint8Array is used, because the `slice()` of a Buffer is a view.
    const adu = new Uint8Array(datagram.buffer, datagram.byteOffset, datagram.length);
    const timed = { bytes: adu, startedAt: receivedAt, receivedAt };
    const framing = this.#context.framing();
    const content = framing.decode(adu);
    if (content === undefined) {
      handler.event({ kind: 'noise', noise: timed, host });
      return;
    }
    // Requests to other units are not answered, as on a serial line.
    const { unitId } = content;
    const concernsUs = !framing.broadcasts || unitId === BROADCAST || handler.owns(unitId);
    if (concernsUs) this.#clientAt(remote)?.receive(content, adu, receivedAt);
    else handler.event({ kind: 'foreign', role: 'request', frame: timed, host });
  }

  /** Returns the client with this address: a new client if there is room or room can be made; otherwise undefined. */
  #clientAt(remote: RemoteInfo): UdpClient | undefined {
    const key = `${remote.address} ${remote.port}`;
    return this.#byAddress.get(key) ?? this.#welcome(key, remote);
  }

  #welcome(key: string, remote: RemoteInfo): UdpClient | undefined {
    const { clients, handler, host } = this.#context;
    const identity = clients.identify(clientName(remote.address, remote.port), host);
    if (!clients.makeRoom(identity)) return undefined;
    const gone = (text: string) => {
      this.#byAddress.delete(key);
      clients.remove(client, text);
    };
    const client = new UdpClient(
      identity,
      new UdpWriter(this.#socket, remote.address, remote.port),
      handler,
      gone,
    );
    this.#byAddress.set(key, client);
    clients.add(client);
    return client;
  }
}

/** While more requests than this are waiting for their replies, further ones are not executed. */
const MAX_UNANSWERED = 64;

/** One address and port that sends requests: calls the handler, and has the plans played in order. */
class UdpClient implements Client {
  readonly client: string;
  readonly clientId: number;
  readonly host: string | undefined;
  activeAt: number;
  /** True, because an address becomes a client with its first request. */
  readonly spoke = true;
  readonly #handler: BindingContext['handler'];
  readonly #writer: UdpWriter;
  readonly #replies: ReplyQueue;
  /** One function serves all requests. */
  readonly #begin = (reply: LineReply) => this.#replies.add(reply, this.activeAt);
  readonly #gone: (text: string) => void;
  #isGone = false;

  /** Creates the client. @param gone called once, when the client has ended */
  constructor(
    { client, clientId, host }: ClientIdentity,
    writer: UdpWriter,
    handler: BindingContext['handler'],
    gone: (text: string) => void,
  ) {
    this.client = client;
    this.clientId = clientId;
    this.host = host;
    this.activeAt = performance.now();
    this.#handler = handler;
    this.#gone = gone;
    this.#writer = writer;
    this.#replies = new ReplyQueue(writer, () => {
      this.activeAt = performance.now();
    });
  }

  /** True while replies are still to be played, or to be sent. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  /** Returns false, because nothing shows whether a client reads its datagrams. */
  slowFor(): boolean {
    return false;
  }

  /** Passes the request on to be answered. If too many replies are pending, the request is reported as dropped. */
  receive({ transactionId, unitId, pdu }: AduContent, adu: Uint8Array, receivedAt: number): void {
    const { client, clientId, host } = this;
    this.activeAt = receivedAt;
    if (this.#pending >= MAX_UNANSWERED) {
      const frame = { bytes: adu, startedAt: receivedAt, receivedAt };
      this.#handler.event({ kind: 'dropped', frame, client, clientId, host });
      return;
    }
    // A copy, because the PDU of an RTU frame is a view of the datagram.
    const times = { startedAt: receivedAt, receivedAt };
    const request = { transactionId, unitId, pdu: pdu.slice(), adu, ...times, client, clientId, host };
    this.#handler.request(request, this.#begin);
  }

  end(text: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#replies.abandon(text);
    this.#gone(text);
  }

  get #pending(): number {
    return this.#replies.length + this.#writer.unsent;
  }
}
