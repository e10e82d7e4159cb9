import type { LineDefinition, SerialLineDefinition } from '../config/configuration.js';
import type { Line } from './line.js';
import { lineStatus } from './line-status.js';

/** A line in one sentence: `RTU on /dev/ttyUSB0 19200 8E1, units 1-3, 17; t1.5 0.859 ms, …`. */
export function describeLine(line: Line): string {
  const { state, reason } = lineStatus(line);
  if (state === 'failed') return `${description(line)}; failed: ${reason}`;
  return state === 'waiting' ? `${description(line)}; not open yet, waiting: ${reason}` : description(line);
}

function description(line: Line): string {
  const { definition } = line;
  const { place, link, times } = lineStatus(line);
  const units = `units ${unitRanges([...definition.units.keys()])}`;
  if (definition.kind !== 'serial' || !times) return `${protocolName(definition)} on ${place}, ${units}`;
  const { baudRate, dataBits, parity, stopBits } = definition;
  const settings = `${baudRate} ${dataBits}${parity.charAt(0).toUpperCase()}${stopBits}`;
  const gap = `gap ${times.gap.toFixed(1)} ms`;
  const pauses = `t1.5 ${times.t15.toFixed(3)} ms, t3.5 ${times.t35.toFixed(3)} ms, ${gap}${turnaround(definition)}`;
  const path = link ? `${place} (also ${link})` : place;
  const role = definition.mode === 'monitor' ? 'listens only' : units;
  return `${protocolName(definition)} on ${path} ${settings}, ${role}; ${pauses}`;
}

/** Empty for the default turnaround, t3.5, and where nothing is ever replied. */
function turnaround({ mode, timing: { turnaround } }: SerialLineDefinition): string {
  if (turnaround === 't3.5' || mode === 'monitor') return '';
  return turnaround === 'eager' ? ', replies at once' : `, replies ${turnaround} ms after t3.5`;
}

/** The usual name of a framing on a transport. */
function protocolName({ kind, framing }: LineDefinition): string {
  const carrier = { serial: '', tcp: 'TCP', udp: 'UDP', tls: 'TLS' }[kind];
  if (kind === 'serial') return framing.toUpperCase();
  if (framing !== 'socket') return `${framing.toUpperCase()} over ${carrier}`;
  return kind === 'tls' ? 'Modbus/TCP Security' : `Modbus ${carrier}`;
}

/** Unit identifiers such as `1-3, 17, *`. Three or more in a row become a range. */
function unitRanges(units: readonly (number | '*')[]): string {
  const numbers = units.filter((unit) => unit !== '*').sort((a, b) => a - b);
  const runs: [first: number, last: number][] = [];
  for (const unit of numbers) {
    const run = runs.at(-1);
    if (run && run[1] === unit - 1) run[1] = unit;
    else runs.push([unit, unit]);
  }
  const texts = runs.flatMap(([first, last]) => {
    if (last === first) return [`${first}`];
    return last === first + 1 ? [`${first}`, `${last}`] : [`${first}-${last}`];
  });
  return [...texts, ...(units.includes('*') ? ['*'] : [])].join(', ');
}
