import type { Wire } from '../../../../common/timeline/pieces.js';
import type { LineView } from '../../../../simulator/commands/schemas/line.js';
import { summary } from '../../live.js';
import { resource } from '../../resource.js';

/** Details of lines that the summary lacks, by name: settings, units, times and links. */
export const details = resource(
  () => '/lines',
  ({ lines }: { readonly lines: readonly LineView[] }) => new Map(lines.map((line) => [line.name, line])),
  () => summary.value?.lines.map(({ name, edition, state, place }) => [name, edition, state, place]),
);

/** Finds a line by name; undefined while its details are not known. */
export function lineNamed(name: string): LineView | undefined {
  return details.current.value?.get(name);
}

const US_PER_MS = 1000;

/** The character times of a line; undefined for a socket or a line that no longer exists. */
export function wireOf(line: LineView | undefined): Wire {
  const { characterTime, t35 } = line?.times ?? {};
  return {
    characterUs: characterTime === undefined ? undefined : US_PER_MS * characterTime,
    t35Us: t35 === undefined ? undefined : US_PER_MS * t35,
  };
}

/** The format of a line: `RTU 9600 8N1`, `Modbus TCP`, `RTU over UDP`. */
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

const SHOWN_UNITS = 6;

/** The first units with their devices, and how many others there are. */
export function unitsLine(units: Readonly<Record<string, string>>): string {
  const entries = Object.entries(units).map(([unit, device]) => `${unit} ${device}`);
  if (entries.length === 0) return 'none';
  const more = entries.length - SHOWN_UNITS;
  const shown = entries.slice(0, SHOWN_UNITS).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
