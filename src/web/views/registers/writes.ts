import type { ChangeRequest, RegisterView } from '../../../control/schemas/value.js';
import { type Answer, ask, pathOf } from '../../api.js';
import { timeOfDay } from '../../ui/format.js';

/** Registers of one device that are written together. */
export interface Place {
  readonly device: string;
  readonly table: NonNullable<ChangeRequest['table']>;
  readonly address: number;
  readonly count: number;
}

const MOST = 1000;

/** Writes of this page, by device and time. */
const ours = new Set<string>();

const keyOf = (device: string, time: string) => `${time} ${device}`;

/** Remembers that this page has just written registers. */
export async function noteWrite(place: Place): Promise<void> {
  for (const { lastWriter } of await valuesAt(place)) {
    if (lastWriter?.by === 'REST' && lastWriter.time !== null) ours.add(keyOf(place.device, lastWriter.time));
  }
  for (const oldest of ours) {
    if (ours.size <= MOST) return;
    ours.delete(oldest);
  }
}

/** The first value of a place that somebody else has written since this page did; undefined where nobody has. */
export async function overwritten(place: Place): Promise<RegisterView | undefined> {
  const values = await valuesAt(place);
  return values.find(
    ({ lastWriter }) => !(lastWriter?.time != null && ours.has(keyOf(place.device, lastWriter.time))),
  );
}

/** Who wrote a value last, where and when. */
export function writerText({ lastWriter }: RegisterView): string {
  if (!lastWriter) return 'nobody since the reset';
  const { by, line, client, time } = lastWriter;
  const who = by === 'line' ? `line ${line}${client === null ? '' : `, ${client}`}` : by;
  return time === null ? who : `${who}, ${timeOfDay(Date.parse(time))}`;
}

async function valuesAt({ device, table, address, count }: Place): Promise<readonly RegisterView[]> {
  const query = new URLSearchParams({ table, from: String(address), to: String(address + count - 1) });
  const path = `${pathOf('devices', device)}/registers?${query}`;
  const answer: Answer<{ registers: RegisterView[] }> = await ask('GET', path);
  return answer.ok ? answer.value.registers : [];
}
