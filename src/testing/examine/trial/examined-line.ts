import { characterTime, t15, t35 } from '../../../modbus/protocol/timing.js';
import type { Line } from '../../../simulator/line.js';
import { hasAnyPort } from '../../outage.js';

/** The line as checks need it. Times in ms. */
export interface ExaminedLine {
  readonly name: string;
  readonly kind: 'serial' | 'tcp' | 'tls' | 'udp';
  readonly framing: 'rtu' | 'ascii' | 'socket';
  /** True when the line is on any free port, which is another one each time it is opened. */
  readonly hasAnyPort: boolean;
  /** Time of a character on the wire; 0 where characters take no time. */
  readonly characterTime: number;
  /** The silence between two frames; 0 where there is none. */
  readonly t35: number;
  readonly t15: number;
}

/** Takes from a line what checks need. */
export function examinedLine(line: Line): ExaminedLine {
  const { name, definition } = line;
  const { kind, framing } = definition;
  if (kind !== 'serial') {
    return { name, kind, framing, hasAnyPort: hasAnyPort(line), characterTime: 0, t35: 0, t15: 0 };
  }
  const { baudRate, timing } = definition;
  return {
    name,
    kind,
    framing,
    hasAnyPort: false,
    characterTime: characterTime(definition),
    t35: timing.t35 ?? t35(baudRate),
    t15: t15(baudRate),
  };
}
