import type { Logger } from 'pino';
import type { MqttStatus, SeenBench } from '../../simulator/commands/schemas/mqtt.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import type { Rpc } from '../rpc/rpc.js';
import { LineMap } from './line-map.js';
import { TrafficFiles } from './traffic-file/traffic-files.js';

/** What the desk works with: the way to the running simulator, and its traffic. */
export interface ApiContext {
  readonly rpc: Rpc;
  readonly traffic: KeptEvents;
  readonly map: LineMap;
  readonly files: TrafficFiles;
  /** The directory in which clients may let files be made. */
  readonly writesIn: string;
  /** Resolves when everything that the lines have done before is in `traffic`: a client that has a reply finds its request. */
  readonly caughtUp: () => Promise<void>;
  /** The moment now by the clock of the events, in ms. */
  readonly now: () => number;
  /** How the simulator is on its MQTT broker; undefined where it is on none. */
  mqtt?:
    | {
        readonly status: MqttStatus;
        /** The benches beside it, as far as they are known by now. */
        readonly benches: readonly SeenBench[];
        stop(): Promise<void>;
      }
    | undefined;
}

/** @param now the moment by the clock of the events, in ms */
export function newDesk(
  rpc: Rpc,
  traffic: KeptEvents,
  { writesIn, log, now }: { readonly writesIn: string; readonly log: Logger; readonly now: () => number },
): ApiContext {
  const map = new LineMap(rpc, traffic);
  const caughtUp = async () => void (await rpc.call('program.ping', undefined));
  return { rpc, traffic, map, files: new TrafficFiles(traffic, map, log), writesIn, caughtUp, now };
}
