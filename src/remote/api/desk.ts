import type { FastifyBaseLogger } from 'fastify';
import type { Asked } from '../../common/work.js';
import type { MqttStatus } from '../../simulator/commands/schemas/mqtt.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import type { Rpc } from '../rpc/rpc.js';
import { LineMap } from './line-map.js';
import { Sums } from './sums.js';

/** How the desk reaches the running simulator and its traffic. */
export interface ApiContext {
  readonly rpc: Rpc;
  readonly traffic: KeptEvents;
  readonly map: LineMap;
  readonly sums: Sums;
  /** Directory in which clients may write files. */
  readonly writesIn: string;
  /**
   * Resolves when `traffic` contains everything that the lines have done so far. A client that has received a
   * reply then finds its request there.
   */
  readonly caughtUp: () => Promise<void>;
  /** The current time on the clock of the events, in ms. */
  readonly now: () => number;
  readonly log: FastifyBaseLogger;
  /** Starts the long work of an extension in a separate thread; absent if this thread does it. */
  readonly beginWork?: <Question, Answer>(extension: string) => Asked<Question, Answer>;
  /** The connection to the MQTT broker; undefined if there is none. */
  mqtt?:
    | {
        readonly status: MqttStatus;
        stop(): Promise<void>;
      }
    | undefined;
}

/** The parts of a desk other than its access to the simulator. */
type DeskParts = Pick<ApiContext, 'writesIn' | 'now' | 'beginWork' | 'log'>;

export function newDesk(rpc: Rpc, traffic: KeptEvents, parts: DeskParts): ApiContext {
  const caughtUp = async () => void (await rpc.call('program.ping', undefined));
  return { rpc, traffic, map: new LineMap(rpc, traffic), sums: new Sums(rpc), caughtUp, ...parts };
}
