import type { FastifyBaseLogger } from 'fastify';
import type { Asked } from '../../common/work.js';
import type { MqttStatus } from '../../simulator/commands/schemas/mqtt.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import type { Rpc } from '../rpc/rpc.js';
import { LineMap } from './line-map.js';
import { Sums } from './sums.js';

/** The way of the desk to the running simulator, and to its traffic. */
export interface ApiContext {
  readonly rpc: Rpc;
  readonly traffic: KeptEvents;
  readonly map: LineMap;
  readonly sums: Sums;
  /** Directory in which clients may have files written. */
  readonly writesIn: string;
  /**
   * Resolves when `traffic` has everything that the lines have done so far. So a client that has a reply
   * finds its request there.
   */
  readonly caughtUp: () => Promise<void>;
  /** The present moment by the clock of the events, in ms. */
  readonly now: () => number;
  readonly log: FastifyBaseLogger;
  /** Begins the long work of an extension in a thread of its own; absent if this thread does it. */
  readonly beginWork?: <Question, Answer>(extension: string) => Asked<Question, Answer>;
  /** The connection to the MQTT broker; undefined if there is none. */
  mqtt?:
    | {
        readonly status: MqttStatus;
        stop(): Promise<void>;
      }
    | undefined;
}

/** What a desk is made of beside its way to the simulator. */
type DeskParts = Pick<ApiContext, 'writesIn' | 'now' | 'beginWork' | 'log'>;

export function newDesk(rpc: Rpc, traffic: KeptEvents, parts: DeskParts): ApiContext {
  const caughtUp = async () => void (await rpc.call('program.ping', undefined));
  return { rpc, traffic, map: new LineMap(rpc, traffic), sums: new Sums(rpc), caughtUp, ...parts };
}
