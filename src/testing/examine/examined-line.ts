import { characterTime, t15, t35 } from '../../protocol/timing.js';
import type { Line } from '../../simulator/line.js';
import type { ExaminedLine } from './exam-parts.js';

/** A line as checks need it. */
export function examinedLine({ name, definition }: Line): ExaminedLine {
  const { kind, framing } = definition;
  if (kind !== 'serial') {
    return { name, kind, framing, hasAnyPort: definition.port === 0, characterTime: 0, t35: 0, t15: 0 };
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
