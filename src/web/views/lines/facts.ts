import type { LineView } from '../../../control/schemas/line.js';

const SHOWN_UNITS = 6;

/** What is spoken on a line: `RTU 9600 8N1`, `Modbus TCP`, `RTU over UDP`. */
export function formatText({ settings, mode }: LineView): string {
  const framing = String(settings.framing);
  const { serial } = settings as { serial?: Readonly<Record<string, unknown>> };
  if (serial) {
    const { baudRate, dataBits, parity, stopBits } = serial;
    const text = `${framing.toUpperCase()} ${baudRate} ${dataBits}${String(parity).charAt(0).toUpperCase()}${stopBits}`;
    return mode === 'monitor' ? `${text}, listens only` : text;
  }
  const transport = ['tcp', 'tls', 'udp'].find((key) => key in settings)?.toUpperCase() ?? '';
  return framing === 'socket' ? `Modbus ${transport}` : `${framing.toUpperCase()} over ${transport}`;
}

/** The first units with their devices, and how many more there are. */
export function unitsLine(units: Readonly<Record<string, string>>): string {
  const entries = Object.entries(units).map(([unit, device]) => `${unit} ${device}`);
  if (entries.length === 0) return 'none';
  const more = entries.length - SHOWN_UNITS;
  const shown = entries.slice(0, SHOWN_UNITS).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
