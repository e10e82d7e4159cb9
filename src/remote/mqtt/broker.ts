import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import type { MqttDefinition } from '../../document/configuration.js';
import { lookUpName } from '../../modbus/transport/socket/listen.js';
import type { MqttStatus } from '../../simulator/commands/schemas/mqtt.js';
import { Outbox, type Publication } from './outbox.js';
import { PacketWatch } from './packet-watch.js';

/** Certificate, key and CA certificates as PEM strings. */
export interface BrokerCredentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface BrokerSettings
  extends Pick<MqttDefinition, 'url' | 'username' | 'password' | 'client' | 'qos'> {
  readonly credentials?: BrokerCredentials;
}

/** A message from the broker. */
export interface Arrived {
  readonly topic: string;
  readonly payload: Buffer;
  /** Whether the broker stored the message earlier, so that it is not a request made now. */
  readonly isRetained: boolean;
  readonly responseTopic: string | undefined;
  readonly correlation: Buffer | undefined;
}

export interface BrokerEvents {
  /**
   * Makes the last will: what the broker sends to others if this connection is lost. Called before each
   * attempt to connect.
   */
  readonly will?: () => Publication;
  readonly connected: () => void;
  readonly arrived: (message: Arrived) => void;
  readonly log: (kind: 'connected' | 'lost', text: string) => void;
}

type BrokerStatus = Pick<
  MqttStatus,
  'connected' | 'reason' | 'since' | 'sent' | 'received' | 'waiting' | 'lost'
>;

const LIMITS = { messages: 20_000, bytes: 8 * 2 ** 20 };
/** Maximum number of messages without an acknowledgement. Others wait in the outbox, which is bounded. */
const MOST_UNDER_WAY = 32;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
const CONNECT_MS = 5000;
const KEEPALIVE_S = 15;
const GOODBYE_MS = 800;
/** Return codes of a broker that does not support this version (MQTT 5, 3.2.2.2; MQTT 3.1.1, 3.2.2.3). */
const OTHER_VERSION = [0x84, 1];
/** How a connection that the broker closed without a reason ends if this side is just sending. */
const CLOSED = ['ECONNRESET', 'EPIPE'];
/** Reason code if another client has connected with the same client identifier (MQTT 5, 3.14.2.1). */
const TAKEN_OVER = 0x8e;
/**
 * Longest pause in ms after the connection was taken over. If two clients take it from each other, each then
 * has it for a while.
 */
const LONGEST_PAUSE_TAKEN_OVER_MS = 60_000;
/**
 * Time in ms after which a connection counts as steady. A connection lost earlier makes the pauses longer,
 * and after a few of them the log is silent.
 */
const STEADY_MS = 60_000;
const MOST_TOLD = 3;
const COMES_AND_GOES = `it connects and disconnects repeatedly, which is not reported again until a connection lasts ${STEADY_MS / 1000} s`;

/**
 * Longest packet in bytes; a longer one ends the connection before it is stored. The longest request fits,
 * with its topics and properties.
 */
const LONGEST_PACKET = 2 ** 21;
/** Maximum number and total bytes of QoS 2 messages that may wait for their release (MQTT 5, 4.3.3). */
const MOST_UNRELEASED = { messages: 256, bytes: 16 * 2 ** 20 };
/** Receive Maximum (MQTT 5, 3.1.2.11.3). */
const RECEIVE_MAXIMUM = 64;
/** Maximum number of characters shown of the broker's reason. */
const LONGEST_REASON = 300;

/**
 * A connection to a broker that reconnects by itself. Whatever the broker does, publishing never waits, and
 * takes no more memory than the outbox.
 */
export class Broker {
  readonly #settings: BrokerSettings;
  readonly #events: BrokerEvents;
  readonly #outbox = new Outbox(LIMITS);
  readonly #url: URL;
  /** The client of the current attempt. Each attempt has a new one, so that nothing old is sent after something new. */
  #client: MqttClient;
  #version: 4 | 5 = 5;
  /** Messages that the broker has not acknowledged yet. */
  readonly #underWay = new Set<Publication>();
  #attempts = 0;
  /** Number of consecutive connections that were lost before they were steady. */
  #unsteady = 0;
  /** Whether the log says that the broker is connected. */
  #isTold = false;
  #connectedAt = 0;
  #steady: NodeJS.Timeout | undefined;
  #sent = 0;
  #refused = 0;
  /** Whether the log says that messages were rejected on this connection. */
  #hasRefused = false;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #isSending = false;
  #status: Pick<BrokerStatus, 'connected' | 'reason' | 'since'>;
  #problem: Error | undefined;

  constructor(settings: BrokerSettings, events: BrokerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#status = { connected: false, reason: null, since: new Date().toISOString() };
    this.#url = new URL(settings.url);
    this.#client = this.#connect();
  }

  get status(): BrokerStatus {
    const [sent, received, waiting] = [this.#sent, this.#received, this.#outbox.size];
    return { ...this.#status, sent, received, waiting, lost: this.#outbox.lost + this.#refused };
  }

  /** Whether so much is waiting for the broker that reports which can wait should wait. */
  get isBusy(): boolean {
    return this.#outbox.isBusy;
  }

  publish(message: Publication): void {
    const hasLostState = this.#outbox.add(message);
    // After a new connection, everything is reported again.
    if (hasLostState && this.#status.connected) this.#cut('too many bytes are waiting to be sent');
    this.#send();
  }

  /** Subscribes to topics. Call it after each connection, because a broker may have forgotten them. */
  subscribe(topics: readonly string[]): void {
    if (!this.#status.connected || topics.length === 0) return;
    const { qos } = this.#settings;
    this.#client.subscribe([...topics], { qos }, (error, _, answer) => {
      // Without an answer, the connection was lost, and the next one subscribes again.
      if (error && answer) this.#events.log('lost', `the broker refused a subscription: ${error.message}`);
    });
  }

  unsubscribe(topics: readonly string[]): void {
    if (this.#status.connected && topics.length > 0) this.#client.unsubscribe([...topics]);
  }

  /** Publishes the waiting messages and a last one, and disconnects. Takes at most a second. */
  async end(last?: Publication): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#steady);
    if (this.#status.connected) {
      if (last) this.publish(last);
      const end = performance.now() + GOODBYE_MS;
      while (this.#outbox.size + this.#underWay.size > 0 && performance.now() < end)
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const wasConnected = this.#status.connected;
    this.#status = { ...this.#status, connected: false };
    // Without a DISCONNECT packet, the broker would send the last will.
    await new Promise<void>((resolve) => {
      setTimeout(resolve, GOODBYE_MS / 2).unref();
      this.#client.end(!wasConnected, {}, () => resolve());
    });
    this.#client.end(true);
  }

  #connect(): MqttClient {
    const { url, username, password, credentials, client: clientId, qos } = this.#settings;
    const will = this.#events.will?.();
    const options: IClientOptions = {
      clientId: clientId ?? `modbus-sim-${randomBytes(6).toString('hex')}`,
      protocolVersion: this.#version,
      clean: true,
      keepalive: KEEPALIVE_S,
      connectTimeout: CONNECT_MS,
      // This class makes the pauses between attempts.
      reconnectPeriod: 0,
      properties: { maximumPacketSize: LONGEST_PACKET, receiveMaximum: RECEIVE_MAXIMUM },
      wsOptions: { maxPayload: 2 * LONGEST_PACKET },
      ...(will && {
        will: {
          topic: will.topic,
          payload: Buffer.from(will.payload),
          retain: will.retain ?? false,
          qos: will.qos ?? qos,
        },
      }),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...credentials,
    };
    const client = mqtt
      .connect(url, options)
      .on('connect', () => this.#connected())
      .once('close', () => this.#closed())
      .on('error', (error) => {
        this.#problem ??= error;
      })
      .on('disconnect', ({ reasonCode, properties }) => {
        this.#problem ??= this.#goodbye(reasonCode, properties?.reasonString);
      })
      .on('message', (topic, payload, packet) => this.#arrived(topic, payload, packet));
    this.#bound(client);
    return client;
  }

  /** Ends a connection that delivers more than may be stored, whatever limits the broker respects. */
  #bound(client: MqttClient): void {
    const watch = new PacketWatch();
    const unreleased = new Map<number | undefined, number>();
    let bytes = 0;
    // The parser stores a packet until it is complete, so this checks the bytes before the parser does.
    client.stream.prependListener('data', (chunk: Uint8Array) => {
      const longest = watch.longestIn(chunk);
      if (longest > LONGEST_PACKET)
        this.#cut(`the broker sent a packet of ${longest} bytes, expected at most ${LONGEST_PACKET}`);
    });
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'publish' && packet.qos === 2) {
        bytes += packet.payload.length - (unreleased.get(packet.messageId) ?? 0);
        unreleased.set(packet.messageId, packet.payload.length);
        if (unreleased.size > MOST_UNRELEASED.messages || bytes > MOST_UNRELEASED.bytes)
          this.#cut(`the broker has not released ${unreleased.size} QoS 2 messages (${bytes} bytes)`);
      } else if (packet.cmd === 'pubrel') {
        bytes -= unreleased.get(packet.messageId) ?? 0;
        unreleased.delete(packet.messageId);
      }
    });
  }

  #cut(why: string): void {
    this.#problem ??= new Error(why);
    this.#client.stream.destroy();
  }

  /** The reason why the broker ended the connection, in its own words (MQTT 5, 3.14). */
  #goodbye(code = 0, words?: string): Error {
    const reason = words ?? `the broker closed it with reason ${code}`;
    return Object.assign(new Error(code === TAKEN_OVER ? this.#takenOver : reason), { code });
  }

  get #takenOver(): string {
    return `another client has the client identifier ${this.#client.options.clientId}: each client needs its own`;
  }

  #connected(): void {
    // Otherwise an answer waits up to 40 ms for the acknowledgement of the previous packet (RFC 896, RFC 1122
    // 4.2.3.2).
    if (this.#client.stream instanceof Socket) this.#client.stream.setNoDelay();
    this.#status = { connected: true, reason: null, since: new Date().toISOString() };
    this.#attempts = this.#unsteady;
    this.#hasRefused = false;
    this.#connectedAt = performance.now();
    this.#steady = setTimeout(() => {
      this.#unsteady = 0;
      this.#tellConnected();
    }, STEADY_MS).unref();
    if (this.#unsteady < MOST_TOLD) this.#tellConnected();
    this.#events.connected();
    this.#send();
  }

  #tellConnected(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const version = this.#version === 5 ? '5' : '3.1.1';
    this.#events.log('connected', `connected to the broker ${this.#url.host} (MQTT ${version})`);
  }

  #closed(): void {
    const { code } = (this.#problem ?? {}) as { code?: unknown };
    const isWithoutReason = !this.#problem || CLOSED.includes(code as string);
    const words = (!isWithoutReason && this.#problem?.message) || 'the connection was closed';
    const isTakenOver = code === TAKEN_OVER;
    this.#problem = undefined;
    clearTimeout(this.#steady);
    if (this.#isEnding) return;
    const { connected, since } = this.#status;
    const isShort = connected && performance.now() - this.#connectedAt < STEADY_MS;
    if (isShort) this.#unsteady++;
    const reason = words.slice(0, LONGEST_REASON);
    if (this.#isTold || (!connected && this.#status.reason === null)) {
      // A 3.1.1 broker does not say that another client has connected.
      const isGuess = isShort && isWithoutReason && this.#version === 4 && this.#settings.client;
      const guess = isGuess ? `; perhaps ${this.#takenOver}` : '';
      const more = this.#unsteady === MOST_TOLD ? `; ${COMES_AND_GOES}` : '';
      this.#events.log('lost', `no connection to the broker ${this.#url.host}: ${reason}${guess}${more}`);
    }
    this.#isTold = false;
    this.#status = { connected: false, reason, since: connected ? new Date().toISOString() : since };
    this.#outbox.disconnected(this.#underWay);
    this.#underWay.clear();
    // Some 3.1.1 brokers close the connection without a reason.
    const isUnexplained = isWithoutReason || code === undefined;
    if (OTHER_VERSION.includes(code as number) || (isUnexplained && !connected))
      this.#version = this.#version === 5 ? 4 : 5;
    const most = isTakenOver ? LONGEST_PAUSE_TAKEN_OVER_MS : LONGEST_PAUSE_MS;
    const longest = Math.min(most, FIRST_PAUSE_MS * 2 ** Math.min(this.#attempts++, 10));
    const pause = longest * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#tryAgain(), pause);
  }

  /**
   * Looks up the broker's name, and then starts the next attempt. The package gives up an attempt that takes
   * too long, but its look-up continues in the operating system. This way there is only one look-up at a time
   * while no name server answers, however many attempts were made.
   */
  #tryAgain(): void {
    lookUpName(this.#url.hostname.replace(/[[\]]/g, ''), {}, (error) => {
      if (this.#isEnding) return;
      this.#client.end(true);
      if (error) {
        this.#problem = error;
        this.#closed();
      } else this.#client = this.#connect();
    });
  }

  #arrived(topic: string, payload: Buffer, { retain, properties }: IPublishPacket): void {
    this.#received++;
    const { responseTopic, correlationData: correlation } = properties ?? {};
    this.#events.arrived({ topic, payload, isRetained: retain, responseTopic, correlation });
  }

  /** Counts a message that the broker rejected. It is not sent again, because it would be rejected again. */
  #refuse({ topic }: Publication, { message: why }: Error): void {
    this.#refused++;
    if (!this.#hasRefused)
      this.#events.log('lost', `the broker refused a message on ${topic}: ${why.slice(0, LONGEST_REASON)}`);
    this.#hasRefused = true;
  }

  #send(): void {
    // The callback of a publication may run within this loop.
    if (this.#isSending) return;
    this.#isSending = true;
    const client = this.#client;
    while (this.#status.connected && this.#underWay.size < MOST_UNDER_WAY) {
      const message = this.#outbox.take();
      if (!message) break;
      const { topic, payload, retain = false, qos = this.#settings.qos, correlation } = message;
      const properties = correlation && this.#version === 5 && { correlationData: Buffer.from(correlation) };
      const body = typeof payload === 'string' ? payload : Buffer.from(payload);
      this.#underWay.add(message);
      client.publish(topic, body, { qos, retain, ...(properties && { properties }) }, (error) => {
        if (client !== this.#client) return;
        if (error && !isRefusal(error)) {
          // Drops the connection; messages in flight are sent again on the next one.
          client.stream.destroy();
          return;
        }
        if (error) this.#refuse(message, error);
        else this.#sent++;
        this.#underWay.delete(message);
        this.#send();
      });
    }
    this.#isSending = false;
  }
}

/** Whether the broker itself rejected a message, with a reason code (MQTT 5, 3.4.2.1). */
function isRefusal(error: Error): boolean {
  return 'code' in error && typeof error.code === 'number';
}
