import { printableLine } from '../../common/rest-client/printable.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import { blockText } from '../import/native-file.js';
import { conditionOf } from './learned.js';
import { writtenValues } from './model.js';
import { type Learned, lineName } from './write.js';

/** The most requests, and so steps, of a scenario. */
const MOST_REQUESTS = 1000;
/** The most values in the list of a step. */
const MOST_VALUES = 256;
/** How long a step waits by default, in ms. */
const USUAL_WAIT = 10_000;
const LONGEST_WAIT = 86_400_000;

/**
 * Writes a scenario that expects the requests of a log, each after the one before, on the learned devices.
 * @param configuration the path of the learned file as the scenario names it
 */
export function writeScenario({ source, conversation, lines }: Learned, configuration: string): string {
  const { exchanges, framing } = conversation;
  const servers = [...new Set(exchanges.map(({ server }) => server))];
  const steps: { repeat?: number; expect: object; within?: string }[] = [];
  let before: number | undefined;
  for (const { request, at, server } of exchanges.slice(0, MOST_REQUESTS)) {
    const line = lines.length > 1 && { line: lineName(framing, servers.indexOf(server)) };
    const wait = Math.min(2 * ((at ?? 0) - (before ?? at ?? 0)), LONGEST_WAIT);
    const step = {
      expect: { ...line, unit: request.unitId, ...conditionOf(request.pdu), ...writeOf(request.pdu) },
      ...(wait > USUAL_WAIT && { within: `${Math.ceil(wait / 1000)}s` }),
    };
    before = at ?? before;
    const last = steps.at(-1);
    const { repeat = 1, ...same } = last ?? {};
    if (last && JSON.stringify(same) === JSON.stringify(step))
      steps.splice(-1, 1, { repeat: repeat + 1, ...step });
    else steps.push(step);
  }
  const [first = 'lan'] = lines.map((_, i) => lineName(framing, i));
  const place =
    framing.name === 'socket' ? `{lines.${first}.host} {lines.${first}.port}` : `{lines.${first}.path}`;
  const left = exchanges.length - MOST_REQUESTS;
  const remarks = [
    `Have the client started: dut: {command: "my-client ${place}"}`,
    ...(left > 0 ? [`The last ${left} of ${exchanges.length} requests were left out.`] : []),
  ];
  const name = `the requests of ${printableLine(source)}`;
  return blockText({ name, configuration, steps }, remarks);
}

/** The values of functions 5, 6, 15 and 16, if a step may list them. */
function writeOf(pdu: Uint8Array): object {
  const [range] = addressRanges(pdu);
  const values = writtenValues(pdu);
  if (!range || !values || values.length > MOST_VALUES) return {};
  const table = functionOf(pdu[0])?.table;
  return { write: { [`${table} ${range.address}`]: values.length === 1 ? values[0] : values } };
}
