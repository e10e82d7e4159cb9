import type { RealTarget } from '../../document/configuration.js';
import { keyOf } from '../../document/native/real.js';
import type { ModbusClient } from '../../modbus/client/client.js';
import { Asker } from '../../testing/survey/asker.js';
import { replyTimeOf } from '../../testing/survey/reply-time.js';
import { type ClonedDevice, findAnswer, surveyDevice } from '../../testing/survey/survey.js';
import { READ_FUNCTIONS } from '../../testing/survey/table-survey.js';
import type { Clone } from '../../testing/survey/write.js';
import type { Imported } from '../import/collected.js';

/** Which devices to read, and how. Times are in ms. */
export interface CloneOrder {
  readonly target: RealTarget;
  readonly units: readonly number[];
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** True to read every address in the ranges. */
  readonly thorough: boolean;
  /** Delay before the values are read a second time, in ms. */
  readonly watch: number;
  /** Function codes that are sent without data, to see how the device answers. */
  readonly functions: readonly number[];
  /** Silence before each request, in ms. */
  readonly pause: number;
  /** Longest wait for a reply, in ms. */
  readonly timeout: number;
}

interface CloneContext {
  readonly sleep: (ms: number) => Promise<void>;
  readonly isStopped: () => boolean;
  readonly progress: (text: string) => void;
}

/**
 * Reads the devices one after another.
 * @returns the devices, and a sentence for each unit from which no device answered
 */
export async function cloneDevices(
  client: Pick<ModbusClient, 'ask'>,
  order: CloneOrder,
  map: Imported | undefined,
  { sleep, isStopped, progress }: CloneContext,
): Promise<{ readonly clone: Clone; readonly absent: readonly string[] }> {
  const { units, ranges, thorough, timeout, pause, watch, functions } = order;
  const devices: ClonedDevice[] = [];
  const absent: string[] = [];
  const mapped = map?.lines.flatMap((line) => line.devices) ?? [];
  let requests = 0;
  for (const [i, unit] of units.entries()) {
    if (isStopped()) break;
    const at = (text: string) =>
      progress(`${bar(i, units.length)} unit ${unit}: ${text}, ${requests} requests`);
    let now = () => 'looking for it';
    const asker = new Asker(client, unit, {
      timeout,
      pause,
      sleep,
      isStopped,
      asked: () => {
        requests++;
        at(now());
      },
    });
    const answered = await findAnswer(asker);
    const isFound = typeof answered === 'object';
    // A user who asks for a single unit knows that the device is there, even if it is silent to every probe.
    if (!isFound && (units.length > 1 || asker.failure !== undefined)) {
      const how = answered === 'silence' ? 'no answer' : `exception ${answered}`;
      absent.push(`unit ${unit}: ${asker.failure ?? how}`);
      if (asker.failure !== undefined) break;
      continue;
    }
    const survey = await surveyDevice(
      asker,
      {
        ranges,
        isThorough: thorough,
        functions,
        watch,
        sleep,
        progress: ({ table, values }, address) => {
          now = () => `${table} ${address} (function ${READ_FUNCTIONS[table]}), ${values.size} found`;
        },
      },
      isFound ? answered.pdu : undefined,
    );
    devices.push({
      unit,
      survey,
      replyTime: replyTimeOf(asker, order),
      unfinished: asker.failure ?? (isStopped() ? 'it was stopped' : undefined),
      map: mapped.find((each) => each.unit === unit) ?? (mapped.length === 1 ? mapped[0] : undefined),
    });
  }
  const texts = ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`));
  const notRead = `Only these addresses of each table were searched: ${texts.join(', ')}.`;
  return { clone: { from: keyOf(order.target), notRead, devices }, absent };
}

const BAR_LENGTH = 10;

function bar(done: number, all: number): string {
  const full = Math.round((BAR_LENGTH * done) / all);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_LENGTH - full)}]`;
}
