import type { LineDefinition } from '../../config/configuration.js';
import type { Line } from '../../simulator/line.js';
import { lineStatus } from '../../simulator/line-status.js';
import { thousandths } from '../thousandths.js';

/** A line as REST clients see it; what a line of its kind has not is null. Times are in ms, the uptime in seconds. */
export interface ServerRow {
  readonly line: string;
  readonly comm: LineDefinition['kind'];
  readonly framer: LineDefinition['framing'];
  readonly state: 'open' | 'waiting' | 'stopped' | 'failed';
  /** Why it is not open. */
  readonly error: string;
  /** Where clients find it: the real port where any free one was asked for. */
  readonly place: string;
  readonly host: string | null;
  readonly port: string | number;
  readonly baudrate: number | null;
  readonly bytesize: number | null;
  readonly parity: string | null;
  readonly stopbits: number | null;
  /** As it is set: `t3.5`, `eager`, or so many ms more than t3.5. */
  readonly turnaround: string | number | null;
  readonly t1_5: number | null;
  readonly t3_5: number | null;
  readonly gap: number | null;
  readonly clients: number | null;
  readonly uptime: number | null;
  /** Unit identifiers with the names of their devices. */
  readonly units: Readonly<Record<string, string>>;
  readonly [counter: `count_${string}`]: number;
}

const PARITY_LETTERS = { none: 'N', even: 'E', odd: 'O' } as const;

export function serverRow(line: Line): ServerRow {
  const { definition } = line;
  const { state, reason, place, clients, uptime, times } = lineStatus(line);
  return {
    line: line.name,
    comm: definition.kind,
    framer: definition.framing,
    state,
    error: reason ?? '',
    place,
    ...settingsOf(definition),
    t1_5: times ? thousandths(times.t15) : null,
    t3_5: times ? thousandths(times.t35) : null,
    gap: times ? thousandths(times.gap) : null,
    clients: clients ?? null,
    uptime: uptime === undefined ? null : thousandths(uptime),
    units: Object.fromEntries(line.bus.units),
    ...countsOf(line),
  };
}

function settingsOf(definition: LineDefinition) {
  if (definition.kind !== 'serial') {
    const { host, port } = definition;
    return { host, port, baudrate: null, bytesize: null, parity: null, stopbits: null, turnaround: null };
  }
  const { path, baudRate, dataBits, parity, stopBits, timing } = definition;
  return {
    host: null,
    port: path,
    baudrate: baudRate,
    bytesize: dataBits,
    parity: PARITY_LETTERS[parity],
    stopbits: stopBits,
    turnaround: timing.turnaround,
  };
}

/** The counters in the manner of the register rows: `count_requests`, `count_noise_bytes`. */
function countsOf({ counters }: Line): Record<`count_${string}`, number> {
  return Object.fromEntries(
    Object.entries(counters).map(([name, count]) => [
      `count_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      count,
    ]),
  );
}
