import type { CaptureLine, CaptureLines } from '../traffic/capture/packet.js';
import { describeLine } from './describe-line.js';
import type { Line } from './line.js';

/** The lines as captures need them. */
export function captureLines(lines: ReadonlyMap<string, Line>): CaptureLines {
  return {
    names: () => lines.keys(),
    get: (name) => {
      const line = lines.get(name);
      return line && captureLine(line);
    },
  };
}

function captureLine(line: Line): CaptureLine {
  const { name, definition, state } = line;
  const describe = () => `${describeLine(line)}${definition.kind === 'tls' ? ' (decrypted)' : ''}`;
  if (definition.kind === 'serial') return { name, kind: 'serial', describe };
  const { kind, host } = definition;
  const port = (state.kind === 'open' ? state.port : undefined) ?? definition.port;
  return { name, kind, host, port, describe };
}
