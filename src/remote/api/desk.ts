import type { Logger } from 'pino';
import type { Asked } from '../../common/work.js';
import type { LearnedPiece, ToLearner } from '../../extensions/learn/learn.js';
import { TrafficFiles } from '../../extensions/traffic-files/traffic-files.js';
import type { MqttStatus, SeenBench } from '../../simulator/commands/schemas/mqtt.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import type { Rpc } from '../rpc/rpc.js';
import { LineMap } from './line-map.js';

/** The way of the desk to the running simulator, and to its traffic. */
export interface ApiContext {
  readonly rpc: Rpc;
  readonly traffic: KeptEvents;
  readonly map: LineMap;
  readonly files: TrafficFiles;
  /** Directory in which clients may have files written. */
  readonly writesIn: string;
  /**
   * Resolves when `traffic` has everything that the lines have done so far. So a client that has a reply
   * finds its request there.
   */
  readonly caughtUp: () => Promise<void>;
  /** The present moment by the clock of the events, in ms. */
  readonly now: () => number;
  /** Begins to learn devices from a capture in a thread of its own; absent if this one learns them. */
  readonly beginLearning?: () => Asked<ToLearner, LearnedPiece>;
  /** The connection to the MQTT broker; undefined if there is none. */
  mqtt?:
    | {
        readonly status: MqttStatus;
        /** The other benches on the broker that are known so far. */
        readonly benches: readonly SeenBench[];
        stop(): Promise<void>;
      }
    | undefined;
}

/** What a desk is made of beside its way to the simulator. */
type DeskParts = Pick<ApiContext, 'writesIn' | 'now' | 'beginLearning'> & { readonly log: Logger };

export function newDesk(rpc: Rpc, traffic: KeptEvents, { log, ...parts }: DeskParts): ApiContext {
  const map = new LineMap(rpc, traffic);
  const caughtUp = async () => void (await rpc.call('program.ping', undefined));
  return { rpc, traffic, map, files: new TrafficFiles(traffic, map, log), caughtUp, ...parts };
}
