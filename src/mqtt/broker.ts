import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import type { MqttDefinition } from '../config/configuration.js';
import type { MqttStatus } from '../control/schemas/mqtt.js';
import { type Message, Outbox } from './outbox.js';

/** PEM texts. */
export interface BrokerCredentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** A broker, and how to get to it. */
export interface BrokerSettings
  extends Pick<MqttDefinition, 'url' | 'username' | 'password' | 'client' | 'qos'> {
  readonly credentials?: BrokerCredentials;
}

/** What a message of the broker carries. */
export interface Arrived {
  readonly topic: string;
  readonly payload: Buffer;
  /** Kept by the broker from before, so nobody asks for it now. */
  readonly isRetained: boolean;
  readonly responseTopic: string | undefined;
  readonly correlation: Buffer | undefined;
}

export interface BrokerEvents {
  /** What the broker sends to the others when this connection is lost; asked for before each attempt to connect. */
  readonly will?: () => Message;
  readonly connected: () => void;
  readonly arrived: (message: Arrived) => void;
  readonly log: (kind: 'connected' | 'lost', text: string) => void;
}

type BrokerStatus = Pick<
  MqttStatus,
  'connected' | 'reason' | 'since' | 'sent' | 'received' | 'waiting' | 'lost'
>;

const LIMITS = { messages: 20_000, bytes: 8 * 2 ** 20 };
/** So many messages may be without an acknowledgement; others wait here, where they are bounded. */
const MOST_UNDER_WAY = 32;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
const CONNECT_MS = 5000;
const KEEPALIVE_S = 15;
const GOODBYE_MS = 800;
/** MQTT 5, 3.2.2.2, and MQTT 3.1.1, 3.2.2.3: the broker does not know this version. */
const OTHER_VERSION = [0x84, 1];

/**
 * The connection to a broker, which comes again by itself. Whatever the broker does, publishing costs nobody any time and no more
 * memory than the outbox has.
 */
export class Broker {
  readonly #settings: BrokerSettings;
  readonly #events: BrokerEvents;
  readonly #outbox = new Outbox(LIMITS);
  readonly #url: URL;
  /** Another one for each attempt, so that nothing old is sent after something new. */
  #client: MqttClient;
  #version: 4 | 5 = 5;
  /** What the broker has not acknowledged. */
  readonly #underWay = new Set<Message>();
  #attempts = 0;
  #sent = 0;
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
    const [sent, received] = [this.#sent, this.#received];
    return { ...this.#status, sent, received, waiting: this.#outbox.size, lost: this.#outbox.lost };
  }

  publish(message: Message): void {
    this.#outbox.add(message);
    this.#send();
  }

  /** To be called after each connection: a broker forgets. */
  subscribe(topics: readonly string[]): void {
    if (!this.#status.connected || topics.length === 0) return;
    const { qos } = this.#settings;
    this.#client.subscribe([...topics], { qos }, (error) => {
      if (error) this.#events.log('lost', `the broker refused a subscription: ${error.message}`);
    });
  }

  unsubscribe(topics: readonly string[]): void {
    if (this.#status.connected && topics.length > 0) this.#client.unsubscribe([...topics]);
  }

  /** Publishes what waits, and a last message, and says goodbye, for at most a second. */
  async end(last?: Message): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    if (this.#status.connected) {
      if (last) this.publish(last);
      const end = performance.now() + GOODBYE_MS;
      while (this.#outbox.size + this.#underWay.size > 0 && performance.now() < end)
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const wasConnected = this.#status.connected;
    this.#status = { ...this.#status, connected: false };
    // Without the packet DISCONNECT, the broker would send the last will.
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
      // The pauses are made here.
      reconnectPeriod: 0,
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
    return mqtt
      .connect(url, options)
      .on('connect', () => this.#connected())
      .once('close', () => this.#closed())
      .on('error', (error) => {
        this.#problem = error;
      })
      .on('disconnect', ({ reasonCode, properties }) => {
        this.#problem = new Error(
          properties?.reasonString ?? `the broker ended it with reason ${reasonCode}`,
        );
      })
      .on('message', (topic, payload, packet) => this.#arrived(topic, payload, packet));
  }

  #connected(): void {
    this.#attempts = 0;
    // An answer would wait for the acknowledgement of the packet before it, which comes up to 40 ms later (RFC 896, RFC 1122 4.2.3.2).
    if (this.#client.stream instanceof Socket) this.#client.stream.setNoDelay();
    const version = this.#version === 5 ? '5' : '3.1.1';
    this.#status = { connected: true, reason: null, since: new Date().toISOString() };
    this.#events.log('connected', `on the broker ${this.#url.host} by MQTT ${version}`);
    this.#events.connected();
    this.#send();
  }

  #closed(): void {
    const reason = this.#problem?.message || 'the connection was closed';
    const { code } = (this.#problem ?? {}) as { code?: unknown };
    this.#problem = undefined;
    if (this.#isEnding) return;
    if (this.#status.connected || this.#status.reason === null)
      this.#events.log('lost', `without the broker ${this.#url.host}: ${reason}`);
    const { connected, since } = this.#status;
    this.#status = { connected: false, reason, since: connected ? new Date().toISOString() : since };
    this.#outbox.disconnected(this.#underWay);
    this.#underWay.clear();
    // Some brokers of 3.1.1 close the connection without a word.
    if (OTHER_VERSION.includes(code as number) || (code === undefined && !connected))
      this.#version = this.#version === 5 ? 4 : 5;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#attempts++, 10));
    const pause = longest * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => {
      this.#client.end(true);
      this.#client = this.#connect();
    }, pause);
  }

  #arrived(topic: string, payload: Buffer, { retain, properties }: IPublishPacket): void {
    this.#received++;
    const { responseTopic, correlationData: correlation } = properties ?? {};
    this.#events.arrived({ topic, payload, isRetained: retain, responseTopic, correlation });
  }

  #send(): void {
    // A callback may come at once, from within.
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
        if (!error) this.#sent++;
        this.#underWay.delete(message);
        this.#send();
      });
    }
    this.#isSending = false;
  }
}
