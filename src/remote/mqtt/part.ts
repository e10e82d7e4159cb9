import type { MqttDefinition } from '../../document/configuration.js';
import type { Outcome } from '../../simulator/commands/refusal.js';
import type { MqttStatus } from '../../simulator/commands/schemas/mqtt.js';
import type { Summary } from '../../simulator/commands/schemas/program.js';
import type { ValueView } from '../../simulator/commands/schemas/value.js';
import type { Broker, BrokerCredentials, BrokerEvents } from './broker.js';

/** A simulator's settings for connecting to a broker. */
export interface LinkOrder {
  readonly definition: MqttDefinition;
  readonly credentials: BrokerCredentials;
  readonly rest: readonly string[];
}

/** What an extension may use of a simulator's link to its broker. */
export interface LinkSide {
  readonly order: LinkOrder;
  readonly broker: Broker;
  /** Returns the function that logs the state of a connection. */
  logOf(name: string): BrokerEvents['log'];
  /** Does work and logs its failure, so that later work is still done. */
  attempt(work: () => Promise<void>): Promise<void>;
  /** Carries out `value.set`, and reports the new value. */
  write(input: { readonly device: string }): Promise<Outcome<unknown>>;
  /** Publishes an event of the bench. */
  report(kind: string, content: object): void;
}

/** What an extension does on a simulator's broker. */
export interface LinkPart {
  /** What it adds to the status of the link. */
  readonly status?: Partial<MqttStatus>;
  /** Called after each connection, when the broker has no subscriptions. */
  connected?(): void;
  /** Called for every message. */
  arrived?(topic: string, payload: Buffer): void;
  /** Called each second. */
  look?(now: Summary, devices: readonly string[]): void;
  /** Whether it accepts values at the moment. */
  readonly isReady?: boolean;
  /** Called with values that may have changed, if it is ready. */
  report?(device: string, values: readonly ValueView[]): void;
  stop?(): Promise<void>;
}
